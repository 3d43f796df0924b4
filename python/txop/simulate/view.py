"""A simulation in sections of text and tables, the same for the terminal and for the HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from txop.air.model import Waterfall
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Lines, Plot, Section
from txop.present.format import capital
from txop.simulate.model import FlowResult, Point, Run
from txop.simulate.simulation import Simulation, summary_of
from txop.simulate.use import use_of

MOST_HEADLINE_FLOWS = 4
"""Flows named in the headline of a page."""

_TITLES = {
    "goodput_mbit_s": "Goodput",
    "latency_p50_ms": "Latency, median",
    "latency_p95_ms": "Latency, 95 %",
    "retry_percent_up": "Retries up",
    "retry_percent_down": "Retries down",
    "mean_aggregate_up": "Aggregate up",
    "mean_aggregate_down": "Aggregate down",
    "airtime_jain": "Jain's index",
}


def sections(simulation: Simulation) -> list[Section]:
    """The sections."""
    found = [_about(simulation)]
    if len(simulation.points) > 1:
        found.append(_sweep(simulation, len(found) + 1))
    else:
        point = simulation.points[0]
        found.append(_flows(point, len(found) + 1))
        if point.runs[0].air is not None:
            found.append(_stations(point, len(found) + 1))
        if point.runs[0].waterfalls:
            found.append(_waterfall(point.runs[0].waterfalls, len(found) + 1))
        if used := use_of(simulation, point.runs[0]):
            found.append(_use(used, point, len(found) + 1))
        if point.runs[0].bus:
            found.append(_bus(point, len(found) + 1))
    return found


def headline(simulation: Simulation) -> list[tuple[str, str]]:
    """The figures that a page begins with, each with its label: goodput of all flows and of each, RTT of echoes.
    Empty for a sweep, with figures that are a table."""
    if len(simulation.points) > 1:
        return []
    point = simulation.points[0]
    flows = point.runs[0].flows[:MOST_HEADLINE_FLOWS]
    found = []
    if len(flows) > 1 and summary_of(point, "goodput_mbit_s") is not None:
        found.append((_spread(point, "goodput_mbit_s", None, 1, " Mbit/s").text, "goodput of all flows"))
    for flow in flows:
        if summary_of(point, "goodput_mbit_s", flow.name) is not None:
            found.append((_spread(point, "goodput_mbit_s", flow.name, 1, " Mbit/s").text, f"goodput of {flow.name}"))
        elif summary_of(point, "latency_p50_ms", flow.name) is not None:
            found.append((_spread(point, "latency_p50_ms", flow.name, 1, " ms").text, f"RTT p50 of {flow.name}"))
    return found


def _about(simulation: Simulation) -> Section:
    scenario = simulation.scenario
    run = simulation.points[0].runs[0]
    seeds = len(simulation.points[0].runs)
    facts = [
        Fact("Scenario", f"{scenario.name}: {scenario.title}" if scenario.title else scenario.name),
        Fact("Origin", f"{simulation.origin}: a model in virtual time, not a measurement"),
        Fact("Link", scenario.link),
        Fact("Runs", _runs_in_words(len(simulation.points), seeds, run)),
    ]
    if scenario.calibrated_from is not None:
        facts.append(Fact("Calibrated from", scenario.calibrated_from))
    facts += [Fact("Swept", f"{axis.key} = {_listed(axis.values)}") for axis in simulation.axes]
    blocks: list[Block] = [Facts(facts)]
    if scenario.description:
        blocks.append(Lines((scenario.description,)))
    if unsteady := simulation.warnings:
        blocks.append(Lines(unsteady, "Not settled", "bad"))
    return Section("scenario", 1, "Scenario", blocks)


def _runs_in_words(points: int, seeds: int, run: Run) -> str:
    what = f"{points} points, " if points > 1 else ""
    what += f"{seeds} seeds" if seeds > 1 else f"seed {run.seed}"
    return f"{what}, {run.measured_s:g} s each after the warm-up"


def _listed(values: Iterable[str]) -> str:
    all_of_them = list(values)
    shown = ", ".join(all_of_them[:12])
    return shown if len(all_of_them) <= 12 else f"{shown}, ... {all_of_them[-1]}"


def _spread(point: Point, figure: str, of: str | None, digits: int, unit: str = "") -> Cell:
    """A mean, with its standard deviation where there are several seeds."""
    entry = summary_of(point, figure, of)
    if entry is None:
        return Cell(fmt.NOT_AVAILABLE)
    text = fmt.number(entry.mean, digits)
    if entry.sd is not None:
        text += f" ± {fmt.number(entry.sd, digits)}"
    return Cell(f"{text}{unit}", entry.mean)


def _flows(point: Point, number: int) -> Section:
    columns = (
        Column("Flow", right=False), Column("Kind", right=False, rank=2), Column("From", right=False, rank=3),
        Column("To", right=False, rank=3), Column("Goodput, Mbit/s"), Column("Latency, median, ms"),
        Column("95 %, ms"), Column("99 %, ms", rank=2), Column("Packets", rank=3), Column("Dropped", rank=2),
        Column("Causes", right=False, rank=3),
    )  # fmt: skip
    rows = []
    for place, flow in enumerate(point.runs[0].flows):
        every = [run.flows[place] for run in point.runs]
        rows.append(
            (
                Cell(flow.name),
                Cell(flow.kind),
                Cell(flow.from_),
                Cell(flow.to),
                _spread(point, "goodput_mbit_s", flow.name, 2),
                _spread(point, "latency_p50_ms", flow.name, 1),
                _spread(point, "latency_p95_ms", flow.name, 1),
                _spread(point, "latency_p99_ms", flow.name, 1),
                _mean_count(f.packets_received for f in every),
                _mean_count(sum(drop.packets for drop in f.drops) for f in every),
                Cell(_causes(every)),
            )
        )
    note = "Latency: one way for udp, RTT for ping, the sender's own RTT for tcp."
    if len(point.runs) > 1:
        note += f" Mean ± standard deviation of {len(point.runs)} seeds."
    total = summary_of(point, "goodput_mbit_s")
    facts = [] if total is None else [Fact("Goodput of all", _spread(point, "goodput_mbit_s", None, 2, " Mbit/s").text)]
    blocks: list[Block] = [
        Facts(facts),
        Grid("", columns, rows, note, "flows"),
        Plot("series"),
        Plot("latency"),
    ]
    return Section("flows", number, "Flows", blocks)


def _mean_count(values: Iterable[int]) -> Cell:
    found = list(values)
    mean = sum(found) / len(found)
    return Cell(fmt.count(mean), mean)


def _causes(flows: Iterable[FlowResult]) -> str:
    sums: dict[str, int] = {}
    for flow in flows:
        for drop in flow.drops:
            sums[drop.cause] = sums.get(drop.cause, 0) + drop.packets
    return ", ".join(sorted(sums, key=lambda cause: -sums[cause])).replace("_", " ") or "none"


def _stations(point: Point, number: int) -> Section:
    columns = (
        Column("Station", right=False), Column("Airtime, %"), Column("Of the stations', %", rank=2),
        Column("Retries down, %"), Column("Retries up, %"), Column("MPDUs per PPDU down", rank=2),
        Column("up", rank=2),
    )  # fmt: skip
    air = point.runs[0].air
    rows = [
        (
            Cell(station.name),
            _percent(point, "airtime_share", station.name),
            _percent(point, "share_of_stations", station.name),
            _spread(point, "retry_percent_down", station.name, 1),
            _spread(point, "retry_percent_up", station.name, 1),
            _spread(point, "mean_aggregate_down", station.name, 1),
            _spread(point, "mean_aggregate_up", station.name, 1),
        )
        for station in (air.stations if air is not None else ())
    ]
    facts = [Fact("Channel busy", _percent(point, "air_busy_share", None).text + " % of the time")]
    if summary_of(point, "airtime_jain") is not None:
        facts.append(Fact("Jain's index of airtime", _spread(point, "airtime_jain", None, 3).text))
    note = "Airtime: all frames between a station and the access point, both ways; frames that collide count for each."
    return Section(
        "air", number, "Air", [Facts(facts), Grid("", columns, rows, note, "stations"), Plot("airtime"),
                               Plot("aggregates")],
    )  # fmt: skip


def _percent(point: Point, figure: str, of: str | None) -> Cell:
    entry = summary_of(point, figure, of)
    if entry is None:
        return Cell(fmt.NOT_AVAILABLE)
    text = fmt.number(100 * entry.mean)
    if entry.sd is not None:
        text += f" ± {fmt.number(100 * entry.sd)}"
    return Cell(text, entry.mean)


def _waterfall(falls: Sequence[Waterfall], number: int) -> Section:
    columns = (Column("Cause", right=False), Column("Share of the time"), Column("Goodput it costs"))
    blocks: list[Block] = [Plot("waterfall")]
    for fall in falls:
        rows = [
            (
                Cell(capital(step.label), tone="good" if step.cause == "payload" else ""),
                Cell(fmt.share(step.share, 2), step.share),
                Cell(fmt.mbit_s(step.mbit_s), step.mbit_s, "good" if step.cause == "payload" else ""),
            )
            for step in fall.steps
            if step.us > 0
        ]
        note = (
            f"Effective PHY rate {fmt.mbit_s(fall.phy_rate_mbit_s)}, padding of symbols included. "
            "The row Payload is what is left, not a cost."
        )
        blocks.append(Grid(f"{fall.ta} to {fall.ra}", columns, rows, note, "causes", whole=True))
    return Section("waterfall", number, "Goodput waterfall", blocks)


def _use(used: Sequence[tuple[str, str]], point: Point, number: int) -> Section:
    facts = Facts([Fact(name, value) for name, value in used])
    which = f" of the run with seed {point.runs[0].seed}" if len(point.runs) > 1 else ""
    return Section("use", number, "Host and bus", [facts, Lines([f"Means{which}, warm-up included."])])


def _bus(point: Point, number: int) -> Section:
    columns = (
        Column("Device"), Column("Endpoint", right=False), Column("Direction", right=False),
        Column("Type", right=False, rank=2), Column("URBs per second"), Column("Errors per second", rank=3),
        Column("Mbit/s"), Column("Bytes per URB"), Column("Turnaround, ms", rank=2),
        Column("Under way at most", rank=3),
    )  # fmt: skip
    rows = [
        (
            Cell(str(e.device)), Cell(f"0x{e.endpoint:02x}"), Cell(e.direction), Cell(e.transfer),
            Cell(fmt.count(e.urbs_per_s), e.urbs_per_s), Cell(fmt.number(e.errors_per_s), e.errors_per_s),
            Cell(fmt.number(e.mbit_s), e.mbit_s), Cell(fmt.count(e.mean_bytes), e.mean_bytes),
            Cell(fmt.number(e.mean_ms, 2), e.mean_ms), Cell(str(e.most_in_flight), float(e.most_in_flight)),
        )
        for e in point.runs[0].bus
    ]  # fmt: skip
    note = f"Of the run with seed {point.runs[0].seed}." if len(point.runs) > 1 else ""
    return Section("bus", number, "Bus", [Grid("", columns, rows, note, "endpoints")])


def _sweep(simulation: Simulation, number: int) -> Section:
    figures = list(_sweep_figures(simulation))
    columns = [Column(axis.key) for axis in simulation.axes]
    columns.append(Column("Goodput of all, Mbit/s"))
    columns += [Column(_heading(figure, of), rank=rank) for figure, of, _, rank in figures]
    rows = []
    for point in simulation.points:
        cells = [Cell(value) for value in point.values]
        cells.append(_spread(point, "goodput_mbit_s", None, 2))
        cells += [_spread(point, figure, of, digits) for figure, of, digits, _ in figures]
        rows.append(tuple(cells))
    seeds = len(simulation.points[0].runs)
    note = f"Mean ± standard deviation of {seeds} seeds." if seeds > 1 else "One seed."
    blocks: list[Block] = [
        Plot("sweep"), Plot("sweep_latency"), Grid("", columns, rows, note, "points", whole=True),
    ]  # fmt: skip
    return Section("sweep", number, "Sweep", blocks)


def _sweep_figures(simulation: Simulation) -> Iterator[tuple[str, str | None, int, int]]:
    """Figures that are shown for every point: figure, of what, digits, rank of the column."""
    run = simulation.points[0].runs[0]
    carrying = [flow for flow in run.flows if flow.goodput_mbit_s is not None]
    if len(carrying) > 1:
        for flow in carrying[:8]:
            yield "goodput_mbit_s", flow.name, 2, 2
    latencies = [flow for flow in run.flows if flow.kind == "ping"] or list(run.flows)
    for flow in latencies[:4]:
        yield "latency_p50_ms", flow.name, 1, 1
        yield "latency_p95_ms", flow.name, 1, 3
    if run.air is not None:
        if len(run.air.stations) > 1:
            yield "airtime_jain", None, 3, 1
        for station in run.air.stations[:4]:
            yield "retry_percent_down", station.name, 1, 2
            yield "retry_percent_up", station.name, 1, 2
            yield "mean_aggregate_down", station.name, 1, 3
            yield "mean_aggregate_up", station.name, 1, 3


def _heading(figure: str, of: str | None) -> str:
    unit = ", Mbit/s" if figure.endswith("mbit_s") else ", ms" if figure.endswith("_ms") else ""
    unit = ", %" if figure.startswith("retry") else unit
    return f"{_TITLES.get(figure, figure)}{unit}" + (f", {of}" if of is not None else "")
