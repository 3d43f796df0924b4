"""What a trial saw, and the verdict that follows; nothing boots here."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import tomllib
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.cli import guest_survey
from txop.cli.app import main
from txop.core.errors import UserError
from txop.core.origin import NOT_RADIO
from txop.guest.qemu import Computer, Mode
from txop.guest.shipped_faults import CONTROL, FaultScript, every_shipped_script, find_faults, shipped_faults
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.guest_trials import endurance
from txop.guest_trials import survey as surveys
from txop.guest_trials.facts import Sample, longest_silence_s, read_facts, read_samples
from txop.guest_trials.judgement import Observed, Verdict, judge
from txop.guest_trials.kernel_lines import read_kernel_lines, trouble
from txop.guest_trials.survey import Case, Survey, control_problems, rows_of
from txop.guest_trials.survey_report import COLUMNS, cells, survey_markdown, surveyed, write_survey_csv
from txop.guest_trials.trial import Place, Trial
from txop.plan.devices import CHIPS, SDIO_CARDS, STOCK_DRIVERS

WELL = """\
12.10 plug 0
13.30 join 0
14.70 before ok
30.10 struck 1
45.60 after-1 ok
45.61 by-itself yes
45.80 struck-at-last 1
46.10 unload-at-last 0
46.20 done
"""
STEADY = [Sample(14.0 + 0.5 * n, 100 * n, 100 * n) for n in range(64)]


def seen(facts: str = WELL, log: str = "", samples: list[Sample] | None = None, **more: object) -> Observed:
    return Observed(
        read_facts(facts.encode()),
        read_kernel_lines(log.encode()),
        STEADY if samples is None else samples,
        **more,  # type: ignore[arg-type]
    )


def test_traffic_that_goes_on_is_unaffected() -> None:
    judgement = judge(seen())
    assert (judgement.verdict, judgement.struck, judgement.line) == (Verdict.UNAFFECTED, 1, None)
    assert judgement.silence_s == pytest.approx(0.0)


def test_a_silence_of_two_seconds_is_an_interruption() -> None:
    quiet = [sample for sample in STEADY if not 20 < sample.uptime_s < 25]
    stopped = [Sample(s.uptime_s, 1000 if 20 < s.uptime_s < 25 else s.received, s.sent) for s in STEADY]
    judgement = judge(seen(samples=stopped))
    assert (judgement.verdict, judgement.silence_s) == (Verdict.RECOVERS, 4.0)
    assert judge(seen(samples=quiet)).verdict is Verdict.UNAFFECTED, "a gap between samples alone is not a fault"


def test_a_new_interface_that_joins_recovers() -> None:
    judgement = judge(seen(WELL.replace("45.60", "44.00 joined-again\n45.60")))
    assert judgement.verdict is Verdict.RECOVERS
    assert "joined" in judgement.why


def test_an_error_in_the_log_alone_is_a_recovery_unless_it_is_usual() -> None:
    log = "<3>[   30.200000] usb 1-1: rtl8xxxu_something 12: it failed\n"
    judgement = judge(seen(log=log))
    assert (judgement.verdict, judgement.line) == (Verdict.RECOVERS, "usb 1-1: rtl8xxxu_something 12: it failed")
    usual = frozenset(line.form for line in read_kernel_lines(log.replace("12", "7").encode()))
    assert judge(seen(log=log), usual).verdict is Verdict.UNAFFECTED


FAILED = WELL.replace("after-1 ok", "after-1 no-traffic interface=dut").replace("by-itself yes", "by-itself no")


@pytest.mark.parametrize(
    ("more", "back"),
    [
        ("46.00 reload ok\n", "reload"),
        ("46.00 reload no-traffic interface=dut\n47.00 replug ok\n", "replug"),
        ("46.00 reload no-association\n47.00 replug no-association\n", None),
    ],
)
def test_what_brings_a_failed_driver_back(more: str, back: str | None) -> None:
    judgement = judge(seen(FAILED + more))
    assert (judgement.verdict, judgement.back) == (Verdict.FAILS, back)


def test_a_probe_that_fails_says_so() -> None:
    log = "<4>[   12.000000] rtl8xxxu 1-1:1.0: probe with driver rtl8xxxu failed with error -11\n"
    judgement = judge(seen(FAILED.replace("plug 0", "plug 70"), log))
    assert (judgement.verdict, judgement.why) == (Verdict.FAILS, "the driver makes no interface")
    assert judgement.line is not None
    assert "failed with error -11" in judgement.line


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("INFO: task rmmod:812 blocked for more than 40 seconds.", Verdict.HANGS),
        ("WARNING: CPU: 0 PID: 9 at net/mac80211/rx.c:4914 ieee80211_rx_list+0x8f4/0xa10 [mac80211]", Verdict.WARNS),
        ("BUG: kernel NULL pointer dereference, address: 0000000000000010", Verdict.CRASHES),
        ("kernel BUG at net/core/skbuff.c:112!", Verdict.CRASHES),
    ],
)
def test_reports_of_the_kernel_decide(line: str, verdict: Verdict) -> None:
    judgement = judge(seen(log=f"<4>[   31.000000] {line}\n"))
    assert judgement.verdict is verdict
    assert judgement.line == line


def test_what_does_not_end_hangs() -> None:
    stuck = judge(seen(WELL.replace("46.10 ", "46.05 stuck unload (D (disk sleep))\n46.10 ")))
    assert (stuck.verdict, stuck.why) == (Verdict.HANGS, "does not end: unload (D (disk sleep))")
    assert judge(seen(WELL.replace("46.20 done\n", ""))).verdict is Verdict.HANGS
    failed = judge(seen("", failure="the guest failed: it did not end within 900 s"))
    assert (failed.verdict, failed.struck) == (Verdict.HANGS, None)
    off = judge(seen("", failure="it turned itself off", turned_off=True))
    assert off.verdict is Verdict.CRASHES


def test_a_processor_that_was_locked_up_hangs() -> None:
    log = "<0>[   52.070536] Kernel panic - not syncing: NMI: Not continuing\n"
    locked = judge(seen("", log, failure="it powered off", turned_off=True))
    assert (locked.verdict, "locked up" in locked.why) == (Verdict.HANGS, True)
    broken = "<1>[   31.000000] BUG: KASAN: slab-out-of-bounds in rtl8xxxu_tx+0x10/0x20 [rtl8xxxu]\n"
    assert judge(seen("", broken + log, failure="it powered off", turned_off=True)).verdict is Verdict.CRASHES


def test_a_fault_that_never_happened_is_not_called_harmless() -> None:
    never = WELL.replace("struck 1", "struck 0").replace("struck-at-last 1", "struck-at-last 0")
    assert judge(seen(never)).verdict is Verdict.NOT_REACHED


def test_silence_without_an_interface_counts() -> None:
    gone = [Sample(s.uptime_s, None if 20 < s.uptime_s < 25 else s.received, s.sent) for s in STEADY]
    assert longest_silence_s(gone, 14.0, 46.0) == pytest.approx(4.5)
    assert longest_silence_s([], 0, 10) is None


@given(st.binary(max_size=2000))
def test_no_file_of_a_guest_breaks_anything(data: bytes) -> None:
    observed = Observed(read_facts(data), read_kernel_lines(data), read_samples(data))
    assert judge(observed).verdict in Verdict


@given(st.lists(st.sampled_from(WELL.splitlines() + FAILED.splitlines() + ["1.00 stuck x (D)"]), max_size=12))
def test_facts_in_any_order_have_a_verdict(rows: list[str]) -> None:
    judgement = judge(seen("\n".join([*rows, ""])))
    assert (judgement.verdict is Verdict.UNAFFECTED) <= ("46.20 done" in rows and bool(judgement.struck))


def test_the_line_that_says_most_is_chosen() -> None:
    log = (
        "<6>[    1.000000] usb 1-1: new high-speed USB device number 2 using vhci_hcd\n"
        "<4>[    2.000000] usb 1-1: rtl8xxxu_iqk_path_a: Path A RX IQK failed!\n"
        "<3>[    3.000000] usb 1-1: rtl8xxxu_writeN: Failed to write block at addr: 1c00 size: 0080\n"
    )
    said = trouble(read_kernel_lines(log.encode()))
    assert said.line is not None
    assert "1c00" in said.line.text
    assert said.serious


# --- scripts, cases, rows


def test_shipped_scripts_say_what_they_do() -> None:
    scripts = shipped_faults()
    assert len(scripts) >= 20
    assert all(len(script.title) > 20 for script in scripts.values())
    assert find_faults("unplug") == scripts["unplug"]


@pytest.mark.parametrize("card", SDIO_CARDS)
def test_a_card_is_tried_with_faults_of_commands_and_without_those_of_transfers(card: str) -> None:
    dongle, of_card = shipped_faults(), shipped_faults(card)
    assert not any(name.startswith("sdio/") for name in dongle)
    assert {"sdio/reads-damaged", "unplug", "firmware-hang"} <= set(of_card)
    assert not {"cut-rx", "dead-registers"} & set(of_card)
    faults = [fault for script in of_card.values() for fault in tomllib.loads(script.text)["fault"]]
    assert not any("endpoint" in fault for fault in faults)
    assert set(dongle) | set(of_card) | set(shipped_faults("ar9280")) == set(every_shipped_script())
    assert find_faults("sdio/write-crc") == of_card["sdio/write-crc"]


@pytest.mark.parametrize("device", CHIPS)
def test_the_drivers_of_a_chip_are_tried_by_default(device: str) -> None:
    assert guest_survey.TrialOptions(device=device).drivers == STOCK_DRIVERS[device]
    assert guest_survey.TrialOptions(device=device, driver=["own", "own"]).drivers == ("own",)


def test_a_driver_of_another_chip_is_refused() -> None:
    with pytest.raises(UserError, match="rtl8192cu does not know a mt7610u"):
        _ = guest_survey.TrialOptions(device="mt7610u", driver=["rtl8192cu"]).drivers


def test_an_unknown_chip_is_refused() -> None:
    with pytest.raises(UserError, match="unknown virtual chip 'ncm': rtl8188cus"):
        _ = guest_survey.TrialOptions(device="ncm").drivers


def test_a_trial_has_the_chip_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overlays = []

    async def remember(overlay: Overlay, *_: object) -> Trial:
        overlays.append(overlay)
        return Trial(seen(WELL), 1.0, 1.0)

    monkeypatch.setattr(surveys, "run_trial", remember)
    monkeypatch.setattr(endurance, "run_trial", remember)
    there = replace(place(), device="mt7601u")
    asyncio.run(surveys.run_survey(Survey((find_faults("unplug"),), ("mt7601u",)), there, tmp_path))
    asyncio.run(endurance.run_endurance(endurance.Endurance(("mt7601u",)), there, tmp_path))
    assert [overlay.environment["LAB_DEVICE"] for overlay in overlays] == ["mt7601u"] * 4


def test_a_script_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("# Mine.\n[[fault]]\naction = 'disconnect'\n")
    assert find_faults(str(path)).title == "Mine."
    with pytest.raises(GuestError, match="No such file"):
        find_faults("explode")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(GuestError, match="UTF-8"):
        find_faults(str(path))


def place() -> Place:
    image = Image(Path(), "6.12.1", Path(), (), "key", cached=True)
    return Place(image, Computer(mode=Mode.EXACT), 1.0, {})


def test_the_survey_has_a_control_for_each_driver_and_sample() -> None:
    cases = Survey((find_faults("unplug"),), ("a", "b"), samples=2).cases()
    assert [case.name for case in cases] == [
        *("a/none/1", "b/none/1", "a/none/2", "b/none/2"),
        *("a/unplug/1", "b/unplug/1", "a/unplug/2", "b/unplug/2"),
    ]


def trials(control: str = WELL) -> dict[Case, Trial]:
    script = FaultScript("x|y", "# A [link](evil) fault.\n")
    never = control.replace("struck 1", "struck 0").replace("struck-at-last 1", "struck-at-last 0")
    usual = "<3>[   30.200000] usb 1-1: always 3\n"
    return {
        Case(CONTROL, "rtl8xxxu", 1): Trial(seen(never, usual), 1.0, 2.0),
        Case(script, "rtl8xxxu", 1): Trial(seen(log=usual), 1.0, 2.0),
        Case(script, "rtl8xxxu", 2): Trial(seen(FAILED, "<3>[ 30.2] usb 1-1: no `way` | out\n"), 1.0, 2.0),
    }


def test_samples_of_one_row_are_counted() -> None:
    control, row = rows_of(trials())
    assert control.worst.judgement.verdict is Verdict.UNAFFECTED
    assert row.counts == {Verdict.FAILS: 1, Verdict.UNAFFECTED: 1}
    assert cells(row)[2] == "fails cleanly 1, unaffected 1"
    assert control_problems([control, row]) == []


def test_a_driver_in_trouble_without_faults_is_reported() -> None:
    rows = rows_of(trials(FAILED))
    assert control_problems(rows) == ["rtl8xxxu without any fault: fails cleanly (no traffic any more)"]


def test_the_survey_as_files() -> None:
    rows = rows_of(trials())
    document = json.loads(json.dumps(surveyed(rows, place())))
    assert (document["format"], document["origin"], document["rows"][1]["n"]) == (
        "txop-guest-survey",
        "guest-exact",
        2,
    )
    assert document["processor"] == "translator"
    assert document["device"] == "rtl8188cus"
    assert document["rows"][1]["sha256"] == hashlib.sha256(rows[1].script.text.encode()).hexdigest()
    text = survey_markdown(rows, place())
    assert NOT_RADIO in text
    assert " million instructions a second" in text
    assert text.startswith("Device: rtl8188cus. Origin: guest-exact")
    table = [row for row in text.splitlines() if row.startswith("|")]
    assert len(table) == 4
    unescaped = [row.replace("\\|", "").count("|") for row in table]
    assert unescaped == [len(COLUMNS) + 1] * 4
    out = io.StringIO()
    write_survey_csv(rows, place(), out)
    heading = out.getvalue().splitlines()[0]
    assert heading == ",".join(("origin", "kernel", "device", *COLUMNS))


@pytest.mark.parametrize(
    ("command", "option"), [("survey", "--csv"), ("survey", "--markdown"), ("cycle", "--markdown")]
)
def test_a_table_that_cannot_be_written_is_told_before_the_first_guest(
    command: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = place()
    monkeypatch.setattr(guest_survey.TrialOptions, "place", lambda *_: nullcontext(there))
    for module, name in ((surveys, "run_survey"), (endurance, "run_endurance")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("a guest was started"))
    with pytest.raises(SystemExit) as ended:
        main(["guest", command, "-o", str(tmp_path), option, str(tmp_path / "missing" / "table")])
    assert ended.value.code == 2
    assert "missing/table: No such file" in capsys.readouterr().err.replace("\n", "")


def test_what_this_machine_did_is_no_verdict_on_the_driver() -> None:
    ended = judge(seen("", failure="the guest failed: it did not end within 900 s", void=True))
    assert (ended.verdict, ended.struck) == (Verdict.NOT_DETERMINED, None)
    hung = judge(
        seen("", log="<3>[  99.0] INFO: task rmmod:812 blocked for more than 40 seconds.\n", failure="x", void=True)
    )
    assert hung.verdict is Verdict.HANGS, "what the kernel had reported by then counts"


def test_a_chip_that_has_ended_is_no_verdict_on_the_driver() -> None:
    told = judge(seen("12.10 plug 70\n12.20 no-chip unknown variant `los`, expected one of `stall`\n"))
    assert (told.verdict, told.back) == (Verdict.NOT_DETERMINED, None)
    assert "unknown variant `los`" in told.why
    late = judge(seen(WELL.replace("by-itself yes", "by-itself no").replace("46.20", "46.15 no-chip\n46.20")))
    assert late.verdict is Verdict.NOT_DETERMINED
    oops = "[   20.000000] BUG: kernel NULL pointer dereference, address: 0000000000000010"
    assert judge(seen("12.20 no-chip it ended\n", oops)).verdict is Verdict.CRASHES


def test_a_fault_of_which_nobody_told_is_not_one_that_never_happened() -> None:
    silent = WELL.replace("struck 1", "struck unknown").replace("struck-at-last 1", "struck-at-last unknown")
    assert judge(seen(silent)).verdict is Verdict.NOT_DETERMINED
    assert judge(seen(silent.replace("by-itself yes", "by-itself no"))).verdict is Verdict.FAILS
    assert judge(seen(WELL.replace("struck 1", "struck 0").replace("last 1", "last 0"))).verdict is Verdict.NOT_REACHED


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("WARNING: CPU: 0 PID: 9 at net/mac80211/rx.c:4914 ieee80211_rx_list+0x8f4/0xa10 [mac80211]", Verdict.WARNS),
        ("BUG: kernel NULL pointer dereference, address: 0000000000000010", Verdict.CRASHES),
    ],
)
def test_a_driver_that_is_in_trouble_without_a_fault_hides_nothing(line: str, verdict: Verdict) -> None:
    log = f"<4>[   31.000000] {line}\n"
    calm = WELL.replace("struck 1", "struck 0").replace("struck-at-last 1", "struck-at-last 0")
    control = Case(CONTROL, "rtl8xxxu", 1)
    broken = Case(shipped_faults()["unplug"], "rtl8xxxu", 1)
    trials = {control: Trial(seen(calm, log), 1.0, 1.0), broken: Trial(seen(WELL, log), 1.0, 1.0)}
    rows = rows_of(trials)
    assert [row.worst.judgement.verdict for row in rows] == [verdict, verdict]
    assert control_problems(rows)
