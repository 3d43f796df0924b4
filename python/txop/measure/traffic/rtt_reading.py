"""Round-trip times of a run from what ping or irtt printed: one series, quantiles over the measured window.

Times between probes are those of the stamps. The first one is placed by its stamp where the target has this machine's
clock; elsewhere it is taken to be sent at the start of the load, as a target's clock need not agree with this one's.
A probe that was lost is an infinite round trip, never one left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev

from txop.archive.window import inside
from txop.core.metrics import station_key
from txop.formats import irtt, ping
from txop.formats.error import FormatError
from txop.measure.instrument import GateFinding, Points, Reading, RunFacts
from txop.measure.probes.clock_steps import clock_steps
from txop.measure.probes.windowed import ON_THIS_MACHINE
from txop.measure.traffic.stamps import PlacedProbes, Stamped, place

CLOCK_JUMP_S = 1.0
"""A step of a target's wall clock by more voids the run, as one of this machine's does."""
LATEST_START_S = 10.0
"""A stamp that says that the first probe was sent later than this after the start of the load is not believed."""
STARVED_SHARE = 0.5
"""A probe that sent less than this share of what it should have was starved of CPU."""

RTT = "rtt_ms"
"""Name of the series."""
_KEYS = (("rtt_p50_ms", 0.50), ("rtt_p95_ms", 0.95), ("rtt_p99_ms", 0.99))
SPREAD = ("rtt_min_ms", "rtt_mean_ms", "rtt_max_ms", "rtt_stddev_ms")
"""What ping prints at its end, here of the probes within the window that were answered."""
_MAX_LOST = 1_000_000


def read_ping(facts: RunFacts, file: str, interval_s: float, station: str | None = None) -> Reading:
    """Figures of ping's output, of any program called ping, on ``station``; default: the test's."""
    station = facts.test.station if station is None else station
    reading = Reading(files={file: f"output of ping on {station}"})
    try:
        result = ping.parse(_bytes(facts.folder / file))
    except _NoOutputError:
        return _nothing(facts, Reading(), "there was no ping", void=False)
    except FormatError as error:
        return _nothing(facts, reading, f"ping: {error.what}")
    probes: list[tuple[float, float | None]] = []
    known: list[tuple[int, float]] = []
    first = result.first_sequence
    usable = [r for r in result.replies if not (r.duplicate or r.corrupted or r.rtt_ms is None)]
    stamped = [
        Stamped(reply.sequence, reply.time_unix_s - reply.rtt_ms / 1e3, reply.rtt_ms)
        for reply in sorted(usable, key=lambda reply: reply.sequence)
        if reply.time_unix_s is not None and reply.rtt_ms is not None
    ]
    placed = place(stamped, first, interval_s, [step for _, step in clock_steps(facts, station)])
    for reply in usable:
        sent = placed.sent_s.get(reply.sequence, (reply.sequence - first) * interval_s)
        if reply.sequence not in placed.under_step:
            probes.append((sent, reply.rtt_ms))
        known.append((reply.sequence, sent))
    known.sort()
    _add_notes(reading, placed, station)
    for n, sequence in enumerate(result.lost_sequences()):
        if n >= _MAX_LOST:
            break
        probes.append((_sent(sequence, known, first, interval_s), None))
    first_s = _first_s(facts, station, stamped, placed)
    probes = sorted(((sent + first_s, rtt) for sent, rtt in probes), key=lambda probe: probe[0])
    return _figures(facts, reading, probes, interval_s, "ping")


def read_ping_of_station(facts: RunFacts, file: str, interval_s: float, station: str) -> Reading:
    """Figures of one of several stations, by their own keys (:func:`~txop.core.metrics.station_key`)."""
    return of_station(read_ping(facts, file, interval_s, station), station)


def of_station(reading: Reading, station: str) -> Reading:
    """The same figures and series as those of one of several stations."""
    metrics = {station_key(station, key): value for key, value in reading.metrics.items()}
    series = {station_key(station, name): points for name, points in reading.series.items()}
    warnings = [f"{station}: {words}" for words in reading.warnings]
    gates = [replace(gate, target=gate.target or station) for gate in reading.gates]
    return replace(reading, metrics=metrics, series=series, warnings=warnings, gates=gates)


def read_pings_together(facts: RunFacts, files: Mapping[str, str], interval_s: float) -> Reading:
    """Figures of the probes of several stations as one sample; ``files``: by station."""
    points: Points = []
    for station, file in files.items():
        mine = read_ping(facts, file, interval_s, station)
        if not mine.series.get(RTT):
            value = mine.metrics.get("rtt_p50_ms")
            return _nothing(facts, Reading(), f"{station}: {(value and value.reason) or 'no probes'}", void=False)
        points += mine.series[RTT]
    reading = Reading()
    _quantiles(
        reading, sorted(points, key=lambda point: point[0]), facts.marks.window_s, f"ping from {len(files)} stations"
    )
    return reading


def _first_s(facts: RunFacts, station: str, stamped: Sequence[Stamped], placed: PlacedProbes) -> float:
    """When the first probe was sent, seconds from the start of the load: a program takes its time to start."""
    machine, load = facts.plan.target.get(station), facts.marks.load
    if machine is None or machine.kind not in ON_THIS_MACHINE or load is None or not stamped or placed.steps:
        return 0.0
    probe = stamped[0]
    late_s = probe.sent_s - facts.marks.wall_minus_monotonic_s - load - placed.sent_s[probe.sequence]
    return late_s if 0 <= late_s <= LATEST_START_S else 0.0


def read_irtt(facts: RunFacts, file: str, interval_s: float) -> Reading:
    """Figures of irtt's JSON."""
    reading = Reading(files={file: "JSON of irtt"})
    try:
        result = irtt.parse(_bytes(facts.folder / file))
    except _NoOutputError:
        return _nothing(facts, Reading(), "there was no irtt", void=False)
    except FormatError as error:
        return _nothing(facts, reading, f"irtt: {error.what}")
    sent = [trip.sent_monotonic_s for trip in result.round_trips if trip.sent_monotonic_s is not None]
    start = min(sent, default=0.0)
    probes: list[tuple[float, float | None]] = [
        (
            trip.sequence * interval_s if trip.sent_monotonic_s is None else trip.sent_monotonic_s - start,
            trip.rtt_ms,
        )
        for trip in result.round_trips
    ]
    if result.timer_misses:
        reading.warnings.append(f"irtt missed {result.timer_misses} of its own timers: its host was busy")
    return _figures(facts, reading, probes, interval_s, "irtt")


def _add_notes(reading: Reading, placed: PlacedProbes, station: str) -> None:
    """Say the steps of the station's clock within the run: the cause of a void run when they are large."""
    if not placed.steps:
        return
    words = ", ".join(f"{step_s:+.1f} s" for _, step_s in placed.steps[:5])
    said = f"the clock of {station} was set by {words} during the run; its probes are placed by their numbers"
    if placed.under_step:
        said += f", and {len(placed.under_step)} under way at the time left out"
    reading.warnings.append(f"ping: {said}")
    if max(abs(step_s) for _, step_s in placed.steps) > CLOCK_JUMP_S:
        reading.gates.append(GateFinding("clock-jumped", "void", f"the clock of {station} was set by {words}", station))


class _NoOutputError(Exception):
    """The tool was never started."""


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _NoOutputError from error


def _sent(sequence: int, known: Sequence[tuple[int, float]], first: int, interval_s: float) -> float:
    """When a lost probe was sent: counted from the nearest one before it that was answered."""
    from bisect import bisect_right

    at = bisect_right(known, (sequence, math.inf)) - 1
    base_sequence, base = known[at] if at >= 0 else (first, 0.0)
    return base + (sequence - base_sequence) * interval_s


def _nothing(facts: RunFacts, reading: Reading, problem: str, *, void: bool = True) -> Reading:
    """No figures. A probe that ran and gave none voids the run: it may have been starved, as the load may have been."""
    for key in (*(key for key, _ in _KEYS), *SPREAD):
        reading.put(key, None, "latency probe", problem)
    reading.put("probe_loss_percent", None, "latency probe", problem)
    if facts.plan.gates.probe:
        reading.gates.append(GateFinding("probe-starved", "void" if void else "not available", problem))
    return reading


def _figures(
    facts: RunFacts, reading: Reading, probes: Sequence[tuple[float, float | None]], interval_s: float, source: str
) -> Reading:
    marks = facts.marks
    if marks.load is None or marks.window is None or marks.end is None:
        return _nothing(facts, reading, "the run did not reach the end of its window")
    shift_s = marks.load - marks.window
    window_s = marks.end - marks.window
    points: Points = [(round(sent + shift_s, 4), rtt) for sent, rtt in probes]
    probed = _quantiles(reading, points, window_s, source)
    if not probed:
        return _nothing(facts, reading, f"{source} sent nothing within the window")
    if facts.plan.gates.probe:
        expected = window_s / interval_s
        if len(probed) < STARVED_SHARE * expected:
            words = f"{source} sent {len(probed)} probes in the window where {expected:.0f} were due"
            reading.gates.append(GateFinding("probe-starved", "void", words))
        else:
            reading.gates.append(GateFinding("probe-starved", "ok"))
    if reading.metrics["rtt_p99_ms"].value is not None and len(probed) < 100:
        reading.warnings.append(f"{source}: the 99th percentile of {len(probed)} probes is their largest")
    return reading


def _put_spread(reading: Reading, answered: Sequence[float], source: str) -> None:
    """Least, mean and largest round trip, and the standard deviation as ping prints it: of a population."""
    if not answered:
        for key in SPREAD:
            reading.put(key, None, source, "no probe was answered")
        return
    for key, value in zip(SPREAD, (min(answered), fmean(answered), max(answered), pstdev(answered)), strict=True):
        reading.put(key, value, source)


def _quantiles(reading: Reading, points: Points, window_s: float | None, source: str) -> list[float]:
    """Put the series and what is known of its part in the window, which is returned; a lost probe is infinite."""
    from txop.stats.spread import quantile

    reading.series[RTT] = points
    probed = [math.inf if rtt is None else rtt for rtt in inside(points, window_s)] if window_s is not None else []
    if probed:
        for key, probability in _KEYS:
            reading.put(key, quantile(probed, probability), source)
        _put_spread(reading, [rtt for rtt in probed if math.isfinite(rtt)], source)
        reading.put("probe_loss_percent", 100 * sum(map(math.isinf, probed)) / len(probed), source)
    return probed
