"""Queries of a machine: the interface that checks use, and its implementation for this machine."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class CommandResult:
    """A program that ran to its end: exit status, and stdout and stderr together."""

    status: int
    output: str


class Machine(Protocol):
    """What can be asked of a machine. Every question is harmless, answers in seconds and never raises."""

    @property
    def is_root(self) -> bool:
        """Whether txop runs as root there."""

    @property
    def architecture(self) -> str:
        """The processor as the kernel names it (``x86_64``, ``aarch64``)."""

    def os_release(self) -> Mapping[str, str]:
        """The fields of os-release(5); empty when no such file."""

    def find_program(self, name: str) -> str | None:
        """Path of a program, also in the ``sbin`` folders that ordinary users' PATH leaves out."""

    def run(self, command: Sequence[str]) -> CommandResult | None:
        """Run a command without input; ``None`` when it cannot start or does not end within seconds."""

    def exists(self, path: str) -> bool:
        """Whether a file, device or folder is there."""

    def can_write(self, path: str) -> bool:
        """Whether this user may open a file or device for reading and writing."""

    def imports(self, module: str) -> bool:
        """Whether a Python module can be imported by this txop."""


class LocalMachine:
    """The machine this process runs on."""

    _TIMEOUT_S = 10.0
    _SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")

    @property
    def is_root(self) -> bool:
        """See :class:`Machine`."""
        return os.geteuid() == 0

    @property
    def architecture(self) -> str:
        """See :class:`Machine`."""
        return platform.machine()

    def os_release(self) -> Mapping[str, str]:
        """See :class:`Machine`."""
        try:
            return platform.freedesktop_os_release()
        except OSError:
            return {}

    def find_program(self, name: str) -> str | None:
        """See :class:`Machine`."""
        return shutil.which(name) or shutil.which(name, path=os.pathsep.join(self._SYSTEM_FOLDERS))

    def run(self, command: Sequence[str]) -> CommandResult | None:
        """See :class:`Machine`."""
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=self._TIMEOUT_S,
                check=False,
                env={**os.environ, "LC_ALL": "C"},
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return CommandResult(done.returncode, done.stdout.decode("utf-8", errors="replace"))

    def exists(self, path: str) -> bool:
        """See :class:`Machine`."""
        try:
            return Path(path).exists()
        except OSError:
            return False

    def can_write(self, path: str) -> bool:
        """See :class:`Machine`."""
        return os.access(path, os.R_OK | os.W_OK)

    def imports(self, module: str) -> bool:
        """See :class:`Machine`."""
        try:
            importlib.import_module(module)
        except Exception:  # a broken extension module can raise anything
            return False
        return True
