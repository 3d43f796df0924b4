"""iperf3 between a station and the peer: a server for every flow on the peer, a client on the station, both ends' JSON
kept. The goodput of a flow is the lower of what its two ends report."""

from __future__ import annotations

import asyncio
import math
import re
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from txop.core.visible import visible
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.recording import Phase, Recording, begin
from txop.measure.traffic.flows import Flow, flows_of
from txop.measure.traffic.iperf3_reading import read_flows
from txop.plan.measurement import Test
from txop.targets.contract import CommandResult, Running, Target, TargetError

FIRST_PORT = 5210
"""Port of flow 0; one above the other for the next ones. Not iperf3's own 5201, where a user's server may listen."""

LISTEN_TIMEOUT_S = 10.0
FINISH_TIMEOUT_S = 15.0
"""How long a client may take, after the window, to exchange results with its server."""

SERVER_TIMEOUT_S = 3.0
"""How long a server may take to end after its client."""
MAX_INTERVALS = 7200
"""Reports of one iperf3: it keeps about 3 kB for each until it prints them."""
PACING_S = 0.1
"""How often iperf3 looks whether a TCP connection of a given rate has to send (``--pacing-timer``)."""
USUAL_BLOCK_BYTES = 128 * 1024
"""What iperf3 gives TCP at once (iperf.h, DEFAULT_TCP_BLKSIZE)."""
LEAST_BLOCK_BYTES = 1448
"""A segment's payload on Ethernet with time stamps."""
STREAMING = (3, 17)
"""First iperf3 with ``--json-stream``."""

MAX_OUTPUT_BYTES = 64 * 1024 * 1024


def client_file(flow: Flow) -> str:
    """Raw output of the client, in the run's folder."""
    return f"iperf3-{flow.number}-client.json"


def server_file(flow: Flow) -> str:
    """Raw output of the server."""
    return f"iperf3-{flow.number}-server.json"


def end_file(flow: Flow) -> str:
    """How the client ended, when it failed without a word in its output: one line of text."""
    return f"iperf3-{flow.number}-client-end.txt"


_SHORT = ((10.0, 0.2), (60.0, 0.5))
"""Flows of up to this many seconds, and the time between their reports."""


_NO_ROOM = ("Bad address", "No space left on device")
_BUFFER_HINT = " (is there room in /tmp? iperf3 has its buffer there)"
"""iperf3 maps a file of ``TMPDIR`` or ``/tmp`` as its buffer (iperf_api.c, iperf_new_stream): without room, reading
into it fails with EFAULT."""


def how_it_failed(ran: CommandResult, *, silent: bool = False) -> str | None:
    """How a client failed that has no error in its JSON, in words; ``None``: it did not, or says itself why.

    ``silent``: it printed nothing, as where it cannot make a file in ``/tmp``.

    >>> how_it_failed(CommandResult(134, stderr_bytes=b"libgcc_s.so.1 must be installed for pthread_exit to work\\n"))
    'it ended by SIGABRT: libgcc_s.so.1 must be installed for pthread_exit to work'
    >>> how_it_failed(CommandResult(1)) is None
    True
    >>> how_it_failed(CommandResult(1, stderr_bytes=b"iperf3: error - Bad address\\n"), silent=True)
    'it ended with status 1: iperf3: error - Bad address (is there room in /tmp? iperf3 has its buffer there)'
    """
    if ran.status == 0 or (ran.status == 1 and not silent):
        return None
    number = ran.status - 128
    known = {each.value: each.name for each in signal.Signals}
    how = f"it ended by {known[number]}" if number in known else f"it ended with status {ran.status}"
    said = visible(ran.stderr.strip().splitlines()[-1][:300]) if ran.stderr.strip() else ""
    hint = _BUFFER_HINT if any(words in said for words in _NO_ROOM) else ""
    return f"{how}: {said}{hint}" if said else how


def interval_s(seconds: float) -> float:
    """From one report of iperf3 to the next: short enough for a time series of the flow, and long in a soak, because
    iperf3 keeps all of them in memory and prints them at its end. iperf3 takes 0.1 to 60 s. What is sent does not
    depend on it.

    >>> interval_s(3), interval_s(35), interval_s(3600), interval_s(86400)
    (0.2, 0.5, 1, 12)
    """
    for longest_s, chosen_s in _SHORT:
        if seconds <= longest_s:
            return chosen_s
    return min(60, max(1, math.ceil(seconds / MAX_INTERVALS)))


def server_argv(program: str, port: int, seconds: float, output: str = "-J") -> list[str]:
    """The server's command line: one test, then it ends."""
    return [program, "-s", "-1", output, "-i", f"{interval_s(seconds):g}", "-p", str(port)]


def client_argv(program: str, flow: Flow, peer: str, port: int, output: str = "-J") -> list[str]:
    """The client's command line.

    >>> " ".join(client_argv("iperf3", Flow(0, "dut", "rx", seconds=35, omit_s=5), "10.0.0.1", 5210))
    'iperf3 -c 10.0.0.1 -p 5210 -J -i 0.5 -t 30 -O 5 -R'

    TCP at a rate goes in blocks of a tenth of a second. iperf3's own are 128 KiB, of which 0.1 Mbit/s is one in 10 s;
    and its own timer looks 1000 times a second whether to send, which would be most of what a light load costs.

    >>> " ".join(client_argv("iperf3", Flow(0, "dut", "tx", seconds=3600, rate_mbit_s=1), "10.0.0.1", 5210))
    'iperf3 -c 10.0.0.1 -p 5210 -J -i 1 -t 3600 -b 1000000 -l 12500 --pacing-timer 100000'
    """
    argv = [program, "-c", peer, "-p", str(port), output, "-i", f"{interval_s(flow.seconds):g}"]
    # iperf3 takes whole seconds: the kept part is rounded, the omitted part up, so that nothing of the warm-up is kept.
    omit_s = -int(-flow.omit_s // 1)
    argv += ["-t", str(max(1, round(flow.seconds - flow.omit_s)))]
    if omit_s:
        argv += ["-O", str(omit_s)]
    if flow.direction == "rx":
        argv += ["-R"]
    if flow.protocol == "udp":
        argv += ["-u"]
    if flow.rate_mbit_s is not None:
        argv += ["-b", f"{flow.rate_mbit_s * 1e6:.0f}"]
        if flow.protocol == "tcp":
            block_bytes = flow.rate_mbit_s * 1e6 / 8 * PACING_S
            if block_bytes <= USUAL_BLOCK_BYTES:
                argv += ["-l", f"{max(block_bytes, LEAST_BLOCK_BYTES):.0f}"]
                argv += ["--pacing-timer", f"{PACING_S * 1e6:.0f}"]
    if flow.datagram_bytes is not None:
        argv += ["-l", str(flow.datagram_bytes)]
    if flow.streams > 1:
        argv += ["-P", str(flow.streams)]
    if flow.dscp:
        argv += ["-S", str(flow.dscp << 2)]
    if flow.congestion is not None:
        argv += ["-C", flow.congestion]
    return argv


def _server(flow: Flow, program: str = "iperf3", output: str = "-J") -> Recording:
    port = FIRST_PORT + flow.number
    argv = server_argv(program, port, flow.seconds, output)
    return Recording("peer", tuple(argv), server_file(flow), Phase.UP, MAX_OUTPUT_BYTES, listens_on=port)


def _client(flow: Flow, peer: str, program: str = "iperf3", output: str = "-J") -> Recording:
    argv = client_argv(program, flow, peer, FIRST_PORT + flow.number, output)
    return Recording(
        flow.station,
        tuple(argv),
        client_file(flow),
        Phase.LOAD,
        MAX_OUTPUT_BYTES,
        after_s=flow.start_s,
        finish_s=FINISH_TIMEOUT_S,
    )


class Iperf3Traffic:
    """All iperf3 flows of a test."""

    name = "iperf3"
    essential = True

    def __init__(self, test: Test, warm_up_s: float) -> None:
        self._flows = flows_of(test, warm_up_s)
        self._long = test.for_hours
        self._servers: list[Running] = []
        self._clients: dict[Flow, Running] = {}
        self._later: list[asyncio.Task[None]] = []

    def recordings(self, run: RunContext) -> list[Recording]:
        """A server and a client for every flow."""
        servers = [_server(flow) for flow in self._flows]
        return [*servers, *(_client(flow, run.peer_address) for flow in self._flows)]

    async def prepare(self, run: RunContext) -> None:
        """Start a server for every flow on the peer, and wait until all of them listen."""
        peer = run.targets.peer
        program = await iperf3_of(peer)
        output = await self._output(peer, program)
        ports = {FIRST_PORT + flow.number for flow in self._flows}
        await ensure_free(peer, ports)
        for flow in self._flows:
            self._servers.append(await begin(run, _server(flow, program, output)))
        files = {FIRST_PORT + flow.number: run.folder / server_file(flow) for flow in self._flows}
        await listening(peer, dict(zip(sorted(files), self._servers, strict=True)), files)

    async def start(self, run: RunContext) -> None:
        """Start the clients; those that begin later by themselves."""
        for flow in self._flows:
            if flow.start_s <= 0:
                await self._client(run, flow)
            else:
                self._later.append(asyncio.create_task(self._client_later(run, flow)))

    async def _client_later(self, run: RunContext, flow: Flow) -> None:
        await asyncio.sleep(max(0.0, (run.marks.load or 0.0) + flow.start_s - time.monotonic()))
        await self._client(run, flow)

    async def _client(self, run: RunContext, flow: Flow) -> None:
        station = run.targets.by_name[flow.station]
        program = await iperf3_of(station)
        output = await self._output(station, program)
        self._clients[flow] = await begin(run, _client(flow, run.peer_address, program, output))

    async def _output(self, target: Target, program: str) -> str:
        """``-J``; in a soak a line per interval where this iperf3 can: it then keeps nothing in memory, and what was
        measured before something died is there."""
        if not self._long:
            return "-J"
        ran = await target.run([program, "--version"], timeout_s=10)
        found = re.match(r"iperf (\d{1,3})\.(\d{1,3})", ran.stdout)
        return "--json-stream" if found and (int(found[1]), int(found[2])) >= STREAMING else "-J"

    async def stop(self, run: RunContext) -> None:
        """Let the clients finish if the window was reached, end what still runs, and look at failed late starts."""
        for task in self._later:
            task.cancel()
        late = await asyncio.gather(*self._later, return_exceptions=True)
        reached = run.marks.end is not None
        ends = await _end_all([*self._clients.values()], FINISH_TIMEOUT_S if reached else 0.0)
        for flow, ran in zip(self._clients, ends, strict=True):
            if not isinstance(ran, CommandResult):
                continue
            output = run.folder / client_file(flow)
            silent = output.is_file() and output.stat().st_size == 0
            if (words := how_it_failed(ran, silent=silent)) is not None:
                (run.folder / end_file(flow)).write_text(words + "\n", encoding="utf-8")
        ends += await _end_all(self._servers, SERVER_TIMEOUT_S if reached and self._clients else 0.0)
        for error in [*late, *ends]:
            if isinstance(error, Exception):
                raise error

    def read(self, facts: RunFacts) -> Reading:
        """See :mod:`txop.measure.traffic.iperf3_reading`."""
        return read_flows(
            facts,
            self._flows,
            {flow.number: (client_file(flow), server_file(flow), end_file(flow)) for flow in self._flows},
        )


async def _end_all(running: Sequence[Running], wait_s: float) -> list[BaseException | object]:
    """Wait for all of them together, then end those that still run; what was raised is among the results."""

    async def end(one: Running) -> object:
        try:
            return await one.wait(wait_s) if wait_s > 0 else None
        finally:
            await one.stop()

    return [*(await asyncio.gather(*(end(one) for one in running), return_exceptions=True))]


async def iperf3_of(target: Target) -> str:
    """Path of iperf3 on a target. Raises :class:`TargetError` when it has none."""
    program = await target.find("iperf3")
    if program is None:
        raise TargetError(target.name, "has no iperf3; install it there, or use tests that do without")
    return program


async def ensure_free(target: Target, ports: set[int]) -> None:
    """Raise :class:`TargetError` when another program listens on one of the ports: our clients would talk to it."""
    taken = ports & await _listened(target)
    if taken:
        shown = ", ".join(map(str, sorted(taken)))
        raise TargetError(target.name, f"something listens already on TCP port {shown}, which the test's servers need")


async def listening(
    target: Target, servers: Mapping[int, Running], files: Mapping[int, Path], what: str = "iperf3"
) -> None:
    """Wait until the server of every port listens (/proc/net/tcp: state 0A), as /proc is on every Linux."""
    until = time.monotonic() + LISTEN_TIMEOUT_S
    while True:
        missing = servers.keys() - await _listened(target)
        for port, server in servers.items():
            if server.done:
                said = _said(files[port])
                raise TargetError(target.name, f"{what} server on port {port} ended at once{said}")
        if not missing:
            return
        if time.monotonic() > until:
            raise TargetError(target.name, f"{what} did not listen on port {min(missing)} in {LISTEN_TIMEOUT_S:.0f} s")
        await asyncio.sleep(0.05)


async def _listened(target: Target) -> set[int]:
    tables = await target.read_several("/proc/net/tcp", "/proc/net/tcp6", limit_bytes=4 << 20)
    return {port for table in tables for port in listening_ports((table or b"").decode("ascii", "replace"))}


def _said(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:2000]
    except OSError:
        return ""
    line = next((line for line in text.splitlines() if "error" in line), "")
    return f": {line.strip()}" if line else ""


def listening_ports(table: str) -> set[int]:
    """Ports on which something listens, from a /proc/net/tcp table.

    >>> sorted(listening_ports(" 0: 00000000:145A 00000000:0000 0A\\n 1: 0100007F:0277 0100007F:9A3C 01\\n"))
    [5210]
    """
    ports = set()
    for line in table.splitlines():
        fields = line.split()
        if len(fields) > 3 and fields[3] == "0A":
            try:
                ports.add(int(fields[1].rpartition(":")[2], 16))
            except ValueError:
                continue
    return ports
