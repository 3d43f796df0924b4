"""The machine txop runs on."""

from __future__ import annotations

import os
import posixpath
import stat

from txop.targets.process import ProcessTarget


class LocalTarget(ProcessTarget):
    """The machine txop runs on."""

    async def read(self, path: str, *, limit_bytes: int = 1 << 20) -> bytes | None:
        """See :class:`txop.targets.contract.Target`. ``/proc`` is read without starting a program, because counters
        are read every second; everything else in a process, which can be given up when a driver hangs."""
        if posixpath.normpath(path).startswith("/proc/"):
            content = _read_now(path, limit_bytes)
            if content is not None or not self._sudo:
                return content
        return await super().read(path, limit_bytes=limit_bytes)

    async def read_several(self, *paths: str, limit_bytes: int = 1 << 20) -> list[bytes | None]:
        """See :class:`txop.targets.contract.Target`."""
        return [await self.read(path, limit_bytes=limit_bytes) for path in paths]


def _read_now(path: str, limit_bytes: int) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        while size < limit_bytes:
            part = os.read(descriptor, min(1 << 16, limit_bytes - size))
            if not part:
                break
            parts.append(part)
            size += len(part)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return b"".join(parts)
