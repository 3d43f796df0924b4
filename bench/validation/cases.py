"""What the link engine must reproduce: every case with its reference, where that is from, and its tolerance.

A case is a scenario (TOML text put together here), a figure of its result, and what an independent oracle gives that
wrote.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from txop.simulate.model import Run
from txop.simulate.simulation import Simulation

NS3 = "ns-3.44 (wheel ns3 3.44.post0): fixed rates, -40 dBm everywhere, 10 s after 3 s"
NS3_PROGRAM = "ns-3.44, set as the model is: bench/ns3/contention.py, means of its runs"
BIANCHI = "Bianchi's model (IEEE JSAC 18(3), 2000)"
CLOSED = "closed form: payload of a PPDU / (PPDU + SIFS + answer + AIFS + CWmin/2 slots)"
SEED_FQ = "“The real net-next 4.8 fq_codel/airtime-fair ath9k results” (2016), figures of flent runs"

FIRST_SEEDS = 5
MOST_SEEDS = 80
SHARE_OF_TOLERANCE = 0.1
NEAR = 4.0
"""The rule for n, the same for every row: five seeds, doubled until the standard error of the mean is at most a tenth
of the tolerance and the mean is four standard errors from the end of the tolerance, on either side; or there are 80.

A standard error from five or ten seeds is itself uncertain, so that it alone ends too early where it is too small."""

Figure = Callable[[Run], float | None]

NS3_RUNS = Path(__file__).resolve().parent.parent / "ns3" / "contention.jsonl"


def contention_in_ns3() -> dict[tuple[str, int], list[float]]:
    """Goodput of every run of bench/ns3/contention.py, by its settings and the number of stations."""
    found: dict[tuple[str, int], list[float]] = {}
    for line in NS3_RUNS.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        found.setdefault((run["settings"], run["stations"]), []).append(run["goodput_mbit_s"])
    return found


def contention_table() -> str:
    """Means of those runs, as Markdown."""
    rows = ["| settings | stations | goodput (Mbit/s) | s.e. | n |", "|---|---|---|---|---|"]
    for (settings, count), values in contention_in_ns3().items():
        error = standard_error(values)
        shown = "not available" if error is None else f"{error:.2f}"
        rows.append(f"| {settings.replace('-', ' ')} | {count} | {mean(values):.2f} | {shown} | {len(values)} |")
    return "\n".join(rows)


@dataclass(frozen=True)
class Case:
    """One row of the page."""

    section: str
    name: str
    scenario: str
    figure: Figure
    unit: str
    source: str
    reference: float | None = None
    """What it should be; ``None``: only a bound."""
    tolerance_percent: float = 2.0
    at_least: float | None = None
    at_most: float | None = None
    absolute: float | None = None
    """Instead of ``tolerance_percent``: how far off it may be, in ``unit``."""
    seeds: int = FIRST_SEEDS
    beside: str | None = None
    """Another scenario: the value is how many times its figure this one's is."""

    def simulations(self) -> list[tuple[str, int]]:
        """Scenarios and seeds that it needs."""
        return [(text, self.seeds) for text in (self.scenario, self.beside) if text is not None]

    def allowed(self) -> float | None:
        """How far off it may be, in ``unit``; ``None``: only a bound."""
        if self.reference is None:
            return None
        return self.absolute if self.absolute is not None else abs(self.reference) * self.tolerance_percent / 100

    def is_large(self, values: list[float]) -> bool:
        """Whether the standard error of ``values`` is large beside the tolerance."""
        allowed, error = self.allowed(), standard_error(values)
        return allowed is not None and error is not None and error > SHARE_OF_TOLERANCE * allowed

    def is_near(self, values: list[float]) -> bool:
        """Whether the mean of ``values`` is too near to an end of the tolerance to tell on which side it is."""
        allowed, error = self.allowed(), standard_error(values)
        if self.reference is None or allowed is None or not error:
            return False
        return abs(abs(mean(values) - self.reference) - allowed) < NEAR * error

    def needs_more(self, values: list[float]) -> bool:
        """Whether the mean of ``values`` is too uncertain to be held against the tolerance."""
        return self.is_large(values) or self.is_near(values)

    def verdict(self, value: float | None) -> bool:
        """Whether ``value`` is what it should be."""
        if value is None:
            return False
        allowed = self.allowed()
        if self.reference is not None and allowed is not None and abs(value - self.reference) > allowed:
            return False
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def wanted(self) -> str:
        """Reference and tolerance in words."""
        parts = []
        if self.reference is not None:
            spread = f"{self.absolute:g}" if self.absolute is not None else f"{self.tolerance_percent:g} %"
            parts.append(f"{self.reference:g} ± {spread}")
        if self.at_least is not None:
            parts.append(f"at least {self.at_least:g}")
        if self.at_most is not None:
            parts.append(f"at most {self.at_most:g}")
        return ", ".join(parts)


def standard_error(values: list[float]) -> float | None:
    """The standard error of the mean; ``None`` for a single value."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


def value_of(case: Case, done: Mapping[tuple[str, int], Simulation]) -> tuple[float | None, list[float]]:
    """The mean over seeds, and the values."""
    columns = [[case.figure(run) for run in done[key].points[0].runs] for key in case.simulations()]
    values = columns[0] if len(columns) == 1 else [a and b and a / b for a, b in zip(*columns, strict=True)]
    known = [value for value in values if value is not None]
    return (mean(known) if known and len(known) == len(values) else None), known


def goodput(name: str | None = None) -> Figure:
    """Goodput of the flow ``name``, or of all."""
    if name is None:
        return lambda run: run.goodput_mbit_s
    return lambda run: next((flow.goodput_mbit_s for flow in run.flows if flow.name == name), None)


def latency(name: str, percentile: str = "p50_ms") -> Figure:
    """A percentile of the latency of the flow ``name``."""

    def figure(run: Run) -> float | None:
        flow = next((flow for flow in run.flows if flow.name == name), None)
        return None if flow is None or flow.latency is None else float(getattr(flow.latency, percentile))

    return figure


def jain(run: Run) -> float | None:
    """Jain's index of the airtime."""
    return run.air.jain if run.air is not None else None


def data_share(name: str) -> Figure:
    """Share of a station in the airtime of all data PPDUs, both ways."""

    def figure(run: Run) -> float | None:
        if run.air is None:
            return None
        used = {each.name: each.down.data_airtime_share + each.up.data_airtime_share for each in run.air.stations}
        return used[name] / sum(used.values())

    return figure


def scenario(*parts: str) -> str:
    """A scenario of its tables."""
    return "\n".join(['title = "validation"', *parts])


MEDIUM = "[wlan.medium]\nchannel = 36\nwidth_mhz = 20\n"
RUN = "[run]\nwarm_up_s = 3\nduration_s = 10\n"
WIRE = "[path]\nrate_mbit_s = 1000\ndelay_ms = 1\n"
QDISC = '[wlan.ap.queueing]\nkind = "fq_codel"\nmac_queue = { packets = 500, counts_in_flight = false }\n'


def pair(keys: str) -> str:
    """Access point and one station with the same settings."""
    return f"{MEDIUM}[wlan.ap]\n{keys}\n[wlan.dut]\n{keys}\n"


def udp(sender: str, receiver: str, more: str = "") -> str:
    """As many datagrams as the sender's socket takes."""
    return f'[[traffic]]\nkind = "udp"\nfrom = "{sender}"\nto = "{receiver}"\n{more}\n'


def tcp(sender: str, receiver: str, more: str = "") -> str:
    """A bulk transfer."""
    return f'[[traffic]]\nkind = "tcp"\nfrom = "{sender}"\nto = "{receiver}"\n{more}\n'


def ping(to: str, name: str) -> str:
    """Echo requests from the server every 10 ms."""
    return f'[[traffic]]\nkind = "ping"\nname = "{name}"\nfrom = "server"\nto = "{to}"\ninterval_ms = 10\n'
