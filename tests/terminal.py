"""A program on a terminal of its own."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time

WAIT_S = 300
"""For a busy machine; nothing is timed."""


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, argv: list[str], environment: dict[str, str]) -> None:
        self._ours, self._its = pty.openpty()
        termios.tcsetwinsize(self._its, (33, 99))
        self.settings = termios.tcgetattr(self._its)
        self.process = subprocess.Popen(
            argv,
            stdin=self._its,
            stdout=self._its,
            stderr=self._its,
            env={**environment, "TERM": "xterm"},
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),
        )
        self.said = b""

    def read_until(self, words: bytes) -> bytes:
        """What is said until then; what comes behind stays to be read."""
        until = time.monotonic() + WAIT_S
        while words not in self.said:
            ready, _, _ = select.select([self._ours], [], [], 1.0)
            if ready:
                self.said += os.read(self._ours, 65_536)
            assert time.monotonic() < until, f"no {words!r} in {self.said[-2000:]!r}"
            assert ready or self.process.poll() is None, f"it ended without {words!r}: {self.said[-2000:]!r}"
        before, _, self.said = self.said.partition(words)
        return before

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    @property
    def settings_now(self) -> list[object]:
        return termios.tcgetattr(self._its)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._its)
