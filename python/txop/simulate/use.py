"""What a link used of its bus, its host and its device, in words: from the counters that modem and SDIO links keep.

The counters begin with the run, so shares and rates are of all of it, warm-up included.
"""

from __future__ import annotations

from collections.abc import Iterator

from txop.present import format as fmt
from txop.simulate.model import Run
from txop.simulate.modem_counters import ModemCounters
from txop.simulate.sdio_counters import SdioCounters
from txop.simulate.simulation import Simulation


def use_of(simulation: Simulation, run: Run) -> list[tuple[str, str]]:
    """Names and values; empty for links without such counters."""
    settings, counters = simulation.scenario.settings, run.counters
    if counters is None:
        return []
    seconds = float(settings["run"]["warm_up_s"]) + run.measured_s
    if simulation.scenario.link == "sdio":
        return list(_sdio(SdioCounters.model_validate(counters), seconds))
    if simulation.scenario.link == "modem":
        return list(_modem(ModemCounters.model_validate(counters), seconds))
    return []


def _share(busy_ns: int, seconds: float) -> str:
    return fmt.percent(100 * busy_ns / 1e9 / seconds)


def _sdio(counters: SdioCounters, seconds: float) -> Iterator[tuple[str, str]]:
    yield "Processor of the host", f"{_share(counters.cpu_busy_ns, seconds)} busy"
    yield "Bus", f"{_share(counters.bus_busy_ns, seconds)} busy"
    yield "Air", f"{_share(counters.air_busy_ns, seconds)} busy"
    yield "Context switches", f"{fmt.count(counters.context_switches / seconds)} per second"
    yield "Commands", f"{fmt.count(counters.commands / seconds)} per second"
    if counters.polls:
        found = f"{fmt.percent(100 * counters.polls_found / counters.polls)} found something"
        yield "Polls", f"{fmt.count(counters.polls / seconds)} per second, {found}"


def _modem(counters: ModemCounters, seconds: float) -> Iterator[tuple[str, str]]:
    yield "Processor of the modem", f"{_share(counters.device_busy_ns, seconds)} busy with uplink URBs"
    yield "Bus", f"{_share(counters.bus_busy_ns, seconds)} busy"
    for name, way in (("Datagrams per URB up", counters.uplink), ("Datagrams per URB down", counters.downlink)):
        if way.urbs:
            yield name, f"{fmt.number(way.datagrams / way.urbs)}"
    if counters.crashes:
        yield "Crashes", f"{counters.crashes}: it was fed beyond the limits it had named"
    if counters.device_blocked_ns:
        yield "Held up", f"{_share(counters.device_blocked_ns, seconds)} of the time it had no room for a URB"
