"""What counts as new, and which finding a trial is."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from txop.guest_exploration.features import features, form_of
from txop.guest_exploration.finding import file_name, finding_of
from txop.guest_exploration.registers import registers_used
from txop.guest_exploration.script import Fault
from txop.guest_trials.facts import read_facts
from txop.guest_trials.judgement import Observed, judge
from txop.guest_trials.kernel_lines import KernelLine, read_kernel_lines

FACTS = """\
12.1 plug 0
13.2 join 1
30.0 struck 3
45.0 by-itself yes
45.2 struck-at-last 9
46.0 unload-at-last 0
46.2 done
"""
STALL = Fault("stall", endpoint=0, direction="in", register=0x1C00)
CHIP = {
    "device": {
        "air": {"chip": {"mpdus": 5}},
        "chip": {"reads": 1293, "writes": 0},
        "rx": {"frames": 3, "bytes": 9999},
        "faults": [{"name": "x", "struck": 5, "transfers": 9}],
    },
    "urbs": {"stalled": 1, "in_bytes": 7},
}
WARN = (
    "<4>[   31.000000] WARNING: CPU: 0 PID: {pid} at net/mac80211/rx.c:813 ieee80211_rx_list+0x{at}/0xe70 [mac80211]\n"
)
HUNG = """\
<3>[   61.000000] INFO: task kworker/u4:{n}:31 blocked for more than {s} seconds.
<3>[   61.000001]       Not tainted 6.12.117 #1
<6>[   61.000003] task:kworker/u4:{n}     state:D stack:0     pid:31    tgid:31    ppid:2      flags:0x00004000
<6>[   61.000004] Call Trace:
<6>[   61.000005]  <TASK>
<6>[   61.000006]  __schedule+0x3fb/0x9d0
<6>[   61.000007]  schedule+0x23/0xa0
<6>[   61.000008]  usb_kill_urb+0x8f/0xc0
<6>[   61.000009]  usb_start_wait_urb+0x7e/0x140
<6>[   61.000010]  rtl8xxxu_read8+0x7e/0x140 [rtl8xxxu]
<6>[   61.000011]  rtl8xxxu_gen1_report_connect+0x7e/0x140 [rtl8xxxu]
"""


def shown(
    log: str = "", facts: str = FACTS, chip: object = CHIP, usual: frozenset[str] = frozenset()
) -> frozenset[str]:
    lines, read = read_kernel_lines(log.encode()), read_facts(facts.encode())
    return features(judge(Observed(read, lines, []), usual), read, lines, usual, (STALL,), json.dumps(chip).encode())


def found(log: str, facts: str = FACTS, *, failing: bool = False) -> str | None:
    lines, read = read_kernel_lines(log.encode()), read_facts(facts.encode())
    return finding_of(judge(Observed(read, lines, [])), read, lines, frozenset(), failing=failing)


def test_features_are_states_counters_and_steps() -> None:
    assert shown() == {
        "verdict unaffected",
        "back None",
        "step plug 0",
        "step join 1",
        "step by-itself yes",
        "step unload-at-last 0",
        "step done",
        "struck stall endpoint 0 in, a register: 4+",
        "chip chip.reads: 1024+",
        "chip chip.writes: 0",
        "chip rx.frames: 2+",
        "chip urbs.stalled: 1",
    }


def test_a_fault_that_never_happened_is_no_feature() -> None:
    never = {"device": {"faults": [{"name": "x", "struck": 0, "transfers": 9}]}}
    assert not any(feature.startswith("struck") for feature in shown(chip=never))


def test_lines_are_the_same_whatever_their_numbers() -> None:
    one, other = (shown(f"<6>[   {at}.5] usb 1-1: reg 0x{at}a failed at ffff8880{at}2b000\n") for at in (3, 4))
    assert one == other
    assert "line usb #-#: reg # failed at #" in one
    usual = frozenset({KernelLine(1.0, 6, "usb 1-1: reg 0x3a failed at ffff888032b000").form})
    assert not any(
        feature.startswith("line")
        for feature in shown("<6>[    3.5] usb 1-1: reg 0x3a failed at ffff888032b000\n", usual=usual)
    )


DUMP = """\
<4>[   31.1] ------------[ cut here ]------------
<4>[   31.1] Modules linked in: rtl8192cu rtl_usb
<4>[   31.1] CPU: 0 UID: 0 PID: 17 Comm: ksoftirqd/0 Not tainted 6.12.117 #1
<4>[   31.1] RIP: 0010:ieee80211_rx_list+0x5d1/0xe70 [mac80211]
<4>[   31.1] RSP: 0018:ffffc900000b7c58 EFLAGS: 00010246
<4>[   31.1] R10: 0000000000000001 R11: ffff8880032e0f00 R12: ffff888003a2b000
<4>[   31.1] FS:  0000000000000000(0000) GS:ffff88801f800000(0000) knlGS:0000000000000000
<4>[   31.1] CS:  0010 DS: 0000 ES: 0000 CR0: 0000000080050033
<4>[   31.1] CR2: 00007ffd4c0fef38 CR3: 0000000002c28000 CR4: 00000000000006f0
<4>[   31.1] Call Trace:
<4>[   31.1]  <TASK>
<4>[   31.1]  ? ieee80211_rx_list+0x5d1/0xe70 [mac80211]
<4>[   31.1]  _rtl_rx_work+0x1c0/0x330 [rtl_usb]
<4>[   31.1] ---[ end trace 0000000000000000 ]---
"""


def test_a_report_of_a_warn_is_named_and_its_registers_are_left_out() -> None:
    new = shown(WARN.format(pid=17, at="5d1") + DUMP) - shown()
    assert new == {
        "verdict warns",
        "log kernel-warning",
        "line WARNING: CPU: # PID: # at net/mac#/rx.c:# ieee#_rx_list+#/# [mac#]",
        "line  _rtl_rx_work+#/# [rtl_usb]",
    }


def test_the_same_finding_has_the_same_text() -> None:
    one, other = (found(WARN.format(pid=pid, at=at)) for pid, at in ((17, "5d1"), (3, "6ff")))
    assert one == other == "warns: kernel-warning net/mac80211/rx.c:813 ieee80211_rx_list"
    assert file_name(one) == "warns-kernel-warning-net-mac80211-rx.c-813-ieee80211_rx_list-de72265e41dd"


def test_a_hang_is_named_by_who_waits_and_not_by_what_everything_waits_in() -> None:
    one, other = (found(HUNG.format(n=n, s=s)) for n, s in ((2, 40), (7, 81)))
    assert one == other
    assert one is not None
    assert "rtl#xxxu_read#" in one
    stuck = found("", FACTS.replace("46.0 ", "45.9 stuck unload 2 (D (disk sleep))\n46.0 "))
    assert stuck == "hangs: unload # (D (disk sleep)) does not end"


def test_failing_cleanly_is_a_finding_where_that_is_asked_for() -> None:
    failed = FACTS.replace("by-itself yes", "by-itself no").replace("46.0 ", "45.9 reload ok\n46.0 ")
    assert found("", failed) is None
    assert found("", failed, failing=True) == "fails cleanly: no traffic any more, brought back by reload"
    assert found("", FACTS, failing=True) is None


@given(st.binary(max_size=500), st.binary(max_size=300))
def test_nothing_that_a_guest_hands_out_breaks_it(log: bytes, chip: bytes) -> None:
    lines, facts = read_kernel_lines(log), read_facts(log)
    judgement = judge(Observed(facts, lines, []))
    assert all(len(feature) < 300 for feature in features(judgement, facts, lines, frozenset(), (STALL,), chip))
    finding_of(judgement, facts, lines, frozenset(), failing=True)
    registers_used(chip.splitlines())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda of: (
            st.dictionaries(st.sampled_from(["device", "chip", "faults", "urbs", "struck", "x"]), of) | st.lists(of)
        ),
    )
)
def test_counters_of_any_shape_are_read(chip: object) -> None:
    assert all(len(feature) < 300 for feature in shown(chip=chip))


def test_forms_are_bounded() -> None:
    assert len(form_of(KernelLine(1.0, 4, "x" * 10_000))) == 200
    flood = "".join(
        f"<6>[    1.0] line {chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)} x\n" for n in range(700)
    )
    assert sum(feature.startswith("line ") for feature in shown(flood)) == 200
