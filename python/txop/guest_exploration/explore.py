"""Drivers explored in guests, one after the other, each with a folder that holds its journal and its findings."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from txop.archive.layout import ArchiveLock, Layout
from txop.core.visible import visible
from txop.core.whole_file import whole_file
from txop.guest.coverage.instrument import Covered
from txop.guest.shipped_faults import CONTROL, FaultScript
from txop.guest_exploration.exploration import NOT_WITHOUT, Begin, Exploration, Finding, Request
from txop.guest_exploration.in_guests import Control, InGuests
from txop.guest_exploration.memory import Memory, text_key
from txop.guest_exploration.mutation import ENDPOINTS, Mutator, Targets
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.reached import FILE, Reach
from txop.guest_exploration.script import Script, read_script
from txop.guest_trials.trial import Place
from txop.present.format import plural

_ONLY_COUNTED = "# Shown with counters in the driver's blocks only; the driver without them does not show it.\n"
FINDINGS = "findings"
"""Folder of a script for each finding."""


@dataclass(frozen=True)
class ExplorationRequest:
    """What is explored, and for how long."""

    drivers: tuple[str, ...]
    scripts: tuple[FaultScript, ...]
    """What is begun with, beside no faults at all."""
    request: Request
    security: str = "wpa2"
    failing: bool = False
    """That a driver fails cleanly is a finding, too."""
    seconds: float | None = None
    """After that long no more trials begin; ``None``: no such limit."""
    covered: Mapping[str, Covered] = field(default_factory=dict)
    """By driver: the same with counters in its blocks, where they are to be counted."""
    options: str = ""
    """Options with which the survey replays a finding."""


@dataclass
class ExploredDriver:
    """A driver, explored."""

    driver: str
    folder: Path
    control: Control
    request: Request
    exploration: Exploration
    begin: tuple[Begin, ...]
    outcomes: tuple[Outcome, ...] = ()
    """The outcome of every trial that is known."""
    left_out: int = 0
    """Trials that this machine ended twice."""
    damage: list[str] = field(default_factory=list)
    """What could not be read of its journal."""
    reach: Reach | None = None
    """Which blocks of the driver were reached; ``None``: they were not counted."""
    cut: bool = False
    """The time was over before everything was tried."""

    @property
    def findings(self) -> list[Finding]:
        """What was found, in order."""
        return list(self.exploration.findings.values())

    def command(self, finding: Finding, options: str) -> str | None:
        """What replays a finding; ``None``: the driver without counters does not show it."""
        if finding.replay == NOT_WITHOUT:
            return None
        return replay_command(self.folder / FINDINGS / f"{finding.name}.toml", self.driver, options)


def replay_command(path: Path, driver: str, options: str) -> str:
    """What replays a finding."""
    return f"txop guest survey --faults {shlex.quote(str(path))} --driver {driver} {options}".rstrip()


async def explore(
    what: ExplorationRequest,
    place: Place,
    folder: Path,
    *,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> list[ExploredDriver]:
    """Explore every driver. Raises :class:`GuestError`, :class:`ArchiveError`, :class:`OSError`."""
    ends = None if what.seconds is None else time.monotonic() + what.seconds
    done = []
    for driver in what.drivers:
        own = folder / driver
        (own / FINDINGS).mkdir(parents=True, exist_ok=True)
        with ArchiveLock(Layout(own)):
            done.append(await _one(what, driver, place, own, jobs, progress, ends))
    return done


async def _one(
    what: ExplorationRequest,
    driver: str,
    place: Place,
    folder: Path,
    jobs: int,
    progress: Callable[[str], None],
    ends: float | None,
) -> ExploredDriver:
    of_driver = partial(InGuests, driver, place, folder, security=what.security, failing=what.failing, jobs=jobs)
    guests, replays = of_driver(), None
    made_of = guests.made_of()
    covered = what.covered.get(driver)
    if covered is not None:
        guests = of_driver(covered=covered)
        replays = of_driver(name="replays")
        made_of["coverage"] = guests.made_of()
    begin = tuple(Begin(script.name, script.text, read_script(script)) for script in (CONTROL, *what.scripts))
    made_of |= {
        "seed": what.request.seed,
        "jobs": what.request.ahead,
        "faults": [text_key(item.text, 0) for item in begin],
        "reductions": what.request.reductions,
    }
    with Memory(folder, made_of, guests, replays) as memory:
        progress(f"{driver}: without faults")
        control = await guests.control()
        registers = {fault.register for item in begin for fault in item.script if fault.register is not None}
        targets = Targets(ENDPOINTS[place.device], tuple(sorted(registers | set(control.registers))))
        telling = _FindingWriter(driver, folder, what.options, progress)
        over = False

        def stopping() -> bool:
            nonlocal over
            over = over or (ends is not None and time.monotonic() >= ends)
            return over

        exploration = Exploration(
            what.request,
            begin,
            Mutator(targets),
            memory,
            replayer=memory.replayer,
            listener=telling,
            comment=telling.comment,
            stopping=stopping,
        )
        explored = ExploredDriver(driver, folder, control, what.request, exploration, begin, damage=memory.damage)
        if control.problem is None:
            await exploration.go()
            explored.outcomes, explored.cut = memory.outcomes, over
            explored.left_out = memory.left_out
            if covered is not None and control.blocks is not None:
                tried = [known for item in begin if (known := memory.outcome(item.text)) is not None]
                explored.reach = Reach.of(covered.blocks, control.blocks, tried, memory.tried)
                with whole_file(folder / FILE) as out:
                    out.write(explored.reach.text(driver))
    return explored


class _FindingWriter:
    """Writes findings down as they are made, and says how far it is."""

    def __init__(self, driver: str, folder: Path, options: str, progress: Callable[[str], None]) -> None:
        self._driver = driver
        self._folder = folder / FINDINGS
        self._options = options
        self._progress = progress

    def tried(self, exploration: Exploration, number: int, script: Script, outcome: Outcome, new: int) -> None:
        kinds = "; ".join(fault.kind for fault in script) or "no faults"
        shown = "not counted: this machine ended the guest" if outcome.void else outcome.verdict
        self._progress(
            f"[{number + 1}/{exploration.total}] {self._driver}: {kinds}: {shown}, {new} new"
            f" ({len(exploration.corpus.entries)} scripts kept, {len(exploration.findings)} found)"
        )

    def found(self, finding: Finding) -> None:
        path = self._folder / f"{finding.name}.toml"
        with whole_file(path) as out:
            out.write(_ONLY_COUNTED + finding.text if finding.replay == NOT_WITHOUT else finding.text)
            out.flush()
            os.fsync(out.fileno())
        how = f"replay: {finding.replay}" if finding.replay else plural(len(finding.script), "fault")
        self._progress(f"  {finding.key} ({how}): {FINDINGS}/{path.name}")

    def comment(self, finding: Finding) -> str:
        path = self._folder / f"{finding.name}.toml"
        rows = [finding.key, finding.outcome.line or finding.outcome.why]
        rows.append(replay_command(Path(self._driver) / FINDINGS / path.name, self._driver, self._options))
        return "\n".join(visible(row) for row in rows)
