"""A series judged: builds compared, a campaign carried out, and the outcome."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from txop.archive.reader import Archive
from txop.archive.timing import timing_of
from txop.ci.board_rows import BoardRows
from txop.ci.builds import Module, new_warnings
from txop.ci.result import BoardFacts, BuildFacts, CiResult, FaultFacts, FigureVerdict, RowFacts
from txop.ci.sources import Sources
from txop.ci.verdict import BASE, SERIES, State, new_faults, state_of
from txop.compare.result import CompareResult
from txop.core.errors import UserError
from txop.guest.driver import DriverBuildError, build_driver
from txop.guest_image.packages.apt import Progress
from txop.plan.load import LoadedPlan
from txop.plan_check.exact_guest import exact_guest
from txop.plan_check.guest_builds import driver_of, lock_of


@dataclass
class SeriesJudgement:
    """What is known of a series so far."""

    loaded: LoadedPlan
    found: Sources
    again: str
    begun: float = field(default_factory=time.monotonic)
    base: Module | None = None
    series: Module | None = None
    state: State | None = None
    reason: str = ""
    comparison: CompareResult | None = None
    archive: Archive | None = None
    board: BoardRows | None = None
    build_s: float | None = None
    """What building took."""
    report_s: float | None = None
    """What comparing and the page took."""

    @property
    def warnings(self) -> list[str]:
        """The compiler's new ones."""
        return [] if self.base is None or self.series is None else new_warnings(self.base, self.series)

    async def build(self, progress: Progress) -> None:
        """Build both modules; what does not build is a state, or, of the base, an error.

        Raises:
            UserError: The base does not build, or something that building takes is missing.
        """
        begun = time.monotonic()
        try:
            await self._build(progress)
        finally:
            self.build_s = time.monotonic() - begun

    async def _build(self, progress: Progress) -> None:
        try:
            self.base = await self._module(BASE, progress)
        except DriverBuildError as error:
            raise UserError(
                f"the base does not build: {error.what}",
                what_to_do="give a base that builds for the plan's kernel, or a plan with a patch for it in its arm",
            ) from None
        try:
            self.series = await self._module(SERIES, progress)
        except DriverBuildError as error:
            self.state = State.DOES_NOT_APPLY if error.rejected else State.DOES_NOT_BUILD
            self.reason = error.what
            return
        if self.base.code == self.series.code:
            warnings = self.warnings
            self.state = State.WARNINGS if warnings else State.SAME_MODULE
            how = "byte for byte" if self.base.sha256 == self.series.sha256 else "but for line numbers"
            self.reason = (
                f"it builds the same module as its base, {how}: there is nothing to measure"
                if not warnings else f"the compiler has new warnings: {warnings[0]}"
            )  # fmt: skip

    async def _module(self, arm_name: str, progress: Progress) -> Module:
        plan, folder = self.loaded.plan, self.loaded.folder
        arm = plan.find_arm(arm_name)
        spec = exact_guest(plan).varied(arm.guest)
        return Module.of(await build_driver(driver_of(arm, spec, folder), lock_of(spec, folder), progress=progress))

    def measured(self, archive: Archive, comparison: CompareResult, board: BoardRows | None = None) -> None:
        """Take in what the campaign gave, and how the rows of a board stand in it."""
        self.archive, self.comparison, self.board = archive, comparison, board
        lost = [f"{row.task} ({row.series_because})" for row in board.lost] if board is not None else []
        self.state, self.reason = state_of(comparison, archive.runs, self.warnings, lost)
        if board is not None and board.shows_nothing and self.state.is_fine:
            self.state, self.reason = State.NOT_MEASURED, "the campaign shows no row of the board for both builds"

    def result(self) -> CiResult:
        """All of it. Raises :class:`ValueError` before there is a state."""
        if self.state is None:
            raise ValueError("nothing was judged yet")
        from txop.core.version import program_version

        plan = self.loaded.plan
        spec = exact_guest(plan)
        runs = self.archive.runs if self.archive is not None else ()
        return CiResult(
            txop=program_version(),
            state=self.state,
            ok=self.state.is_fine,
            headline=f"{self.state.value.capitalize()}: {self.reason}",
            base=self.found.base,
            series=self.found.title,
            patches=[patch.title for patch in self.found.patches],
            driver=spec.varied(plan.find_arm(SERIES).guest).builds,
            origin=plan.origin,
            base_build=_facts(self.base),
            series_build=_facts(self.series),
            new_warnings=self.warnings,
            new_faults=[
                FaultFacts(
                    key=fault.key, title=fault.title, severity=fault.severity, runs=fault.runs, of=fault.of,
                    line=fault.line,
                )
                for fault in new_faults(runs)
            ],
            figures=_figures(self.comparison),
            board=None if self.board is None else _board(self.board),
            runs=len(runs),
            timing=timing_of(
                runs, self.archive.events if self.archive is not None else (), build_s=self.build_s,
                report_s=self.report_s, wall_s=time.monotonic() - self.begun,
            ),
            reused_runs=sum(run.reused is not None for run in runs),
            notes=[
                *self.found.notes,
                *(self.archive.damage if self.archive is not None else ()),
                *(self.board.damage if self.board is not None else ()),
            ],
            archive=None if self.archive is None else str(self.archive.layout.root),
            again=self.again,
            seconds=round(time.monotonic() - self.begun, 1),
        )  # fmt: skip


def _board(board: BoardRows) -> BoardFacts:
    rows = [
        RowFacts(
            task=row.task, base=row.base, series=row.series, base_because=row.base_because,
            series_because=row.series_because,
        )
        for row in board.rows
    ]  # fmt: skip
    return BoardFacts(title=board.title, rows=rows)


def _facts(module: Module | None) -> BuildFacts | None:
    return None if module is None else BuildFacts(sha256=module.sha256, build_id=module.build_id)


def _figures(comparison: CompareResult | None) -> list[FigureVerdict]:
    figures = comparison.figures if comparison is not None else ()
    return [
        FigureVerdict(
            name=figure.name, verdict=row.verdict, estimate=row.estimate, low=row.low, high=row.high,
            unit=row.effect_unit, n=row.n, p_adjusted=row.p_adjusted, sentence=row.sentence,
        )
        for figure in figures
        if figure.role == "primary"
        for row in figure.rows
        if row.arm == SERIES
    ]  # fmt: skip
