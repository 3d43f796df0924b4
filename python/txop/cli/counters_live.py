"""``txop counters --target``: a line for each interval, and the report from the first reading to the last."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT
from typing import TYPE_CHECKING

from txop.cli import console
from txop.cli.chosen_target import chosen_target
from txop.cli.console import safe_text
from txop.cli.ending import Ending
from txop.core.errors import ExitCode, UserError
from txop.counters import CountersReport, Paste, analyse, split
from txop.present import format as fmt
from txop.targets.contract import Target, TargetError

if TYPE_CHECKING:
    from rich.console import Console

SHORTEST_S = 0.5
LONGEST_S = 3_600.0
TIMEOUT_S = 20.0
MOST_STATIONS = 16
"""Peers with tables of rates that are read."""
FILE_LIMIT_BYTES = 1 << 18
OUTPUT_LIMIT_CHARACTERS = 1 << 20
"""Limit for one command in one reading."""
_FILES = ("rc_stats", "airtime", "aqm", "aql")
"""Files of each station in mac80211's debugfs."""
_EVERY = re.compile(r"(?P<number>[0-9]{1,6}(?:\.[0-9]{1,3})?)(?P<unit>ms|s|m|min)?")
_INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")
_ADDRESS = re.compile(r"^Station ([0-9a-f]{2}(?::[0-9a-f]{2}){5}) ", re.MULTILINE)
_PHY = re.compile(r"phy[0-9]{1,4}|[A-Za-z0-9_-]{1,32}")

COLUMNS = (
    ("tx", "Mbit/s", ("tx-mbit-s",)),
    ("rx", "Mbit/s", ("rx-mbit-s",)),
    ("retries", "%", ("tx-retry-percent",)),
    ("lost", "%", ("tx-failed-percent",)),
    ("tx rate", "Mbit/s", ("tx-rate",)),
    ("signal", "dBm", ("signal-average-dbm", "signal-dbm")),
    ("busy", "%", ("channel-busy-percent",)),
    ("sending", "%", ("channel-tx-percent",)),
)
"""Columns of the lines of intervals: heading, unit, codes of the figure."""


@dataclass
class _Readings:
    first: Paste | None = None
    last: Paste | None = None
    intervals: int = 0
    lost: str | None = None
    """Why the readings ended early."""
    missing: dict[str, str] = field(default_factory=dict)
    """What could not be read, and why; each is printed once."""


def follow(
    target: str, plan: Path | None, interface: str | None, every: str, count: int | None, *, quiet: bool
) -> CountersReport:
    """Read ``target`` until Ctrl-C or for ``count`` intervals; ``quiet``: without a line for each. Raises
    :class:`UserError`."""
    every_s = seconds_of(every)
    machine = chosen_target(target, plan)
    name = interface or machine.interface
    if name is None:
        raise UserError("no interface given", what_to_do="name one: --interface wlan0")
    if _INTERFACE.fullmatch(name) is None:
        raise UserError(f"{name!r} is not the name of an interface", where="--interface")
    seen = _Readings()
    with Ending() as ending:
        try:
            ending.run(_readings(machine, name, every_s, count, seen, None if quiet else console.stdout()))
        except KeyboardInterrupt:
            if ending.number not in (None, SIGINT):
                raise SystemExit(128 + ending.number) from None
            if not seen.intervals:
                raise
        except TargetError as error:
            if not seen.intervals:
                raise UserError(error.what, where=error.target, exit_code=ExitCode.MISSING) from None
            seen.lost = error.what
    if seen.last is None:
        raise UserError("nothing was read", where=target, exit_code=ExitCode.MISSING)
    err = console.stderr()
    for what, why in seen.missing.items():
        err.print(safe_text(f"Not read: {what}: {why}", "dim"), soft_wrap=True)
    if seen.lost is not None:
        err.print(safe_text(f"Warning: {target}: {seen.lost}. The report is of what came before.", "yellow"))
    report = analyse(seen.first if seen.intervals else None, seen.last)
    report.cut = report.cut or seen.lost is not None
    return report


def seconds_of(text: str) -> float:
    """An interval as it is written on the command line. Raises :class:`UserError`.

    >>> seconds_of("5s"), seconds_of("500ms"), seconds_of("2"), seconds_of("1m")
    (5.0, 0.5, 2.0, 60.0)
    """
    found = _EVERY.fullmatch(text.strip())
    scale = {"ms": 0.001, "m": 60.0, "min": 60.0}
    seconds = float(found["number"]) * scale.get(found["unit"] or "s", 1.0) if found is not None else 0.0
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise UserError(
            f"{text!r} is not an interval", where="--every", what_to_do="give 0.5s to 3600s, such as 5s or 500ms"
        )
    return seconds


async def _readings(
    target: Target, interface: str, every_s: float, count: int | None, seen: _Readings, out: Console | None
) -> None:
    await target.connect()
    try:
        started = time.monotonic()
        seen.first = seen.last = await _reading(target, interface, seen)
        if out is not None:
            out.print(_line(["time", *(f"{name} {unit}" for name, unit, _ in COLUMNS)]), soft_wrap=True)
        while count is None or seen.intervals < count:
            due = started + (seen.intervals + 1) * every_s
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            reading = await _reading(target, interface, seen)
            if out is not None:
                passed_s = time.monotonic() - started
                out.print(_line(_row(analyse(seen.last, reading), passed_s)), soft_wrap=True)
            seen.last = reading
            seen.intervals += 1
    finally:
        await target.close()


def _line(cells: list[str]) -> str:
    return "  ".join(cell.rjust(14 if number else 8) for number, cell in enumerate(cells)).rstrip()


def _row(report: CountersReport, passed_s: float) -> list[str]:
    """An interval: of the peer with most packets, and of the channel in use."""
    cells = [f"{passed_s:.0f} s"]
    packets = {
        figure.subject.station: float(figure.value)
        for figure in report.figures
        if figure.code == "tx-packets" and figure.subject.kind == "iw-station" and figure.value is not None
    }
    busiest = max(packets, key=lambda station: packets[station], default=None)
    for _, unit, codes in COLUMNS:
        value = next(
            (
                figure.value
                for code in codes
                for figure in report.figures
                if figure.code == code
                and figure.value is not None
                and (figure.subject.kind == "iw-survey" or figure.subject.station == busiest)
                and figure.window in ("difference", "now")
            ),
            None,
        )
        digits = 0 if unit == "dBm" else 1
        cells.append(fmt.figure(None if value is None else float(value), digits))
    return cells


async def _reading(target: Target, interface: str, seen: _Readings) -> Paste:
    """One reading, as a text such as people paste."""
    iw = await target.find("iw")
    if iw is None:
        raise TargetError(target.name, "it has no iw")
    lines: list[str] = []
    stations = await _command(target, [iw, "dev", interface, "station", "dump"], lines, seen, essential=True)
    await _command(target, [iw, "dev", interface, "survey", "dump"], lines, seen)
    ethtool = await target.find("ethtool")
    if ethtool is None:
        seen.missing.setdefault("ethtool", "the machine does not have it")
    else:
        await _command(target, [ethtool, "-i", interface], lines, seen)
        await _command(target, [ethtool, "-S", interface], lines, seen)
    name = await target.read(f"/sys/class/net/{interface}/phy80211/name")
    phy = (name or b"").decode("ascii", "replace").strip()
    paths = ["/proc/net/wireless"]
    if _PHY.fullmatch(phy) is not None:
        folder = f"/sys/kernel/debug/ieee80211/{phy}"
        addresses = _ADDRESS.findall(stations)[:MOST_STATIONS]
        paths += [f"{folder}/netdev:{interface}/stations/{address}/{file}" for address in addresses for file in _FILES]
        paths += [f"{folder}/ath9k/xmit", f"{folder}/mt76/tx_stats", f"{folder}/ath10k/fw_stats"]
    for path, content in zip(paths, await target.read_several(*paths, limit_bytes=FILE_LIMIT_BYTES), strict=True):
        if content is None:
            continue
        lines += ["", f"$ cat {path}", *content.decode("utf-8", "replace").split("\n")]
    return split(target.name, lines)


async def _command(
    target: Target, argv: list[str], lines: list[str], seen: _Readings, *, essential: bool = False
) -> str:
    ran = await target.run(argv, timeout_s=TIMEOUT_S)
    text = ran.stdout[:OUTPUT_LIMIT_CHARACTERS]
    words = [argv[0].rpartition("/")[2], *argv[1:]]
    if not ran.ok:
        said = (ran.stderr.strip().splitlines() or [f"it ended with {ran.status}"])[-1]
        if essential:
            raise TargetError(target.name, f"{' '.join(words)}: {said}")
        seen.missing.setdefault(" ".join(words), said)
        return ""
    lines += ["", f"$ {' '.join(words)}", *text.split("\n")]
    return text
