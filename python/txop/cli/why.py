"""``txop why``: where the time of a run's packets went, and what makes two arms of an archive differ."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.why_causes import explain
from txop.core.errors import ExitCode, UserError
from txop.present import format as fmt

if TYPE_CHECKING:
    from rich.console import Console

    from txop.timeline.packet import Packet
    from txop.timeline.shares import Distribution, Way
    from txop.timeline.trace_file import Recorded

_WAYS = 2
"""Ways on one screen: those with most bytes."""


def register(app: typer.Typer) -> None:
    """Add ``txop why``."""
    app.command(
        name="why",
        epilog=epilog(
            [
                ("txop why run.json.gz", "where the time of each stage went, one screen"),
                ("txop why run.json.gz --packet 117", "one packet, point by point"),
                ("txop why run.json.gz --json | jq '.ways[0].stages'", "for scripts"),
                ("txop why campaign", "causes of an effect, of an archive that has all combinations of changes"),
                ("txop why campaign --arm p10-8-7 --figure tx.throughput_mbit_s", "of this arm and figure"),
            ],
            [
                "RUN is a file of `txop guest run --timeline`, which ui.perfetto.dev opens, too, or the archive of a "
                "plan of `txop plan causes`.",
                "With no packet that arrived, and with combinations that are missing, the exit code is 5; with events "
                "that found no room in the guest, 4.",
            ],
        ),
    )(why)


def why(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A file of `txop guest run --timeline`, or an archive.")],
    packet: Annotated[
        int | None, typer.Option("--packet", metavar="N", min=0, help="One packet, point by point.")
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Every protocol and direction.")] = False,
    arm: Annotated[str | None, typer.Option("--arm", metavar="NAME", help="Of an archive: the arm to explain.")] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="NAME", help="The arm to explain it against; default: the baseline."),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            "--figure", metavar="TEST.METRIC", help="Of an archive: the figure; default: the first primary one."
        ),
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Follow the packets of a guest's run through all stages, or tell the causes of an effect apart."""
    from txop.timeline.shares import kinds, way
    from txop.timeline.trace_file import read_recorded

    if "://" in run or Path(run).is_dir():
        if packet is not None or show_all:
            raise UserError("an archive has no packets", where="--packet" if packet is not None else "--all")
        return explain(run, arm, against, figure, json=json)
    if arm is not None or against is not None or figure is not None:
        raise UserError("--arm, --against and --figure go with an archive", where=run)
    found = read_recorded(Path(run))
    if found.lost_events:
        console.warn(
            f"{fmt.plural(found.lost_events, 'event')} found no room in the guest: packets may lack points. "
            "Trace a shorter command."
        )
    if found.disordered:
        console.warn(
            f"{fmt.plural(found.disordered, 'packet')} left the air before the driver had them: clocks differ."
        )
    doubtful = bool(found.lost_events or found.disordered)
    if packet is not None:
        return _one(found, packet, json=json) or (ExitCode.PARTIAL if doubtful else ExitCode.OK)
    ways = [way(group, found.path(by_device=group[0][1].by_device)) for group in kinds(found.packets)]
    if json:
        console.write_json(_document(found, ways))
    else:
        _show(console.stdout(), found, ways, show_all=show_all)
    if doubtful:
        return ExitCode.PARTIAL
    return ExitCode.OK if any(each.packets for each in ways) else ExitCode.UNDECIDED


def _document(found: Recorded, ways: list[Way]) -> dict[str, object]:
    return {
        "format": "txop-why",
        "version": 1,
        "device": found.device,
        "driver": found.driver,
        "seconds": found.seconds,
        "lost_events": found.lost_events,
        "disordered": found.disordered,
        "missing": list(found.missing),
        "ways": [asdict(each) for each in ways],
    }


def _title(way: Way) -> str:
    who = "Sent by the device" if way.by_device else "Received by the device"
    what = way.protocol
    if way.protocol == "TCP":
        what = "TCP data" if way.with_payload else "TCP acknowledgements"
    lost = f", {fmt.count(way.not_arrived)} did not arrive" if way.not_arrived else ""
    tries = "" if way.tries is None else f", {fmt.number(way.tries, 2)} transmissions each"
    return f"{who}: {what}, {fmt.plural(way.packets, 'packet')}{lost}{tries}"


def _show(out: Console, found: Recorded, ways: list[Way], *, show_all: bool) -> None:
    out.print(safe_text(f"{found.device}, {found.driver}: {fmt.number(found.seconds, 2)} s of an exact guest"))
    shown = ways if show_all else ways[:_WAYS]
    for way in shown:
        out.print()
        out.print(safe_text(_title(way)), soft_wrap=True)
        _table(out, way)
        out.print(safe_text(_accounted(way)), soft_wrap=True)
        beside = [
            f"{name} {_times(times)}"
            for name, times in (("acknowledgement", way.acknowledged), ("then until mac80211 knows", way.completed))
            if times is not None
        ]
        if beside:
            out.print(safe_text(f"Beside the way (p50, p95): {'; '.join(beside)}"), soft_wrap=True)
        if way.slowest is not None:
            out.print(safe_text(f"The slowest: --packet {way.slowest}"))
    if len(ways) > len(shown):
        out.print()
        out.print(safe_text(f"{fmt.plural(len(ways) - len(shown), 'more kind')} of packets: --all"))


def _times(times: Distribution) -> str:
    return f"{_us(times.p50_ns)}, {_us(times.p95_ns)}"


def _us(time_ns: int) -> str:
    return fmt.duration_us(time_ns / 1000)


def _table(out: Console, way: Way) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("stage")
    for name in ("share", "p50", "p95", "p99", "n"):
        table.add_column(name, justify="right")
    for stage in way.stages:
        times = stage.times
        row = (fmt.share(stage.share), _us(times.p50_ns), _us(times.p95_ns), _us(times.p99_ns), fmt.count(times.n))
        table.add_row(stage.name, *row)
    if way.unattributed:
        table.add_row("unknown: a point is missing", fmt.share(way.unattributed))
    if way.total is not None:
        total = way.total
        row = (fmt.share(1.0), _us(total.p50_ns), _us(total.p95_ns), _us(total.p99_ns), fmt.count(total.n))
        table.add_row("in all", *row)
    out.print(table)


def _accounted(way: Way) -> str:
    return (
        f"Attributed: {fmt.share(1 - way.unattributed)} of the time; {fmt.share(way.accounted)} of the packets to "
        "99 % or more"
    )


def _one(found: Recorded, number: int, *, json: bool) -> int:
    if number >= len(found.packets):
        raise UserError(
            f"there is no packet {number}", where="--packet", what_to_do=f"the last is {len(found.packets) - 1}"
        )
    packet = found.packets[number]
    if json:
        from txop.timeline.packet import spans

        path = found.path(by_device=packet.by_device)
        console.write_json(
            {
                "format": "txop-why-packet",
                "version": 1,
                "number": number,
                **{name: value for name, value in asdict(packet).items() if name != "points"},
                "points_ns": {str(point): time for point, time in sorted(packet.points.items(), key=lambda at: at[1])},
                "stages": [
                    {"name": span.stage and span.stage.name, "begin_ns": span.begin_ns, "end_ns": span.end_ns}
                    for span in spans(packet, path)
                ],
            }
        )
    else:
        _show_one(console.stdout(), found, packet, number)
    return ExitCode.OK if packet.total_ns is not None else ExitCode.UNDECIDED


def _show_one(out: Console, found: Recorded, packet: Packet, number: int) -> None:
    from rich.table import Table

    from txop.timeline.packet import spans

    out.print(
        safe_text(
            f"Packet {number}: {packet.protocol}, {packet.length} bytes, {packet.source} to {packet.target}, "
            f"{fmt.plural(packet.tries, 'transmission')}"
        ),
        soft_wrap=True,
    )
    if packet.total_ns is None:
        out.print(safe_text(f"It did not arrive; seen last: {list(packet.points)[-1]}"))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("at, s", justify="right")
    table.add_column("stage")
    for name in ("takes", "share"):
        table.add_column(name, justify="right")
    for span in spans(packet, found.path(by_device=packet.by_device)):
        name = "unknown: a point is missing" if span.stage is None else span.stage.name
        part = span.length_ns / packet.total_ns if packet.total_ns else 0.0
        table.add_row(f"{span.begin_ns / 1e9:.9f}", name, _us(span.length_ns), fmt.share(part))
    end = packet.points[packet.ends or packet.begins]
    table.add_row(f"{end / 1e9:.9f}", "arrived", _us(packet.total_ns), "")
    out.print(table)
