"""A driver that exists only here, with a mistake that takes three faults in order."""

from __future__ import annotations

import hashlib
from collections import deque

from txop.guest.shipped_faults import FaultScript
from txop.guest_exploration.exploration import Exploration, Finding
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.script import Fault, Script, read_script

MISTAKE = "warns: kernel-warning fake/core.c:11 fake_recover"


class FakeDriver:
    """The mistake: after a stall of reception it starts again, when sending stalls then it resets the chip, and when
    data are missing then it warns. In another order, or one alone, nothing is worse than a line in the log."""

    def __init__(self, *, unsteady: bool = False, silent: bool = False, counted: bool = False) -> None:
        """``unsteady``: a repeat has another log; ``silent``: it writes no line on its way to the mistake; ``counted``:
        its blocks are counted."""
        self.runs: list[tuple[str, int]] = []
        self._unsteady = unsteady
        self._silent = silent
        self._counted = counted

    async def run(self, text: str, repeat: int) -> Outcome:
        self.runs.append((text, repeat))
        script = read_script(FaultScript("x", text))
        features, finding, state = {"verdict unaffected"}, None, 0
        lines: set[str] = set()
        blocks: set[str] = set()
        for fault in script:
            features.add(f"struck {fault.kind}")
            if state == 0 and is_about(fault, "stall", 1, "in"):
                state = 1
                lines.add("line fake: reception starts again")
                blocks |= {f"block fake fake_start_rx+{offset:#x}" for offset in range(5, 95, 9)}
            elif state == 1 and is_about(fault, "stall", 3, "out"):
                state = 2
                lines.add("line fake: resetting the chip")
                blocks |= {f"block fake fake_reset+{offset:#x}" for offset in range(5, 45, 9)}
            elif state == 2 and fault.action in ("nak", "short") and fault.endpoint != 0:
                finding = MISTAKE
            elif fault.action == "corrupt":
                # any driver has many places that are reached by this and that, and lead nowhere
                blocks.add(f"block fake fake_check_{fault.endpoint}+0x1c")
        features |= set() if self._silent else lines
        features |= blocks if self._counted else set()
        log = f"{sorted(features)}{repeat if self._unsteady else ''}"
        return Outcome(
            verdict="unaffected" if finding is None else "warns",
            why="",
            line=None if finding is None else "WARNING: fake/core.c:11",
            finding=finding,
            features=frozenset(features),
            blocks=40 + len(blocks) if self._counted else None,
            log_sha256=hashlib.sha256(log.encode()).hexdigest(),
        )


def is_about(fault: Fault, action: str, endpoint: int, direction: str) -> bool:
    """Whether it happens to such transfers."""
    return fault.action == action and fault.endpoint == endpoint and fault.direction in (None, direction)


class Quiet:
    """Listens, and remembers at which try something was found."""

    def __init__(self) -> None:
        self.course: deque[tuple[int, Script]] = deque()
        self.found_at: dict[str, int] = {}

    def tried(self, exploration: Exploration, number: int, script: Script, outcome: Outcome, new: int) -> None:
        self.course.append((number, script))

    def found(self, finding: Finding) -> None:
        self.found_at.setdefault(finding.key, len(self.course))
