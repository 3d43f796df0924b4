"""A trend in words."""

from __future__ import annotations

from collections.abc import Sequence

from txop.present.format import NOT_AVAILABLE, plural, signed
from txop.report.trend.result import ArchiveDifference, Changed, FigureTrend, Step
from txop.stats.wording import p_is

_NAMED = 4
"""How many changed facts a sentence names."""
DECIDED = ("better", "worse")


def effect(step: Step) -> str:
    """The change with its interval: ``+31.2 % (+24.1 to +38.0 %)``."""
    if step.estimate is None:
        return "infinitely much" if step.n_before and step.n_after else NOT_AVAILABLE
    ends = ""
    if step.confidence is not None:
        low, high = (("∞" if end is None else signed(end, 1)) for end in (step.low, step.high))
        ends = f" ({low} to {high} {step.unit})".replace(" )", ")")
    return f"{signed(step.estimate, 1)} {step.unit}".rstrip() + ends


def step_sentence(title: str, step: Step, labels: Sequence[str]) -> str:
    """One step with its n and its verdict."""
    parts = [f"n = {step.n_before} and {step.n_after}"]
    if step.p_adjusted is not None:
        parts.append(p_is(step.p_adjusted, "adjusted p"))
    said = step.verdict.replace("-", " ")
    if min(step.n_before, step.n_after) == 1:
        said = "can't be determined, because a single run says nothing about chance"
    return f"{title}, {labels[step.before]} to {labels[step.after]}: {effect(step)}, {', '.join(parts)}: {said}"


def between_sentence(changed: Sequence[Changed], all_changed: int, before: str, after: str) -> str:
    """What else changed."""
    where = f"Between {before} and {after}"
    if not all_changed:
        return f"{where} nothing that both record changed: the cause of a step, if there is one, is not recorded."
    named = ", ".join(f"{each.name} ({each.before} to {each.after})" for each in changed[:_NAMED])
    more = f" and {all_changed - _NAMED} more" if all_changed > _NAMED else ""
    if all_changed == 1:
        return f"{where} one recorded fact changed: {named}. What neither records may have changed, too."
    open_question = "which of them caused a step can't be determined"
    return f"{where} {all_changed} recorded facts changed, and {open_question}: {named}{more}."


def headline(
    arm: str, figures: Sequence[FigureTrend], between: Sequence[ArchiveDifference], labels: Sequence[str]
) -> list[str]:
    """The change points, the harm beside the gain; or that there is none, and how much that says."""
    points = [(figure, step) for figure in figures for step in figure.steps if step.verdict in DECIDED]
    creeping = [
        (figure, figure.whole)
        for figure in figures
        if figure.whole is not None
        and figure.whole.verdict in DECIDED
        and not any(step.verdict in DECIDED for step in figure.steps)
    ]
    sentences = []
    for verdict in reversed(DECIDED):  # the harm first
        found = [(figure, step) for figure, step in points if step.verdict == verdict]
        if found:
            listed = "; ".join(
                f"{figure.title} {effect(step)} at {labels[step.after]} (n = {step.n_before} and {step.n_after})"
                for figure, step in found
            )
            sentences.append(f"{arm} got {verdict}: {listed}.")
    for figure, step in creeping:
        sentences.append(
            f"{arm} got {step.verdict} bit by bit: {figure.title} {effect(step)} from {labels[step.before]} to "
            f"{labels[step.after]}, and no single step shows it."
        )
    for place in sorted({step.after for _, step in points}):
        sentences += [each.sentence for each in between if each.after == place]
    if not sentences:
        steps = [step for figure in figures for step in figure.steps]
        single = sum(min(step.n_before, step.n_after) == 1 for step in steps)
        same = sum(step.verdict == "equivalent" for step in steps)
        text = f"No change point of {arm}: {same} of {plural(len(steps), 'step')} equivalent"
        open_steps = len(steps) - same - single
        text += f", {open_steps} inconclusive" if open_steps else ""
        text += f", {single} with n = 1, which says nothing" if single else ""
        sentences.append(f"{text}.")
    return sentences
