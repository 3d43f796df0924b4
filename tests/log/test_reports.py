"""Reports of several lines are one fault each, with function and frames."""

from __future__ import annotations

import pytest

from txop.log import name_faults

X86_WARNING = """\
[ 100.000000] ------------[ cut here ]------------
[ 100.000001] WARNING: CPU: 1 PID: 412 at net/mac80211/rx.c:4914 ieee80211_rx_list+0x8f4/0xa10 [mac80211]
[ 100.000002] Modules linked in: rtl8xxxu(OE) mac80211 cfg80211
[ 100.000003] CPU: 1 PID: 412 Comm: kworker/u8:1 Tainted: G           OE      6.1.0 #1
[ 100.000004] Hardware name: QEMU Standard PC
[ 100.000005] RIP: 0010:ieee80211_rx_list+0x8f4/0xa10 [mac80211]
[ 100.000006] Code: 0c fd 00 00 b8 ff ff
[ 100.000007] RSP: 0018:ffffc9000751f780 EFLAGS: 00010246
[ 100.000008] Call Trace:
[ 100.000009]  <IRQ>
[ 100.000010]  ? __warn+0x7d/0xc0
[ 100.000011]  ? report_bug+0xe2/0x150
[ 100.000012]  ieee80211_rx_napi+0x4b/0xd0 [mac80211]
[ 100.000013]  rtl8xxxu_parse_rxdesc16+0x1c1/0x2b0 [rtl8xxxu]
[ 100.000014]  __usb_hcd_giveback_urb+0x90/0x120
[ 100.000015]  </IRQ>
[ 100.000016]  <TASK>
[ 100.000017]  cpuidle_enter_state+0xc8/0x420
[ 100.000018]  </TASK>
[ 100.000019] ---[ end trace 0000000000000000 ]---
"""

ARM_OOPS = """\
[   76.276847] 8<--- cut here ---
[   76.280864] Unable to handle kernel NULL pointer dereference at virtual address 00000000
[   76.290918] pgd = dc17cbe9
[   76.294556] [00000000] *pgd=00000000
[   76.299057] Internal error: Oops: 805 [#1] SMP ARM
[   76.304782] Modules linked in: wilc_sdio(C) cfg80211
[   76.304846] CPU: 1 PID: 491 Comm: WILC_DEBUG Tainted: G         C        5.4.70-v7+ #3
[   76.304901] PC is at wilc_mac_open+0x164/0x12d4 [wilc_sdio]
[   76.304949] LR is at wilc_mac_open+0x150/0x12d4 [wilc_sdio]
[   76.305000] [<7f1a2b3c>] (wilc_mac_open [wilc_sdio]) from [<7f1a4d5e>] (debug_thread+0x144/0x2e8 [wilc_sdio])
[   76.305001] [<7f1a4d5e>] (debug_thread [wilc_sdio]) from [<8013e5c4>] (kthread+0x13c/0x168)
[   76.305010] ---[ end trace 2952b3331628e3dd ]---
[   76.305020] Kernel panic - not syncing: Fatal exception
"""

ARM64_OOPS = """\
[  200.0] Unable to handle kernel NULL pointer dereference at virtual address 0000000000000010
[  200.1] Mem abort info:
[  200.2]   ESR = 0x0000000096000005
[  200.3] Internal error: Oops: 0000000096000005 [#1] PREEMPT SMP
[  200.4] pc : brcmf_sdio_rxfail+0x28/0x1c8 [brcmfmac]
[  200.5] lr : brcmf_sdio_readframes+0x550/0x5f0 [brcmfmac]
[  200.6] Call trace:
[  200.7]  brcmf_sdio_rxfail+0x28/0x1c8 [brcmfmac]
[  200.8]  brcmf_sdio_dataworker+0x5b4/0x6f8 [brcmfmac]
[  200.9]  process_one_work+0x1d0/0x320
[  201.0] Code: aa0003f4
[  201.1] ---[ end trace 0000000000000000 ]---
"""

MIPS_OOPS = """\
[ 1000.0] CPU 0 Unable to handle kernel paging request at virtual address 00000014, epc == 8714c2a4, ra == 8714c288
[ 1000.1] Oops[#1]:
[ 1000.2] CPU: 0 PID: 0 Comm: swapper Not tainted 4.14.72 #0
[ 1000.3] epc   : 8714c2a4 mt76_tx+0x64/0x1a0 [mt76]
[ 1000.4] ra    : 8714c288 mt76_tx+0x48/0x1a0 [mt76]
[ 1000.5] Call Trace:
[ 1000.6] [<8714c2a4>] mt76_tx+0x64/0x1a0 [mt76]
[ 1000.7] [<87a01234>] ieee80211_tx_frags+0x1b4/0x2d0 [mac80211]
[ 1000.8] Code: 8c420014
[ 1000.9] ---[ end trace d1c3b1f2a4f5e6d7 ]---
"""

HUNG_TASK = """\
[  242.0] INFO: task kworker/u8:3:1234 blocked for more than 120 seconds.
[  242.1]       Not tainted 6.1.0 #1
[  242.2] "echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.
[  242.3] task:kworker/u8:3    state:D stack:    0 pid: 1234 ppid:     2 flags:0x00004000
[  242.4] Workqueue: phy0 ieee80211_iface_work [mac80211]
[  242.5] Call Trace:
[  242.6]  <TASK>
[  242.7]  __schedule+0x2eb/0x8d0
[  242.8]  schedule+0x5b/0xd0
[  242.9]  usb_kill_urb+0x8c/0xc0
[  243.0]  rtl8xxxu_stop+0x1b2/0x2f0 [rtl8xxxu]
[  243.1]  </TASK>
[  243.2] INFO: task iw:1300 blocked for more than 120 seconds.
[  243.3] Call Trace:
[  243.4]  nl80211_pre_doit+0x1c/0x1d0 [cfg80211]
[  243.5]  </TASK>
"""


@pytest.mark.parametrize(
    ("text", "key", "driver", "function", "frames"),
    [
        (
            X86_WARNING,
            "kernel-warning",
            "mac80211",
            "ieee80211_rx_list",
            [
                "ieee80211_rx_napi [mac80211]",
                "rtl8xxxu_parse_rxdesc16 [rtl8xxxu]",
                "__usb_hcd_giveback_urb",
                "cpuidle_enter_state",
            ],
        ),
        (
            ARM_OOPS,
            "kernel-oops",
            "wilc_sdio",
            "wilc_mac_open",
            ["wilc_mac_open [wilc_sdio]", "debug_thread [wilc_sdio]"],
        ),
        (
            ARM64_OOPS,
            "kernel-oops",
            "brcmfmac",
            "brcmf_sdio_rxfail",
            ["brcmf_sdio_rxfail [brcmfmac]", "brcmf_sdio_dataworker [brcmfmac]", "process_one_work"],
        ),
        (MIPS_OOPS, "kernel-oops", "mt76", "mt76_tx", ["mt76_tx [mt76]", "ieee80211_tx_frags [mac80211]"]),
    ],
    ids=["x86 warning", "arm", "arm64", "mips"],
)
def test_a_report_is_one_fault(name, text, key, driver, function, frames):
    report = name(text)
    (fault,) = (fault for fault in report.faults if fault.key != "kernel-panic")
    assert (fault.key, fault.count, fault.driver, fault.function) == (key, 1, driver, function)
    assert fault.frames == frames


def test_a_panic_after_an_oops_is_its_own_fault(name):
    assert [fault.key for fault in name(ARM_OOPS).faults] == ["kernel-oops", "kernel-panic"]


def test_the_same_warning_again_is_counted(name, values):
    later = X86_WARNING.replace("[ 100.", "[ 300.")
    (fault,) = name(X86_WARNING + later).faults
    assert (fault.count, fault.first.time_s, fault.last.time_s) == (2, 100.000001, 300.000001)
    assert values(fault)["place"] == [("net/mac80211/rx.c:4914", None)]


def test_oopses_in_different_functions_are_different_faults(name):
    other = ARM64_OOPS.replace("brcmf_sdio_rxfail", "brcmf_sdio_txfail").replace("[  20", "[  90")
    assert [fault.function for fault in name(ARM64_OOPS + other).faults] == ["brcmf_sdio_rxfail", "brcmf_sdio_txfail"]


def test_hung_tasks(name, values):
    first, second = name(HUNG_TASK).faults
    assert first.frames == ["usb_kill_urb", "rtl8xxxu_stop [rtl8xxxu]"]
    assert first.driver == "rtl8xxxu"
    assert values(first)["task"] == [("kworker/u8:3", None)]
    assert second.frames == ["nl80211_pre_doit [cfg80211]"]


def test_drivers_are_heard_while_a_report_is_open(name):
    lines = X86_WARNING.splitlines()
    lines.insert(8, "[ 100.000007] usb 1-1: USB disconnect, device number 4")
    report = name("\n".join(lines))
    assert {fault.key: fault.count for fault in report.faults} == {"kernel-warning": 1, "usb-disconnect": 1}


def test_a_report_that_is_cut_off_is_still_reported(name):
    cut = "\n".join(X86_WARNING.splitlines()[:3])
    assert [(fault.key, fault.function) for fault in name(cut).faults] == [("kernel-warning", "ieee80211_rx_list")]
    assert [fault.count for fault in name(cut + "\n[    1.0] next boot\n" + cut).faults] == [2]


def test_speed_that_falls_is_told_for_the_same_device_only(name, values):
    def plug(port: str, number: int, speed: str, product: str) -> str:
        return (
            f"[ {number}.0] usb {port}: new {speed} USB device number {number} using xhci_hcd\n"
            f"[ {number}.1] usb {port}: New USB device found, idVendor=7392, idProduct={product}, bcdDevice= 2.00\n"
        )

    same = plug("1-1", 4, "high-speed", "7811") + plug("1-1", 5, "full-speed", "7811")
    (fallen,) = (fault for fault in name(same).faults if fault.key == "usb-speed-fallen")
    assert (fallen.device, fallen.count, fallen.first.time_s) == ("usb 1-1", 1, 5.1)
    assert values(fallen)["before"] == [("high-speed", None)]
    assert values(fallen)["now"] == [("full-speed", None)]
    for other in (
        plug("1-1", 4, "high-speed", "7811") + plug("1-1", 5, "low-speed", "c077"),
        plug("1-1", 4, "high-speed", "7811") + plug("1-2", 5, "full-speed", "7811"),
        plug("1-1", 4, "full-speed", "7811") + plug("1-1", 5, "high-speed", "7811"),
        plug("1-1", 9, "high-speed", "7811") + plug("1-1", 1, "full-speed", "7811"),  # another boot
    ):
        assert "usb-speed-fallen" not in [fault.key for fault in name(other).faults]


def test_reasons_and_status_codes_have_names(name, values):
    report = name(
        "wlan0: deauthenticated from 24:f5:a2:c0:4e:b1 (Reason: 15=4WAY_HANDSHAKE_TIMEOUT)\n"
        "wlan0: 24:f5:a2:c0:4e:b1 denied association (code=17)\n"
        "wlan0: disassociated from 24:f5:a2:c0:4e:b1 (Reason: 999)\n"
    )
    found = {fault.key: values(fault) for fault in report.faults}
    assert found["wifi-deauthenticated"]["reason"][0][1].startswith("4WAY_HANDSHAKE_TIMEOUT")
    assert found["wifi-association-denied"]["status"][0][1].startswith("DENIED_NO_MORE_STAS")
    assert found["wifi-disassociated"]["reason"] == [("999", None)]


def test_usb_errors_say_what_they_mean_on_the_bus(name, values):
    (fault,) = name("mt76x0u 1-2:1.0: rx urb failed: -71").faults
    assert values(fault)["errno"][0][1].startswith("EPROTO (no answer")


HUNG = """\
[   42.208370] INFO: task kworker/0:1:10 blocked for more than 21 seconds.
[   42.208717] Call Trace:
[   42.208731]  <TASK>
[   42.208746]  __schedule+0x4e0/0xbf0
[   42.208811]  schedule_preempt_disabled+0x15/0x30
[   42.208843]  __mutex_lock.constprop.0+0x37d/0x6f0
[   42.208885]  {first}+0x118/0x4b0 [cfg80211]
[   42.209910]  notifier_call_chain+0x5d/0xd0
[   42.209939]  __dev_close_many+0x62/0x120
[   42.209972]  dev_close_many+0xa9/0x180
[   42.210039]  unregister_netdevice_many_notify+0x1a4/0x990
[   42.210103]  unregister_netdevice_queue+0xf0/0x130
[   42.210138]  _cfg80211_unregister_wdev+0x1c4/0x210 [cfg80211]
[   42.210500]  sdio_a+0x1/0x2
[   42.210600]  sdio_b+0x1/0x2
[   42.210840]  {last}
[   42.213654]  </TASK>
[   42.300000]  ath6kl_cfg80211_vif_cleanup+0xda/0x100 [ath6kl_core]
"""


@pytest.mark.parametrize(
    ("first", "last", "named"),
    [
        ("cfg80211_netdev_notifier_call", "ath6kl_cfg80211_vif_cleanup+0xda/0x100 [ath6kl_core]", True),
        ("cfg80211_netdev_notifier_call", "? ath6kl_cfg80211_vif_cleanup+0xda/0x100 [ath6kl_core]", False),
        ("cfg80211_netdev_notifier_call", "brcmf_remove+0xda/0x100 [brcmfmac]", False),
        ("cfg80211_event_work", "ath6kl_cfg80211_vif_cleanup+0xda/0x100 [ath6kl_core]", False),
    ],
)
def test_a_deadlock_is_told_from_other_tasks_that_hang_by_its_call_trace(first, last, named):
    """A frame behind those that are shown counts, one that is only perhaps in the trace or behind its end does not."""
    faults = {fault.key: fault for fault in name_faults(HUNG.format(first=first, last=last).splitlines()).faults}
    assert set(faults) == {"kernel-hung-task", *(["ath6kl-removal-deadlock"] if named else [])}
    assert faults["kernel-hung-task"].function == first
    if named:
        assert faults["ath6kl-removal-deadlock"].driver == "ath6kl_sdio"
        assert faults["ath6kl-removal-deadlock"].frames[0] == f"{first} [cfg80211]"


FRAGMENT = """\
[  836.763114] Modules linked in: ccm aes_arm
[  836.838617] CPU: 1 UID: 0 PID: 1243 Comm: mt76-usb-rx phy Tainted: G         C         6.13.7 #1
[  836.878773] PC is at mt792x_rx_get_wcid+0x2c/0x40 [mt792x_lib]
[  836.892112] LR is at mt7921_queue_rx_skb+0xff/0x624 [mt7921_common]
"""


def test_a_report_whose_beginning_is_missing_is_one_fault(name):
    (fault,) = name(FRAGMENT).faults
    assert (fault.key, fault.count, fault.function, fault.driver) == (
        "kernel-report-fragment",
        1,
        "mt792x_rx_get_wcid",
        "mt792x_lib",
    )


def test_a_whole_report_has_no_such_part(name):
    text = X86_WARNING + X86_WARNING.replace("[ 100.", "[ 300.")
    assert {fault.key: fault.count for fault in name(text).faults} == {"kernel-warning": 2}
    mixed = "[ 100.0] WARNING: CPU: 1 PID: 412 at net/a.c:4914 f+0x8f4/0xa10 [m]\n[ 100.1] ---[ cut here ]---\n"
    mixed += "[ 100.2] CPU: 1 PID: 412 Comm: kworker/u8:1 Not tainted 6.1.0 #1\n[ 100.3] RIP: 0010:f+0x8f4/0xa10 [m]\n"
    assert {fault.key for fault in name(mixed).faults} == {"kernel-warning"}


@pytest.mark.parametrize("before", [True, False], ids=["before the first line", "behind it"])
def test_the_text_of_a_warn_is_a_value(name, values, before):
    cut, first, *rest = X86_WARNING.splitlines()
    text = "[ 100.000001] Rate marked as a FOO rate but it is odd: MCS: 10"
    lines = [cut, text, first, *rest] if before else [cut, first, text, *rest]
    (fault,) = (fault for fault in name("\n".join(lines)).faults if fault.key == "kernel-warning")
    assert values(fault)["text"] == [("Rate marked as a FOO rate but it is odd: MCS: 10", None)]
