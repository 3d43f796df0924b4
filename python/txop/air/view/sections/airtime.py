"""Section 6: who is on the air for how long."""

from __future__ import annotations

from txop.air.model import Station
from txop.air.report import AirReport
from txop.air.view import names
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Plot, Rows, Section

KINDS = (
    ("data_us", "Data"),
    ("retry_us", "Retries"),
    ("control_us", "Control"),
    ("management_us", "Management"),
    ("beacon_us", "Beacons"),
    ("unknown_us", "Unknown"),
)
"""Fields of :class:`~txop.air.model.AirtimeKinds` with their headings."""


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    air = report.airtime
    why = unavailable(report, "airtime")
    if air.busy_us is None:
        return Section("airtime", 6, "Airtime", [Facts([Fact("Airtime", "not available", "airtime")])], why)
    facts = [
        Fact("Channel busy", _busy(report), "busy"),
        *_network(report),
        Fact("Frames without a known duration", fmt.count(air.frames_without_duration)),
    ]
    blocks: list[Block] = [Facts(facts), _stations(report, options), Plot("airtime"), _phys(report)]
    if air.series:
        blocks.append(Plot("busy"))
    return Section("airtime", 6, "Airtime", blocks, why)


def _busy(report: AirReport) -> str:
    """The busy share with what it may be at least and at most. Missing frames leave a lower bound only."""
    air = report.airtime
    if air.busy_share is None or air.observed_us is None:
        return (
            f"{fmt.duration_us(air.busy_us)}; the share of the time can't be determined, because the time observed "
            f"({fmt.duration_us(air.observed_us)}) is that of the captured frames themselves"
        )
    busy = f"{fmt.share(air.busy_share)} ({fmt.duration_us(air.busy_us)} of {fmt.duration_us(air.observed_us)})"
    low, high = air.busy_share_low, air.busy_share_high
    if not report.hearing.silence_is_evidence:
        least = air.busy_share if low is None else low
        captured = f"{fmt.duration_us(least * air.observed_us)} captured in {fmt.duration_us(air.observed_us)}"
        are = "are" if report.hearing.doubts else "may be"
        return f"{_least(least)} ({captured}; frames {are} missing from the capture)"
    if low is None or high is None or fmt.share(low) == fmt.share(high):
        return busy
    return f"{busy}; between {fmt.share(low)} and {fmt.share(high)}, for what is not known of some frames"


def _least(share: float) -> str:
    """A lower bound, which says nothing when it is rounded to zero."""
    return f"at least {fmt.share(share)}" if share == 0 or share >= 0.000_01 else "more than 0 %"


def _network(report: AirReport) -> list[Fact]:
    """The part of the chosen network, and what is left to the others."""
    air = report.airtime
    if air.bss_us is None or air.busy_us is None:
        return []
    others = air.busy_us - air.bss_us
    if air.bss_share is None:
        return [
            Fact("Chosen network", f"{fmt.duration_us(air.bss_us)}, {fmt.share(air.bss_busy_share)} of the busy time"),
            Fact("Everybody else", fmt.duration_us(others)),
        ]
    part = None if air.observed_us is None or air.observed_us <= 0 else others / air.observed_us
    is_all = report.hearing.silence_is_evidence
    least = "" if is_all else "at least "
    of_busy = f", {fmt.share(air.bss_busy_share)} of the busy time" if is_all else ""
    return [
        Fact(
            "Chosen network",
            f"{least}{fmt.share(air.bss_share)} of the time ({fmt.duration_us(air.bss_us)}){of_busy}",
        ),
        Fact("Everybody else", f"{least}{fmt.share(part)} of the time ({fmt.duration_us(others)})"),
    ]


def _stations(report: AirReport, options: Options) -> Grid:
    columns = (
        Column("Transmitter", right=False),
        Column("Role", rank=2, right=False),
        Column("Airtime", "airtime"),
        Column("Share of time", "airtime_share"),
        *(Column(heading, "airtime", 2) for _, heading in KINDS),
    )
    observed = report.shared_us
    shown = [
        s
        for s in sorted(report.stations, key=lambda s: -(s.airtime_us or 0))
        if s.airtime is not None and s.airtime_us and s.kind != "ghost" and options.wants(s.address)
    ]

    def row(s: Station) -> tuple[Cell, ...]:
        kinds = (getattr(s.airtime, name) for name, _ in KINDS)
        return (
            Cell(s.address),
            Cell(names.ROLES.get(s.kind, "")),
            cells.time_us(s.airtime_us),
            cells.ratio(s.airtime_us, observed),
            *(cells.ratio(time, observed) for time in kinds),
        )

    return Grid(
        "By transmitter and kind, share of the observed time", columns, Rows(shown, row), unit_of_rows="stations"
    )


def _phys(report: AirReport) -> Grid:
    columns = (
        Column("PHY", right=False),
        Column("PPDUs", "ppdus"),
        Column("Airtime", "airtime"),
        Column("Share of airtime"),
    )
    total = sum(p.airtime_us for p in report.airtime.by_phy)
    rows = [
        (Cell(p.phy), cells.count(p.ppdus), cells.time_us(p.airtime_us), cells.ratio(p.airtime_us, total))
        for p in report.airtime.by_phy
    ]
    whose = "By PHY" if report.airtime.bss_us is None else "By PHY, all networks"
    return Grid(whose, columns, rows, unit_of_rows="PHYs")
