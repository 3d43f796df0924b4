"""Round-trip times with ping: iputils where there is one, BusyBox else."""

from __future__ import annotations

import asyncio
import time

from txop.measure.instrument import PostRunInstrument, Reading, RunContext, RunFacts
from txop.measure.recording import Phase, Recording, begin
from txop.measure.traffic.own_address import address_of
from txop.measure.traffic.rtt_reading import of_station, read_ping, read_ping_of_station, read_pings_together
from txop.plan.measurement import Test
from txop.targets.contract import Running, TargetError

PING_FILE = "ping.txt"
LINGER_S = 2.0
"""How long after the window an answer may come. What comes later counts as lost."""
MAX_OUTPUT_BYTES = 256 * 1024 * 1024
_IPUTILS = ("-D", "-O")
"""Time stamps, and a line for each probe that was not answered in time."""


class Ping:
    """One ping from a station to the peer, from the start of the load to the end of the window."""

    def __init__(self, test: Test, station: str | None = None) -> None:
        """``station``: one of several in a test; default: the test's."""
        self.essential = test.kind == "latency"
        self.name = "ping" if station is None else f"ping from {station}"
        self._test = test
        self._one_of_several = station is not None
        self._station = station or test.station
        self._from_peer = test.probed_from_peer
        if self._from_peer:
            self._station = "peer"
        self._running: Running | None = None
        self._ping: Recording | None = None

    def recordings(self, run: RunContext) -> list[Recording]:
        """The ping of iputils, from the start of the load until a little after the window."""
        to = (run.device_address or "") if self._from_peer else run.peer_address
        return [self._pinging(("ping", *_IPUTILS), to)]

    def _pinging(self, begin_of_argv: tuple[str, ...], to: str) -> Recording:
        return Recording(
            self._station,
            (*begin_of_argv, "-i", f"{self._test.latency_interval_s:g}", to),
            self._file,
            Phase.LOAD,
            MAX_OUTPUT_BYTES,
            root=self._test.latency_interval_s < 0.2,
            linger_s=LINGER_S,
        )

    async def prepare(self, run: RunContext) -> None:
        """Find out which ping it is: iputils has time stamps (``-D``) and names lost probes (``-O``)."""
        station = run.targets.by_name[self._station]
        program = await station.find("ping")
        if program is None:
            raise TargetError(station.name, "has no ping")
        to = run.peer_address
        if self._from_peer:
            to = run.device_address or await address_of(run.targets.by_name[self._test.station], run.peer_address)
        tried = await station.run([program, *_IPUTILS, "-c", "1", "-W", "1", to], timeout_s=15)
        options = _IPUTILS if tried.stdout.startswith("PING") else ()  # also when this one probe was lost
        self._ping = self._pinging((program, *options), to)

    async def start(self, run: RunContext) -> None:
        """Start pinging."""
        if self._ping is not None:
            self._running = await begin(run, self._ping)

    async def stop(self, run: RunContext) -> None:
        """Interrupt it, as a user would: it then prints its summary."""
        if self._running is not None:
            ended_early = self._running.done and run.marks.end is not None
            if run.marks.end is not None and not ended_early:
                # A probe that is still under way is not lost.
                await asyncio.sleep(max(0.0, run.marks.end + LINGER_S - time.monotonic()))
            await self._running.stop()
            if ended_early:
                raise TargetError(self._station, "ping ended before the window did")

    def read(self, facts: RunFacts) -> Reading:
        """See :mod:`txop.measure.traffic.rtt_reading`."""
        interval_s = self._test.latency_interval_s
        if self._one_of_several:
            return read_ping_of_station(facts, self._file, interval_s, self._station)
        reading = read_ping(facts, self._file, interval_s, self._station)
        if self._station in self._test.stations_measured:
            mine = of_station(reading, self._station)
            reading.metrics |= mine.metrics
            reading.series |= mine.series
        return reading

    @property
    def _file(self) -> str:
        return station_file(self._station) if self._one_of_several else PING_FILE


def station_file(station: str) -> str:
    """Raw output of the ping from one of several stations."""
    return f"ping-{station}.txt"


def pings_of(test: Test) -> list[Ping | PingOfAll]:
    """The pings of a test: one, or of several stations one from each."""
    stations = test.stations_measured
    if not stations:
        return [Ping(test)]
    pings: list[Ping | PingOfAll] = [Ping(test, name) for name in stations if name != test.station]
    return [*pings, Ping(test) if test.station in stations else PingOfAll(test)]


class PingOfAll(PostRunInstrument):
    """Reads the pings of all stations of a test as one: the latency of the whole test where the device under test is
    not one of them."""

    name = "ping of all stations"

    def __init__(self, test: Test) -> None:
        self._test = test

    def read(self, facts: RunFacts) -> Reading:
        """The figures of all probes together; not available unless every station has some."""
        files = {station: station_file(station) for station in self._test.stations_measured}
        return read_pings_together(facts, files, self._test.latency_interval_s)
