"""``txop air -i INTERFACE``: what dumpcap captures, while it captures."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from txop.core.errors import ExitCode, MissingToolError, UserError
from txop.core.nearest import did_you_mean
from txop.process.held import ASKED_TO_END_WITH_PARENT

_PROGRAM = "dumpcap"
_SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin"
_SIOCGIFHWADDR = 0x8927  # linux/sockios.h
_MONITOR_TYPES = frozenset({801, 802, 803})
"""ARPHRD_IEEE80211, _PRISM and _RADIOTAP (linux/if_arp.h): frames as they are on the air."""
_GRACE_S = 5.0
_MOST_WORDS = 500
_DONE = b"\0"
"""No signal has this number."""


@contextmanager
def capturing(interface: str) -> Iterator[str]:
    """The name of a pipe with what is captured on a monitor interface, until the context is left.

    Raises:
        UserError: there is no such interface, it is not a monitor, or dumpcap could not capture on it.
        MissingToolError: there is no dumpcap.
    """
    check_interface(interface)
    program = shutil.which(_PROGRAM) or shutil.which(_PROGRAM, path=_SYSTEM_FOLDERS)
    if program is None:
        raise MissingToolError(f"there is no {_PROGRAM}", what_to_do="install it (Debian: wireshark-common, or tshark)")
    held = ASKED_TO_END_WITH_PARENT if shutil.which(ASKED_TO_END_WITH_PARENT[0]) else ()
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(
            [*held, program, "-q", "-i", interface, "-w", "-"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,  # Ctrl-C is for the analysis, which then ends this
        ) as process:
            try:
                assert process.stdout is not None
                with _ended_by_signals(process):
                    yield f"/dev/fd/{process.stdout.fileno()}"
            except ValueError as error:
                _end(process)
                if process.returncode > 0:
                    raise _failed(interface, said.read() if not said.seek(0) else b"") from error
                raise
            finally:
                _end(process)
        if process.returncode > 0:
            raise _failed(interface, said.read() if not said.seek(0) else b"")


@contextmanager
def _ended_by_signals(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End ``process`` as soon as this one gets a signal. Compiled code that waits for its output
    handles a signal only when there is some output, or when it ends."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def wait() -> None:
        if os.read(reader, 1) != _DONE:
            process.terminate()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(writer, _DONE)
        waiting.join(_GRACE_S)
        os.close(reader)
        os.close(writer)


def check_interface(interface: str) -> None:
    """Refuse what is not a monitor interface, before anything is started. Raises :class:`UserError`."""
    known = [name for _, name in socket.if_nameindex()]
    if interface not in known:
        raise UserError(f'unknown network interface "{interface}"', what_to_do=did_you_mean(interface, known))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ask:
        answer = fcntl.ioctl(ask, _SIOCGIFHWADDR, struct.pack("16s24x", interface.encode()))
    (kind,) = struct.unpack_from("=H", answer, 16)
    if kind not in _MONITOR_TYPES:
        raise UserError(
            "is not in monitor mode: what is captured on it are not 802.11 frames",
            where=interface,
            what_to_do=f"add a monitor to its radio: iw dev {interface} interface add mon0 type monitor,"
            " then: ip link set mon0 up",
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _failed(interface: str, said: bytes) -> UserError:
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines()]
    reasons = [
        line for line in lines if line and not line.startswith(("Capturing on", "File:", "Packets", "Running as"))
    ]
    why = " ".join(reasons)[:_MOST_WORDS].removeprefix(f"{_PROGRAM}: ") or "it gave no reason"
    return UserError(f"{_PROGRAM} cannot capture: {why}", where=interface, exit_code=ExitCode.MISSING)
