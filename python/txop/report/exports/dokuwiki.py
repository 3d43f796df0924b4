"""A campaign as tables for a DokuWiki page, in the layout that driver developers keep there by hand.

Text from outside goes through :func:`cell`, which takes every meaning from it that DokuWiki would give it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from txop.archive.counting import counting, figure_value
from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.compare import words
from txop.compare.result import ArmFacts, ComparedFigure, CompareResult
from txop.core.visible import visible
from txop.core.whole_file import whole_file
from txop.plan.arm import Patch
from txop.plan_check.changes import identity
from txop.present.format import figure as written
from txop.present.format import plural
from txop.report import facts
from txop.report.answer import published

_THROUGHPUT = ("throughput_mbit_s", "throughput_up_mbit_s", "throughput_down_mbit_s")
_RETRIES = ("air_bss_retry_percent", "air_retry_percent", "retry_percent")
"""Figures that are called retries, as such tables have them: those of Wireshark's WLAN Traffic before others. A table
has one of them, which its head names."""
_DUT = ("dut", "hardware", "device")
_AP = ("ap", "access_point", "peer")
_WHERE = ("distance", "line_of_sight")
_MOST_CAPTURES = 5
_NOT_AVAILABLE = "not available"

NOT_ISOLATED = "can't be determined: every arm has it, or none of those compared"


def write_dokuwiki(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write the verdict, a table per test with a row per arm, the patches, and how it was done."""
    with whole_file(target) as out:
        out.write("\n".join(lines(archive, result)) + "\n")


def lines(archive: Archive, result: CompareResult) -> Iterator[str]:
    """The page, line by line."""
    yield f"===== {heading(result.title or 'Campaign')} ====="
    yield ""
    for sentence in [*result.headline, *result.warnings]:
        yield f"{cell(sentence)}"
        yield ""
    if result.damage:
        yield "**Damaged:** parts of the archive do not count:"
        yield from (f"  * {cell(sentence)}" for sentence in result.damage)
        yield ""
    yield "==== Setup ===="
    yield f"  * Origin of all figures: {result.origin.value} ({facts.ORIGINS[result.origin]})"
    yield from (f"  * {cell(name)}: {cell(text)}" for name, text in result.environment.items())
    yield ""
    for test in result.tests:
        yield from _test(archive, result, test.name, f"{test.name} ({test.kind}, {test.length})")
    yield from _published(archive, result)
    yield from _patches(archive, result)
    if result.voided:
        yield "==== Void runs ===="
        yield table_row(["Run", "Cause", "Repeated in block"], head=True)
        for run in result.voided:
            causes = "; ".join(f"{gate}: {cause}" for gate, cause in zip(run.gates, run.causes, strict=True))
            yield table_row([cell(run.run), cell(causes), "" if run.repeated_in is None else str(run.repeated_in)])
        yield ""
    yield "==== Analysis ===="
    yield from (f"  * {cell(sentence)}" for sentence in result.methods)
    command = _code(facts.reproduce(archive)[0])
    yield f"  * txop {cell(result.txop)}; to repeat it with the plan.toml of the archive: {command}"


def _test(archive: Archive, result: CompareResult, test: str, title: str) -> Iterator[str]:
    figures = {figure.metric.key: figure for figure in result.figures if figure.test == test}
    main = next((figures[key] for key in _THROUGHPUT if key in figures), None)
    fast = main is not None
    if main is None:
        main = figures.get("rtt_p50_ms") or next(iter(figures.values()), None)
    if main is None:
        return
    retries = _retries(figures, [arm.name for arm in result.arms]) if fast else None
    if fast:
        figure_head = "Throughput [Mbits/sec]" + ("" if retries is None else f"; {retries.metric.title} [%]")
    else:
        unit = f" [{main.metric.unit}]" if main.metric.unit else ""
        figure_head = f"{main.metric.title[:1].upper()}{main.metric.title[1:]}{unit}"
    yield f"==== {heading(title)} ===="
    yield table_row(["DUT", "AP", "Driver", figure_head, "AP <-> DUT", "Notes", "PCAP"], head=True)
    runs = counting(archive, test)
    for arm in result.arms:
        yield table_row(
            [
                cell(_environment(result, _DUT)),
                cell(_environment(result, _AP)),
                cell(_driver(arm)),
                cell(_value(main, arm.name, retries, fast=fast)),
                cell(_where(result)),
                cell(_notes(result, main, arm.name, runs.of(arm.name))),
                _captures(runs.of(arm.name)),
            ]
        )
    yield ""


def _published(archive: Archive, result: CompareResult) -> Iterator[str]:
    """What others published of the same arms, and the difference."""
    rows = published.beside(archive, result)
    if not rows:
        return
    yield "==== Beside published figures ===="
    yield cell(published.NOTE)
    yield ""
    yield table_row(published.HEAD, head=True)
    yield from (table_row([cell(text) for text in row.cells()]) for row in rows)
    yield ""


def _patches(archive: Archive, result: CompareResult) -> Iterator[str]:
    """What each patch does given the others, which is not what the arms do that hold it."""
    shown = {arm.name for arm in result.arms}
    patches: dict[str, Patch] = {}
    for arm in archive.plan.arm:
        for patch in arm.patches if arm.name in shown else ():
            patches.setdefault(identity(patch), patch)
    if not patches:
        return
    yield "==== Patches ===="
    yield table_row(["Number", "Description", "Link", "Testing results", "Upstream State"], head=True)
    for name, patch in patches.items():
        results = "; ".join(change.sentence for change in result.changes if change.patch == name)
        yield table_row(
            [
                "" if patch.number is None else str(patch.number),
                cell(patch.description),
                link(patch.link or ""),
                cell(results or NOT_ISOLATED),
                cell(patch.upstream or ""),
            ]
        )
    yield ""


def _driver(arm: ArmFacts) -> str:
    parts = [part for part in (arm.description, arm.title) if part]
    text = ", ".join(dict.fromkeys(parts))
    numbers = [str(patch.number) for patch in arm.patches if patch.number is not None]
    if numbers and "patch" not in text:
        text += f" ({'patch' if len(numbers) == 1 else 'patches'} {', '.join(numbers)})"
    return text


def _retries(figures: dict[str, ComparedFigure], arms: Sequence[str]) -> ComparedFigure | None:
    """The one figure of retries for all rows of a table: the one that most arms have."""
    there = [figures[key] for key in _RETRIES if key in figures]
    have = [sum(_median(figure, arm) is not None for arm in arms) for figure in there]
    return there[have.index(max(have))] if any(have) else None


def _value(main: ComparedFigure, arm: str, retries: ComparedFigure | None, *, fast: bool) -> str:
    value = _median(main, arm)
    if value is None:
        return _NOT_AVAILABLE
    unit = "Mbits/s" if fast else main.metric.unit
    text = f"{value} {unit}".rstrip()
    share = None if retries is None else _median(retries, arm, digits=1)
    return text if share is None else f"{text}; {share}%"


def _median(figure: ComparedFigure, arm: str, digits: int | None = None) -> str | None:
    values = next((values for values in figure.arms if values.arm == arm), None)
    if values is None or (values.median is None and not values.median_infinite):
        return None
    if values.median is None:
        return "infinite"
    return f"{words.bounded(values.bound)}{written(values.median, figure.metric.digits if digits is None else digits)}"


def _notes(result: CompareResult, main: ComparedFigure, arm: str, runs: Sequence[RunFile]) -> str:
    notes = [f"median of n={len([run for run in runs if figure_value(run, main.metric.key) is not None])}"]
    row = next((row for row in main.rows if row.arm == arm), None)
    if arm == result.baseline:
        notes.append("baseline")
    elif row is not None:
        values = next((each.n for each in main.arms if each.arm == arm), row.n)
        inside = [part for part in (words.interval(row), f"n={row.n}" if row.n != values else "") if part]
        notes.append(
            f"{words.moved(row, main.metric.unit)} against {result.baseline}"
            + (f" ({', '.join(inside)})" if inside else "")
            + f": {words.verdict(row)}"
        )
        if not row.paired:
            notes.append("unpaired")
    faults: dict[str, int] = {}
    for run in runs:
        for title in {fault.title: None for fault in run.faults if fault.severity != "info"}:
            faults[title] = faults.get(title, 0) + 1
    notes += [f"{title} (in {count} of {plural(len(runs), 'run')})" for title, count in list(faults.items())[:5]]
    names = {run.run for run in runs}
    notes += [remark.text for remark in result.remarks if remark.arm == arm or remark.run in names][:5]
    return "; ".join(notes)


def _captures(runs: Sequence[RunFile]) -> str:
    names = [f"runs/{run.run}/{name}" for run in runs for name in run.files if name.endswith((".pcap", ".pcapng"))]
    shown = ", ".join(names[:_MOST_CAPTURES])
    return cell(f"{shown} and {len(names) - _MOST_CAPTURES} more" if len(names) > _MOST_CAPTURES else shown or "none")


def _environment(result: CompareResult, names: Sequence[str]) -> str:
    lower = {name.lower(): text for name, text in result.environment.items()}
    return next((lower[name] for name in names if name in lower), _NOT_AVAILABLE)


def _where(result: CompareResult) -> str:
    lower = {name.lower(): text for name, text in result.environment.items()}
    distance, sight = (lower.get(name, "") for name in _WHERE)
    words_of_sight = {"yes": "direct line of sight", "no": "no line of sight"}.get(sight, sight)
    return ", ".join(part for part in (distance, words_of_sight) if part) or _NOT_AVAILABLE


def table_row(cells: Sequence[str], *, head: bool = False) -> str:
    """A row of a table; the cells are marked up already."""
    return "| " + " | ".join(f"**{text}**" if head and text else text for text in cells) + " |"


_HARMLESS = re.compile(r"[A-Za-z0-9 .,;:%/()+=\N{MINUS SIGN}\N{EN DASH}-]*")
_MEANS = re.compile(
    r"%%|//|--|\.\.|::|==|\(\(|\((c|r|tm)\)|8-[)o]|[:;]-[()/?dpox]|=\)|m\(|:[?!]|[0-9]x[0-9]", re.IGNORECASE
)
"""What DokuWiki reads into harmless signs: markup, typography, smileys."""

_WORDS = re.compile(r"FIXME|DELETEME|LOL|[A-Z][a-z]+[A-Z]")
"""Words that it makes pictures of, or (when so configured) links."""

_SAFE_URL = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._/=?&+-]*)?")


def cell(text: str) -> str:
    """Text that DokuWiki shows as it is: between ``%%`` when any of it could have a meaning there.

    >>> cell("20.6 Mbits"), cell("a | **b**"), cell("100%% sure")
    ('20.6 Mbits', '%%a | **b**%%', '%%100%%<nowiki>%%</nowiki>%% sure%%')
    """
    shown = visible(text).strip()
    if _HARMLESS.fullmatch(shown) and not (_MEANS.search(shown) or _WORDS.search(shown)):
        return shown
    return "<nowiki>%%</nowiki>".join(f"%%{part}%%" if part else "" for part in shown.split("%%"))


def link(address: str) -> str:
    """An address as DokuWiki links it by itself; plain text where it is not a safe address.

    DokuWiki links only schemes of its list. Programs that read its pages (pandoc) link ``javascript:``, too, so other
    addresses are always quoted.
    """
    if _SAFE_URL.fullmatch(address) and "__" not in address and "//" not in address[8:]:
        return address
    shown = cell(address)
    return f"%%{shown}%%" if ":" in shown and "%%" not in shown else shown


def heading(text: str) -> str:
    """Text of a heading, which cannot hold ``%%``: signs with a meaning are left out of it."""
    return re.sub(r"={2,}|[\[\]{}<>|^*~%\\]|//+|__+|''+|--+", " ", visible(text)).strip() or "Campaign"


def _code(text: str) -> str:
    return f"''{cell(text)}''"
