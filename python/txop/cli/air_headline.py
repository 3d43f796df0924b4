"""The first screen of ``txop air``: what happened, where the throughput went, and who acknowledges how."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from txop.air.model import Waterfall, WaterfallStep
from txop.air.view import Headline
from txop.air.view.glyphs import glyph
from txop.air.view.headline import CAPTURED_HEADING, HAPPENED_HEADING, WATERFALL_HEADING
from txop.air.view.undetermined import Undetermined
from txop.cli.console import safe_text
from txop.cli.screen_lines import FINDINGS, LINES, listed, print_lines, print_whole, whole
from txop.cli.terminal_report import bullets
from txop.present import format as fmt
from txop.present.format import capital

_STYLE = {
    "payload": "green",
    "mac_headers": "bright_black",
    "preamble": "bright_black",
    "ifs_backoff": "yellow",
    "ack": "magenta",
    "rts_cts": "magenta",
    "retries": "red",
    "reverse": "cyan",
    "other_stations": "blue",
    "beacons_management": "bright_black",
    "damaged": "red",
    "idle_queued": "bright_yellow",
}
_FIRST = 2
"""Attacks and faults that stand before everything else."""
_UNKNOWN_IN_SHORT = "Some of what happened is unknown: --all has what, and what to capture better."
"""In place of the paragraph, where that would leave no room for any finding."""
_KEY_LINES = 2
_KEYS = 4
"""Causes that a brief view names under the bar; the others have one glyph there."""
_OTHER = ("+", "dim")
_SHOWN = 0.005
"""Smallest share that gets a key under the bar, also where no cell is its own."""


def print_headline(out: Console, head: Headline) -> None:
    """Print ``head``."""
    if head.happened:
        out.print(safe_text(HAPPENED_HEADING, "bold underline"))
        for each in head.happened:
            out.print(bullets((each.text,), "bold red" if each.tone == "bad" else ""))
        if head.more_happened:
            out.print(safe_text(f"and {fmt.count(head.more_happened)} more in section 10.", "dim"))
        out.print()
    if head.captured:
        out.print(safe_text(CAPTURED_HEADING, "bold underline"))
        out.print(safe_text(head.captured))
    if head.flows:
        out.print(safe_text(WATERFALL_HEADING, "bold underline"))
    for number, flow in enumerate(head.flows):
        out.print()
        out.print(safe_text(flow.title, "bold"))
        out.print(safe_text(flow.sentence))
        width = min(out.width, 100)
        out.print(bar(flow.waterfall, width))
        out.print(Columns(keys(flow.waterfall, width), padding=(0, 2, 0, 0)))
        if number == 0:
            out.print(bullets(flow.advice))
    for verdict in head.verdicts:
        out.print()
        style = {"bad": "bold red", "good": "bold green"}.get(verdict.tone, "bold")
        line = safe_text(fmt.capital(verdict.answer), style)
        line.append_text(safe_text(f" - {verdict.title}", "not bold dim"))
        out.print(line)
        out.print(safe_text(verdict.text))
        if verdict.evidence:
            out.print(Padding(bullets(verdict.evidence, "dim"), (0, 0, 0, 2)))
    if head.more_verdicts:
        out.print(safe_text(f"and {fmt.plural(head.more_verdicts, 'more verdict')} in section 4.", "dim"))
    if head.unknown is not None:
        out.print()
        out.print(safe_text(_open(head.unknown)))


def print_brief(out: Console, head: Headline, below: int) -> None:
    """Print ``head`` in little space: what is bad, whatever room it takes; one direction; further findings as far as
    there is room, each of them whole; and what is unknown. ``below``: the lines of the screen that come after it."""
    answers = [(f"{each.title}: {each.text}", each.tone) for each in head.verdicts]
    bad_answers = [(text, "bold red") for text, tone in answers if tone == "bad"]
    bad_happened = [(each.text, "bold red") for each in head.happened if each.tone == "bad"]
    first, bad = bad_happened[:_FIRST], [*bad_happened[_FIRST:], *bad_answers]
    at_once = max(0, FINDINGS - len(first))
    used = print_lines(out, listed(first, out.width))
    what = []
    if head.captured:
        what += whole(f"{CAPTURED_HEADING}: {head.captured}", out.width, "bold")
    for flow in head.flows[:1]:
        width = min(out.width, 100)
        what += whole(f"{WATERFALL_HEADING}: {flow.title}", out.width, "bold")
        what += whole(flow.sentence, out.width)
        named = _named(flow.waterfall, width)
        minor = named[_KEYS:] and named[_KEYS - 1 :]
        shown = [_key(step) for step in named if step not in minor]
        if minor:
            shown.append(Text.assemble(_OTHER, f" Other {fmt.share(sum(step.share for step in minor))}"))
        what += [bar(flow.waterfall, width, minor), *_side_by_side(shown, out.width)[:_KEY_LINES]]
    for flow in head.flows[1:]:
        what += whole(f"{flow.brief}.", out.width, "dim")
    print_lines(out, what)
    used += len(what) + print_lines(out, listed(bad[:at_once], out.width))
    advice = [(text, "") for flow in head.flows[:1] for text in flow.advice]
    others = [(each.text, "") for each in head.happened if each.tone != "bad"]
    others += [(text, "") for text, tone in answers if tone != "bad"]
    rest = [*bad[at_once:], *advice, *others]
    unknown = [] if head.unknown is None else whole(_open(head.unknown), out.width, "dim")
    room = LINES - used - below - 1
    if unknown and rest and room - len(unknown) < len(listed(rest[:1], out.width)):
        unknown = whole(_UNKNOWN_IN_SHORT, out.width, "dim")
    most = max(0, at_once - len(bad[:at_once]))
    print_whole(out, rest, head.more_verdicts + head.more_happened, most=most, lines=room - len(unknown))
    print_lines(out, unknown)


def _side_by_side(parts: list[Text], width: int) -> list[Text]:
    """``parts`` in as few lines as they fit in."""
    lines: list[Text] = []
    for part in parts:
        if lines and lines[-1].cell_len + 2 + part.cell_len <= width:
            lines[-1].append("  ").append_text(part)
        else:
            lines.append(part)
    return lines


def _open(what: Undetermined) -> str:
    """All that is unknown, in one paragraph."""
    better = f". To know more: {what.advice}." if what.advice else "."
    return f"Unknown: {what.text}{better}"


def bar(fall: Waterfall, width: int, others: Sequence[WaterfallStep] = ()) -> Text:
    """The shares of ``fall`` as one bar of ``width`` cells; every cell belongs to the cause at its middle. ``others``
    have one glyph together."""
    text = Text()
    for chosen, run in groupby(_cells(fall, width)):
        fill, style = _OTHER if fall.steps[chosen] in others else _look(fall.steps[chosen])
        text.append(fill * len(list(run)), style)
    return text


def _cells(fall: Waterfall, width: int) -> list[int]:
    """The step that each cell of the bar belongs to."""
    cells = []
    for cell in range(width):
        at, total, chosen = (cell + 0.5) / width, 0.0, 0
        for index, step in enumerate(fall.steps):
            total += step.share
            if step.share > 0:
                chosen = index
            if at < total:
                break
        cells.append(chosen)
    return cells


def _look(step: WaterfallStep) -> tuple[str, str]:
    style = "dim" if step.cause in ("idle", "unobserved") else _STYLE.get(step.cause, "")
    return glyph(step.cause), style


def keys(fall: Waterfall, width: int) -> list[Text]:
    """What the glyphs of the bar of ``width`` cells mean, largest share first."""
    return [_key(step) for step in _named(fall, width)]


def _named(fall: Waterfall, width: int) -> list[WaterfallStep]:
    """The causes that get a key, largest share first."""
    in_bar = set(_cells(fall, width))
    shown = [step for index, step in enumerate(fall.steps) if step.share >= _SHOWN or index in in_bar]
    return sorted(shown, key=lambda step: -step.share)


def _key(step: WaterfallStep) -> Text:
    key = Text(no_wrap=True)
    key.append(*_look(step))
    return key.append_text(safe_text(f" {capital(step.label)} {fmt.share(step.share)}"))
