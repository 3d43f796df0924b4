"""``txop guest explore``: what it refuses, what it writes, where it goes on; no guest boots here."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from fake_driver import MISTAKE, FakeDriver
from txop.cli import guest_survey
from txop.cli.app import main
from txop.guest.coverage import instrument as instrument_module
from txop.guest.coverage.blocks import Block, ModuleBlocks
from txop.guest.coverage.instrument import Covered
from txop.guest.qemu import Computer, Mode
from txop.guest_exploration import explore
from txop.guest_exploration.in_guests import Control
from txop.guest_exploration.script import Fault, written
from txop.guest_image.image import Image
from txop.guest_trials.judgement import Judgement, Verdict
from txop.guest_trials.trial import Place

RunTxop = Callable[..., CompletedProcess[str]]
WRONG = written((Fault("stall", endpoint=1), Fault("disconnect"), Fault("stall", endpoint=3), Fault("nak", endpoint=1)))


class FakeGuests(FakeDriver):
    """In place of guests."""

    verdict = Verdict.UNAFFECTED
    unsteady = False

    def __init__(
        self, driver: str, place: Place, folder: Path, *, covered: Covered | None = None, **settings: object
    ) -> None:
        self.covered = covered
        super().__init__(unsteady=self.unsteady, counted=covered is not None)

    def made_of(self) -> dict[str, str]:
        return {"kernel or program": "this one"}

    async def control(self) -> Control:
        blocks = None if self.covered is None else frozenset({USUAL})
        return Control(Judgement(self.verdict, None, "for a test", None, 0.0, 0), (0x100,), blocks)


USUAL = Block("fake", "fake_probe", 5, "fake/core.c:3")
RESET = [Block("fake", "fake_reset", offset, f"fake/core.c:{offset}") for offset in range(5, 54, 9)]
NEVER = Block("fake", "fake_never", 5, "fake/core.c:90")
ALL = {("t", 4 * at): block for at, block in enumerate([USUAL, *RESET, NEVER])}


@pytest.fixture
def counted(no_guests: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Drivers with counters in their blocks, without building any."""
    covered = Covered((), {"fake": ModuleBlocks("fake", ALL)})

    async def instrument(*_: object) -> Covered:
        return covered

    monkeypatch.setattr(instrument_module, "instrument", instrument)
    monkeypatch.setattr(instrument_module, "kernel_build", lambda *_, **__: None)
    return no_guests


@pytest.fixture
def no_guests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    image = Image(tmp_path, "6.12.1", tmp_path, (), "key", cached=True)
    place = Place(image, Computer(mode=Mode.EXACT), 60, {})
    monkeypatch.setattr(guest_survey.TrialOptions, "place", lambda *_: nullcontext(place))
    monkeypatch.setattr(explore, "InGuests", FakeGuests)
    script = tmp_path / "wrong.toml"
    script.write_text(WRONG)
    return script


def command(script: Path, folder: Path, *more: str) -> int:
    words = ["guest", "explore", "--driver", "rtl8xxxu", "--faults", str(script), "-j", "1", "-o", str(folder), *more]
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)


def test_findings_are_files_with_the_command_that_replays_them(
    no_guests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert command(no_guests, folder, "-n", "5", "--security", "open", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["version"]) == ("txop-guest-exploration", 1)
    (driver,) = document["drivers"]
    assert (driver["tries"], driver["of"], driver["cut"], driver["seed"]) == (7, 7, False, 1)
    (finding,) = driver["findings"]
    assert (finding["finding"], finding["replay"], finding["begin"], finding["faults"]) == (
        MISTAKE,
        "exact",
        "wrong",
        3,
    )
    text = (folder / finding["file"]).read_text()
    assert text == finding["script"]
    name = Path(finding["file"]).name
    assert f"# txop guest survey --faults rtl8xxxu/findings/{name} --driver rtl8xxxu --security open\n" in text
    assert "# WARNING: fake/core.c:11\n" in text
    place = folder / finding["file"]
    assert finding["command"] == f"txop guest survey --faults {place} --driver rtl8xxxu --security open"


def test_the_table_has_what_was_found_and_how_far_it_came(
    no_guests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(no_guests, tmp_path / "out", "-n", "3") == 0
    shown = capsys.readouterr()
    assert "2 scripts to begin with and 3 mutated ones" in shown.out
    assert "txop guest survey --faults" in shown.out
    assert "[5/5] rtl8xxxu:" in shown.err


def test_the_same_command_goes_on_and_another_seed_does_not(
    no_guests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert command(no_guests, folder, "-n", "3") == 0
    before = (folder / "rtl8xxxu" / "journal.jsonl").read_bytes()
    assert command(no_guests, folder, "-n", "6") == 0
    after = (folder / "rtl8xxxu" / "journal.jsonl").read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b'"tried"') == 3
    capsys.readouterr()
    assert command(no_guests, folder, "--seed", "2") == 2
    assert "begun with other options (seed)" in capsys.readouterr().err


def test_blocks_are_counted_and_listed(counted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    assert command(counted, folder, "--coverage", "-n", "4", "--json") == 0
    (driver,) = json.loads(capsys.readouterr().out)["drivers"]
    assert driver["coverage"] == {
        "modules": ["fake"],
        "blocks": 8,
        "entered": 7,
        "control": 1,
        "given": 6,
        "reached": 6,
        "uncounted": driver["coverage"]["uncounted"],
    }
    assert driver["coverage"]["uncounted"] == 0, "trials without counters are no trials that were not counted"
    assert [entry["blocks"] for entry in driver["corpus"]][:2] == [40, 55]
    assert driver["findings"][0]["replay"] == "exact"
    rows = (folder / "rtl8xxxu" / "coverage.txt").read_text().splitlines()
    assert "    0     5     5     6  fake fake_reset" in rows
    assert rows[rows.index("    0     5     5     6  fake fake_reset") + 1].strip() == "fake/core.c:50"
    assert command(counted, folder, "--coverage", "-n", "4") == 0
    shown = capsys.readouterr().out
    assert "8 blocks, 7 of them in functions that were entered; reached without faults: 1" in shown
    assert "rtl8188cus, guest-exact" in shown


def test_a_folder_begun_without_coverage_is_not_continued_with_it(
    counted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for first, then in (((), ("--coverage",)), (("--coverage",), ())):
        folder = tmp_path / f"begun{len(first)}"
        assert command(counted, folder, "-n", "0", *first) == 0
        capsys.readouterr()
        assert command(counted, folder, "-n", "0", *then) == 2
        assert "begun with other options (coverage)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--build-dir", "."], "it is for --coverage"),
        (["--coverage", "--build-dir", "."], "takes both --kernel-file and --build-dir"),
        (["--coverage", "--kernel-file", "."], "takes both --kernel-file and --build-dir"),
    ],
)
def test_what_coverage_builds_with_has_to_be_known(
    counted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert command(counted, tmp_path / "out", *options) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_module_of_ones_own_has_no_counters(
    counted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], make_module: Callable[..., Path]
) -> None:
    assert command(counted, tmp_path / "out", "--coverage", "--module", str(make_module("fake"))) == 2
    assert "fake.ko has no counters in its blocks" in " ".join(capsys.readouterr().err.split())


def test_the_time_ends_it(no_guests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(no_guests, tmp_path / "out", "--time", "0") == 0
    assert "The time was over: the same command goes on" in capsys.readouterr().out


def test_a_driver_in_trouble_without_faults_is_not_explored(
    no_guests: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(FakeGuests, "verdict", Verdict.HANGS)
    assert command(no_guests, tmp_path / "out") == 5
    assert "rtl8xxxu without any fault: hangs (for a test)" in capsys.readouterr().err


def test_a_replay_that_differs_ends_with_1(
    no_guests: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(FakeGuests, "unsteady", True)
    monkeypatch.setenv("COLUMNS", "400")
    assert command(no_guests, tmp_path / "out", "-n", "0") == 1
    assert "another log" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "[[fault]]\nname = 'x'\nendpoint = 0\naction = 'los'\n",
        "[[fault]]\naction = 'stall'\nendpoint = 1\nnth = 99999999999999999999\n",
        "[[fault]]\naction = 'stall'\nendpoint = 1\nnth = " + "9" * 100_000 + "\n",
        "[network]\nchannel = 6\n",
        "x = " + "[" * 100_000,
    ],
)
def test_a_script_that_cannot_be_explored_is_refused_before_anything_boots(
    txop: RunTxop, chips: Path, tmp_path: Path, text: str
) -> None:
    del chips
    script = tmp_path / "mine.toml"
    script.write_text(text)
    ran = txop("guest", "explore", "--faults", str(script), "-o", str(tmp_path / "out"))
    assert ran.returncode == 2, ran.stderr
    assert "mine" in ran.stderr
    assert "without faults" not in ran.stderr
    assert not (tmp_path / "out").exists()


def test_fast_guests_are_refused(no_guests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(no_guests, tmp_path / "out", "--mode", "fast") == 2
    assert "a replay is exact in exact guests only" in " ".join(capsys.readouterr().err.split())
