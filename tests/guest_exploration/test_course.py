"""The course of an exploration, against a driver that exists only here."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from fake_driver import MISTAKE, FakeDriver, Quiet
from txop.guest_exploration.exploration import (
    EXACT,
    NOT_AGAIN,
    NOT_WITHOUT,
    OTHER_LOG,
    Begin,
    Exploration,
    Request,
    Runner,
)
from txop.guest_exploration.memory import FILE, Memory
from txop.guest_exploration.mutation import Mutator, Targets
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.script import Fault, Script, written
from txop.guest_image.error import GuestError

EMPTY = Begin("none", "", ())
STALL_IN, STALL_OUT, NAK_IN = (
    Fault("stall", endpoint=1, direction="in", nth=7, from_ms=300),
    Fault("stall", endpoint=3, direction="out", times=2),
    Fault("nak", endpoint=1, direction="in", for_ms=100),
)
WRONG: Script = (STALL_IN, Fault("disconnect"), STALL_OUT, NAK_IN)
"""A script that shows the mistake, and something that has no part in it."""
SHOWN = Begin("shown", written(WRONG), WRONG)
SMALLEST = (
    Fault("stall", endpoint=1),
    Fault("stall", endpoint=3),
    Fault("nak", endpoint=1),
)
TARGETS = Targets(endpoints=((1, "in"), (3, "out")))


def explored(
    request: Request, runner: Runner, begin: list[Begin], *, first_only: bool = False
) -> tuple[Exploration, Quiet]:
    quiet = Quiet()
    exploration = Exploration(
        request,
        begin,
        Mutator(TARGETS),
        runner,
        listener=quiet,
        stopping=lambda: first_only and bool(quiet.found_at),
    )
    asyncio.run(exploration.go())
    return exploration, quiet


def tries_until_found(seed: int, most: int, *, guided: bool = True, driver: Runner | None = None) -> int:
    """How many tries it takes; ``most``: it was not found."""
    request = Request(seed=seed, tries=most, guided=guided)
    _, quiet = explored(request, driver or FakeDriver(), [EMPTY], first_only=True)
    return quiet.found_at.get(MISTAKE, most)


@pytest.mark.slow
def test_guidance_finds_the_mistake_sooner_than_mutation_alone() -> None:
    most, seeds = 400, range(1, 7)
    guided = [tries_until_found(seed, most, guided=True) for seed in seeds]
    blind = [tries_until_found(seed, most, guided=False) for seed in seeds]
    assert all(tries < most for tries in guided), guided
    assert sum(tries < most for tries in blind) <= 3, blind
    assert sum(guided) < 0.7 * sum(blind), (guided, blind)


def test_blocks_lead_to_a_mistake_of_which_the_log_says_nothing() -> None:
    most, seeds = 400, range(1, 7)
    counted = [tries_until_found(seed, most, driver=FakeDriver(silent=True, counted=True)) for seed in seeds]
    silent = [tries_until_found(seed, most, driver=FakeDriver(silent=True)) for seed in seeds]
    blind = [tries_until_found(seed, most, driver=FakeDriver(silent=True), guided=False) for seed in seeds]
    assert sum(tries < most for tries in counted) >= 5, counted
    assert sum(tries < most for tries in silent) <= 1, silent
    assert sum(counted) < 0.8 * sum(blind), (counted, blind)


@pytest.mark.parametrize("shown", [True, False])
def test_a_finding_counts_when_the_driver_without_counters_shows_it(shown: bool) -> None:
    class Plain(FakeDriver):
        async def run(self, text: str, repeat: int) -> Outcome:
            outcome = await super().run(text, repeat)
            return outcome if shown else outcome.model_copy(update={"finding": None})

    counted, plain, quiet = FakeDriver(counted=True), Plain(), Quiet()
    exploration = Exploration(
        Request(tries=0, reductions=40), [EMPTY, SHOWN], Mutator(TARGETS), counted, replayer=plain, listener=quiet
    )
    asyncio.run(exploration.go())
    (finding,) = exploration.findings.values()
    assert finding.replay == (EXACT if shown else NOT_WITHOUT)
    assert finding.script == (SMALLEST if shown else WRONG)
    assert [text for text, _ in counted.runs] == ["", SHOWN.text], "what shows it is not tried with counters again"
    assert plain.runs[0] == (SHOWN.text, 0)
    assert plain.runs[-2:] == ([(finding.text, 0), (finding.text, 1)] if shown else [(SHOWN.text, 0)])


def test_what_only_the_driver_without_counters_shows_is_a_finding_too() -> None:
    class Plain(FakeDriver):
        async def run(self, text: str, repeat: int) -> Outcome:
            outcome = await super().run(text, repeat)
            return outcome.model_copy(update={"finding": outcome.finding and "warns plain.c:1"})

    exploration = Exploration(
        Request(tries=0, reductions=40), [EMPTY, SHOWN], Mutator(TARGETS), FakeDriver(counted=True),
        replayer=Plain(), listener=Quiet(),
    )  # fmt: skip
    asyncio.run(exploration.go())
    assert {key: finding.replay for key, finding in exploration.findings.items()} == {
        MISTAKE: NOT_WITHOUT,
        "warns plain.c:1": EXACT,
    }
    assert exploration.findings["warns plain.c:1"].script == SMALLEST
    assert all(entry.blocks is not None for entry in exploration.corpus.entries), "of the driver with counters only"


def test_a_replay_with_another_driver_is_remembered_apart(tmp_path: Path) -> None:
    def course(counted: FakeDriver, plain: FakeDriver) -> Exploration:
        with Memory(tmp_path, {}, counted, plain) as memory:
            exploration = Exploration(
                Request(seed=2, tries=4), [EMPTY, SHOWN], Mutator(TARGETS), memory,
                replayer=memory.replayer, listener=Quiet(),
            )  # fmt: skip
            asyncio.run(exploration.go())
            assert memory.outcome(SHOWN.text) == memory.tried[1], "and not that of the replay"
            assert len(memory.outcomes) == len(memory.tried) + len(plain.runs or first.runs)
        return exploration

    first, again = FakeDriver(), FakeDriver()
    whole = course(FakeDriver(counted=True), first)
    rest = FakeDriver(counted=True)
    assert course(rest, again).findings == whole.findings
    assert (rest.runs, again.runs) == ([], [])
    assert len(first.runs) > 2


def test_a_finding_is_made_smaller_and_replayed() -> None:
    driver = FakeDriver()
    exploration, _ = explored(Request(tries=0, reductions=40), driver, [EMPTY, SHOWN])
    (finding,) = exploration.findings.values()
    assert (finding.key, finding.begin, finding.trial) == (MISTAKE, "shown", 2)
    assert finding.script == SMALLEST
    assert (finding.smallest, finding.replay) == (True, EXACT)
    assert finding.text.startswith(f"# {MISTAKE}\n[[fault]]")
    assert driver.runs[-2:] == [(finding.text, 0), (finding.text, 1)], "what is replayed is the file itself"


def test_making_smaller_is_bounded() -> None:
    driver = FakeDriver()
    exploration, _ = explored(Request(tries=0, reductions=2), driver, [SHOWN])
    (finding,) = exploration.findings.values()
    assert (finding.reductions, finding.smallest, finding.replay) == (2, False, EXACT)
    assert len(driver.runs) == 1 + 2 + 2


def test_a_replay_that_differs_is_called_that() -> None:
    exploration, _ = explored(Request(tries=0), FakeDriver(unsteady=True), [SHOWN])
    assert exploration.findings[MISTAKE].replay == OTHER_LOG

    class Once(FakeDriver):
        async def run(self, text: str, repeat: int) -> Outcome:
            outcome = await super().run(text, repeat)
            return outcome.model_copy(update={"finding": None}) if repeat else outcome

    exploration, _ = explored(Request(tries=0), Once(), [SHOWN])
    assert exploration.findings[MISTAKE].replay == NOT_AGAIN


def test_a_replay_that_this_machine_ended_says_nothing() -> None:
    class NoRoom(FakeDriver):
        async def run(self, text: str, repeat: int) -> Outcome:
            outcome = await super().run(text, repeat)
            return outcome.model_copy(update={"void": True, "finding": None}) if repeat else outcome

    exploration, _ = explored(Request(tries=0), NoRoom(), [SHOWN])
    finding = exploration.findings[MISTAKE]
    assert (finding.replay, finding.outcome.finding) == (None, MISTAKE)


class Slow:
    """A runner whose trials end in any order."""

    def __init__(self, seed: int) -> None:
        self._driver, self._random = FakeDriver(), Random(seed)  # noqa: S311 - no secret

    async def run(self, text: str, repeat: int) -> Outcome:
        for _ in range(self._random.randrange(8)):
            await asyncio.sleep(0)
        return await self._driver.run(text, repeat)


def test_the_course_does_not_depend_on_which_guest_is_quicker() -> None:
    courses = [explored(Request(seed=5, tries=60, ahead=4), Slow(seed), [EMPTY, SHOWN])[1].course for seed in range(3)]
    assert courses[0] == courses[1] == courses[2]
    assert len(courses[0]) == 62
    alone = explored(Request(seed=5, tries=60, ahead=1), Slow(1), [EMPTY, SHOWN])[1].course
    assert alone != courses[0], "what is known when a script is chosen is another thing"


def test_a_trial_that_this_machine_ended_is_tried_again_and_then_left_out() -> None:
    class Ended(FakeDriver):
        async def run(self, text: str, repeat: int) -> Outcome:
            self.runs.append((text, repeat))
            return Outcome(verdict="not determined", why="its disk is full", void=True, features=frozenset({"line x"}))

    driver = Ended()
    exploration, _ = explored(Request(tries=0), driver, [EMPTY])
    assert (len(driver.runs), exploration.trials, exploration.corpus.entries) == (2, 0, [])


class Cut(FakeDriver):
    """Ends the process, as far as a test can, at a trial."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._at = at

    async def run(self, text: str, repeat: int) -> Outcome:
        if len(self.runs) == self._at:
            raise KeyboardInterrupt
        return await super().run(text, repeat)


@pytest.mark.parametrize("at", [0, 1, 9, 23, 31])
def test_what_was_interrupted_goes_on_to_the_same_end(tmp_path: Path, at: int) -> None:
    request = Request(seed=3, tries=25, reductions=12)
    whole = FakeDriver()
    expected, course = explored(request, whole, [EMPTY, SHOWN])
    with pytest.raises(KeyboardInterrupt), Memory(tmp_path, {"seed": 3}, Cut(at)) as memory:
        explored(request, memory, [EMPTY, SHOWN])
    rest = FakeDriver()
    with Memory(tmp_path, {"seed": 3}, rest) as memory:
        exploration, again = explored(request, memory, [EMPTY, SHOWN])
    assert memory.used == at
    assert whole.runs[at:] == rest.runs, "nothing is tried twice"
    assert again.course == course.course
    assert exploration.findings == expected.findings


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from fake_driver import FakeDriver, Quiet
from txop.guest_exploration.exploration import Begin, Exploration, Request
from txop.guest_exploration.memory import Memory
from txop.guest_exploration.mutation import Mutator, Targets

class Killed(FakeDriver):
    async def run(self, text, repeat):
        if len(self.runs) == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().run(text, repeat)

memory = Memory(Path(sys.argv[1]), {}, Killed())
mutator = Mutator(Targets(endpoints=((1, "in"), (3, "out"))))
asyncio.run(Exploration(Request(seed=3, tries=12), [Begin("none", "", ())], mutator, memory, listener=Quiet()).go())
"""


def test_a_process_that_was_killed_has_lost_nothing_that_had_ended(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    request, rest, whole = Request(seed=3, tries=12), FakeDriver(), FakeDriver()
    with Memory(tmp_path, {}, rest) as memory:
        _, course = explored(request, memory, [EMPTY])
    _, expected = explored(request, whole, [EMPTY])
    assert (course.course, rest.runs) == (expected.course, whole.runs[7:])


def test_a_cut_line_costs_one_trial(tmp_path: Path) -> None:
    with Memory(tmp_path, {}, FakeDriver()) as memory:
        explored(Request(tries=3), memory, [EMPTY])
    journal = tmp_path / FILE
    rows = journal.read_bytes().splitlines(keepends=True)
    spoiled = json.loads(rows[2]) | {"outcome": {"verdict": 7}}
    journal.write_bytes(b"".join([*rows[:2], json.dumps(spoiled).encode() + b"\n", *rows[3:-1], rows[-1][:40]]))
    driver = FakeDriver()
    with Memory(tmp_path, {}, driver) as memory:
        explored(Request(tries=3), memory, [EMPTY])
    assert len(driver.runs) == 2
    assert len(memory.damage) == 2


def test_outcomes_of_something_else_are_not_taken(tmp_path: Path) -> None:
    Memory(tmp_path, {"seed": 1, "driver": "a"}, FakeDriver()).close()
    with pytest.raises(GuestError, match=r"other options \(seed\)"):
        Memory(tmp_path, {"seed": 2, "driver": "a"}, FakeDriver())


@pytest.mark.parametrize(
    "row",
    [
        b'{"event": "exploration-started", "at": "x", "made_of": [1]}\n',
        b'{"event": "exploration-started", "at": "x"}\n',
        b"{spoiled\n",
    ],
)
def test_a_journal_that_does_not_say_what_it_is_of_is_refused(tmp_path: Path, row: bytes) -> None:
    with Memory(tmp_path, {"seed": 1}, FakeDriver()) as memory:
        explored(Request(tries=2), memory, [EMPTY])
    journal = tmp_path / FILE
    began = json.loads(journal.read_bytes().splitlines()[0])
    shown = row if row.startswith(b"{spoiled") else json.dumps({**began, **_without(row)}).encode() + b"\n"
    journal.write_bytes(shown + b"".join(journal.read_bytes().splitlines(keepends=True)[1:]))
    with pytest.raises(GuestError, match="does not say what its outcomes are of"):
        Memory(tmp_path, {"seed": 1}, FakeDriver())


def _without(row: bytes) -> dict[str, object]:
    return {"made_of": json.loads(row).get("made_of")}


class Failing(FakeDriver):
    """A machine that ends every guest of one script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    async def run(self, text: str, repeat: int) -> Outcome:
        outcome = await super().run(text, repeat)
        return outcome.model_copy(update={"void": True}) if text == self._text else outcome


def test_a_trial_that_this_machine_ended_twice_stays_left_out(tmp_path: Path) -> None:
    request = Request(seed=3, tries=6)
    _, whole = explored(request, FakeDriver(), [EMPTY, SHOWN])
    failing = Failing(SHOWN.text)
    with Memory(tmp_path, {}, failing) as memory:
        _, first = explored(request, memory, [EMPTY, SHOWN])
        assert (memory.left_out, [text for text, _ in failing.runs].count(SHOWN.text)) == (1, 2)
    healthy = FakeDriver()
    with Memory(tmp_path, {}, healthy) as memory:
        _, again = explored(request, memory, [EMPTY, SHOWN])
        assert memory.left_out == 1
    assert not healthy.runs, "nothing is run again"
    assert again.course == first.course != whole.course


def test_the_same_script_at_once_is_one_guest(tmp_path: Path) -> None:
    driver = FakeDriver()

    async def twice() -> None:
        with Memory(tmp_path, {}, driver) as memory:
            one, other = await asyncio.gather(memory.run(SHOWN.text, 0), memory.run(SHOWN.text, 0))
            assert one == other

    asyncio.run(twice())
    assert len(driver.runs) == 1
