"""Processes that live no longer than this one.

Each is tied to it twice: its standard input is a pipe that ends with the other process, and ``setpriv --pdeathsig`` has
the kernel kill it (PR_SET_PDEATHSIG, prctl(2)). So ``kill -9`` of this process ends them too.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from txop.core.errors import TxopError

MAX_LINE_BYTES = 1 << 20
"""Longest line that is read from such a process."""
GRACE_S = 5.0
"""How long each step of stopping one may take."""

DIES_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")
"""Prefix of a command that ends when the process that started it ends."""
ASKED_TO_END_WITH_PARENT = ("setpriv", "--pdeathsig", "TERM", "--")
"""The same for one that takes SIGTERM for the end."""


class NotStartedError(TxopError):
    """A program that could not be started; the text names it and says why."""


class HeldProcess:
    """A child process with pipes. Use :func:`start`."""

    def __init__(self, process: asyncio.subprocess.Process, stderr: asyncio.Task[bytes]) -> None:
        self._process = process
        self._stderr = stderr

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self._process.returncode is None

    @property
    def status(self) -> int | None:
        """Exit status; negative: the signal that ended it; ``None``: it runs."""
        return self._process.returncode

    async def ask(self, text: bytes) -> None:
        """Write to its standard input."""
        if self._process.stdin is not None:
            with contextlib.suppress(ConnectionError):
                self._process.stdin.write(text)
                await self._process.stdin.drain()

    async def line(self, timeout_s: float) -> str | None:
        """Its next line of output; ``None`` when it ended, or printed nothing in that time."""
        if self._process.stdout is None:
            return None
        try:
            raw = await asyncio.wait_for(self._process.stdout.readline(), timeout_s)
        except (TimeoutError, ValueError):
            return None
        return raw.decode("utf-8", errors="replace").rstrip("\n") if raw else None

    async def complaint(self) -> str:
        """The last line it wrote to standard error, once it has ended; "" if none."""
        with contextlib.suppress(TimeoutError):
            said = await asyncio.wait_for(asyncio.shield(self._stderr), GRACE_S)
            lines = said.decode("utf-8", errors="replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    async def ended(self) -> None:
        """Wait until it has ended by itself."""
        await self._process.wait()

    def close_input(self) -> None:
        """End its standard input, which asks it to end."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def stop(self) -> None:
        """End it: end of input, then SIGTERM, then SIGKILL. Safe when it has ended; completes even when cancelled."""
        try:
            self.close_input()
            for signal_it in (None, self._process.terminate, self._process.kill):
                if signal_it is not None:
                    with contextlib.suppress(ProcessLookupError):
                        signal_it()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._process.wait(), GRACE_S)
                    break
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            raise
        finally:
            self._stderr.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._stderr


async def start(argv: Sequence[str], environment: dict[str, str], *, files: Sequence[int] = ()) -> HeldProcess:
    """Start a process that ends at the end of its input. It does not get this terminal's Ctrl-C, but ``files``: open
    files of this one, under the same numbers.

    Raises:
        NotStartedError: there is no such program, or it may not be run.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MAX_LINE_BYTES,
            env=environment,
            start_new_session=True,
            pass_fds=files,
        )
    except OSError as error:
        raise NotStartedError(f"cannot start {argv[0]}: {error.strerror}") from None
    return HeldProcess(process, asyncio.create_task(last_bytes(process.stderr)))


async def last_bytes(stream: asyncio.StreamReader | None, keep: int = 8192) -> bytes:
    """What comes last on a stream, once it has ended."""
    kept = b""
    while stream is not None and (chunk := await stream.read(4096)):
        kept = (kept + chunk)[-keep:]
    return kept
