"""Round-trip times with irtt: evenly spaced UDP probes, a server on the peer."""

from __future__ import annotations

from pathlib import Path

from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.traffic.rtt_reading import read_irtt
from txop.plan.measurement import Test
from txop.targets.contract import Running, TargetError

IRTT_FILE = "irtt.json"
SERVER_FILE = "irtt-server.txt"
SERVER_ERRORS = "irtt-server-errors.txt"
PORT = 5209
"""Not irtt's own 2112, where a user's server may listen."""
MAX_OUTPUT_BYTES = 64 * 1024 * 1024
FINISH_TIMEOUT_S = 10.0
SETTLE_S = 0.3
"""A server that cannot have its port ends sooner."""


class Irtt:
    """One irtt client from the station to the peer, from the start of the load to the end of the window."""

    name = "irtt"

    def __init__(self, test: Test, warm_up_s: float) -> None:
        self.essential = test.kind == "latency"
        self._test = test
        self._seconds = warm_up_s + test.duration_s
        self._server: Running | None = None
        self._client: Running | None = None

    async def prepare(self, run: RunContext) -> None:
        """Start the server."""
        program = await run.targets.peer.find("irtt")
        if program is None:
            raise TargetError(run.targets.peer.name, "has no irtt")
        self._server = await run.targets.peer.start(
            [program, "server", "-b", f":{PORT}"],
            stdout=run.folder / SERVER_FILE,
            stderr=run.folder / SERVER_ERRORS,
            limit_bytes=1 << 20,
            max_seconds=run.seconds_left,
        )
        if await self._server.wait(SETTLE_S) is not None:
            raise TargetError(run.targets.peer.name, f"irtt's server ended at once{_said(run.folder / SERVER_ERRORS)}")

    async def start(self, run: RunContext) -> None:
        """Start the client."""
        if self._server is None:
            return
        station = run.targets.by_name[self._test.station]
        program = await station.find("irtt")
        if program is None:
            raise TargetError(station.name, "has no irtt")
        peer = f"[{run.peer_address}]" if ":" in run.peer_address else run.peer_address
        argv = [program, "client", "-q", "-i", f"{self._test.latency_interval_s * 1e3:g}ms"]
        self._client = await station.start(
            [*argv, "-d", f"{self._seconds:g}s", "-o", "-", f"{peer}:{PORT}"],
            stdout=run.folder / IRTT_FILE,
            limit_bytes=MAX_OUTPUT_BYTES,
            max_seconds=run.seconds_left,
        )

    async def stop(self, run: RunContext) -> None:
        """Let the client finish: it prints everything at its end."""
        if self._client is not None:
            if run.marks.end is not None:
                await self._client.wait(FINISH_TIMEOUT_S)
            await self._client.stop()
        if self._server is not None:
            await self._server.stop()

    def read(self, facts: RunFacts) -> Reading:
        """See :mod:`txop.measure.traffic.rtt_reading`."""
        return read_irtt(facts, IRTT_FILE, self._test.latency_interval_s)


def _said(path: Path) -> str:
    try:
        lines = [line.strip() for line in path.read_text("utf-8", "replace")[:4000].splitlines() if line.strip()]
    except OSError:
        return ""
    return f": {lines[-1][:200]}" if lines else ""
