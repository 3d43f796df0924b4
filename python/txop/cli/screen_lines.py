"""Lines of a result that fits on one screen: text cut to the width, a few findings, and how everything is seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from txop.cli.console import safe_text
from txop.core.visible import visible
from txop.present.format import plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LINES = 25
FINDINGS = 3
"""Findings that a screen names; the others are counted."""

_TOGETHER = re.compile(r" (?=(?:%|pp|s|ms|µs|Mbit/s)(?![a-z]))|(?<=[▲▼=?·∞*]) ")
"""A blank between a number and its unit, or a sign and its word, at which no line ends."""
_HELD = "\N{NO-BREAK SPACE}"


def cut(text: str, room: int) -> str:
    """``text`` in one line of at most ``room`` columns."""
    text = visible(" ".join(text.split()))
    if cell_len(text) <= room:
        return text
    while text and cell_len(text) > room - 1:
        text = text[: max(0, min(len(text) - 1, room - 1))]
    return text.rstrip() + "…"


def filled(text: str, width: int, style: str = "", *, most: int, indent: int = 2, in_parts: bool = False) -> list[Text]:
    """``text`` in at most ``most`` lines, all but the first indented; what does not fit is cut between words,
    ``in_parts``: after a semicolon, where there is one."""
    found: list[str] = []
    line = ""
    everything = _TOGETHER.sub(_HELD, visible(" ".join(text.split()))).split(" ")
    for word in everything:
        longer = f"{line} {word}" if line else (" " * indent if found else "") + word
        if cell_len(longer) <= width or not line.strip():
            line = longer
        elif len(found) + 1 == most:
            line = _shortened(line, width, in_parts=in_parts)
            break
        else:
            found.append(line)
            line = " " * indent + word
    return [safe_text(_at_most(each, width).replace(_HELD, " "), style) for each in [*found, line]]


def _shortened(line: str, width: int, *, in_parts: bool) -> str:
    """A line of which more follows."""
    kept = line.rpartition("; ")[0]
    if in_parts and cell_len(kept) > width // 3:
        return kept + "; …"
    while cell_len(line) + 2 > width and " " in line.strip():
        line = line.rpartition(" ")[0]
    return line + " …" if cell_len(line) + 2 <= width else line[: width - 1].rstrip() + "…"


def whole(text: str, width: int, style: str = "", *, indent: int = 2) -> list[Text]:
    """``text`` in as many lines as it takes, all but the first indented."""
    return filled(text, width, style, most=len(text) + 1, indent=indent)


def listed(findings: Sequence[tuple[str, str]], width: int) -> list[Text]:
    """Findings, each with its style and none of them cut."""
    return [line for text, style in findings for line in whole(f"- {text}", width, style)]


def print_whole(
    out: Console, findings: Sequence[tuple[str, str]], more: int = 0, *, most: int = FINDINGS, lines: int
) -> None:
    """Print at most ``most`` findings, as many as fit whole into ``lines`` lines, in their order; count the others, of
    which ``more`` are not here."""
    shown = 0
    for finding in findings[:most]:
        drawn = listed([finding], out.width)
        lines -= len(drawn)
        if lines < 0:
            break
        print_lines(out, drawn)
        shown += 1
    if hidden := len(findings) - shown + more:
        out.print(safe_text(f"  and {plural(hidden, 'more finding')}: --all", "dim"))


def _at_most(line: str, width: int) -> str:
    while cell_len(line) > width:
        line = line[:-2] + "…"
    return line


def print_lines(out: Console, lines: Sequence[Text]) -> int:
    """Print lines that are cut to the width already; gives how many."""
    for line in lines:
        out.print(line, no_wrap=True, overflow="ignore", crop=False)
    return len(lines)


def sections_named(names: Iterable[str], width: int) -> list[Text]:
    """Which sections there are, and how they are seen."""
    return filled(f"Sections (--section NAME; --all for all): {', '.join(names)}", width, "dim", most=3)


def print_sections_named(out: Console, names: Iterable[str]) -> None:
    """Print which sections there are, and how they are seen."""
    print_lines(out, sections_named(names, out.width))
