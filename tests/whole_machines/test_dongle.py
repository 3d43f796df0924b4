"""A USB dongle on a lab machine: a stock driver on a virtual chip, captured with usbmon, pulled out and put back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from lab_bench import STARVED, Bench
from lab_image import AP_ADDRESS, AP_NAMESPACE, CHANNEL, SSID
from txop.archive.counting import counting
from txop.guest.chips import find_chips
from txop.guest_image.firmware import firmware_files

UNIT = "lab-dongle"
PLUG = f"systemctl start {UNIT}"
# The unit is the dongle: it is in the port while the program runs.
SERVICE = (
    "[Service]\nExecStart=/usr/local/bin/txop-vusb attach --device rtl8188cus --ap hostapd "
    f"--ssid {SSID} --channel {CHANNEL}\nKillSignal=SIGTERM\n"
)
ACCESS_POINT = (
    "modprobe vhci_hcd; modprobe mac80211_hwsim radios=1; "
    f'iw phy "$(cat /sys/class/net/wlan0/phy80211/name)" set netns name {AP_NAMESPACE}; '
    f"ip -n {AP_NAMESPACE} link set wlan0 name wlan1; "
    f"ip netns exec {AP_NAMESPACE} hostapd -B -P /run/lab-hostapd.pid /etc/hostapd/lab.conf; "
    f"ip -n {AP_NAMESPACE} address replace {AP_ADDRESS}/24 dev wlan1"
)
REMOVE = f"systemctl stop {UNIT}; modprobe -r rtl8192cu; lab-down; sleep 1; rmmod mac80211_hwsim vhci_hcd"


@pytest.fixture
def dongle(bench: Bench) -> Iterator[Bench]:
    """The machine with the dongle in its port, and the access point that it will find."""
    machine = bench.machine
    machine.put("/usr/local/bin/txop-vusb", find_chips().read_bytes(), mode=0o755)
    for name, data in firmware_files().items():
        if "/rtlwifi/" in name:
            machine.put(f"/{name}", data)
    machine.put(f"/run/systemd/system/{UNIT}.service", SERVICE.encode())
    machine.ssh(f"systemctl daemon-reload; set -e; {ACCESS_POINT}; {PLUG}")
    bench.wait(lambda: machine.ssh("ls -d /sys/class/net/wlan0", check=False) != "", "the driver's interface", 120.0)
    yield bench
    machine.ssh(REMOVE, check=False)


def test_a_dongle_is_measured_pulled_out_and_put_back(dongle: Bench) -> None:
    machine = dongle.machine
    hook = dongle.folder / "plug"
    hook.write_text(f"#!/bin/sh\nexec {machine.ssh_line(PLUG)}\n")
    hook.chmod(0o755)
    plan = dongle.plan_of("dongle.toml", {"HOOK": str(hook)})
    looked = dongle.txop("plan", "check", str(plan), "--connect", "--json")
    assert looked.returncode == 0, looked.stdout
    desk = json.loads(looked.stdout)["desk"]
    found = {(row["target"], row["what"]): row["found"] for row in desk}
    assert found["dut", "USB speed"].startswith("480 Mbit/s")
    assert found["dut", "usbmon"] in ("there", "its module can be loaded")

    process = dongle.start("run", str(plan), "-o", str(dongle.archive))
    dongle.wait_for_command("iperf3 -c")
    time.sleep(2.0)
    machine.ssh(f"systemctl stop {UNIT}")
    done = dongle.ended(process)
    assert done.returncode == 0, done.stderr
    read = dongle.read()
    assert read.finished
    assert not read.damage
    first, second, *others = read.runs
    assert first.state == "void"
    assert any(
        cause.gate == "association-lost" and ("wlan0 was gone" in cause.cause or "left the network" in cause.cause)
        for cause in first.void
    ), first.void
    (cause,) = second.void
    assert cause.gate == "arm-load-failed"
    assert "wlan0" in cause.cause
    assert "resetting it" in " ".join(done.stderr.split())
    for run in others:
        assert {cause.gate for cause in run.void} <= STARVED, run.void
    counting_runs = counting(read, "tx").runs
    assert {run.arm for run in counting_runs} == {"chip", "kernel"}
    for run in counting_runs:
        assert run.verified["driver"] == "rtl8192cu"
        assert run.verified["parameters"]["swenc"] == ("Y" if run.arm == "kernel" else "N")
        assert run.metrics["throughput_mbit_s"].value > 0.1
        assert run.gates["usb-speed (dut)"] == "ok"
        rate = run.metrics["usb_out_urbs_per_s"]
        if rate.value is None:  # a starved machine: no figure of the window, and the reason
            assert "the clock of dut is known to" in rate.reason
        else:
            assert rate.value > 1
        bus = dongle.txop("bus", str(dongle.archive / "runs" / run.run / "usb.pcap"), "--json")
        (device,) = (one for one in json.loads(bus.stdout)["devices"] if one["kind"] == "realtek-wifi")
        assert device["bytes_out"] > 100_000, device
