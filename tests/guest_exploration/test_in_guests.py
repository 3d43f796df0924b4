"""What is read of a trial, with guests that only leave files behind."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from txop.guest.qemu import Computer, Mode
from txop.guest.shipped_faults import CONTROL, find_faults
from txop.guest_exploration import in_guests
from txop.guest_exploration.in_guests import InGuests
from txop.guest_image.image import Image
from txop.guest_trials.facts import read_facts
from txop.guest_trials.judgement import Observed
from txop.guest_trials.kernel_lines import read_kernel_lines
from txop.guest_trials.survey import Case
from txop.guest_trials.trial import Place, Trial

FACTS = b"12.1 plug 0\n13.2 before ok\n30.0 struck 1\n45.0 by-itself yes\n45.2 struck-at-last 1\n46.2 done\n"
USUAL = b"<6>[    1.0] usual line 1\n"
WARN = b"<4>[   31.0] WARNING: CPU: 0 PID: 9 at net/mac80211/rx.c:813 ieee80211_rx_list+0x5d1/0xe70 [mac80211]\n"


@pytest.fixture
def guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chips: Path) -> InGuests:
    del chips

    async def run_case(
        case: Case, security: str, place: Place, results: Path, *, options: tuple[str, ...] = ()
    ) -> Trial:
        files = results / "files"
        files.mkdir(parents=True)
        log = USUAL + (WARN if "length = 60" in case.script.text else b"")
        facts = FACTS.replace(b" 1\n", b" 0\n") if case.script == CONTROL else FACTS
        (files / "log").write_bytes(log)
        (files / "chip.json").write_text(json.dumps({"device": {"chip": {"reads": 9}}}))
        if options:
            assert options == ("--trace", "/txop/out/trace.jsonl")
            (files / "trace.jsonl").write_text('{"register":"0x0608"}\n{"register":"0x1c00"}\n')
        void = case.script.text == find_faults("unplug").text
        seen = Observed(read_facts(facts), read_kernel_lines(log), [], "its disk is full" if void else None, void=void)
        return Trial(seen, 12.0, 46.0)

    monkeypatch.setattr(in_guests, "run_case", run_case)
    image = Image(tmp_path, "6.12.1", tmp_path, (), "key", cached=True)
    return InGuests("rtl8192cu", Place(image, Computer(mode=Mode.EXACT), 60, {}), tmp_path)


def test_the_trial_without_faults_says_what_is_usual_and_what_the_driver_uses(guests: InGuests) -> None:
    control = asyncio.run(guests.control())
    assert (control.problem, control.registers) == (None, (0x608, 0x1C00))
    empty = asyncio.run(guests.run(CONTROL.text, 0))
    assert (empty.verdict, empty.finding) == ("unaffected", None)
    assert "chip chip.reads: 8+" in empty.features


def test_the_folder_of_a_finding_stays_and_others_go(guests: InGuests, tmp_path: Path) -> None:
    async def both() -> list[in_guests.Outcome]:
        await guests.control()
        return [await guests.run(find_faults(name).text, 0) for name in ("cut-rx", "damaged-rx")]

    warns, quiet = asyncio.run(both())
    assert warns.finding == "warns: kernel-warning net/mac80211/rx.c:813 ieee80211_rx_list"
    assert warns.line == WARN.decode().partition("] ")[2].strip()
    assert (quiet.finding, quiet.verdict) == (None, "unaffected")
    assert warns.log_sha256 != quiet.log_sha256
    assert not any(feature.startswith("line usual") for feature in warns.features)
    assert len(list((tmp_path / "trials").iterdir())) == 2, "the control and the finding"


def test_a_guest_that_this_machine_ended_shows_nothing(guests: InGuests) -> None:
    outcome = asyncio.run(guests.run(find_faults("unplug").text, 0))
    assert (outcome.void, outcome.finding) == (True, None)
