"""The plots of a campaign in the places where the page has them, or all of them for files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from types import MappingProxyType

from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.compare import words
from txop.compare.result import ComparedFigure, CompareResult
from txop.core.metrics import station_key
from txop.present import format as fmt
from txop.present.blocks import Cell, Column, Grid, Lines
from txop.present.cells import missing
from txop.present.chapters import Drawing, Painter, Picture
from txop.report.answer.air_digest import Digest, digest
from txop.report.answer.wording import listed
from txop.report.campaign import effects
from txop.report.campaign.pieces import Fold, Paragraph, Pictures, Piece
from txop.report.campaign.plots import air, latency, latency_tests, samples, time
from txop.report.campaign.plots.drawing import arm_inks
from txop.report.campaign.plots.forest import forest
from txop.report.campaign.plots.one_axis import together
from txop.report.campaign.plots.spread import boxes, in_time
from txop.report.campaign.plots.timeline import timeline
from txop.report.campaign.plots.tradeoff import tradeoff
from txop.report.campaign.quoted import quoted

MAX_TESTS = 8
"""Tests with series that are drawn; the tables have them all."""

_MAX_FORESTS = 24
_MAX_BOXES = 24
_MAX_HOST_BOXES = 12
_MAX_IN_TIME = 8
_DRIFTS = 0.05


class Gallery:
    """Makes the plots of one campaign as they are asked for, and remembers them.

    Args:
        archive: The campaign.
        result: Its comparison.
        painter: Makes the pictures of a page; without it drawings are only collected in :attr:`drawings`.
    """

    def __init__(self, archive: Archive, result: CompareResult, painter: Painter | None = None) -> None:
        self._archive = archive
        self._result = result
        self._painter = painter
        self._forests = 0
        self._known_damage = len(archive.damage)
        self._series: dict[str, samples.TestSeries] = {}
        self.inks = arm_inks(result)
        """Ink by name of arm, of the arms that plots show; the baseline first."""
        self.drawings: list[Drawing] = []
        """Every plot made so far."""

    def answer(self) -> Picture | None:
        """Throughput and round trip on one time axis, of the first declared test that has both (or one)."""
        main = dict.fromkeys(figure.test for figure in self._result.figures if figure.role == "primary")
        tests = [test for test in self._tests() if test in main] or self._tests()[:1]
        both: list[Drawing] = []
        for test in tests:
            runs = self._load(test).runs
            load = [run for name in time.SERIES if name != latency.SERIES for run in runs.get(name, [])]
            phases = time.phases_of([run for name in time.SERIES for run in runs.get(name, [])], load)
            drawn = together(test, runs, self.inks, phases)
            if drawn is not None:
                both.append(drawn)
                if len(drawn.spec["vconcat"]) > 1:
                    break
        chosen = max(both, key=lambda drawn: len(drawn.spec["vconcat"]), default=None)
        return next(self._render([chosen])) if chosen is not None else None

    def overview(self) -> list[Picture]:
        """Throughput against round-trip time, and the campaign on a time line."""
        main = dict.fromkeys(figure.test for figure in self._result.figures if figure.role == "primary")
        drawn = (tradeoff(test, self._result.figures, self.inks) for test in [*main, *self._tests()])
        counted = frozenset(p.run for f in self._result.figures for v in f.arms for p in v.points)
        found = [next((each for each in drawn if each is not None), None)]
        found.append(timeline(self._archive.runs, self.inks, counted))
        return list(self._render(each for each in found if each is not None))

    def everything(self) -> list[Drawing]:
        """Every plot that the page has, in its order."""
        self.answer()
        self.overview()
        self.forest(effects.primary(self._result), "primary")
        for test in self._result.tests:
            mine = [figure for figure in effects.exploratory(self._result) if figure.test == test.name]
            self.forest(effects.named(mine), f"exploratory-{test.name}")
        self.values()
        self.time()
        self.latency()
        self.host()
        self.air()
        return self.drawings

    def forest(self, figures: Sequence[ComparedFigure], name: str) -> list[Piece]:
        """Effects and intervals, one plot for each unit."""
        found = forest(figures, name)[: max(0, _MAX_FORESTS - self._forests)] if figures else []
        self._forests += len(found)
        return self._together(found)

    def values(self) -> list[Piece]:
        """Every run as a point: the primary figures, then those with a finding."""
        main = [figure for figure in self._result.figures if figure.role == "primary"]
        found = [
            figure
            for figure in self._result.figures
            if figure.role == "exploratory"
            and figure.metric.key not in effects.HOST
            and any(row.verdict in ("better", "worse") for row in figure.rows)
        ]
        pieces: list[Piece] = []
        note = (
            "Each point is a run, placed by its block from left to right; thin lines join the runs of a block. From 5 "
            "runs on a box shows the quartiles, the bar in it the median, the thin line the whole range. "
            "A ring marks a value far from the others of its arm; it still counts."
        )
        alike = _alike([*main, *found])
        found = [figure for figure in found if figure.name in alike]
        first = self._boxes(main[:_MAX_BOXES], alike)
        if not first:
            return [Paragraph("Not available: no run has a primary figure.")]
        pieces.append(Pictures(first, note=note))
        rest = self._boxes(found[: max(0, _MAX_BOXES - len(main))], alike)
        if rest:
            more = len(found) - len(rest)
            title = f"Exploratory figures with a difference ({len(rest)}{f' of {len(found)}' if more else ''})"
            pieces.append(Fold(title, [Pictures(rest)]))
        return pieces

    def time(self) -> list[Piece]:
        """The order of the runs, then what happened within them."""
        pieces: list[Piece] = []
        main = [figure for figure in self._result.figures if figure.role == "primary"][:_MAX_IN_TIME]
        ordered = [d for figure in main if (d := in_time(figure, self._archive.runs, self.inks)) is not None]
        pieces += self._together(ordered, title="In the order of the runs")
        drifting = [
            f"{words.label(figure)}, {row.arm} (rank correlation {row.drift.rho:+.2f}, p {row.drift.p:.2g})"
            for figure in main
            for row in figure.rows
            if row.drift is not None and row.drift.p < _DRIFTS
        ]
        if drifting:
            text = f"The difference changed in the course of the campaign: {listed(drifting)}."
            pieces.append(Paragraph(text, "warn"))
        within: list[Drawing] = []
        cost: list[Drawing] = []
        left_out: list[str] = []
        for test in self._tests():
            series = self._load(test)
            left_out += [f"{test}: {text}" for text in series.left_out]
            drawn_series = (*time.SERIES, time.COST)
            load = [run for name in time.SERIES if name != latency.SERIES for run in series.runs.get(name, [])]
            phases = time.phases_of([run for name in drawn_series for run in series.runs.get(name, [])], load)
            for name in time.SERIES:
                drawn = time.over_time(test, name, series.runs.get(name, []), self.inks, phases)
                if drawn is not None:
                    within.append(drawn)
            drawn = time.over_time(test, time.COST, series.runs.get(time.COST, []), self.inks, phases)
            if drawn is not None:
                cost.append(drawn)
        pieces += self._together(within, title="Within the runs") or [
            Paragraph("Not available: no valid run has a series.")
        ]
        if cost:
            pieces.append(Fold("CPU over time", self._together(cost)))
        left_out += self._archive.damage[self._known_damage :]
        if left_out:
            pieces.append(Lines(left_out[:20]))
        return pieces + self._bounds()

    def latency(self) -> list[Piece]:
        """Distributions of the round-trip times, and how their quantiles moved."""
        probed = {test: self._load(test).runs.get(latency.SERIES, []) for test in self._tests()}
        together = latency_tests.all_tests(probed, self.inks)
        found = [] if together is None else [together]
        for test, runs in probed.items():
            design = self._result.design
            drawn = latency.distribution(test, runs, self.inks, design.seed)
            if drawn is None:
                continue
            found.append(drawn)
            if any(row.paired for figure in self._result.figures for row in figure.rows):
                moved = latency.shifts(test, runs, self.inks, design.confidence)
                if moved is not None:
                    found.append(moved)
            found += self._of_stations(test)
        return self._together(found) or [
            Paragraph("Not available: no test of this campaign probed the RTT in valid runs.")
        ]

    def _of_stations(self, test: str) -> list[Drawing]:
        """The distribution of each station of a test of several."""
        found = []
        for station in self._stations(test):
            runs = self._load(test).runs.get(station_key(station, latency.SERIES), [])
            drawn = latency.distribution(f"{test}, {station}", runs, self.inks, self._result.design.seed)
            if drawn is not None:
                found.append(replace(drawn, name=f"latency-{test}-{station}"))
        return found

    def _stations(self, test: str) -> list[str]:
        planned = next((each for each in self._archive.plan.test if each.name == test), None)
        return [] if planned is None else planned.stations_measured

    def host(self) -> list[Picture]:
        """Points of what each arm costs the host."""
        figures = [f for key in effects.HOST for f in self._result.figures if f.metric.key == key]
        return self._boxes(figures[:_MAX_HOST_BOXES])

    def air(self) -> list[Piece]:
        """What the captures explain."""
        pieces: list[Piece] = []
        for test in self._result.tests:
            counted = {p.run for f in self._result.figures if f.test == test.name for v in f.arms for p in v.points}
            runs = [run for run in self._archive.runs if run.run in counted]
            digests = [
                each
                for arm in self._result.arms
                if (each := digest(arm.name, [run for run in runs if run.arm == arm.name])).runs
            ]
            if not digests:
                continue
            pieces.append(_air_table(test.name, digests, runs))
            drawn = air.waterfalls(test.name, digests)
            if drawn is not None:
                pieces += self._together([drawn])
            arms = [(arm.name, [run for run in runs if run.arm == arm.name]) for arm in self._result.arms]
            quotes = quoted(f"What the captures of {test.name} show", arms, "air", ("advice", "verdicts"))
            if quotes is not None:
                pieces.append(quotes)
        if not pieces:
            return [Paragraph(f"No capture: {self._no_capture()}.")]
        return pieces

    def _no_capture(self) -> str:
        if not self._archive.plan.collect.air:
            return "the plan asked for none (collect.air), so nothing here shows where the time on the air went"
        reasons = {
            value.reason
            for run in self._archive.runs
            for key, value in run.metrics.items()
            if key == "air_retry_percent" and value.reason
        }
        return listed(sorted(reasons)) or "no valid run has a digest of one"

    def _tests(self) -> list[str]:
        return [test.name for test in self._result.tests][:MAX_TESTS]

    def _load(self, test: str) -> samples.TestSeries:
        if test not in self._series:
            of_stations = [station_key(station, latency.SERIES) for station in self._stations(test)]
            names = (*time.SERIES, time.COST, *of_stations)
            self._series[test] = samples.load(self._archive, self._result, test, self.inks, names)
        return self._series[test]

    def _bounds(self) -> list[Piece]:
        notes = []
        if len(self._result.tests) > MAX_TESTS:
            notes.append(f"series of the first {MAX_TESTS} of {len(self._result.tests)} tests are drawn")
        if len(self._result.arms) > len(self.inks):
            notes.append(f"plots show {len(self.inks)} of {len(self._result.arms)} arms")
        return [Paragraph(f"Note: {'; '.join(notes)}; the tables have them all.", "dim")] if notes else []

    def _boxes(
        self, figures: Iterable[ComparedFigure], alike: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> list[Picture]:
        """``alike``: by figure, those that have its very values and are not drawn again."""
        drawn = ((figure, boxes(figure, self.inks)) for figure in figures)
        return list(self._render(_with_alike(d, alike.get(figure.name, ())) for figure, d in drawn if d is not None))

    def _together(self, drawings: Iterable[Drawing], title: str = "") -> list[Piece]:
        drawn = list(self._render(drawings))
        return [Pictures(drawn, title=title)] if drawn else []

    def _render(self, drawings: Iterable[Drawing]) -> Iterator[Picture]:
        for drawing in drawings:
            self.drawings.append(drawing)
            if self._painter is None:
                yield Picture(Future(), drawing.caption, drawing.wide)  # it is never drawn
            else:
                yield self._painter.picture(drawing)


def _alike(figures: Sequence[ComparedFigure]) -> dict[str, list[str]]:
    """The figures that differ, in order, each with the titles of those that have the same value in every run."""
    first: dict[object, str] = {}
    found: dict[str, list[str]] = {}
    for figure in figures:
        values = tuple((p.run, p.value, p.infinite) for arm in figure.arms for p in arm.points)
        known = first.setdefault((figure.test, values), figure.name)
        if known == figure.name:
            found[known] = []
        elif figure.role == "primary":  # declared ones are drawn whatever they repeat
            found[figure.name] = []
        else:
            found[known].append(figure.metric.title)
    return found


def _with_alike(drawing: Drawing, titles: Sequence[str]) -> Drawing:
    if not titles:
        return drawing
    return replace(drawing, caption=f"{drawing.caption.rstrip('.')}. The same in every run: {listed(titles)}.")


def _air_table(test: str, digests: Sequence[Digest], runs: Sequence[RunFile]) -> Grid:
    columns = [
        Column("arm", right=False),
        Column("runs with a capture"),
        Column("retries"),
        Column("MPDUs per PPDU"),
        Column("PHY rate"),
        Column("response delay (median)"),
        Column("payload"),
    ]
    rows = []
    for each in digests:
        of = sum(run.arm == each.arm for run in runs)
        shown = each.medians
        payload = each.shares.get("payload")
        texts = [
            (fmt.percent(shown["retry_percent"]), shown["retry_percent"]),
            (fmt.number(shown["ampdu_mpdus"]), shown["ampdu_mpdus"]),
            (fmt.mbit_s(shown["phy_mbit_s"]), shown["phy_mbit_s"]),
            (fmt.duration_us(shown["response_delay_p50_us"]), shown["response_delay_p50_us"]),
            (fmt.share(payload), payload),
        ]
        cells = [Cell(text, sort) if sort is not None else missing() for text, sort in texts]
        rows.append([Cell(each.arm), Cell(f"{each.runs} of {of}", each.runs), *cells])
    note = "Medians over runs; payload: mean share of the observed time."
    return Grid(test, columns, rows, note=note, unit_of_rows="arms")
