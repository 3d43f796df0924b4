"""The arm's module removed and inserted again while traffic runs.

The traffic is TCP from the device to the peer. A connection that outlives the gap may wait long for its next
retransmission, so when nothing moves soon after the link is back, a new one is begun: what is tested is the driver, not
TCP's patience.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from txop.formats.error import FormatError
from txop.formats.proc_net import parse_dev
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.traffic.cycle_reading import CYCLES_FILE, MAX_SEGMENTS, read_cycles, segment_files
from txop.measure.traffic.flows import Flow
from txop.measure.traffic.iperf3 import FIRST_PORT, client_argv, ensure_free, iperf3_of, listening, server_argv
from txop.plan.measurement import TAKE_OUT_S, ModuleCycleTest
from txop.targets.contract import CommandTimeoutError, Running, TargetError, TargetLostError

GIVE_UP_AFTER = 3
"""Failed cycles in a row."""
FLOWING_BYTES = 20_000
POLL_S = 0.5
PATIENCE_S = 3.0
"""How long traffic may stand before a new connection is made."""
MAX_OUTPUT_BYTES = 16 * 1024 * 1024


class Cycler(Protocol):
    """What can remove and insert the arm's module: a testbed of machines."""

    async def take_out(self) -> None:
        """Remove the module. Raises :class:`~txop.targets.contract.TargetError`."""

    async def put_in(self, folder: Path) -> None:
        """Insert it, and bring the link up; ``folder``: of the run, for logs."""


@dataclass
class Cycle:
    """One removal and insertion. Times are of this machine's monotonic clock, lengths in seconds."""

    number: int
    begun: float
    flowing: bool
    """Traffic ran when the module was removed."""
    removal_s: float | None = None
    recovery_s: float | None = None
    """From the insertion until the peer answered."""
    problem: str | None = None
    """Why the cycle failed."""


class ModuleCycle:
    """Cycles and their traffic, from the end of the warm-up until all cycles are done."""

    name = "module cycle"
    essential = True

    def __init__(self, test: ModuleCycleTest, cycler: Cycler | None) -> None:
        self._test = test
        self._cycler = cycler
        self._task: asyncio.Task[None] | None = None
        self._server: Running | None = None
        self._client: Running | None = None
        self._segments = 0

    async def prepare(self, run: RunContext) -> None:
        """Nothing."""
        if self._cycler is None:
            raise TargetError("dut", "its module cannot be removed and inserted")
        if run.targets.dut.interface is None:
            raise TargetError("dut", "the plan names no interface of it")

    async def start(self, run: RunContext) -> None:
        """Start the traffic; the cycles begin with the window."""
        await self._begin_traffic(run)
        self._task = asyncio.create_task(self._cycles(run))

    async def finished(self, run: RunContext) -> None:
        """Wait for the last cycle."""
        del run
        if self._task is not None:
            await asyncio.shield(self._task)

    async def stop(self, run: RunContext) -> None:
        """End everything. The module may be out when a run is cut short; the unload of the arm copes with that."""
        del run
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()
        try:
            if task is not None:
                await asyncio.gather(task, return_exceptions=True)
        finally:
            await self._end_traffic()

    def read(self, facts: RunFacts) -> Reading:
        """See :mod:`txop.measure.traffic.cycle_reading`."""
        return read_cycles(facts)

    async def _cycles(self, run: RunContext) -> None:
        warm_up_s = run.plan.warm_up_s(run.test)
        await asyncio.sleep(max(0.0, (run.marks.load or time.monotonic()) + warm_up_s - time.monotonic()))
        failed_in_a_row = 0
        for number in range(1, self._test.cycles + 1):
            cycle = await self._cycle(run, number)
            _note(run.folder, {"cycle": asdict(cycle)})
            failed_in_a_row = failed_in_a_row + 1 if cycle.problem is not None else 0
            if failed_in_a_row >= GIVE_UP_AFTER:
                return

    async def _cycle(self, run: RunContext, number: int) -> Cycle:
        cycler = self._cycler
        assert cycler is not None
        cycle = Cycle(number, time.monotonic(), flowing=await self._flows(run, PATIENCE_S))
        try:
            begun = time.monotonic()
            async with asyncio.timeout(TAKE_OUT_S):
                await cycler.take_out()
            cycle.removal_s = time.monotonic() - begun
            await asyncio.sleep(self._test.pause_s)
            begun = time.monotonic()
            async with asyncio.timeout(self._test.recover_s):
                await cycler.put_in(run.folder)
                await self._peer_answers(run)
            cycle.recovery_s = time.monotonic() - begun
            left_s = max(PATIENCE_S, begun + self._test.recover_s - time.monotonic())
            if not await self._traffic_comes_back(run, left_s):
                cycle.problem = f"no traffic within {self._test.recover_s:g} s of the insertion"
        except TargetLostError:
            raise
        except TargetError as error:
            cycle.problem = error.what
        except TimeoutError:
            done = cycle.removal_s is not None
            limit_s = self._test.recover_s if done else TAKE_OUT_S
            cycle.problem = f"{'not back' if done else 'not removed'} within {limit_s:g} s"
        return cycle

    async def _peer_answers(self, run: RunContext) -> None:
        dut = run.targets.dut
        argv = ["ping", "-c", "1", "-W", "1", "-I", dut.interface or "", run.peer_address]
        while True:
            with suppress(CommandTimeoutError):
                if (await dut.run(argv, timeout_s=5.0, root=True)).ok:
                    return
            await asyncio.sleep(0.2)

    async def _traffic_comes_back(self, run: RunContext, within_s: float) -> bool:
        until = time.monotonic() + within_s
        if await self._flows(run, min(PATIENCE_S, within_s)):
            return True
        while time.monotonic() < until:
            await self._end_traffic()
            if not await self._begin_traffic(run):
                return True  # there is no iperf3: the answer of the peer is the evidence
            if await self._flows(run, min(PATIENCE_S, max(POLL_S, until - time.monotonic()))):
                return True
        return False

    async def _flows(self, run: RunContext, within_s: float) -> bool:
        """Whether payload moves, seen at the interface."""
        until = time.monotonic() + within_s
        before = await _moved_bytes(run)
        while time.monotonic() < until:
            await asyncio.sleep(POLL_S)
            now = await _moved_bytes(run)
            if before is not None and now is not None and now - before >= FLOWING_BYTES:
                return True
            before = now
        return False

    async def _begin_traffic(self, run: RunContext) -> bool:
        """Start a server and a client; whether there is iperf3 on both ends."""
        peer, dut = run.targets.peer, run.targets.dut
        server = await peer.find("iperf3")
        if server is None or await dut.find("iperf3") is None:
            if self._segments == 0:
                _note(run.folder, {"no_iperf3": True})
            return False
        flow = Flow(self._segments, "dut", "tx", seconds=run.seconds_left)
        port = FIRST_PORT + self._segments % 64
        client_file, server_file = (run.folder / name for name in segment_files(min(self._segments, MAX_SEGMENTS)))
        self._segments += 1
        await ensure_free(peer, {port})
        self._server = await peer.start(
            server_argv(server, port, flow.seconds),
            stdout=server_file,
            limit_bytes=MAX_OUTPUT_BYTES,
            max_seconds=run.seconds_left,
        )
        await listening(peer, {port: self._server}, {port: server_file})
        begun = time.monotonic()
        self._client = await dut.start(
            client_argv(await iperf3_of(dut), flow, run.peer_address, port),
            stdout=client_file,
            limit_bytes=MAX_OUTPUT_BYTES,
            max_seconds=run.seconds_left,
        )
        _note(run.folder, {"segment": {"number": self._segments - 1, "begun": begun}})
        return True

    async def _end_traffic(self) -> None:
        """The client first: it notifies its server, which then prints what it counted."""
        client, self._client = self._client, None
        server, self._server = self._server, None
        try:
            if client is not None:
                await client.stop()
            if server is not None:
                await server.wait(1.0)
        finally:
            if server is not None:
                await server.stop()


async def _moved_bytes(run: RunContext) -> int | None:
    dut = run.targets.dut
    try:
        found = parse_dev(await dut.read("/proc/net/dev", limit_bytes=1 << 20) or b"").get(dut.interface or "")
    except FormatError:
        return None
    return None if found is None else found.tx_bytes + found.rx_bytes


def _note(folder: Path, record: dict[str, object]) -> None:
    with (folder / CYCLES_FILE).open("a", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")
