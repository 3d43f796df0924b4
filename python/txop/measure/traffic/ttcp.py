"""One ttcp transfer between the station and the peer: so many buffers over one TCP connection, and what it took.

``ttcp`` where it is installed; in a guest, and on this machine where there is none, ``txop-vusb ttcp``, which counts
the same way. Every figure is of the transfer from its first to its last byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from txop.formats import ttcp_output
from txop.formats.error import FormatError
from txop.guest.chips import PROGRAM, find_chips
from txop.guest_image.error import GuestError
from txop.measure.instrument import GateFinding, Reading, RunContext, RunFacts
from txop.measure.recording import Phase, Recording, begin
from txop.measure.traffic.iperf3 import ensure_free, listening
from txop.measure.traffic.own_address import address_of
from txop.plan.measurement import TtcpTest
from txop.targets.contract import Running, Target, TargetError

PORT = 5001
FINISH_TIMEOUT_S = 15.0
"""How long after the window the transfer may go on."""
MAX_OUTPUT_BYTES = 64 * 1024
_BYTES_PER_MB = 1e6

TRANSMITTER_FILE, RECEIVER_FILE = "ttcp-transmitter.txt", "ttcp-receiver.txt"
SWITCHES = ("voluntary", "involuntary")


@dataclass(frozen=True)
class Program:
    """A ttcp."""

    argv: tuple[str, ...]
    """What it is called by."""
    classic: bool
    """Its options are those of ``ttcp.c``."""

    def receiver(self, test: TtcpTest) -> tuple[str, ...]:
        """The command line of the receiving end."""
        sink = ("-s",) if self.classic else ()
        return (*self.argv, "-r", *sink, "-l", str(test.buffer_bytes), "-p", str(PORT))

    def transmitter(self, test: TtcpTest, to: str) -> tuple[str, ...]:
        """That of the sending end.

        >>> test = TtcpTest(name="t", kind="ttcp-tx")
        >>> " ".join(Program(("ttcp",), classic=True).transmitter(test, "10.0.0.1"))
        'ttcp -t -s -l 8192 -n 2048 -p 5001 10.0.0.1'
        """
        options = ("-l", str(test.buffer_bytes), "-n", str(test.buffers), "-p", str(PORT))
        return (*self.argv, "-t", "-s", *options, to) if self.classic else (*self.argv, "-t", to, *options)


IN_GUEST = Program((PROGRAM, "ttcp"), classic=False)


class Ttcp:
    """The transfer of a test."""

    name = "ttcp"
    essential = True

    def __init__(self, test: TtcpTest) -> None:
        self._test = test
        self._running: list[Running] = []

    @property
    def _ends(self) -> tuple[str, str]:
        """Targets: who transmits, who receives."""
        ends = (self._test.station, "peer")
        return ends if self._test.kind == "ttcp-tx" else (ends[1], ends[0])

    def recordings(self, run: RunContext) -> list[Recording]:
        """Both ends, in a guest."""
        to = run.peer_address if self._test.kind == "ttcp-tx" else run.device_address
        if to is None:
            raise ValueError("a run in a guest has the address of the device")
        return [self._receiver(IN_GUEST), self._transmitter(IN_GUEST, to)]

    def _receiver(self, program: Program) -> Recording:
        return Recording(
            self._ends[1],
            program.receiver(self._test),
            RECEIVER_FILE,
            Phase.UP,
            MAX_OUTPUT_BYTES,
            listens_on=PORT,
            finish_s=FINISH_TIMEOUT_S,
        )

    def _transmitter(self, program: Program, to: str) -> Recording:
        argv = program.transmitter(self._test, to)
        return Recording(self._ends[0], argv, TRANSMITTER_FILE, Phase.LOAD, MAX_OUTPUT_BYTES, finish_s=FINISH_TIMEOUT_S)

    async def prepare(self, run: RunContext) -> None:
        """Start the receiver, and wait until it listens."""
        target = run.targets.by_name[self._ends[1]]
        await ensure_free(target, {PORT})
        running = await begin(run, self._receiver(await program_of(target)))
        self._running.append(running)
        await listening(target, {PORT: running}, {PORT: run.folder / RECEIVER_FILE}, "ttcp")

    async def start(self, run: RunContext) -> None:
        """Begin the transfer."""
        transmitter = run.targets.by_name[self._ends[0]]
        to = run.peer_address
        if self._test.kind == "ttcp-rx":
            to = run.device_address or await address_of(run.targets.by_name[self._ends[1]], run.peer_address)
        self._running.append(await begin(run, self._transmitter(await program_of(transmitter), to)))

    async def stop(self, run: RunContext) -> None:
        """Wait for both ends a little, then end them."""
        del run
        running, self._running = self._running, []
        for each in reversed(running):
            await each.wait(FINISH_TIMEOUT_S)
        for each in running:
            await each.stop()

    def read(self, facts: RunFacts) -> Reading:
        """Throughput of the slower end, and context switches of both."""
        reading = Reading(files={TRANSMITTER_FILE: "output of ttcp -t", RECEIVER_FILE: "output of ttcp -r"})
        ends: dict[str, ttcp_output.TransferEnd] = {}
        for name, file in (("sender", TRANSMITTER_FILE), ("receiver", RECEIVER_FILE)):
            found = _read(facts.folder / file)
            if isinstance(found, str):
                return self._nothing(reading, f"ttcp's {name}: {found}")
            ends[name] = found
        moved = ends["receiver"].bytes
        wanted = self._test.buffers * self._test.buffer_bytes
        if moved != wanted or ends["sender"].bytes != wanted:
            return self._nothing(reading, f"{moved} of {wanted} bytes arrived")
        seconds = max(end.seconds for end in ends.values())
        if seconds <= 0:
            return self._nothing(reading, "the transfer took less than ttcp's clock shows")
        window_s = facts.marks.window_s
        if window_s is not None and seconds > window_s:
            return self._nothing(
                reading, f"the transfer took {seconds:.1f} s, longer than duration_s ({window_s:.1f} s)"
            )
        reading.put("throughput_mbit_s", moved * 8 / 1e6 / seconds, "the slower end of ttcp")
        reading.put("transfer_s", seconds, "the slower end of ttcp")
        megabytes = moved / _BYTES_PER_MB
        for name, end in ends.items():
            for kind in SWITCHES:
                count = getattr(end, f"{kind}_switches")
                key = f"{name}_{kind}_switches_per_mb"
                per_mb = None if count is None else count / megabytes
                reason = "this ttcp does not print context switches" if count is None else None
                reading.put(key, per_mb, f"ttcp's {name}", reason)
        whole = ends["receiver" if self._test.kind == "ttcp-rx" else "sender"].machine_switches
        per_mb = None if whole is None else whole / megabytes
        reason = "only txop-vusb ttcp counts those of the machine" if whole is None else None
        reading.put("machine_switches_per_mb", per_mb, "/proc/stat", reason)
        return reading

    def _nothing(self, reading: Reading, problem: str) -> Reading:
        for key in FIGURES:
            reading.put(key, None, "ttcp", problem)
        reading.gates.append(GateFinding("traffic-failed", "void", problem))
        return reading


FIGURES = (
    "throughput_mbit_s",
    "transfer_s",
    *(f"{end}_{kind}_switches_per_mb" for end in ("sender", "receiver") for kind in SWITCHES),
    "machine_switches_per_mb",
)
"""Metrics of a transfer."""


def _read(path: Path) -> ttcp_output.TransferEnd | str:
    try:
        return ttcp_output.parse(path.read_bytes()[:MAX_OUTPUT_BYTES])
    except OSError:
        return "it left no output"
    except FormatError as error:
        return error.what


async def program_of(target: Target) -> Program:
    """The ttcp of a target. Raises :class:`TargetError` when it has none."""
    installed = await target.find("ttcp")
    if installed is not None:
        return Program((installed,), classic=True)
    own: Sequence[str] = (PROGRAM,)
    with suppress(GuestError):
        own = (str(find_chips()), PROGRAM)
    for name in own:
        tried = await target.run([name, "ttcp", "--help"], timeout_s=10)
        if tried.ok:
            return Program((name, "ttcp"), classic=False)
    raise TargetError(target.name, f"has no ttcp, and no {PROGRAM} in its place")
