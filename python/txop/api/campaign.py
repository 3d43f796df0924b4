"""A campaign's archive for programs and notebooks: tables as polars frames, and the comparison."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from txop.archive import derived, reader
from txop.archive.damage import Finding
from txop.compare import table
from txop.compare.archive import compare
from txop.compare.result import Answer, ComparedFigure, CompareResult
from txop.compare.two import compare_two

if TYPE_CHECKING:
    import polars


def read_archive(path: str | os.PathLike[str]) -> Campaign:
    """Read the archive in the folder ``path``: of ``txop run``, of ``txop import``, complete or still growing.

    Raises:
        txop.UserError: it is not an archive, is of a newer version, or its plan cannot be read.
    """
    return Campaign(reader.read_archive(Path(path)))


class Campaign:
    """An archive, as it was when it was read. Tables are made when they are first asked for.

    Their columns are those of the Parquet tables (``docs/archive.md``): a figure that is not available is null, an
    infinite one infinite.
    """

    def __init__(self, archive: reader.Archive) -> None:
        self._archive = archive

    def __repr__(self) -> str:
        return f"<txop.Campaign {self.path}: {', '.join(self.arms)}; {len(self._archive.runs)} runs>"

    @property
    def path(self) -> Path:
        """The folder."""
        return self._archive.layout.root

    @property
    def title(self) -> str:
        """The plan's title."""
        return self._archive.plan.title

    @property
    def baseline(self) -> str:
        """The arm that the others are compared with."""
        return self._archive.plan.baseline

    @property
    def arms(self) -> list[str]:
        """Names of the arms, in the order of the plan."""
        return [arm.name for arm in self._archive.plan.arm]

    @property
    def tests(self) -> list[str]:
        """Names of the tests, in the order of the plan."""
        return [test.name for test in self._archive.plan.test]

    @property
    def finished(self) -> bool:
        """Whether every planned run was made."""
        return self._archive.finished

    @property
    def findings(self) -> list[Finding]:
        """What cannot be read, or contradicts the rest; runs that are named there are in no table."""
        return self._archive.findings

    @cached_property
    def runs(self) -> polars.DataFrame:
        """One row per run: block, arm, test, state, whether it counts, and why it is void."""
        return derived.frame(self._archive, "runs")

    @cached_property
    def figures(self) -> polars.DataFrame:
        """One row per run and metric: value, unit, source, or the reason why there is no value."""
        return derived.frame(self._archive, "metrics")

    @cached_property
    def series(self) -> polars.DataFrame:
        """One row per run, series and moment: seconds from the start of the window, and the value."""
        return derived.frame(self._archive, "series")

    @cached_property
    def faults(self) -> polars.DataFrame:
        """One row per run and named fault of its kernel logs."""
        return derived.frame(self._archive, "faults")

    def write_page(self, target: str | os.PathLike[str]) -> None:
        """Write the report with its pictures as one HTML file, as ``txop report`` does. Raises :class:`OSError`."""
        from txop.report.campaign import write_page

        write_page(self._archive, compare(self._archive), Path(target))

    def compare(
        self, baseline: str | None = None, *, without: Sequence[str] = (), include_void: bool = False
    ) -> Comparison:
        """Compare every arm with the baseline, as ``txop compare`` does.

        Args:
            baseline: The arm to compare with; default: the plan's.
            without: Arms to leave out.
            include_void: Let void runs and repeated blocks count.

        Raises:
            txop.UserError: the arms cannot be compared, or there is no such arm.
        """
        return Comparison(compare(self._archive, baseline, include_void=include_void, without=without))

    def compare_with(self, later: Campaign, arm: str | None = None) -> Comparison:
        """Compare one arm here with the same arm of a ``later`` campaign, unpaired.

        Args:
            later: The other campaign.
            arm: The arm; default: the plan's baseline.

        Raises:
            txop.UserError: the campaigns cannot be compared.
        """
        return Comparison(compare_two(self._archive, later._archive, arm))


class Comparison:
    """Arms against a baseline, in every figure."""

    def __init__(self, result: CompareResult) -> None:
        self.result = result
        """The whole, as ``txop compare --json`` prints it (``docs/compare.md``)."""

    def __repr__(self) -> str:
        return f"<txop.Comparison with {self.result.baseline}: {len(self.result.figures)} figures>"

    @property
    def headline(self) -> list[str]:
        """The answer in one to a few sentences. For decisions use :attr:`answers` and :attr:`rows`."""
        return self.result.headline

    @property
    def answers(self) -> list[Answer]:
        """For each pair of arms the names of the figures that are gains and costs."""
        return self.result.answers

    @cached_property
    def rows(self) -> polars.DataFrame:
        """One row per figure and arm: medians, estimate, interval, p, margin, verdict."""
        return table.frame(self.result)

    def figure(self, name: str) -> ComparedFigure:
        """The figure ``TEST.METRIC`` with the value of every run. Raises :class:`KeyError` for an unknown name."""
        return self.result.figure(name)

    def to_json(self) -> str:
        """The document of ``txop compare --json``."""
        return self.result.model_dump_json()
