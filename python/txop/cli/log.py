"""``txop log``: name the faults in kernel logs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.screen_lines import cut
from txop.core.errors import ExitCode, UserError
from txop.present import format as fmt

if TYPE_CHECKING:
    from txop.log import Fault, LogReport, Moment, RuleSet, Unnamed

_STDIN = "-"
_STYLES = {"error": "bold red", "warning": "yellow", "info": "dim"}


def register(app: typer.Typer) -> None:
    """Add ``txop log``."""
    app.command(
        name="log",
        epilog=epilog(
            [
                ("dmesg | txop log -", "what went wrong since boot"),
                ("journalctl -k -b -1 -o json | txop log -", "in the boot before this one"),
                ("txop log --target root@gateway", "of another machine, over SSH"),
                ("txop log kern.log.2.gz --all", "with details, and what is informational"),
                ("txop log dmesg.txt --json | jq '.faults[] | {key, device, count}'", "for scripts"),
                ("txop log dmesg.txt --rules my-driver.toml", "with rules of your own"),
            ],
            [
                "Any form of log is read: dmesg with all its options, /dev/kmsg, journalctl, syslog, or text copied"
                " from a web page; gzip too.",
                "With --exit-code, exit code 1 means that there is a fault of severity error. A damaged log gives"
                " exit code 4, one without a kernel message 5.",
            ],
        ),
    )(log)


def log(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="Kernel logs; - for stdin.", show_default=False)
    ] = None,
    json: JsonFlag = False,
    show_all: Annotated[
        bool,
        typer.Option("--all", help="Show a table with details, lines of the log, and what is informational."),
    ] = False,
    rules: Annotated[
        list[Path] | None, typer.Option(metavar="FILE|FOLDER", help="More rules (TOML); may be repeated.")
    ] = None,
    list_rules: Annotated[bool, typer.Option("--list-rules", help="Show the rules in use, and read no log.")] = False,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", metavar="MACHINE", help="Read this machine's log: local, [user@]host[:port], or see --plan."
        ),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="PLAN", help="--target is the name of a target of this plan.")
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 when there is a fault of severity error.")
    ] = False,
) -> int:
    """Name the faults in kernel logs: firmware, USB, Wi-Fi, SDIO and kernel faults, and what is known of each."""
    from txop.log import RuleError, load_rules

    try:
        chosen = load_rules(rules or ())
    except RuleError as error:
        raise UserError(str(error), what_to_do="see docs/kernel-log.md for what a rule file looks like") from error
    if list_rules:
        if files:
            raise UserError("--list-rules reads no log", what_to_do="leave the files out")
        _list_rules(chosen, json=json)
        return ExitCode.OK
    if plan is not None and target is None:
        raise UserError("--plan goes with --target", what_to_do="name a target of the plan: --target dut")
    files = files or []
    if not files and target is None:
        raise UserError("no log given", what_to_do="name a file, or pipe one in: dmesg | txop log -")
    if files.count(_STDIN) > 1:
        raise UserError("stdin (-) can be read only once")
    reports = [_read(name, chosen) for name in files]
    if target is not None:
        from txop.cli.log_target import fetch
        from txop.log.naming import read_log

        reports.append(read_log(fetch(target, plan), rules=chosen, source=target))
    if json:
        _write_json(reports)
    else:
        out = console.stdout()
        for index, report in enumerate(reports):
            if index:
                out.print()
            _show(out, report, show_all=show_all)
            if index < len(files):
                _point_to_other_parts(out, report)
    code = _warn(reports)
    if exit_code and any(report.worst() == "error" for report in reports):
        return ExitCode.VERDICT_NO
    return code


def _read(name: str, rules: RuleSet) -> LogReport:
    from txop.log.naming import read_log

    if name == _STDIN:
        return read_log(sys.stdin.buffer, rules=rules, source=name)
    return read_log(Path(name), rules=rules, source=name)


def _write_json(reports: Sequence[LogReport]) -> None:
    if len(reports) == 1:
        console.write_json(reports[0].model_dump_json(indent=2))
    else:
        logs = ",\n".join(report.model_dump_json(indent=2) for report in reports)
        console.write_json(f'{{"format": "txop-logs", "version": 1, "logs": [\n{logs}\n]}}')


def _warn(reports: Sequence[LogReport]) -> ExitCode:
    code = ExitCode.OK
    for report in reports:
        if report.damage is not None:
            console.warn(f"{report.source}: {report.damage}. The result covers what came before.")
            code = ExitCode.PARTIAL
        elif not report.recognised:
            console.warn(f"{report.source} has no line that is known to be a kernel message.")
            code = code or ExitCode.UNDECIDED
    return code


def _show(out: Console, report: LogReport, *, show_all: bool) -> None:
    out.print(safe_text(_heading(report), "bold"), soft_wrap=True)
    shown = [fault for fault in report.faults if show_all or fault.severity != "info"]
    hidden = len(report.faults) - len(shown)
    if shown and show_all:
        out.print(_table(shown, report))
        out.print()
        _explain(out, shown)
    elif shown:
        _list(out, shown, len(report.boots))
    elif not report.recognised:
        out.print("No kernel message was recognised, so no faults could be looked for.")
    else:
        out.print(_nothing_named(report, hidden), soft_wrap=True)
    for note in _notes(report, hidden if shown else 0):
        out.print(safe_text(note, "dim"), soft_wrap=True)


_MOST_LISTED = 30
"""Faults in the list; the worst come first."""


def _list(out: Console, faults: Sequence[Fault], boots: int) -> None:
    """For each fault: how often, how bad, what, of which device; its first line; what to do, once for each kind."""
    counts = [_count(fault, boots) for fault in faults[:_MOST_LISTED]]
    widest = max(map(len, counts))
    told: set[str] = set()
    for fault, count in zip(faults, counts, strict=False):
        line = safe_text(f"{count:>{widest}}  ")
        line.append_text(safe_text(f"{fault.severity:<7}  ", _STYLES[fault.severity]))
        device = ", ".join(part for part in (fault.device, fault.driver) if part)
        line.append_text(safe_text(f"{fault.title}{f' - {device}' if device else ''}", "not bold not dim default"))
        out.print(line, soft_wrap=True)
        out.print(Padding(safe_text(_first_line(fault, out.width - widest - 11)), (0, 0, 0, widest + 11), expand=False))
        if fault.key not in told:
            told.add(fault.key)
            out.print(Padding(safe_text(_what_to_do(fault)), (0, 0, 0, widest + 11), expand=False))
    if len(faults) > _MOST_LISTED:
        out.print(f"{len(faults) - _MOST_LISTED} more: --all")
    out.print("With details and lines of the log: --all")


def _first_line(fault: Fault, room: int) -> str:
    """The first line of the log that shows a fault, and its number; of a kernel warning the place without its folders,
    the function and the text."""
    values = {value.name: value.text for value in fault.values}
    message = fault.message
    if "place" in values and fault.function is not None:
        text = f": {values['text']}" if "text" in values else ""
        message = f"{values['place'].rpartition('/')[2]}, {fault.function}{text}"
    return cut(f"Line {fault.first.line}: {message}", max(room, 20))


def _what_to_do(fault: Fault) -> str:
    """What a list says below a fault."""
    if fault.is_consequence():
        return f"Probably because of {' or '.join(cause.title for cause in fault.after[:3])}: look at that first."
    return f"To do: {fault.do}"


def _nothing_named(report: LogReport, hidden: int) -> str:
    """What is printed when no rule names a fault: that there is none only when nothing looks like one."""
    read = report.lines.kernel + report.lines.bare
    messages = f"{read:,} {'line was' if read == 1 else 'lines were'} read as kernel messages"
    if report.unnamed is not None and report.unnamed.count:
        return f"No rule names a fault, but some messages look like errors ({messages}):"
    only = ", only information (--all shows it)" if hidden else ""
    return f"No faults found{only}: {messages}, and none looks like an error."


def _point_to_other_parts(out: Console, report: LogReport) -> None:
    """Name the parts of a mixed paste that other commands read."""
    from txop.cli.counter_parts import MOST_LINES, other_parts

    if report.source != _STDIN and report.lines.bare and report.lines.read <= MOST_LINES:
        for note in other_parts(report.source):
            out.print(safe_text(note, "dim"), soft_wrap=True)


def _heading(report: LogReport) -> str:
    lines = report.lines
    forms = report.forms[0].title if report.forms and report.recognised else "no kernel messages"
    text = f"{report.source}: {lines.read:,} {'line' if lines.read == 1 else 'lines'} ({forms})"
    if len(report.boots) > 1:
        text += f", {len(report.boots)} boots"
    kernels = list(dict.fromkeys(boot.kernel for boot in report.boots if boot.kernel))
    if kernels:
        text += f", Linux {', '.join(kernels[:3])}"
    return text


def _table(faults: Sequence[Fault], report: LogReport) -> Table:
    boots = len(report.boots)
    rows = Table()
    for title in ("Severity", "Fault", "Device", "Driver", "Details"):
        rows.add_column(title, overflow="fold")
    rows.add_column("Count", justify="right")
    rows.add_column("First")
    rows.add_column("Last")
    for fault in faults:
        rows.add_row(
            safe_text(fault.severity, _STYLES[fault.severity]),
            safe_text(fault.title),
            safe_text(fault.device or "–"),
            safe_text(fault.driver or "–"),
            safe_text(_details(fault)),
            safe_text(_count(fault, boots)),
            safe_text(_moment(fault.first, boots)),
            safe_text(_moment(fault.last, boots)),
        )
    return rows


_WHOLE = frozenset({"what"})
"""Values that are a part of the message; it is shown whole instead."""


def _details(fault: Fault) -> str:
    parts = [f"in {fault.function}"] if fault.function else []
    names = dict.fromkeys(value.name for value in fault.values)
    if not names or _WHOLE.intersection(names):
        parts.append(fault.message)
    for name in names:
        if name in _WHOLE:
            continue
        shown = fault.message if _WHOLE.intersection(names) else ""
        values = [value for value in fault.values if value.name == name and (value.meaning or value.text not in shown)]
        if not values:
            continue
        texts = [f"{value.text} {value.meaning}" if value.meaning else value.text for value in values]
        parts.append(f"{name.replace('_', ' ')} {', '.join(texts)}")
    return "; ".join(parts) + (" …" if fault.values_left_out else "")


def _count(fault: Fault, boots: int) -> str:
    text = f"{fault.count:,}"
    if boots > 1 and len(fault.counts) > 1:
        listed = " + ".join(f"{entry.count:,}" for entry in fault.counts[:4])
        text += f" ({listed}{' + …' if len(fault.counts) > 4 else ''})"
    if fault.suppressed:
        text += f", and {fault.suppressed:,} left out by the kernel"
    return text


_STORM = 10
"""From so many times on, the rate is printed."""


def _rate(fault: Fault) -> str | None:
    if fault.rate is None or fault.count < _STORM:
        return None
    per_s = fault.rate.per_s
    pace = f"{per_s:,.3g} a second" if per_s >= 1 else f"{per_s * 60:,.2g} a minute" if per_s >= 1 / 60 else None
    if pace is None:
        pace = f"{per_s * 3600:,.2g} an hour"
    return f"{fault.count:,} times in {fault.rate.over_s:,.3g} s ({pace}); at most {fault.rate.busiest_10_s:,} in 10 s."


def _moment(moment: Moment, boots: int) -> str:
    if moment.time_s is not None:
        text = f"{moment.time_s:.3f} s"
    elif moment.clock is not None:
        text = moment.clock
    else:
        text = f"line {moment.line:,}"
    return f"boot {moment.boot + 1}, {text}" if boots > 1 else text


def _explain(out: Console, faults: Sequence[Fault]) -> None:
    """What is known of each kind of fault, with a line of the log."""
    shown: set[str] = set()
    for fault in faults:
        if fault.key in shown:
            continue
        shown.add(fault.key)
        heading = safe_text(fault.title, _STYLES[fault.severity])
        heading.append(f"  {fault.key}", style="dim not bold")
        out.print(heading)
        if fault.examples:
            out.print(safe_text(f"  {fault.examples[0].strip()[:300]}", "cyan"), soft_wrap=True)
        for frame in fault.frames[:4]:
            out.print(safe_text(f"    {frame}", "dim cyan"), soft_wrap=True)
        for text in _sentences(fault):
            out.print(Padding(safe_text(text), (0, 0, 0, 2)))
        out.print()


def _sentences(fault: Fault) -> list[str]:
    """What is known of a fault. Where it is a consequence, its cause is to be looked at, and not the fault itself."""
    said = [rate] if (rate := _rate(fault)) is not None else []
    if fault.is_consequence():
        causes = " or ".join(f'"{cause.title}" ({cause.key})' for cause in fault.after[:3])
        return [*said, fault.known, f"It came shortly after {causes}, which is probably its cause: look at that first."]
    for cause in fault.after[:3]:
        said.append(f'{cause.count:,} of {fault.count:,} came shortly after "{cause.title}" ({cause.key}).')
    return [*said, fault.known, f"To do: {fault.do}"]


def _notes(report: LogReport, hidden: int) -> list[str]:
    notes = []
    if hidden:
        notes.append(f"{hidden} more that are only information: --all shows them.")
    if report.faults_left_out:
        notes.append(f"{report.faults_left_out:,} occurrences are not listed: too many different faults.")
    for gap in report.gaps[:5]:
        lost = "" if gap.lost is None else f" ({gap.lost:,})"
        notes.append(f"Messages are missing at line {gap.where.line:,}: {gap.kind}{lost}.")
    if (more := len(report.gaps) - 5 + report.gaps_left_out) > 0:
        notes.append(f"Messages are missing in {more:,} more places.")
    if report.unnamed is not None and report.unnamed.count:
        notes += _unnamed(report.unnamed)
    if report.lines.prefix_skipped:
        notes.append(
            f"In front of {fmt.plural(report.lines.prefix_skipped, 'message')} stood a prefix that is not known; "
            "it was left out."
        )
    if report.lines.not_understood:
        notes.append(f"Left out as they are not text: {fmt.plural(report.lines.not_understood, 'line')}.")
    if report.lines.cut:
        notes.append(f"Cut as they are too long: {fmt.plural(report.lines.cut, 'line')}.")
    return notes


_SHOWN_UNNAMED = 12


def _unnamed(unnamed: Unnamed) -> list[str]:
    look = "message looks like an error, and no rule names it"
    if unnamed.count > 1:
        look = "messages look like errors, and no rule names them; the first of each kind"
    notes = [f"{unnamed.count:,} {look}:"]
    for line, times in list(zip(unnamed.examples, unnamed.times, strict=True))[:_SHOWN_UNNAMED]:
        notes.append(f"  {line.strip()[:300]}" + (f"  ({times:,} times)" if times > 1 else ""))
    if (more := len(unnamed.examples) - _SHOWN_UNNAMED) > 0:
        notes.append(f"  … and {more} more kinds (--json lists them).")
    return notes


def _list_rules(rules: RuleSet, *, json: bool) -> None:
    if json:
        listed = [rule.model_dump(mode="json") for rule in rules.rules.values()]
        console.write_json({"format": "txop-log-rules", "version": 1, "rules": listed})
        return
    table = Table()
    for title in ("Key", "Severity", "Subsystem", "Drivers", "Names"):
        table.add_column(title, overflow="fold")
    for rule in rules.rules.values():
        table.add_row(
            safe_text(rule.key),
            safe_text(rule.severity, _STYLES[rule.severity]),
            safe_text(rule.subsystem),
            safe_text(", ".join(rule.drivers)),
            safe_text(rule.title),
        )
    console.stdout().print(table)
