"""Uplink aggregation in qmi_wwan itself, by the shipped edit script: its settings, and what the modem sees of it."""

from __future__ import annotations

import asyncio
import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from guests_here import built_chips, built_image, rebuilt_driver
from txop.arms.edits.script import read_script
from txop.guest.chips import Chip
from txop.guest.driver import patch_files
from txop.guest.function_host import FunctionHost
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
from txop.guest_image.overlay import Overlay
from txop.plan.named_file import named_file
from txop.plan_check.guest import UPLINK_PATCH

LIMITS = {"qmi/tx_max_datagrams_mux": 4, "qmi/tx_max_size_mux": 4096}
SCRIPT = """
txop-lab up || exit
settings=/sys/class/net/wwan0/qmi
dut cat $settings/tx_max_datagrams_mux $settings/tx_max_size_mux >/txop/out/set
dut dash -c "echo 1 >$settings/tx_max_datagrams_mux" 2>/dev/null && echo taken >>/txop/out/set
dut ping -q -c 20 -i 0.05 10.80.210.1 >/txop/out/alone || exit 71
txop-lab counters /txop/out/alone.json
peer iperf3 -s -D; sleep 0.5
dut timeout 60 iperf3 -c 10.80.210.1 -u -b 20M -l 700 -t 1 >/txop/out/iperf3 || exit 72
txop-lab counters /txop/out/small.json
dut timeout 60 iperf3 -c 10.80.210.1 -t 1 >>/txop/out/iperf3 || exit 73
txop-lab counters /txop/out/large.json
# away while datagrams wait for more, and while transfers are under way
dut timeout 60 iperf3 -c 10.80.210.1 -t 3 >/dev/null 2>&1 &
sleep 1; txop-lab replug || exit 74; sleep 3
modprobe -r qmi_wwan
exit 0
"""


def most_often(before: dict[str, Any], after: dict[str, Any]) -> int:
    """How many datagrams most of the transfers had that came between two counts."""
    pairs = zip_longest(before["histogram"], after["histogram"], fillvalue=0)
    grown = [late - early for early, late in pairs]
    return max(range(len(grown)), key=grown.__getitem__)


def test_the_script_says_what_it_does() -> None:
    script = read_script(named_file(Path(), UPLINK_PATCH))
    assert script.change == "adds"
    assert script.kernels == ["6.12"]
    assert "2022-10-19" in script.title


@pytest.mark.slow
def test_datagrams_share_transfers_within_both_limits(tmp_path: Path) -> None:
    image, _ = built_image("6.12"), built_chips()
    built = rebuilt_driver("qmi_wwan", patches=patch_files([Path(UPLINK_PATCH)]))
    options = ("--framing", "qmap", "--transfer-cost-us", "0")
    chip = Chip("qmi-modem", "qmi_wwan", options=options, host=FunctionHost(sysfs=LIMITS))
    overlay = Overlay(script=SCRIPT, environment=chip.variables(), files=chip.files(), modules=(built.module,))
    ended = asyncio.run(run_guest(image, overlay, Computer(), results=tmp_path, wall_limit_s=900))
    files = tmp_path / "files"
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    assert (files / "set").read_text() == "4\n4096\n", "not changed while it is up"
    alone, small, large = (
        json.loads((files / f"{name}.json").read_text())["device"]["qmi_modem"]["uplink"]
        for name in ("alone", "small", "large")
    )
    assert alone["histogram"][1:] == [alone["datagrams"]], "nothing to wait for"
    assert alone["datagrams"] >= 20
    # 728 bytes of IP and 4 of QMAP: four of them go before 4096 bytes are full
    assert most_often(alone, small) == 4
    assert len(small["histogram"]) == 5, "none with more"
    # 1500 and 4: two fit into 4096 bytes
    assert most_often(small, large) == 2
    kernel_log = (files / "kernel.log").read_text()
    assert "usbcore: deregistering interface driver qmi_wwan" in kernel_log
    assert not [word for word in ("WARNING:", "BUG:", "Oops", "skb_over_panic") if word in kernel_log]
