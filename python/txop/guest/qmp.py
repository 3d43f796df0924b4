"""QEMU's machine protocol (QMP, docs/interop/qmp-spec.rst), as much of it as stops, saves and continues a guest."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from txop.guest_image.error import GuestError

MAX_LINE_BYTES = 1 << 20
"""Longest line that is read from QEMU."""
POLL_S = 0.01


class QmpError(GuestError):
    """QEMU refused a command, or its answer is none."""


class QmpClosedError(QmpError):
    """QEMU has ended."""


class Qmp:
    """A connection to QEMU's monitor. An asynchronous context manager."""

    def __init__(self, path: Path) -> None:
        """``path``: its Unix socket, which QEMU makes as it starts."""
        self._path = path
        self._events: list[str] = []

    async def __aenter__(self) -> Qmp:
        """Connects as soon as QEMU is there; to be cancelled when it does not come."""
        folder = os.open(self._path.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            place = f"/proc/self/fd/{folder}/{self._path.name}"  # a socket's path may not be long
            while True:
                try:
                    self._reader, self._writer = await asyncio.open_unix_connection(place, limit=MAX_LINE_BYTES)
                    break
                except (FileNotFoundError, ConnectionRefusedError):
                    await asyncio.sleep(POLL_S)
        finally:
            os.close(folder)
        await self._line()
        await self.execute("qmp_capabilities")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the connection."""
        self._writer.close()

    async def execute(self, command: str, **arguments: Any) -> Any:
        """The answer to a command. Raises :class:`QmpError`."""
        self._writer.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        await self._writer.drain()
        while True:
            said = await self._line()
            if "event" in said:
                self._events.append(str(said["event"]))
            elif "error" in said:
                raise QmpError(f"QEMU refused {command}: {said['error'].get('desc')}")
            elif "return" in said:
                return said["return"]

    async def event(self, name: str) -> None:
        """Waits for an event, or has had it since the last wait. Raises :class:`QmpError`."""
        while name not in self._events:
            said = await self._line()
            if "event" in said:
                self._events.append(str(said["event"]))
        self._events.clear()

    async def _line(self) -> dict[str, Any]:
        try:
            line = await self._reader.readline()
            said = json.loads(line) if line else None
        except (ValueError, OSError) as error:
            raise QmpError(f"QEMU's monitor cannot be read: {error}") from None
        if said is None:
            raise QmpClosedError("QEMU's monitor is closed")
        if not isinstance(said, dict):
            raise QmpError("QEMU's monitor says what is no object")
        return said
