"""An exact guest for another machine: everything that it is a function of, and the hash of that.

The other machine makes the guest from these, computes the hash by itself, and runs it only when both are the same: then
its image, its QEMU, its virtual devices and its txop are those of this one, and so are the bytes that come back.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from txop.guest.checkpoint import restore
from txop.guest.inputs import Inputs, inputs_of
from txop.guest.outside import GivenRun
from txop.guest.qemu import Computer
from txop.guest.run_store import DamagedError, events_of, forget, packed, unpacked
from txop.guest.running import Cause, Ended, GuestFailedError, check_results, run_guest
from txop.guest.saved_starts import NoStartError, SavedStarts, copy_results
from txop.guest_image.cache import default_cache
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image, build_image
from txop.guest_image.overlay import Overlay
from txop.guest_image.packages.lock import Lock, lock_text, read_lock

_FAILED = 255
"""Status of a guest that failed, with what it left."""


@dataclass(frozen=True)
class RemoteRun:
    """A guest to be run elsewhere. It holds contents only, no names of files of this machine."""

    key: str
    """Of its inputs."""
    lock: str
    """Text of the lock of its image."""
    image: str
    """Key of the image."""
    script: str
    environment: dict[str, str]
    computer: Computer
    wall_limit_s: float
    run: GivenRun | None
    files: dict[str, tuple[bytes, int]] = field(repr=False)
    """By name in the guest: contents and mode."""
    modules: dict[str, bytes] = field(repr=False)
    """By name of the file."""
    texts: dict[str, bytes] = field(default_factory=dict, repr=False)
    """By name in the guest: contents."""


@dataclass(frozen=True)
class RemoteResult:
    """What came of it. It passes between machines, so errors are words and codes here."""

    data: bytes = field(default=b"", repr=False)
    """What the guest left, packed as in the cache of runs, also when it failed; empty: it left nothing."""
    failed: str = ""
    """Why it failed; empty: it did not."""
    cause: str = ""
    """Name of the :class:`~txop.guest.running.Cause`; empty: the guest was not the reason."""
    console: str = ""


def remote_run(
    lock: Lock | None,
    image: Image,
    overlay: Overlay,
    computer: Computer,
    key: str,
    wall_limit_s: float,
    run: GivenRun | None,
) -> RemoteRun:
    """A guest for another machine. Raises :class:`OSError` and :class:`GuestError`: it has no lock, for instance."""
    if lock is None:
        raise GuestError("only guests of a lock run on a cluster", what_to_do="leave --cluster out")
    modules = {path.name: path.read_bytes() for path in overlay.modules}
    if len(modules) < len(overlay.modules):
        raise GuestError("two modules have files of one name")
    files = {name: (path.read_bytes(), path.stat().st_mode & 0o777) for name, path in overlay.files.items()}
    return RemoteRun(
        key, lock_text(lock), image.key, overlay.script or "", dict(overlay.environment), computer, wall_limit_s, run,
        files, modules, dict(overlay.texts),
    )  # fmt: skip


def carried_out(what: RemoteRun) -> RemoteResult:
    """Run it on this machine, unless another guest would be run here than the one that was asked for."""
    try:
        return asyncio.run(_carried_out(what))
    except GuestError as error:
        return RemoteResult(failed=error.what)
    except OSError as error:
        return RemoteResult(failed=f"{error.filename or 'the machine'}: {error.strerror or error}")


async def _carried_out(what: RemoteRun) -> RemoteResult:
    with tempfile.TemporaryDirectory(prefix="txop-remote-") as name:
        folder = Path(name)
        image = build_image(read_lock(what.lock, "the lock of a guest"))
        overlay = Overlay(
            script=what.script,
            environment=what.environment,
            texts=what.texts,
            files={name: _put(folder / "files" / str(n), *given) for n, (name, given) in enumerate(what.files.items())},
            modules=tuple(_put(folder / "modules" / Path(name).name, data) for name, data in what.modules.items()),
        )
        inputs = inputs_of(image, overlay, what.computer, run=what.run)
        if image.key != what.image or inputs.key != what.key:
            raise GuestError("another guest than the one that was asked for: another image, QEMU or txop is here")
        results = folder / "results"
        try:
            ended = await _run(what, image, overlay, results)
        except GuestFailedError as error:
            data = b""
            with suppress(GuestError, OSError):  # more than is taken, or a full disk: the cause counts
                if results.is_dir():
                    data = _packed(inputs, results, Ended(_FAILED, (), (), 0.0))
            return RemoteResult(data, failed=error.what, cause=error.cause.name, console=error.console)
        return RemoteResult(_packed(inputs, results, ended))


def _packed(inputs: Inputs, results: Path, ended: Ended) -> bytes:
    out = io.BytesIO()
    packed(inputs, results, ended, out, checked=False)
    return out.getvalue()


async def _run(what: RemoteRun, image: Image, overlay: Overlay, results: Path) -> Ended:
    if what.run is None:
        return await run_guest(image, overlay, what.computer, results=results, wall_limit_s=what.wall_limit_s)
    try:
        start = await _starts().of(image, overlay, what.computer, what.wall_limit_s)
    except NoStartError as error:
        copy_results(error.results, results)
        return error.ended
    return await restore(
        image, overlay, what.computer, start.folder, results=results, wall_limit_s=what.wall_limit_s, run=what.run
    )


_STARTS: dict[str, SavedStarts] = {}


def _starts() -> SavedStarts:
    """The saved guests of this process: a worker runs several guests at once, in threads."""
    return _STARTS.setdefault(str(default_cache()), SavedStarts())


def taken(what: RemoteRun, came: RemoteResult, results: Path) -> Ended:
    """Put what came back into a folder.

    Raises:
        GuestFailedError: The guest ended otherwise than it should.
        GuestError: It was not run, or what came back is not what was asked for.
    """
    check_results(results)
    forget(results)
    if came.cause in Cause.__members__:
        if came.data:
            with suppress(DamagedError, OSError):
                unpacked(io.BytesIO(came.data), what.key, results)
        raise GuestFailedError(came.failed, came.console, cause=Cause[came.cause])
    if came.failed or not came.data:
        raise GuestError(f"a worker did not run it: {came.failed or 'it sent nothing'}")
    try:
        header = unpacked(io.BytesIO(came.data), what.key, results)
    except DamagedError as error:
        raise GuestError(f"what a worker sent is damaged: {error}") from None
    return Ended(header.status, events_of(results), (), header.seconds, tuple(header.said))


def _put(path: Path, data: bytes, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path
