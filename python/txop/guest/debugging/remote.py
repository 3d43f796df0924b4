"""gdb's remote protocol (gdb manual, appendix E), as much of it as finds a place in a replay."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from types import TracebackType

from txop.guest_image.error import GuestError

POLL_S = 0.02
MAX_PACKET = 1 << 20
MAX_READ = 1024
"""Bytes of memory that one packet asks for."""
REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)), "rip")
"""The first ones of QEMU's ``g`` packet for x86-64, eight bytes each (QEMU, target/i386/gdbstub.c)."""


class RemoteError(GuestError):
    """QEMU ended, or says what is not of the protocol."""


class Remote:
    """A connection to QEMU's gdb socket; a context manager."""

    def __init__(self, path: Path, limit_s: float) -> None:
        """``limit_s``: for everything that is asked, by this machine's clock."""
        self._path = path
        self._deadline = time.monotonic() + limit_s
        self._unread = b""

    def __enter__(self) -> Remote:
        """Connects as soon as QEMU is there. Raises :class:`RemoteError`."""
        folder = os.open(self._path.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            place = f"/proc/self/fd/{folder}/{self._path.name}"  # a socket's path may not be long
            while True:
                self._socket = socket.socket(socket.AF_UNIX)
                try:
                    self._socket.connect(place)
                    break
                except OSError as error:
                    self._socket.close()
                    if time.monotonic() > self._deadline:
                        raise RemoteError(f"QEMU does not take a debugger: {error}") from None
                    time.sleep(POLL_S)
        finally:
            os.close(folder)
        self._socket.settimeout(POLL_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it; the guest stays stopped."""
        self._socket.close()

    def ask(self, packet: str) -> str:
        """The answer to a packet. Raises :class:`RemoteError`."""
        data = packet.encode()
        self._socket.sendall(b"$%s#%02x" % (data, sum(data) % 256))
        return self._packet()

    def registers(self) -> dict[str, int]:
        """By name. Raises :class:`RemoteError`."""
        said = _bytes(self.ask("g"))
        return {name: int.from_bytes(said[8 * n : 8 * n + 8], "little") for n, name in enumerate(REGISTERS)}

    def memory(self, address: int, count: int) -> bytes:
        """Of the guest, as the processor sees it now. Raises :class:`RemoteError` where there is none."""
        found = bytearray()
        while len(found) < count:
            part = min(count - len(found), MAX_READ)
            said = self.ask(f"m{address + len(found):x},{part:x}")
            if said.startswith("E") and len(said) % 2:
                raise RemoteError(f"no memory is at {address + len(found):#x}")
            found += _bytes(said)
        return bytes(found)

    def break_at(self, address: int, *, on: bool = True) -> None:
        """Sets a breakpoint, or removes it."""
        said = self.ask(f"{'Z' if on else 'z'}0,{address:x},1")
        if said != "OK":
            raise RemoteError(f"QEMU sets no breakpoint at {address:#x}: {said or 'not known'}")

    def resume(self) -> bool:
        """Continues until it stops; ``False``: the record has ended."""
        try:
            said = self.ask("c")
        except ConnectionError:
            return False
        return said[:1] in "TS"

    def _packet(self) -> str:
        while True:
            begin = self._unread.find(b"$")
            end = self._unread.find(b"#", begin)
            if 0 <= begin < end and len(self._unread) >= end + 3:
                data = self._unread[begin + 1 : end]
                self._unread = self._unread[end + 3 :]
                self._socket.sendall(b"+")
                return data.decode("latin-1")
            if len(self._unread) > MAX_PACKET:
                raise RemoteError("QEMU's answer has no end")
            if time.monotonic() > self._deadline:
                raise RemoteError(
                    "the replay did not come to the place in its time", what_to_do="give more with --wall-limit"
                )
            try:
                more = self._socket.recv(65536)
            except TimeoutError:
                continue
            if not more:
                raise ConnectionResetError("QEMU has ended")
            self._unread += more


def _bytes(words: str) -> bytes:
    try:
        return bytes.fromhex(words.replace("x", "0"))
    except ValueError:
        raise RemoteError(f"QEMU's answer is no memory: {words[:40]}") from None
