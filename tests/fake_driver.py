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

    def __init__(self, *, unsteady: bool = False) -> None:
        """``unsteady``: a repeat has another log."""
        self.runs: list[tuple[str, int]] = []
        self._unsteady = unsteady

    async def run(self, text: str, repeat: int) -> Outcome:
        self.runs.append((text, repeat))
        script = read_script(FaultScript("x", text))
        features, finding, state = {"verdict unaffected"}, None, 0
        for fault in script:
            features.add(f"struck {fault.kind}")
            if state == 0 and is_about(fault, "stall", 1, "in"):
                state = 1
                features.add("line fake: reception starts again")
            elif state == 1 and is_about(fault, "stall", 3, "out"):
                state = 2
                features.add("line fake: resetting the chip")
            elif state == 2 and fault.action in ("nak", "short") and fault.endpoint != 0:
                finding = MISTAKE
        log = f"{sorted(features)}{repeat if self._unsteady else ''}"
        return Outcome(
            verdict="unaffected" if finding is None else "warns",
            why="",
            line=None if finding is None else "WARNING: fake/core.c:11",
            finding=finding,
            features=frozenset(features),
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
