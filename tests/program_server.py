"""Runs ``txop`` without loading it each time: a server that has its modules loaded forks a process for each call.

What a test sees is a process of its own: arguments, environment, folder, pipes, signals and exit status are as of the
installed program. Loading takes most of the time of a short command.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

PRELOADED = (
    "txop.cli.app", "numpy", "scipy.stats", "scipy.special", "pydantic", "rich.console", "rich.table", "jinja2",
    "altair", "markdown_it", "pygments.lexers",
    "txop.compare.archive", "txop.air.report", "txop.bus.report", "txop.log", "txop.report.campaign",
    "txop.plan.model",
)  # fmt: skip
"""Modules whose state does not depend on the environment. Not polars: its threads do not survive a fork."""

PROGRAM = Path(sys.executable).with_name("txop")
"""The program that `make setup` installed beside this Python."""

RunTxop = Callable[..., "subprocess.CompletedProcess[str]"]
"""What the fixture `txop` is."""

_HEADER = 4


class ProgramServer:
    """The server, as a test process has it. It ends with its last connection, whatever ends that."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )

    def run(
        self,
        arguments: list[str],
        *,
        env: dict[str, str],
        cwd: str | os.PathLike[str] | None = None,
        input: str | None = None,
        timeout: float = 600,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``txop`` with pipes at stdout and stderr, and nothing or ``input`` at stdin.

        Raises:
            subprocess.TimeoutExpired: it did not end within ``timeout`` seconds; it is killed.
        """
        call = {"arguments": arguments, "env": env, "cwd": str(cwd or Path.cwd())}
        pipes = [os.pipe() for _ in range(3)]
        reply, replies = socket.socketpair()
        (in_read, in_write), (out_read, out_write), (err_read, err_write) = pipes
        data = json.dumps(call).encode()
        given = [in_read, out_write, err_write, replies.fileno()]
        self._ours.sendmsg(
            [len(data).to_bytes(_HEADER, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", given))]
        )
        self._ours.sendall(data)
        for each in (in_read, out_write, err_write):
            os.close(each)
        replies.close()
        texts: dict[str, bytes] = {}
        readers = [
            threading.Thread(target=_read, args=(texts, name, end), daemon=True)
            for name, end in (("stdout", out_read), ("stderr", err_read))
        ]
        for reader in readers:
            reader.start()
        writer = threading.Thread(target=_write, args=(in_write, (input or "").encode()), daemon=True)
        writer.start()
        with reply, reply.makefile("r", encoding="ascii") as lines:
            reply.settimeout(timeout)
            if not (first := lines.readline()):
                raise RuntimeError("the server of the program has ended")
            pid = int(first)
            try:
                status = int(lines.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(arguments, timeout) from None
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():  # something that it started has its output open
                raise subprocess.TimeoutExpired(arguments, timeout)
        return subprocess.CompletedProcess(
            ["txop", *arguments], status, texts["stdout"].decode(), texts["stderr"].decode()
        )

    def close(self) -> None:
        """End the server."""
        self._ours.close()
        self._process.wait()


def _write(end: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(end, "wb") as pipe:
        pipe.write(data)


def _read(into: dict[str, bytes], name: str, end: int) -> None:
    with os.fdopen(end, "rb") as pipe:
        into[name] = pipe.read()


def _serve(calls: socket.socket) -> None:
    """Fork a process for each call, which reports on the program that it runs."""
    for name in PRELOADED:
        __import__(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        header, given, _, _ = socket.recv_fds(calls, _HEADER, 4)
        if not header:
            return
        size, data = int.from_bytes(header, "big"), b""
        while len(data) < size:
            data += calls.recv(size - len(data))
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            calls.close()
            _call(json.loads(data), given)
        for each in given:
            os.close(each)


def _call(call: dict[str, object], given: list[int]) -> None:
    """Run the program in a process of its own, and report on it. Does not return."""
    *ends, reply = given
    pid = os.fork()
    if pid == 0:
        os.close(reply)
        for target, end in enumerate(ends):
            os.dup2(end, target)
        for end in ends:
            os.close(end)
        _program(call)
    for end in ends:
        os.close(end)
    with os.fdopen(reply, "wb", buffering=0) as replies:
        replies.write(b"%d\n" % pid)
        replies.write(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def _program(call: dict[str, object]) -> None:
    from txop.cli.entry import main

    os.environ.clear()
    os.environ.update(call["env"])  # type: ignore[call-overload]
    os.chdir(call["cwd"])  # type: ignore[arg-type]
    sys.argv[:] = [str(Path(sys.executable).with_name("txop")), *call["arguments"]]  # type: ignore[misc]
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        stream: IO[str] = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    status: object = 1
    try:
        main()
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for flushed in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                flushed.flush()
        os._exit(status if isinstance(status, int) else 0 if status is None else 1)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _serve(connection)
