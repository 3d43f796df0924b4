"""Figures of others beside those of a campaign, arm by arm: imported, and nothing is concluded from the difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.present.format import NOT_AVAILABLE, figure, signed

RETRIES = ("air_bss_retry_percent", "air_retry_percent", "retry_percent")
"""Those that are called retries, Wireshark's of the network first."""
NOTE = (
    "Differences from figures of another machine on another air: nothing is concluded from them. Retries of the "
    "campaign are those of its network as Wireshark's WLAN Traffic window counts them, where its air was captured."
)
HEAD = ("test", "arm", "published", "here, median", "difference", "about")


@dataclass(frozen=True)
class Beside:
    """A published figure and that of the campaign."""

    test: str
    arm: str
    """As reports show it."""
    about: str
    theirs_mbit_s: float
    theirs_retries_percent: float | None
    mbit_s: float | None
    """The median; ``None``: the campaign has none."""
    n: int
    retries_percent: float | None

    def cells(self) -> tuple[str, ...]:
        """In the order of :data:`HEAD`."""
        there = self.mbit_s is not None
        off = None if self.mbit_s is None else self.mbit_s - self.theirs_mbit_s
        share = f" ({signed(100 * off / self.theirs_mbit_s, 0)} %)" if off is not None and self.theirs_mbit_s else ""
        retries_off = (
            f"; {signed(self.retries_percent - self.theirs_retries_percent)} in retries %"
            if self.retries_percent is not None and self.theirs_retries_percent is not None
            else ""
        )
        here = f"{_both(self.mbit_s, self.retries_percent)} (n = {self.n})" if there else NOT_AVAILABLE
        difference = f"{signed(off)}{share}{retries_off}" if there else NOT_AVAILABLE
        return self.test, self.arm, _both(self.theirs_mbit_s, self.theirs_retries_percent), here, difference, self.about


def _both(mbit_s: float | None, retries_percent: float | None) -> str:
    retries = "" if retries_percent is None else f"; {figure(retries_percent, 1)} %"
    return f"{figure(mbit_s, 1)} Mbit/s{retries}"


def beside(archive: Archive, result: CompareResult) -> list[Beside]:
    """The published figures of the plan's arms, in its order, test by test."""
    shown = {arm.name for arm in result.arms}
    arms = [arm for arm in archive.plan.arm if arm.name in shown]
    return [
        Beside(
            test.name,
            arm.shown,
            each.about,
            each.throughput_mbit_s,
            each.retries_percent,
            *_median(result, test.name, ("throughput_mbit_s",), arm.name),
            _median(result, test.name, RETRIES, arm.name)[0],
        )
        for test in archive.plan.test
        for arm in arms
        for each in arm.published
        if each.test == test.name
    ]


def _median(result: CompareResult, test: str, metrics: tuple[str, ...], arm: str) -> tuple[float | None, int]:
    for values in _values(result, test, metrics, arm):
        return values
    return None, 0


def _values(result: CompareResult, test: str, metrics: tuple[str, ...], arm: str) -> Iterator[tuple[float | None, int]]:
    for metric in metrics:
        for compared in result.figures:
            if compared.test == test and compared.metric.key == metric:
                for values in compared.arms:
                    if values.arm == arm and values.median is not None and values.bound is None:
                        yield values.median, values.n
