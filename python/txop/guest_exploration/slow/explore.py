"""Drivers searched for what makes them slow, one after the other, each with a folder of its journal and findings."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from txop.archive.layout import ArchiveLock, Layout
from txop.core.visible import visible
from txop.core.whole_file import whole_file
from txop.guest.saved_starts import SavedStarts
from txop.guest.shipped_faults import FaultScript
from txop.guest_exploration.cost import Costs
from txop.guest_exploration.exploration import Request
from txop.guest_exploration.finding import file_name
from txop.guest_exploration.memory import Memory
from txop.guest_exploration.mutation import ENDPOINTS, Mutator, Targets
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.slow.entry import Input, InputMutator, read_input
from txop.guest_exploration.slow.search import Begin, Slow, SlowFinding, SlowSearch
from txop.guest_exploration.slow.trial import LATEST_MS, SlowTrials, Without
from txop.guest_image.error import GuestError
from txop.guest_trials.trial import Place

FINDINGS = "findings"
"""Folder of an input for each finding."""
TIMES = 3.0
"""So many times the usual cost is slow, unless something else is asked for."""


@dataclass(frozen=True)
class SlowRequest:
    """What is searched, and for how long."""

    drivers: tuple[str, ...]
    scripts: tuple[FaultScript, ...]
    """What is begun with, beside the usual traffic."""
    request: Request
    security: str = "wpa2"
    times: float = TIMES
    seconds: float | None = None
    """After that long no more trials begin; ``None``: no such limit."""
    options: str = ""
    """Options with which the same command replays a finding."""


@dataclass
class SearchedDriver:
    """A driver, searched."""

    driver: str
    folder: Path
    without: Without
    usual: Costs
    request: SlowRequest
    search: SlowSearch
    seconds: float | None = None
    """Time of all trials, by this machine's clock; ``None``: there were none."""
    left_out: int = 0
    """Trials that this machine ended twice."""
    damage: list[str] = field(default_factory=list)
    """What could not be read of its journal."""
    cut: bool = False
    """The time was over before everything was tried."""

    @property
    def findings(self) -> list[SlowFinding]:
        """What was found, in order."""
        return self.search.findings

    def path(self, finding: SlowFinding) -> Path:
        """The file of a finding."""
        return self.folder / FINDINGS / f"{file_name(finding.key)}.toml"

    def command(self, finding: SlowFinding) -> str:
        """What measures a finding again."""
        return replay_command(self.path(finding), self.driver, self.request)


def replay_command(path: Path, driver: str, request: SlowRequest) -> str:
    """What measures a finding again."""
    times = "" if request.times == TIMES else f" --times {request.times:g}"
    command = f"txop guest explore --slow --tries 0 --reductions 0{times} --faults {shlex.quote(str(path))}"
    return f"{command} --driver {driver} {request.options}".rstrip()


async def search(
    what: SlowRequest, place: Place, folder: Path, *, jobs: int = 1, progress: Callable[[str], None] = lambda _: None
) -> list[SearchedDriver]:
    """Search every driver. Raises :class:`GuestError`, :class:`ArchiveError`, :class:`OSError`."""
    if place.workers is not None:
        raise GuestError("guests on a cluster are not measured", what_to_do="leave --cluster out")
    ends = None if what.seconds is None else time.monotonic() + what.seconds
    starts = SavedStarts()
    done = []
    try:
        for driver in what.drivers:
            own = folder / driver
            (own / FINDINGS).mkdir(parents=True, exist_ok=True)
            with ArchiveLock(Layout(own)):
                done.append(await _one(what, driver, place, own, starts, jobs, progress, ends))
    finally:
        starts.close()
    return done


async def _one(
    what: SlowRequest,
    driver: str,
    place: Place,
    folder: Path,
    starts: SavedStarts,
    jobs: int,
    progress: Callable[[str], None],
    ends: float | None,
) -> SearchedDriver:
    trials = SlowTrials(driver, place, folder, starts, security=what.security, jobs=jobs)
    begin = tuple(Begin(script.name, read_input(script)) for script in what.scripts)
    made_of = trials.made_of() | {
        "seed": what.request.seed,
        "jobs": what.request.ahead,
        "faults": [item.input.text() for item in begin],
        "reductions": what.request.reductions,
        "times": what.times,
    }
    with Memory(folder, made_of, trials) as memory:
        progress(f"{driver}: the usual traffic, and echo requests alone")
        without = await trials.without()
        speed = place.computer.instructions_per_second
        if speed is None:
            raise GuestError("costs are counted in exact guests only", what_to_do="take --mode out")
        over = False

        def stopping() -> bool:
            nonlocal over
            over = over or (ends is not None and time.monotonic() >= ends)
            return over

        searching = SlowSearch(
            what.request,
            begin,
            InputMutator(Mutator(_targets(place, begin))).mutate,
            memory,
            without.usual,
            without.rest,
            speed,
            times=what.times,
            listener=_FindingWriter(driver, folder, what, progress),
            stopping=stopping,
        )
        searched = SearchedDriver(driver, folder, without, searching.usual, what, searching, damage=memory.damage)
        await searching.go()
        known = [outcome.seconds for outcome in memory.outcomes if outcome.seconds is not None]
        searched.seconds = sum(known) if known else None
        searched.left_out, searched.cut = memory.left_out, over
    return searched


def _targets(place: Place, begin: tuple[Begin, ...]) -> Targets:
    registers = {fault.register for item in begin for fault in item.input.faults if fault.register is not None}
    return Targets(ENDPOINTS.get(place.device, ()), tuple(sorted(registers)), latest_ms=LATEST_MS)


class _FindingWriter:
    """Writes findings down as they are made, and says how far it is."""

    def __init__(self, driver: str, folder: Path, what: SlowRequest, progress: Callable[[str], None]) -> None:
        self._driver = driver
        self._folder = folder / FINDINGS
        self._what = what
        self._progress = progress

    def tried(self, search: SlowSearch, number: int, tried: Input, outcome: Outcome, slow: Slow | None) -> None:
        kinds = "; ".join(sorted(tried.kinds)) or "the usual traffic"
        if outcome.void:
            shown = "not counted: this machine ended the guest"
        elif slow is None:
            shown = outcome.verdict if outcome.cost is None else "stalled"
        else:
            shown = ", ".join(f"{metric.value} x {times:.2f}" for metric, times in slow.times.items())
        self._progress(
            f"[{number + 1}/{search.total}] {self._driver}: {kinds}: {shown}"
            f" ({search.kept} inputs kept, {len(search.findings)} found)"
        )

    def found(self, finding: SlowFinding) -> None:
        path = self._folder / f"{file_name(finding.key)}.toml"
        rows = [
            f"{finding.key}: {finding.times:.2f} times the usual",
            replay_command(Path(self._driver) / FINDINGS / path.name, self._driver, self._what),
        ]
        with whole_file(path) as out:
            out.write(finding.slow.input.text("\n".join(visible(row) for row in rows)))
            out.flush()
            os.fsync(out.fileno())
        replay = {None: "not replayed", True: "replay exact", False: "replay differs"}[finding.exact]
        self._progress(f"  {rows[0]} ({replay}): {FINDINGS}/{path.name}")
