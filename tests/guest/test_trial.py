"""A trial is done once; nothing boots here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from txop.guest.qemu import Computer
from txop.guest.running import Cause, Ended, GuestFailedError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.guest_trials import trial as trials
from txop.guest_trials.trial import Place, read_trial, run_trial


@pytest.fixture
def place() -> Place:
    return Place(Image(Path(), "6.12.1", Path(), (), "key", cached=True), Computer(), 1.0, {})


class Guests:
    """In place of guests that boot."""

    def __init__(self, failure: Cause | None = None) -> None:
        self.failure = failure
        self.booted = 0

    async def __call__(self, *_: object, results: Path, **__: object) -> Ended:
        self.booted += 1
        results.mkdir(parents=True, exist_ok=True)
        if self.failure:
            (results / "console").write_text("[    1.000000] BUG: kernel NULL pointer dereference, address: 10\n")
            raise GuestFailedError("the guest failed", cause=self.failure)
        (results / "files").mkdir(exist_ok=True)
        (results / "files" / "facts").write_text("1.00 struck 3\n2.00 done\n")
        (results / "files" / "log").write_text("<6>[    1.000000] usb 1-1: new\n")
        return Ended(0, (), (), 7.5)


def test_what_came_to_its_end_is_not_repeated(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guests = Guests()
    monkeypatch.setattr(trials, "run_guest", guests)
    overlay = Overlay(script="true", texts={"/x": b"1"})
    first = asyncio.run(run_trial(overlay, place, tmp_path))
    again = asyncio.run(run_trial(overlay, place, tmp_path))
    assert guests.booted == 1
    assert (first.seconds, again.seconds) == (7.5, 7.5)
    assert again.seen.facts.number("struck") == 3
    assert [line.text for line in again.seen.lines] == ["usb 1-1: new"]


@pytest.mark.parametrize(
    "changed",
    [
        lambda overlay, place: (replace(overlay, texts={"/x": b"2"}), place),
        lambda overlay, place: (replace(overlay, environment={"LAB_DRIVER": "other"}), place),
        lambda overlay, place: (overlay, replace(place, computer=Computer(seed=2))),
    ],
)
def test_another_trial_in_the_same_folder_is_done(
    changed: Callable[[Overlay, Place], tuple[Overlay, Place]],
    place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guests = Guests()
    monkeypatch.setattr(trials, "run_guest", guests)
    overlay = Overlay(script="true", texts={"/x": b"1"})
    asyncio.run(run_trial(overlay, place, tmp_path))
    other, there = changed(overlay, place)
    asyncio.run(run_trial(other, there, tmp_path))
    assert guests.booted == 2


@pytest.mark.parametrize("damage", ["[", "[" * 60_000, "[1]", '"failure": 5', '"seconds": "x"', '"void": null'])
def test_a_record_that_is_damaged_counts_as_none(
    damage: str, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = Guests()
    monkeypatch.setattr(trials, "run_guest", guests)
    overlay = Overlay(script="true")
    asyncio.run(run_trial(overlay, place, tmp_path))
    record = tmp_path / "trial.json"
    text = damage
    if damage.startswith('"'):
        text = json.dumps(json.loads(record.read_text()) | json.loads(f"{{{damage}}}"))
    record.write_text(text)
    asyncio.run(run_trial(overlay, place, tmp_path))
    assert guests.booted == 2


@pytest.mark.parametrize(
    ("cause", "turned_off", "void"), [(Cause.OFF, True, False), (Cause.FLOOD, False, False), (Cause.HOST, False, True)]
)
def test_a_guest_that_fails_is_a_result_unless_this_machine_ended_it(
    cause: Cause, turned_off: bool, void: bool, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = Guests(cause)
    monkeypatch.setattr(trials, "run_guest", guests)
    for _ in range(2):
        trial = asyncio.run(run_trial(Overlay(script="true"), place, tmp_path))
        assert (trial.seen.turned_off, trial.seen.void) == (turned_off, void)
        assert trial.seen.lines[0].text.startswith("BUG: kernel NULL pointer")
    assert guests.booted == (2 if void else 1)
    assert (read_trial(tmp_path) is None) is void
