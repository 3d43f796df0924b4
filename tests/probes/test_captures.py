"""Captures by the sniffer and of the USB: real tcpdump and dumpcap on a loopback, played machines for the rest."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_target import FakeTarget
from instrument_bench import CAPTURED, carry_out, context_of, facts_of, gate_states, make_plan
from txop.formats.iw_interface import parse_interfaces
from txop.measure.probes import packet_capture
from txop.measure.probes.air_capture import AirCapture
from txop.measure.probes.bus_capture import BusCapture
from txop.measure.probes.monitor import frequency_arguments
from txop.measure.probes.packet_capture import PacketCapture, parse_summary, read_capture
from txop.plan.target import SshTarget as SshTable
from txop.targets.contract import Silence
from txop.targets.factory import CONSTRUCTORS
from txop.targets.local import LocalTarget

INFO = (CAPTURED / "iw" / "6.9-info-sta.txt").read_text()
MONITOR = """Interface mon0
	ifindex 9
	addr 02:00:00:00:07:00
	type monitor
	wiphy 1
	channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz
"""
TCPDUMP = (
    "tcpdump: listening on mon0, link-type IEEE802_11_RADIO (802.11 plus radiotap header), snapshot length 256 bytes\n"
)
COUNTS = "{} packets captured\n{} packets received by filter\n{} packets dropped by kernel\n"


@pytest.fixture(autouse=True)
def quick(request, monkeypatch):
    """A played tool holds nothing back."""
    if "real" not in request.node.name:
        monkeypatch.setattr(packet_capture, "DRAIN_S", 0.0)


def sniffer(info: str = MONITOR, stderr: str = TCPDUMP + COUNTS.format(990, 1000, 10), **options) -> FakeTarget:
    target = FakeTarget("sniffer", interface="mon0")
    target.connected = True
    target.programs |= {"iw": "iw", "tcpdump": "tcpdump"}
    target.answer("iw", "dev", "mon0", "info", stdout=info)
    target.answer("iw")
    target.answer("ip")
    target.answer("tcpdump", stdout=b"\xd4\xc3\xb2\xa1", stderr=stderr, forever=True, **options)
    return target


def dut(info: str | None = INFO.replace("wlan1", "wlan0")) -> FakeTarget:
    target = FakeTarget()
    target.connected = True
    if info is not None:
        target.programs["iw"] = "iw"
        target.answer("iw", stdout=info)
    return target


def go(folder, target, device=None, more=""):
    run = context_of(
        make_plan(more=f"[collect]\nair = true\n{more}"), folder, {"dut": device or dut(), "sniffer": target}
    )
    return asyncio.run(carry_out([AirCapture()], run, window_s=0))


def changes(target: FakeTarget) -> list[str]:
    return [" ".join(argv) for argv in target.ran if argv[0] == "ip" or "set" in argv]


def test_a_monitor_on_the_right_channel_is_left_alone(tmp_path):
    target = sniffer()
    reading = go(tmp_path, target)
    assert changes(target) == ["ip link set dev mon0 up"]
    assert gate_states(reading) == {"capture-dropped": "ok"}
    assert (tmp_path / "air.pcap").read_bytes() == b"\xd4\xc3\xb2\xa1"
    assert set(reading.files) == {"air.pcap", "capture-air.txt"}
    assert not reading.warnings
    assert all(running.done for running in target.running)


def test_another_interface_becomes_a_monitor_on_the_channel_and_is_put_back(tmp_path):
    managed = MONITOR.replace("type monitor", "type managed").replace("channel 36 (5180", "channel 40 (5200")
    target = sniffer(info=managed)
    target.answer("iw", "dev", "mon0", "info", stdout=MONITOR)
    reading = go(tmp_path, target)
    assert changes(target) == [
        "ip link set dev mon0 down",
        "iw dev mon0 set type monitor",
        "ip link set dev mon0 up",
        "iw dev mon0 set freq 5180 80 5210",
        "ip link set dev mon0 down",
        "iw dev mon0 set type managed",
        "ip link set dev mon0 up",
    ]
    assert not reading.warnings


def test_a_monitor_on_another_channel_goes_back_to_it(tmp_path):
    target = sniffer(info=MONITOR.replace("channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz",
                                          "channel 1 (2412 MHz), width: 20 MHz, center1: 2412 MHz"))  # fmt: skip
    target.answer("iw", "dev", "mon0", "info", stdout=MONITOR)
    go(tmp_path, target)
    assert changes(target)[1:] == ["iw dev mon0 set freq 5180 80 5210", "iw dev mon0 set freq 2412 HT20"]


def test_a_channel_that_is_not_taken_and_one_that_is_not_known_are_reported(tmp_path):
    elsewhere = MONITOR.replace("channel 36 (5180", "channel 40 (5200")
    assert "did not take channel 36" in go(tmp_path, sniffer(info=elsewhere)).warnings[0]
    assert "is not known; the sniffer was on channel 36" in go(tmp_path, sniffer(), dut(None)).warnings[0]


def test_an_interface_that_cannot_be_a_monitor_is_put_back_and_the_run_goes_on(tmp_path):
    target = sniffer(info=MONITOR.replace("type monitor", "type managed"))
    target.answer(
        "iw",
        "dev",
        "mon0",
        "set",
        "type",
        "monitor",
        status=240,
        stderr="command failed: Device or resource busy (-16)",
    )
    reading = go(tmp_path, target)
    assert gate_states(reading) == {"capture-dropped": "not available"}
    assert "Device or resource busy" in reading.warnings[0]
    assert changes(target)[-1] == "ip link set dev mon0 up"
    assert not target.running


def test_an_interface_that_comes_with_the_arm_is_captured_from_then_on(tmp_path):
    target = sniffer()
    target._scripts.pop(("iw", "dev", "mon0", "info"))
    target.answer("iw", "dev", "mon0", "info", stderr="command failed: No such device (-19)\n", status=237)
    target.answer("iw", "dev", "mon0", "info", stdout=MONITOR)
    reading = go(tmp_path, target)
    assert gate_states(reading) == {"capture-dropped": "ok"}
    assert (tmp_path / "air.pcap").read_bytes() == b"\xd4\xc3\xb2\xa1"
    assert reading.warnings == [
        "802.11 capture: the sniffer's interface came with the arm: what happened before, as the association, is not in"
        " the capture"
    ]


def test_an_interface_that_never_comes_is_not_available(tmp_path):
    target = sniffer()
    target._scripts.pop(("iw", "dev", "mon0", "info"))
    target.answer("iw", "dev", "mon0", "info", stderr="command failed: No such device (-19)\n", status=237)
    reading = go(tmp_path, target)
    assert gate_states(reading) == {"capture-dropped": "not available"}
    assert "mon0 is not a wireless interface there" in reading.warnings[0]
    assert not target.running


def test_too_many_drops_void_the_run(tmp_path):
    reading = go(tmp_path, sniffer(stderr=TCPDUMP + COUNTS.format(900, 1000, 100)))
    assert reading.gates[0].state == "void"
    assert reading.gates[0].words == "802.11 capture: 100 of 1000 frames were dropped (10.0 %, 1 % allowed)"


def test_the_limit_of_drops_is_the_plans(tmp_path):
    target = sniffer(stderr=TCPDUMP + COUNTS.format(900, 1000, 100))
    plan = make_plan(more="[gates]\ncapture_loss_percent = 10\n")
    asyncio.run(carry_out([AirCapture()], context_of(plan, tmp_path, {"dut": dut(), "sniffer": target}), window_s=0))
    assert gate_states(AirCapture().read(facts_of(plan, tmp_path))) == {"capture-dropped": "ok"}


def test_a_capture_that_fails_at_once_says_why(tmp_path):
    target = sniffer()
    target._scripts.pop(("tcpdump",))
    target.answer("tcpdump", stderr="tcpdump: mon0: You don't have permission to capture on that device\n", status=1)
    reading = go(tmp_path, target)
    assert gate_states(reading) == {"capture-dropped": "not available"}
    assert "You don't have permission" in reading.warnings[0]


def test_a_capture_that_reached_its_limit_is_reported(tmp_path):
    target = sniffer()
    target._scripts.pop(("tcpdump",))
    target.answer("tcpdump", stdout=b"x" * 2000, stderr=TCPDUMP, forever=True)
    reading = go(tmp_path, target, more="max_capture_mb = 0.001\n")
    assert (tmp_path / "air.pcap").stat().st_size == 1000
    assert any("stopped at 0.001 MB" in warning for warning in reading.warnings)


def test_no_tool_and_no_sniffer(tmp_path):
    target = sniffer()
    del target.programs["tcpdump"]
    target._scripts.pop(("tcpdump",))
    assert "neither tcpdump nor dumpcap" in go(tmp_path, target).warnings[0]
    run = context_of(make_plan(), tmp_path, {"dut": dut()})
    reading = asyncio.run(carry_out([AirCapture()], run, window_s=0))
    assert gate_states(reading) == {"capture-dropped": "not available"}


# usbmon ---------------------------------------------------------------------------------------------------------------


def usb(folder, target, more=""):
    text = "[collect]\nusbmon = true\nusb_bus = 3\n" + more
    run = context_of(make_plan(more=text), folder, {"dut": target})
    return asyncio.run(carry_out([BusCapture()], run, window_s=0))


def test_usbmon_is_loaded_captured_from_and_taken_away(tmp_path):
    target = dut()
    target.programs["tcpdump"] = "tcpdump"
    target.answer("test", "-c", "/dev/usbmon3", status=1)
    target.answer("test", "-c", "/dev/usbmon3", status=0)
    target.answer("modprobe")
    target.answer("tcpdump", stderr="tcpdump: listening on usbmon3\n" + COUNTS.format(5, 5, 0), forever=True)
    reading = usb(tmp_path, target)
    assert gate_states(reading) == {"capture-dropped": "ok"}
    assert set(reading.files) == {"usb.pcap", "capture-usb.txt"}
    assert [argv for argv in target.ran if argv[0] == "modprobe"] == [
        ("modprobe", "usbmon"),
        ("modprobe", "-r", "usbmon"),
    ]
    assert "usbmon3" in next(argv for argv in target.ran if argv[0] == "tcpdump")


@pytest.mark.parametrize(("plan", "asked"), [(256, 245_824), (262_144, 262_144)])
def test_usbmon_gets_the_largest_ring_as_libpcap_sizes_it_by_the_snapshot_length(tmp_path, plan, asked):
    target = dut()
    target.programs["tcpdump"] = "tcpdump"
    target.answer("test")
    target.answer("tcpdump", stderr="tcpdump: listening on usbmon3\n" + COUNTS.format(5, 5, 0), forever=True)
    usb(tmp_path, target, more=f"snap_bytes = {plan}\n")
    argv = next(argv for argv in target.ran if argv[0] == "tcpdump")
    assert int(argv[argv.index("-s") + 1]) == asked


def test_without_a_tool_the_text_of_usbmon_is_kept(tmp_path):
    target = dut()
    target.answer("test")
    target.answer("cat", "/sys/kernel/debug/usb/usbmon/3u", stdout="ffff 1 S Bi:1:001:0 0 4096 <\n", forever=True)
    reading = usb(tmp_path, target)
    assert (tmp_path / "usbmon.txt").read_text().startswith("ffff")
    assert "usbmon.txt" in reading.files
    assert gate_states(reading) == {"capture-dropped": "not available"}
    assert ("modprobe", "usbmon") not in target.ran


def test_no_usbmon_at_all(tmp_path):
    target = dut()
    target.answer("test", status=1)
    target.answer("modprobe", status=1)
    reading = usb(tmp_path, target)
    assert "/dev/usbmon3" in reading.warnings[0]
    assert gate_states(reading) == {"capture-dropped": "not available"}
    assert ("modprobe", "-r", "usbmon") not in target.ran


# what the tools say ---------------------------------------------------------------------------------------------------


def test_dumpcap_counts_otherwise():
    said = (
        "Capturing on 'lo'\nFile: -\nPackets captured: 30\n"
        "Packets received/dropped on interface 'lo': 30/10 (pcap:8/dumpcap:2/flushed:0/ps_ifdrop:0) (75.0%)\n"
    )
    summary = parse_summary(said)
    assert summary is not None
    assert (summary.kept, summary.dropped, summary.loss_percent) == (30, 10, 25.0)


@given(st.text())
def test_any_words_are_read(text):
    summary = parse_summary(text)
    assert summary is None or 0 <= summary.loss_percent <= 100


def test_channels_as_iw_takes_them():
    channels = [parse_interfaces(re_channel(line))[0].channel for line in (
        "channel 6 (2437 MHz), width: 20 MHz (no HT), center1: 2437 MHz",
        "channel 6 (2437 MHz), width: 40 MHz, center1: 2447 MHz",
        "channel 36 (5180 MHz), width: 80+80 MHz, center1: 5210 MHz, center2: 5775 MHz",
    )]  # fmt: skip
    assert [frequency_arguments(channel) for channel in channels] == [
        ["2437", "NOHT"],
        ["2437", "40", "2447"],
        ["5180", "80+80", "5210", "5775"],
    ]


def re_channel(line: str) -> str:
    return f"Interface mon0\n\tifindex 9\n\ttype monitor\n\t{line}\n"


FRAMES = 40
"""20 echo requests and their answers."""


def frames_in(folder):
    """Counted by capinfos, also in a file that is being written."""
    files = list(folder.glob("air.pcap*"))
    told = subprocess.run(["capinfos", "-Mc", *files[:1]], capture_output=True, text=True, check=False).stdout
    last = told.rsplit(maxsplit=1)[-1:]
    return int(last[0]) if last and last[0].isdecimal() else 0


@pytest.mark.parametrize("tool", ["tcpdump", "dumpcap"])
def test_a_real_capture_is_whole_and_its_drops_are_known(tool, tmp_path):
    """The frames in the file, counted by another program, are those that the tool says it kept."""
    if shutil.which(tool) is None or shutil.which("capinfos") is None or os.geteuid() != 0:
        pytest.skip("needs root, tcpdump, dumpcap and capinfos")

    async def story():
        local = LocalTarget("sniffer", interface="lo")
        await local.connect()
        local._found |= {other: None for other in ("tcpdump", "dumpcap") if other != tool}
        run = context_of(make_plan(), tmp_path, {"sniffer": local})
        capture = PacketCapture("air", "sniffer")
        try:
            assert await capture.start(run, "lo"), capture.about
            await local.run(["ping", "-c", "20", "-i", "0.01", "127.0.0.1"])
            # what a tool has not read when it is told to stop is in none of its counters
            until = time.monotonic() + 60
            while frames_in(tmp_path) < FRAMES and time.monotonic() < until:
                await asyncio.sleep(0.05)
            run.marks.end = time.monotonic()
        finally:
            await capture.stop(run)
            await local.close()

    asyncio.run(story())
    reading = read_capture(facts_of(make_plan(), tmp_path), "air", "capture")
    assert gate_states(reading) == {"capture-dropped": "ok"}, (reading, (tmp_path / "capture-air.txt").read_text())
    summary = parse_summary((tmp_path / "capture-air.txt").read_text())
    counted = frames_in(tmp_path)
    assert counted == summary.kept
    assert counted >= FRAMES


@pytest.mark.slow
def test_a_capture_streams_over_ssh(busybox_sshd, tmp_path):
    """tcpdump on a machine with BusyBox; its frames arrive here while it runs, and it is gone afterwards."""
    if shutil.which("tcpdump") is None:
        pytest.skip("no tcpdump")
    server = busybox_sshd(programs=["tcpdump"])
    known_hosts = tmp_path / "known_hosts"
    known_hosts.write_text(server.known_hosts_line)
    table = {"kind": "ssh", "host": server.address, "user": "root", "key": str(server.keys.user)}
    parsed = SshTable.model_validate({**table, "known_hosts": str(known_hosts), "interface": server.interface})
    target = CONSTRUCTORS["ssh"]("sniffer", parsed, Silence())

    async def story() -> int:
        await target.connect()
        run = context_of(make_plan(), tmp_path, {"sniffer": target})
        capture = PacketCapture("air", "sniffer")
        try:
            assert await capture.start(run, server.interface), capture.about["problem"]
            await target.run(["true"])
            await asyncio.sleep(1.5)
            streamed = (tmp_path / "air.pcap").stat().st_size
            run.marks.end = time.monotonic()
        finally:
            await capture.stop(run)
            await target.close()
        return streamed

    streamed = asyncio.run(story())
    assert streamed > 24  # more than the file's header, while it ran
    assert gate_states(read_capture(facts_of(make_plan(), tmp_path), "air", "capture")) == {"capture-dropped": "ok"}
    assert not [line for line in server.commands() if "tcpdump" in line]
