"""Runs a guest: starts, watches and ends QEMU, and collects what the guest outputs.

QEMU lives no longer than this process (PR_SET_PDEATHSIG), and its folder is swept by the next guest if this one is
killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple, Protocol

from txop.core.errors import ExitCode
from txop.guest.console import console_lines, excerpt
from txop.guest.outside import GivenRun, device_arguments, qemu_command, take_files, too_much, write_config
from txop.guest.qemu import PORTS, Computer, Mode, arguments
from txop.guest.results import MAX_EVENTS_BYTES, MAX_FILES_BYTES, Event, read_events, unpack_files
from txop.guest.scratch import scratch_folder
from txop.guest_image.cache import default_cache, room
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay, overlay_archive
from txop.process.held import DIES_WITH_PARENT

POLL_S = 0.05
INITRAMFS = "initramfs"
FILES = "files"
"""Folder of what a guest output."""
SAID = "emulator"
"""What QEMU and the devices in it printed as errors and warnings; there is no such file when they printed nothing."""
MAX_SAID_BYTES = 8192
"""Of that the last bytes are kept."""
MAX_CONSOLE_BYTES = 64 << 20
"""Limit of the console and of each output; a guest that writes more is ended."""

MONITOR = "monitor"
"""Socket of QEMU's monitor in the guest's folder, where somebody attends a guest."""
MOMENT_S = 1.0
OFF_S = 60.0
"""What turning itself off may take a guest that has output its results, by this machine's clock. A driver that
holds a lock of the kernel forever keeps it from that."""

_LIMITS = {
    **dict.fromkeys(("console", "stdout", "stderr"), MAX_CONSOLE_BYTES),
    "events": MAX_EVENTS_BYTES,
    "files": MAX_FILES_BYTES,
}
MIN_FREE_BYTES = 8 << 20
"""On the disk that a guest's output goes to: with less it is ended, rather than left to write into nothing."""


class Cause(Enum):
    """What ended a guest that should not have ended."""

    HOST = auto()
    """This machine: its clock, its disk, a signal, QEMU. It says nothing about what the guest did."""
    FLOOD = auto()
    """The guest printed or output more than is taken."""
    OFF = auto()
    """The guest turned itself off before it output its results."""
    ATTENDANT = auto()
    """Whoever attended it failed: it could not be saved, for instance."""


class GuestFailedError(GuestError):
    """A guest that ended otherwise than it should. ``console``: the part of its console that may say why."""

    def __init__(self, what: str, console: str = "", *, cause: Cause) -> None:
        super().__init__(what, exit_code=ExitCode.VERDICT_NO)
        self.console = console
        self.cause = cause


class _Problem(NamedTuple):
    """Why a guest ended, or has to be ended."""

    words: str
    cause: Cause


@dataclass(frozen=True)
class Ended:
    """A guest that ended as it should."""

    status: int
    """Exit status of the command; 124: it was ended at its time limit."""
    events: tuple[Event, ...]
    files: tuple[str, ...]
    """Names of what it output, in ``files`` of the folder given."""
    seconds: float
    """By this machine's clock."""
    said: tuple[str, ...] = ()
    """Lines that QEMU and the devices in it printed as errors and warnings."""

    @property
    def guest_seconds(self) -> float:
        """By the guest's clock, from its kernel's start."""
        return self.events[-1].uptime_s if self.events else 0.0


class Listener(Protocol):
    """Receives the events of a guest. Must not raise."""

    def event(self, event: Event) -> None:
        """A stage was reached."""

    def output(self, stream: str, data: bytes) -> None:
        """``stdout`` or ``stderr`` of the command."""


class Attendant(Protocol):
    """Does something with QEMU's monitor while a guest runs: it saves it, or has it continue as it was saved."""

    @property
    def continues(self) -> bool:
        """The files that the guest outputs are there, put by :meth:`prepare`, and are continued."""

    @property
    def run(self) -> GivenRun | None:
        """What the guest does where it is restored; ``None``: what it would have done."""

    def prepare(self, work: Path) -> None:
        """Before QEMU starts. ``work``: the guest's folder, with that of its devices."""

    def arguments(self) -> list[str]:
        """More arguments of QEMU."""

    async def attend(self, monitor: Path, work: Path) -> bool:
        """From QEMU's start on; whether it has ended the guest. ``monitor``: the socket of QEMU's monitor."""


class Silence:
    """The listener that ignores everything."""

    def event(self, event: Event) -> None:
        """See :class:`Listener`."""

    def output(self, stream: str, data: bytes) -> None:
        """See :class:`Listener`."""


async def run_guest(
    image: Image,
    overlay: Overlay,
    computer: Computer,
    *,
    results: Path,
    wall_limit_s: float,
    listener: Listener | None = None,
    cache: Path | None = None,
) -> Ended:
    """Run a guest to its end.

    Args:
        image: What it boots.
        overlay: What it runs.
        computer: Where.
        results: Folder for what it outputs: ``console``, ``stdout``, ``stderr`` and ``events``, and its files in
            ``files``, which are those of the last guest. Made if needed; filled as far as possible when it fails.
        wall_limit_s: It is ended after that long by this machine's clock.
        listener: Receives progress and output.
        cache: Folder for its temporary files; default the user's.

    Raises:
        GuestFailedError: It ended without a result, or not in its time.
        MissingGuestToolError: No QEMU here, or one that is too old.
    """
    ended = await attended_guest(
        image, overlay, computer, None, results=results, wall_limit_s=wall_limit_s, listener=listener, cache=cache
    )
    if ended is None:
        raise AssertionError("nobody ends a guest that nobody attends")
    return ended


async def attended_guest(
    image: Image,
    overlay: Overlay,
    computer: Computer,
    attendant: Attendant | None,
    *,
    results: Path,
    wall_limit_s: float,
    listener: Listener | None = None,
    cache: Path | None = None,
) -> Ended | None:
    """As :func:`run_guest`, with somebody at QEMU's monitor, who may end it: ``None``, and it output no files then."""
    check_results(results)
    with _work_folder(cache, image, overlay) as work:
        watch = _Watch(work, listener or Silence())
        argv = _command_line(image, overlay, computer, work, cache, attendant)
        begun = time.monotonic()
        try:
            problem, was_ended = await _supervise(argv, watch, wall_limit_s, work, attendant)
        finally:
            _forget_socket(computer)
            _keep(work, results)
        if was_ended and problem is None:
            return None
        return _outcome(work, results, time.monotonic() - begun, problem)


def interactive_guest(image: Image, overlay: Overlay, computer: Computer, *, cache: Path | None = None) -> int:
    """A guest on this terminal, until its shell ends; the exit status of QEMU. Raises :class:`GuestError`."""
    with _work_folder(cache, image, overlay) as work:
        argv = _command_line(image, overlay, computer, work, cache)
        # Ctrl-C belongs to the guest: QEMU sets the terminal to pass it on, but not at its first moment
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with _terminal_kept():
                process = subprocess.Popen(argv)
                try:
                    return process.wait()
                finally:
                    process.kill()
                    process.wait()
                    _forget_socket(computer)
        finally:
            signal.signal(signal.SIGINT, before)


def _command_line(
    image: Image,
    overlay: Overlay,
    computer: Computer,
    work: Path,
    cache: Path | None,
    attendant: Attendant | None = None,
) -> list[str]:
    exact, attended = computer.mode is Mode.EXACT, attendant is not None
    run = None if attendant is None else attendant.run
    config = write_config(work, overlay.files, overlay.texts, exact=exact, checkpoints=attended, run=run)
    devices = device_arguments(config, restored=attended)
    continued = False
    if attendant is not None:
        attendant.prepare(work)
        devices += [*monitor_arguments(), *attendant.arguments()]
        continued = attendant.continues
    own = arguments(computer, image.kernel, work / INITRAMFS, work, devices=devices, continued=continued)
    return [*DIES_WITH_PARENT, *qemu_command(cache), *own]


def monitor_arguments() -> list[str]:
    """Arguments of QEMU for the monitor of a guest that somebody attends."""
    # a name without folder: a socket's may not be long
    socket = ["-chardev", f"socket,id={MONITOR},path={MONITOR},server=on,wait=off"]
    return [*socket, "-mon", f"chardev={MONITOR},mode=control"]


def _forget_socket(computer: Computer) -> None:
    """QEMU leaves the debugger's socket behind when it is killed."""
    if computer.debugger is not None:
        computer.debugger.unlink(missing_ok=True)


@contextlib.contextmanager
def _terminal_kept() -> Iterator[None]:
    """What QEMU changes of the terminal is as before when it is killed, too."""
    before = None
    with contextlib.suppress(termios.error):
        before = termios.tcgetattr(0)
    try:
        yield
    finally:
        if before is not None:
            with contextlib.suppress(termios.error):  # it was closed
                termios.tcsetattr(0, termios.TCSANOW, before)


@contextlib.contextmanager
def _work_folder(cache: Path | None, image: Image, overlay: Overlay) -> Iterator[Path]:
    """A folder for a run, with what the guest boots; gone afterwards."""
    check_setpriv()
    folder = cache or default_cache()
    with contextlib.ExitStack() as stack:
        with room(folder / "runs"):
            work = stack.enter_context(scratch_folder("guest", folder))
            with (work / INITRAMFS).open("wb") as out:
                image.write_initramfs(out)
                overlay_archive(overlay, image).write(out)
        yield work


def check_setpriv() -> None:
    """Raise :class:`MissingGuestToolError` where the program that ties QEMU to this process is missing."""
    if shutil.which("setpriv") is None:
        raise MissingGuestToolError("there is no setpriv", what_to_do="install the package util-linux")


class _Watch:
    """Follows the files that QEMU writes."""

    def __init__(self, folder: Path, listener: Listener) -> None:
        self._folder = folder
        self._listener = listener
        self._seen = dict.fromkeys(PORTS, 0)
        self._events = 0
        self.is_over = False
        """Whether the guest has output its results."""

    def look(self) -> _Problem | None:
        """Tell the listener what is new; a reason to end the guest, if there is one."""
        for stream in ("stdout", "stderr"):
            piece = self._new(stream)
            if piece:
                self._listener.output(stream, piece)
        events = read_events(self._whole("events", MAX_EVENTS_BYTES))
        for event in events[self._events :]:
            self._listener.event(event)
        self._events = max(self._events, len(events))
        self.is_over = self.is_over or any(event.kind == "end" for event in events)
        for name, limit in _LIMITS.items():
            if self._size(name) > limit:
                return _Problem(f"its {name} grew beyond {limit >> 20} MB", Cause.FLOOD)
        if (trouble := too_much(self._folder)) is not None:
            return _Problem(trouble, Cause.FLOOD)
        if _free_bytes(self._folder) < MIN_FREE_BYTES:
            return _Problem(f"the disk that has {self._folder} is full", Cause.HOST)
        return None

    @property
    def more(self) -> bool:
        """Whether output is left to report."""
        return any(self._size(name) > self._seen[name] for name in ("stdout", "stderr"))

    def _new(self, name: str) -> bytes:
        with contextlib.suppress(OSError), (self._folder / name).open("rb") as source:
            source.seek(self._seen[name])
            piece = source.read(1 << 20)
            self._seen[name] += len(piece)
            return piece
        return b""

    def _whole(self, name: str, limit: int) -> bytes:
        with contextlib.suppress(OSError), (self._folder / name).open("rb") as source:
            return source.read(limit)
        return b""

    def _size(self, name: str) -> int:
        with contextlib.suppress(OSError):
            return (self._folder / name).stat().st_size
        return 0


async def _supervise(
    argv: list[str], watch: _Watch, wall_limit_s: float, work: Path, attendant: Attendant | None
) -> tuple[_Problem | None, bool]:
    """Run QEMU to its end; what went wrong, ``None`` if nothing did, and whether its attendant ended it."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        cwd=None if attendant is None else work,
    )
    attending = asyncio.create_task(_attend(attendant, work))
    complaint = asyncio.create_task(_last_bytes(process.stderr))
    problem: _Problem | None = None
    deadline = time.monotonic() + wall_limit_s
    off_by: float | None = None
    try:
        ended = False
        while not ended and problem is None and (off_by is None or time.monotonic() < off_by):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), POLL_S)
                ended = True
            problem = watch.look()
            if watch.is_over and off_by is None:
                off_by = time.monotonic() + OFF_S
            if problem is None and not ended and attending.done() and (trouble := attending.result().problem):
                # QEMU's own end, which follows, says more
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), MOMENT_S)
                    ended = True
                problem = None if ended and process.returncode else trouble
            if problem is None and not ended and not watch.is_over and time.monotonic() > deadline:
                problem = _Problem(f"it did not end within {wall_limit_s:g} s", Cause.HOST)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        said = await complaint
        if said:
            (work / SAID).write_bytes(said)
        # QEMU may end before what is attended has ended
        attended = await _given_up(attending)
    while watch.look() is None and watch.more:
        pass
    if problem is None and process.returncode and ended:
        rows = said.decode("utf-8", "replace").strip().splitlines()
        words = f"QEMU ended with {process.returncode}" + (f": {rows[-1][:300]}" if rows else "")
        problem = _Problem(words, Cause.HOST)
    return problem or attended.problem, attended.ended


class _Attended(NamedTuple):
    problem: _Problem | None = None
    ended: bool = False


async def _attend(attendant: Attendant | None, work: Path) -> _Attended:
    if attendant is None:
        return _Attended()
    try:
        return _Attended(ended=await attendant.attend(work / MONITOR, work))
    except (GuestError, OSError) as error:
        return _Attended(_Problem(str(error), Cause.ATTENDANT))


async def _given_up(attending: asyncio.Task[_Attended]) -> _Attended:
    """What came of it, with a moment for what QEMU's end has for it."""
    with contextlib.suppress(TimeoutError):
        return await asyncio.wait_for(attending, MOMENT_S)
    return _Attended()


async def _last_bytes(stream: asyncio.StreamReader | None, keep: int = MAX_SAID_BYTES) -> bytes:
    kept = b""
    while stream is not None and (chunk := await stream.read(4096)):
        kept = (kept + chunk)[-keep:]
    return kept


def check_results(results: Path) -> None:
    """Raise :class:`GuestError` for a folder with files that are not those of an earlier guest."""
    if (results / FILES).exists() and not (results / "events").is_file():
        raise GuestError(f"{results / FILES} is there and is not from a guest", what_to_do="give another folder")


def _keep(work: Path, results: Path) -> None:
    with room(results, advice="give another folder"):
        results.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(results / FILES, ignore_errors=True)
        (results / SAID).unlink(missing_ok=True)
        for name in ("console", "events", "stdout", "stderr", SAID):
            if (work / name).is_file():
                shutil.copyfile(work / name, results / name)


def _last_of(path: Path, limit: int) -> bytes:
    with contextlib.suppress(OSError), path.open("rb") as source:
        source.seek(max(0, path.stat().st_size - limit))
        return source.read(limit)
    return b""


def _free_bytes(folder: Path) -> int:
    """``MIN_FREE_BYTES`` where the file system does not report it (some network ones have no sizes)."""
    with contextlib.suppress(OSError):
        disk = os.statvfs(folder)
        if disk.f_blocks:
            return disk.f_bavail * disk.f_frsize
    return MIN_FREE_BYTES


def _outcome(work: Path, results: Path, seconds: float, problem: _Problem | None) -> Ended:
    if problem is None:
        events = read_events(_last_of(work / "events", MAX_EVENTS_BYTES))
        status = next((event.status for event in events if event.kind == "end"), None)
        if status is not None:
            with room(results, advice="give another folder"):
                names = unpack_files(work / "files", results / FILES)
                names = sorted({*names, *take_files(work, results / FILES)})
            said = tuple(console_lines(_last_of(work / SAID, MAX_SAID_BYTES)))
            return Ended(status, tuple(events), tuple(names), seconds, said)
        last = events[-1].words if events else "nothing: it did not boot"
        words = f"it powered off before it delivered its results; its last message was {last!r}"
        problem = _Problem(words, Cause.OFF)
    with room(results, advice="give another folder"), contextlib.suppress(GuestError):  # too many: the problem says so
        take_files(work, results / FILES)  # captures up to then are what one wants to see
    console = _last_of(work / "console", MAX_CONSOLE_BYTES)
    raise GuestFailedError(f"the guest failed: {problem.words}", excerpt(console), cause=problem.cause)
