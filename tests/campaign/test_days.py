"""A campaign of days in a minute: hundreds of runs of a millisecond, in which everything happens that happens in days:
targets are lost, arms do not load, gates void runs, txop itself dies. Somebody watches, and is notified."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from txop.archive.counting import counting
from txop.archive.reader import ArchiveReader, read_archive
from txop.campaign.ending import End
from txop.campaign.engine import Campaign
from txop.campaign.notify import Notifier, Notifying
from txop.campaign.progress import Progress, read_progress

from .conftest import PLAN, Bench, FakeTestbed, Noted

BLOCKS = 60
CAUSES = {"lost": "target-lost", "load": "arm-load-failed", "gate": "association-lost"}
"""What goes wrong, and the gate by which it is named."""


class Weather:
    """What goes wrong in which run: each of these in 3 of 100, once."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - draws nothing secret
        self._drawn: dict[str, str | None] = {}
        self.deaths = 0

    def __call__(self, run: str) -> str | None:
        if run not in self._drawn:
            kinds = [*CAUSES, "die"]
            self._drawn[run] = next((kind for kind in kinds if self._random.random() < 0.03), None)
        return self._drawn[run]

    def died(self) -> None:
        """What has killed txop once does not do it again."""
        self.deaths += 1
        self._drawn.update({run: None for run, what in self._drawn.items() if what == "die"})

    def struck(self) -> dict[str, str]:
        """The runs that it made void, and by which gate."""
        return {run: CAUSES[what] for run, what in self._drawn.items() if what is not None}


class Watcher(Noted):
    """Looks at the archive in every tenth run, as `txop watch` does from another terminal."""

    def __init__(self, root: Path) -> None:
        super().__init__([])
        self._reader = ArchiveReader(root)
        self._runs = 0
        self.seen: list[Progress] = []

    def phase(self, words: str, seconds: float | None) -> None:
        if words == "measure":
            self._runs += 1
            if self._runs % 10 == 0:
                self.seen.append(read_progress(self._reader)[1])


@pytest.mark.slow
def test_a_campaign_of_hundreds_of_runs_on_bad_days(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "archive", PLAN.replace("blocks = 3", f"blocks = {BLOCKS}"))
    weather, watcher, sent = Weather(1), Watcher(bench.layout.root), tmp_path / "sent"
    complaints: list[str] = []
    notifier = Notifier(["sh", "-c", f'echo "$TXOP_EVENT" >>{sent}'], bench.layout.root, "t", complaints.append)
    lives = _live(bench, weather, Notifying(watcher, notifier))
    notifier.close()
    assert lives == weather.deaths + 1 > 3

    read = read_archive(bench.layout.root)
    assert (read.finished, read.damage) == (True, [])
    void = {run.run: [cause.gate for cause in run.void] for run in read.runs if run.void}
    assert void == {run: [gate] for run, gate in weather.struck().items()}
    assert set(CAUSES.values()) == {gate for gates in void.values() for gate in gates}, "each of them happened"
    for test in ("tx", "rx"):
        assert len(counting(read, test).runs) == 2 * BLOCKS
    for run in void:
        block, arm, test = run.split("-")
        assert any(other.replaces == int(block) and (other.arm, other.test) == (arm, test) for other in read.runs), run

    assert len(watcher.seen) >= 4 * BLOCKS // 10
    counts = [now.valid + now.void for now in watcher.seen]
    assert counts == sorted(counts)
    assert {now.doing for now in watcher.seen} == {"running"}
    assert all(now.under_way for now in watcher.seen)
    assert complaints == []
    assert Counter(sent.read_text().split())["void"] == len(void)


def _live(bench: Bench, weather: Weather, reporter: Notifying) -> int:
    """Run and resume it until it has finished; how often that took."""
    for lives in range(1, 1000):
        try:
            outcome = asyncio.run(Campaign(bench.layout, bench.plan, FakeTestbed(weather), reporter).go())
        except SystemExit:
            weather.died()
            continue
        assert outcome.end is End.FINISHED
        return lives
    raise AssertionError("it never finished")
