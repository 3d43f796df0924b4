"""Compare the arms of an archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from txop.archive.counting import counting
from txop.archive.looks import last_look
from txop.archive.reader import Archive
from txop.archive.remarks import remarks_of
from txop.compare import words
from txop.compare.answer import answers
from txop.compare.changes import change_facts
from txop.compare.drafts import ArmPairs
from txop.compare.facts import (
    arm_facts,
    damage_facts,
    design_facts,
    family_warnings,
    origin_warnings,
    plain,
    runs_lost,
    runs_with_failed_cycles,
    test_facts,
    txop_version,
    voided_runs,
)
from txop.compare.result import ComparedFigure, CompareResult, NotAvailable, RemarkFacts, Source, WarnedRun
from txop.compare.rows import compare_figures, family_size
from txop.compare.select import CompareError, one_origin, primary_of
from txop.compare.test_set import TestSet
from txop.core.nearest import did_you_mean
from txop.core.origin import Origin
from txop.plan_check.changes import changes_of

_NAMED = 12
"""How many possible names an error lists."""


def compare(
    archive: Archive,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    include_void: bool = False,
    without: Sequence[str] = (),
) -> CompareResult:
    """Compare every arm with the baseline, and with each other the arms that differ by one change, in every figure.

    ``metrics`` (``TEST.METRIC``) and ``without`` (arms) narrow down what is in the result, not what is judged together.
    ``include_void`` lets void runs and repeated blocks count, for a look at what they would have changed.

    Raises:
        CompareError: figures of different origin in one archive; an unknown baseline, arm or metric.
    """
    look = last_look(archive.events)
    declared = archive.plan.design.confidence
    if look is not None:
        archive = at_level(archive, look.confidence)
    runs = archive.runs
    plan = archive.plan
    origin = one_origin(archive)
    name = baseline or plan.baseline
    arms = [arm.name for arm in plan.arm]
    if name not in arms:
        raise CompareError(f"has no arm {name}", where=archive.layout.root, what_to_do=did_you_mean(name, arms))
    for left_out_arm in without:
        if left_out_arm not in arms:
            said, to_do = f"has no arm {left_out_arm}", did_you_mean(left_out_arm, arms)
            raise CompareError(said, where=archive.layout.root, what_to_do=to_do)
        if left_out_arm == name:
            to_do = "choose another one with --baseline"
            raise CompareError(f"{name} is the baseline, so it stays in", where=archive.layout.root, what_to_do=to_do)
    changes = changes_of(plan, name)
    beside = changes.beside(name)
    paired = origin is not Origin.IMPORTED
    sets, left_out = [], []
    for test in plan.test:
        count = counting(archive, test.name)
        mine = [run for run in runs if run.test == test.name]
        sets.append(
            TestSet(test, mine, mine) if include_void else TestSet(test, count.runs, mine, count if paired else None)
        )
        left_out += [
            NotAvailable(figure=f"{test.name}.*", arm=a, reason="no valid run yet") for a in count.left_out if mine
        ]
    chosen, by_default = primary_of(archive, runs)
    finished = len({event.get("block") for event in archive.events if event.event == "block-finished"})
    warnings = [] if look is None else [words.sequential(look, declared, finished)]
    if include_void:
        warnings.append("Void runs and repeated blocks are included, as asked: this is not the result of the campaign.")
    if _is_aa(archive):
        warnings.append("An A/A campaign: the same arm under two names, so every difference is noise.")
    pairs = ArmPairs(plan, name, arms, paired, beside)
    figures, missing, nameable = compare_figures(pairs, sets, chosen)
    family = family_size(chosen, pairs)
    warnings += [f"{arm} was left out: {reason}." for arm, reason in lacking_arms(archive).items()]
    warnings += origin_warnings(origin)
    warnings += family_warnings(figures, plan.design.confidence, family)
    if not paired and runs:
        warnings.append("Imported figures: the order of the runs is not known, so arms are compared unpaired.")
    missing = [*left_out, *(entry for entry in missing if not _covered(entry, left_out))]
    design = design_facts(archive, runs, chosen, by_default, family, plan)
    found = answers(figures, name, arms, nameable)
    found = [answer for answer in found if not {answer.arm, answer.against} & set(without)]
    if without:
        warnings.append(
            f"Left out as asked: {', '.join(dict.fromkeys(without))}. What was declared with them stays one family "
            f"({family} comparisons), so no other verdict depends on it."
        )
        figures, missing = without_arms(figures, missing, without)
    runs = [run for run in runs if run.arm not in without]
    facts = change_facts(changes, figures, name, found, without)
    of_arms = {arm: [run for run in runs if run.arm == arm] for arm in arms if arm not in without}
    return CompareResult(
        txop=txop_version(),
        sources=[Source(path=archive.layout.named, title=plan.title)],
        title=plan.title,
        description=plan.description,
        environment={key: plain(value) for key, value in plan.environment.items()},
        origin=origin,
        headline=words.headline(
            figures,
            [answer for answer in found if answer.against == name],
            name,
            design,
            runs=sum(len(s.runs) for s in sets),
            failed=[
                *([] if include_void else runs_lost(of_arms, [s.test.name for s in sets])),
                *runs_with_failed_cycles(sets, of_arms),
            ],
        ),
        baseline=name,
        arms=[arm_facts(arm, runs) for arm in plan.arm if arm.name not in without],
        tests=[test_facts(plan, s) for s in sets],
        figures=narrowed(figures, missing, metrics, archive.layout.root),
        answers=found,
        changes=facts,
        not_available=missing,
        voided=voided_runs(runs),
        run_warnings=[
            WarnedRun(run=run.run, warnings=run.warnings) for run in runs if run.warnings and run.state == "valid"
        ],
        remarks=[RemarkFacts(at=r.at, text=r.text, arm=r.arm, run=r.run) for r in remarks_of(archive.events)],
        design=design,
        methods=words.methods(design, name, paired=paired, two_archives=False, direct=bool(beside)),
        warnings=warnings,
        damage=archive.damage,
        damage_found=damage_facts([archive]),
    )


def at_level(archive: Archive, confidence: float) -> Archive:
    """The archive, to be judged at the level of a look."""
    design = archive.plan.design.model_copy(update={"confidence": confidence})
    return replace(archive, plan=archive.plan.model_copy(update={"design": design}))


def without_arms(
    figures: Sequence[ComparedFigure], missing: Sequence[NotAvailable], without: Sequence[str]
) -> tuple[list[ComparedFigure], list[NotAvailable]]:
    """Figures, and what is missing, without some arms."""
    shown = [
        figure.model_copy(
            update={
                "arms": [values for values in figure.arms if values.arm not in without],
                "rows": [row for row in figure.rows if row.arm not in without],
                "direct": [row for row in figure.direct if row.arm not in without and row.against not in without],
            }
        )
        for figure in figures
    ]
    return shown, [entry for entry in missing if entry.arm not in without]


def narrowed(
    figures: list[ComparedFigure], missing: Sequence[NotAvailable], metrics: Sequence[str] | None, where: Path | str
) -> list[ComparedFigure]:
    """``figures``, or those of them that ``metrics`` names. Raises :class:`CompareError` for one that is not there."""
    if not metrics:
        return figures
    known = {figure.name for figure in figures}
    for name in metrics:
        if name in known:
            continue
        reason = next((m.reason for m in missing if m.figure == name), None)
        if reason is not None:
            raise CompareError(f"{name} is not available: {reason}", where=where)
        raise CompareError(
            f"has no figure {name}",
            where=where,
            what_to_do=did_you_mean(name, [*(figure.name for figure in figures), *(m.figure for m in missing)]),
        )
    return [figure for figure in figures if figure.name in metrics]


def _covered(entry: NotAvailable, wider: Sequence[NotAvailable]) -> bool:
    return any(entry.arm == w.arm and entry.figure.startswith(w.figure.rstrip("*")) for w in wider)


def lacking_arms(archive: Archive) -> dict[str, str]:
    """Optional arms that the campaign was without, and why."""
    overrides = archive.layout.facts().get("overrides")
    found = overrides.get("left_out") if isinstance(overrides, dict) else None
    return {str(arm): str(reason) for arm, reason in found.items()} if isinstance(found, dict) else {}


def _is_aa(archive: Archive) -> bool:
    overrides = archive.layout.facts().get("overrides")
    return isinstance(overrides, dict) and overrides.get("aa") is True


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} more" if len(names) > _NAMED else shown
