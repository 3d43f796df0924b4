"""The first screen of ``txop air``: where the throughput went, as a bar and in words, and who acknowledges how."""

from __future__ import annotations

from itertools import groupby

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from txop.air.model import Waterfall, WaterfallStep
from txop.air.view import Headline
from txop.air.view.glyphs import glyph
from txop.cli.console import safe_text
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
_SHOWN = 0.005
"""Smallest share that gets a key under the bar."""


def print_headline(out: Console, head: Headline) -> None:
    """Print ``head``."""
    out.print(safe_text("Where the throughput went", "bold underline"))
    if head.unavailable:
        out.print(safe_text(head.unavailable))
    for number, flow in enumerate(head.flows):
        out.print()
        out.print(safe_text(flow.title, "bold"))
        out.print(safe_text(flow.sentence))
        out.print(bar(flow.waterfall, min(out.width, 100)))
        out.print(_keys(flow.waterfall))
        if number == 0:
            out.print(bullets(flow.advice))
    for verdict in head.verdicts:
        out.print()
        style = {"bad": "bold red", "good": "bold green"}.get(verdict.tone, "bold")
        line = safe_text(verdict.answer.capitalize(), style)
        line.append_text(safe_text(f" - {verdict.title}", "not bold dim"))
        out.print(line)
        out.print(safe_text(verdict.text))
        if verdict.evidence:
            out.print(Padding(bullets(verdict.evidence, "dim"), (0, 0, 0, 2)))
    if head.more_verdicts:
        out.print(safe_text(f"and {head.more_verdicts} more answers in section 4.", "dim"))


def bar(fall: Waterfall, width: int) -> Text:
    """The shares of ``fall`` as one bar of ``width`` cells; every cell belongs to the cause at its middle."""
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
    text = Text()
    for chosen, run in groupby(cells):
        fill, style = _look(fall.steps[chosen])
        text.append(fill * len(list(run)), style)
    return text


def _look(step: WaterfallStep) -> tuple[str, str]:
    style = "dim" if step.cause in ("idle", "unobserved") else _STYLE.get(step.cause, "")
    return glyph(step.cause), style


def _keys(fall: Waterfall) -> Columns:
    shown = [step for step in fall.steps if step.share >= _SHOWN]
    keys = []
    for step in sorted(shown, key=lambda step: -step.share):
        key = Text(no_wrap=True)
        key.append(*_look(step))
        keys.append(key.append_text(safe_text(f" {capital(step.label)} {fmt.share(step.share)}")))
    return Columns(keys, padding=(0, 2, 0, 0))
