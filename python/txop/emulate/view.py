"""The account of an emulated link in sections, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from txop.emulate.hosts import Host
from txop.emulate.model import FileStatus, Pair
from txop.emulate.status import EmulationStatus
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Section


def sections(status: EmulationStatus, hosts: Sequence[Host]) -> list[Section]:
    """The sections."""
    found = [_pairs(status, hosts)]
    if any(host.airtime_s is not None for host in status.hosts):
        found.append(_airtime(status))
    return [*found, _timing(status)]


def verdict(status: EmulationStatus) -> str:
    """Whether the figures can be used, in a sentence."""
    if status.timing.valid:
        return "valid: this host kept up with the link"
    return f"invalid: {status.timing.reason}"


def _pairs(status: EmulationStatus, hosts: Sequence[Host]) -> Section:
    columns = (
        Column("From", right=False), Column("To", right=False), Column("Goodput, Mbit/s"), Column("Over, s", rank=3),
        Column("Packets"), Column("Dropped"), Column("Causes", right=False, rank=2),
        Column("In the link, median, ms"), Column("99 %, ms", rank=2),
    )  # fmt: skip
    rows = [
        (
            Cell(hosts[pair.from_].name),
            Cell(hosts[pair.to].name),
            Cell(fmt.number(pair.goodput_mbit_s, 2), pair.goodput_mbit_s),
            Cell(fmt.number(pair.delivering_s, 2), pair.delivering_s),
            Cell(fmt.count(pair.packets_delivered), pair.packets_delivered),
            Cell(fmt.count(sum(pair.drops.values())), sum(pair.drops.values())),
            Cell(_causes(pair)),
            _ms(pair.delay.p50_us),
            _ms(pair.delay.p99_us),
        )
        for pair in status.pairs
    ]
    note = "Goodput of IP packets, headers included, from the first delivery to the last."
    facts = Facts([Fact("Link", f"{status.link}, {fmt.number(status.seconds, 1)} s"), Fact("Origin", status.origin)])
    grid: list[Block] = [Grid("", columns, rows, note, "pairs")] if rows else []
    return Section("traffic", 1, "Traffic", [facts, *grid], () if rows else ("no packets went over the link",))


def _ms(us: float | None) -> Cell:
    return Cell(fmt.number(None if us is None else us / 1e3, 2), us)


def _causes(pair: Pair) -> str:
    return ", ".join(cause.replace("_", " ") for cause in sorted(pair.drops, key=lambda cause: -pair.drops[cause]))


def _airtime(status: EmulationStatus) -> Section:
    columns = (Column("Station", right=False), Column("Airtime, s"), Column("Of the run, %"))
    rows = [
        (
            Cell(host.name),
            Cell(fmt.number(host.airtime_s, 3), host.airtime_s),
            Cell(fmt.share(host.airtime_s / status.seconds if status.seconds else None), host.airtime_s),
        )
        for host in status.hosts
        if host.airtime_s is not None
    ]
    return Section("airtime", 2, "Airtime", [Grid("", columns, rows, "", "stations")])


def _timing(status: EmulationStatus) -> Section:
    timing = status.timing
    late = timing.late_release
    scheduling = "real-time" if timing.real_time else "ordinary"
    facts = [
        Fact("Verdict", verdict(status), tone="good" if timing.valid else "bad"),
        Fact("Released late", f"{_us(late.p50_us)} (median), {_us(late.p99_us)} (99 %), {_us(late.max_us)} (most)"),
        Fact("More than 1 ms late", f"{fmt.count(timing.late)} of {fmt.count(timing.releases)} packets"),
        Fact("Lost before the link", f"{fmt.count(timing.lost_in_devices)} packets"),
        Fact("CPU of the emulator", f"{fmt.share(timing.cpu_share)} of one, {scheduling} scheduling"),
    ]
    for what, file in (("Capture of the air", status.air), ("Capture of the bus", status.usb)):
        if file is not None:
            facts.append(Fact(what, _file(file)))
    return Section("timing", 3, "Timing", [Facts(facts)])


def _us(value: float | None) -> str:
    return fmt.duration_us(value)


def _file(file: FileStatus) -> str:
    text = f"{file.path}: {fmt.count(file.records)} records"
    if file.dropped:
        text += f", {fmt.count(file.dropped)} left out"
    return text if file.error is None else f"{text}; {file.error}"
