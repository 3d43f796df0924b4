"""What is read of a trial, with guests that only leave files behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from txop.guest.coverage.blocks import Block, ModuleBlocks
from txop.guest.coverage.instrument import Covered
from txop.guest.qemu import Computer, Mode
from txop.guest.shipped_faults import CONTROL, find_faults
from txop.guest_exploration import in_guests
from txop.guest_exploration.in_guests import Control, InGuests
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_trials.facts import read_facts
from txop.guest_trials.judgement import Observed
from txop.guest_trials.kernel_lines import read_kernel_lines
from txop.guest_trials.survey import Case
from txop.guest_trials.trial import Place, Trial

FACTS = b"12.1 plug 0\n13.2 before ok\n30.0 struck 1\n45.0 by-itself yes\n45.2 struck-at-last 1\n46.2 done\n"
USUAL = b"<6>[    1.0] usual line 1\n"
WARN = b"<4>[   31.0] WARNING: CPU: 0 PID: 9 at net/mac80211/rx.c:813 ieee80211_rx_list+0x5d1/0xe70 [mac80211]\n"


COUNTED = "txop-coverage 1\nmodule rtl8192cu 4096 0\n{}elsewhere 0\n"
READ, STOP, COLD = (Block("rtl8192cu", name, 5) for name in ("rtl_read", "rtl_stop", "rtl_stop.cold"))
BLOCKS = {"rtl8192cu": ModuleBlocks("rtl8192cu", {("t", 4): READ, ("t", 0x40): STOP, ("t", 0x80): COLD})}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chips: Path) -> Place:
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
        if [path.name for path in place.modules.get(case.driver, ())] == ["other.ko", "counted.ko"]:
            counts = "t 4 7\n" if case.script == CONTROL else "t 4 1\nt 80 2\n"
            if case.script.text != find_faults("firmware-hang").text:  # of a guest that ended there is nothing
                (files / "coverage").write_text(COUNTED.format(counts))
        void = case.script.text == find_faults("unplug").text
        seen = Observed(read_facts(facts), read_kernel_lines(log), [], "its disk is full" if void else None, void=void)
        return Trial(seen, 12.0, 46.0)

    monkeypatch.setattr(in_guests, "run_case", run_case)
    image = Image(tmp_path, "6.12.1", tmp_path, (), "key", cached=True)
    return Place(image, Computer(mode=Mode.EXACT), 60, {})


@pytest.fixture
def guests(place: Place, tmp_path: Path) -> InGuests:
    return InGuests("rtl8192cu", place, tmp_path)


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


def test_blocks_beyond_those_of_the_trial_without_faults_are_features(
    place: Place, tmp_path: Path, make_module: Callable[..., Path]
) -> None:
    counted = make_module("rtl8192cu").rename(tmp_path / "counted.ko")
    stock, other = make_module("rtl8192cu", number=2), make_module("other")
    place = replace(place, modules={"rtl8192cu": (stock, other)})
    covered = Covered((counted,), BLOCKS)
    guests = InGuests("rtl8192cu", place, tmp_path, covered=covered)
    plain = InGuests("rtl8192cu", place, tmp_path, name="replays")
    assert guests.made_of() != plain.made_of()

    async def all_of_it() -> tuple[Control, list[in_guests.Outcome]]:
        control = await guests.control()
        outcomes = [await guests.run(find_faults(name).text, 0) for name in ("damaged-rx", "firmware-hang")]
        return control, [
            *outcomes,
            await guests.run(CONTROL.text, 0),
            await plain.run(find_faults("damaged-rx").text, 0),
        ]

    control, (damaged, ended, empty, replayed) = asyncio.run(all_of_it())
    assert control.blocks == {READ}
    assert (damaged.blocks, ended.blocks, empty.blocks, replayed.blocks) == (2, None, 1, None)
    assert {feature for feature in damaged.features if feature.startswith("block ")} == {f"block {COLD.name}"}
    for outcome in (ended, empty, replayed):
        assert not any(feature.startswith("block ") for feature in outcome.features)
    assert (tmp_path / "replays" / "none").is_dir(), "what is usual without counters was looked at first"


def test_damaged_counts_of_a_fault_end_nothing(place: Place, tmp_path: Path, make_module: Callable[..., Path]) -> None:
    counted = make_module("rtl8192cu").rename(tmp_path / "counted.ko")
    place = replace(place, modules={"rtl8192cu": (make_module("other"),)})
    known = {"rtl8192cu": ModuleBlocks("rtl8192cu", {("t", 4): READ})}  # the fault counts at 0x80, too
    guests = InGuests("rtl8192cu", place, tmp_path, covered=Covered((counted,), known))

    async def both() -> tuple[Control, in_guests.Outcome]:
        return await guests.control(), await guests.run(find_faults("damaged-rx").text, 0)

    control, damaged = asyncio.run(both())
    assert control.blocks == frozenset({READ})
    assert damaged.blocks is None
    assert not any(feature.startswith("block ") for feature in damaged.features)


def test_a_trial_without_faults_that_counts_nothing_ends_it(
    place: Place, tmp_path: Path, make_module: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = make_module("rtl8192cu").rename(tmp_path / "counted.ko")
    place = replace(place, modules={"rtl8192cu": (make_module("other"),)})
    guests = InGuests("rtl8192cu", place, tmp_path, covered=Covered((counted,), BLOCKS))
    monkeypatch.setattr(in_guests, "read_counts", lambda _: None)
    with pytest.raises(GuestError, match="the guest output no counts"):
        asyncio.run(guests.control())


def test_counts_of_another_build_end_it(place: Place, tmp_path: Path, make_module: Callable[..., Path]) -> None:
    counted = make_module("rtl8192cu").rename(tmp_path / "counted.ko")
    place = replace(place, modules={"rtl8192cu": (make_module("other"),)})
    blocks = {"rtl8192cu": ModuleBlocks("rtl8192cu", {("t", 0x40): STOP})}
    guests = InGuests("rtl8192cu", place, tmp_path, covered=Covered((counted,), blocks))
    with pytest.raises(GuestError, match="t 0x4 of rtl8192cu, where no block is"):
        asyncio.run(guests.control())
