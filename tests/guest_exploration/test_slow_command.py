"""``txop guest explore --slow``: what it refuses, what it writes, where it goes on; no guest boots here."""

from __future__ import annotations

import json
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import ClassVar

import pytest

from slow_driver import REST, USUAL, SlowDriver
from txop.cli import guest_survey
from txop.cli.app import main
from txop.guest.qemu import Computer, Mode
from txop.guest_exploration.slow import explore
from txop.guest_exploration.slow.trial import Without
from txop.guest_image.image import Image
from txop.guest_trials.trial import Place

STALL = '[[fault]]\naction = "stall"\nendpoint = 1\ntimes = 3\n'


class FakeTrials(SlowDriver):
    """In place of guests."""

    steady: ClassVar[bool] = True

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__(unsteady=not self.steady)

    def made_of(self) -> dict[str, str]:
        return {"kernel or program": "this one"}

    async def without(self) -> Without:
        return Without(REST, USUAL)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A script that makes the driver slow; no guests."""
    image = Image(tmp_path, "6.12.1", tmp_path, (), "key", cached=True)
    place = Place(image, Computer(mode=Mode.EXACT, shift=0), 60, {})
    monkeypatch.setattr(guest_survey.TrialOptions, "place", lambda *_: nullcontext(place))
    monkeypatch.setattr(explore, "SlowTrials", FakeTrials)
    script = tmp_path / "stall.toml"
    script.write_text(STALL)
    return script


def command(script: Path | None, folder: Path, *more: str) -> int:
    faults = [] if script is None else ["--faults", str(script)]
    words = ["guest", "explore", "--slow", "--driver", "rtl8xxxu", *faults, "-j", "1", "-o", str(folder), *more]
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)


def test_a_finding_is_a_file_that_the_same_command_measures(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert command(given, folder, "-n", "0", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["version"]) == ("txop-guest-slow", 1)
    (driver,) = document["drivers"]
    (finding,) = driver["findings"]
    assert (finding["metric"], finding["changed"]) == ("instructions_per_packet", ["stall endpoint 1"])
    assert finding["times"] == pytest.approx((3.9 - 0.3) / (0.9 - 0.3))
    assert (finding["exact"], finding["begin"], finding["smallest"]) == (True, "stall", True)
    assert driver["usual"]["counted"]["packets"] == USUAL.packets
    path = folder / finding["file"]
    assert path.read_text().endswith(finding["input"])
    words = shlex.split(finding["command"])
    assert words[:3] == ["txop", "guest", "explore"]
    assert (
        command(path, tmp_path / "again", *[w for w in words[3:] if w in ("--tries", "--reductions", "0")], "--json")
        == 0
    )
    (again,) = json.loads(capsys.readouterr().out)["drivers"]
    assert [each["changed"] for each in again["findings"]] == [finding["changed"]]


def test_the_table_has_costs_in_times_of_the_usual(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(given, tmp_path / "out", "-n", "2") == 0
    shown = capsys.readouterr()
    assert "instructions" in shown.out
    assert "6.0" in shown.out
    assert "[3/3] rtl8xxxu:" in shown.err


def test_the_same_command_goes_on_and_other_times_do_not(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    journal = folder / "rtl8xxxu" / "journal.jsonl"
    assert command(given, folder, "-n", "3") == 0
    before = journal.read_bytes()
    assert command(given, folder, "-n", "6") == 0
    assert journal.read_bytes().startswith(before)
    capsys.readouterr()
    assert command(given, folder, "-n", "6", "--times", "5") == 2
    assert "other options (times)" in capsys.readouterr().err


def test_a_replay_that_differs_ends_with_1(given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeTrials, "steady", False)
    assert command(given, tmp_path / "out", "-n", "0") == 1


@pytest.mark.parametrize("option", ["--coverage", "--also-failing", "--build-dir"])
def test_what_does_not_go_together_is_refused(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    more = [str(tmp_path)] if option == "--build-dir" else []
    assert command(given, tmp_path / "out", option, *more) == 2
    assert f"{option} and --slow" in capsys.readouterr().err


def test_fast_guests_are_refused(given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(given, tmp_path / "out", "--mode", "fast") == 2
    assert "exact guests" in capsys.readouterr().err
