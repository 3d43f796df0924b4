"""Round-trip times with ping: iputils where there is one, BusyBox else."""

from __future__ import annotations

import asyncio
import time

from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.recording import Phase, Recording, begin
from txop.measure.traffic.rtt_reading import read_ping
from txop.plan.model import Test
from txop.targets.contract import Running, TargetError

PING_FILE = "ping.txt"
LINGER_S = 2.0
"""How long after the window an answer may come. What comes later counts as lost."""
MAX_OUTPUT_BYTES = 256 * 1024 * 1024
_IPUTILS = ("-D", "-O")
"""Time stamps, and a line for each probe that was not answered in time."""


class Ping:
    """One ping from the station to the peer, from the start of the load to the end of the window."""

    name = "ping"

    def __init__(self, test: Test) -> None:
        self.essential = test.kind == "latency"
        self._test = test
        self._running: Running | None = None
        self._ping: Recording | None = None

    def recordings(self, run: RunContext) -> list[Recording]:
        """The ping of iputils, from the start of the load until a little after the window."""
        return [self._pinging(run, ("ping", *_IPUTILS))]

    def _pinging(self, run: RunContext, begin_of_argv: tuple[str, ...]) -> Recording:
        return Recording(
            self._test.station,
            (*begin_of_argv, "-i", f"{self._test.latency_interval_s:g}", run.peer_address),
            PING_FILE,
            Phase.LOAD,
            MAX_OUTPUT_BYTES,
            root=self._test.latency_interval_s < 0.2,
            linger_s=LINGER_S,
        )

    async def prepare(self, run: RunContext) -> None:
        """Find out which ping it is: iputils has time stamps (``-D``) and names lost probes (``-O``)."""
        station = run.targets.by_name[self._test.station]
        program = await station.find("ping")
        if program is None:
            raise TargetError(station.name, "has no ping")
        tried = await station.run([program, *_IPUTILS, "-c", "1", "-W", "1", run.peer_address], timeout_s=15)
        options = _IPUTILS if tried.stdout.startswith("PING") else ()  # also when this one probe was lost
        self._ping = self._pinging(run, (program, *options))

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
                raise TargetError(self._test.station, "ping ended before the window did")

    def read(self, facts: RunFacts) -> Reading:
        """See :mod:`txop.measure.traffic.rtt_reading`."""
        return read_ping(facts, PING_FILE, self._test.latency_interval_s)
