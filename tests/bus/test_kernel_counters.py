"""``txop bus`` against the kernel's own counters: drivers in a guest, on virtual functions, with traffic both ways."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from guests_here import built_chips, rebuilt_driver
from txop import bus
from txop.bus.model import Traffic
from txop.bus.report import BusReport
from txop.guest.chips import IN_GUEST
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay

SCRIPT = Path(__file__).with_name("kernel_counters.sh")
ETHERNET_HEADER = 14
QMAP_HEADER = 4
DATAGRAMS = 16
"""The most datagrams that rmnet puts into one transfer; the script sets it."""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Phase:
    """What the kernel counted during a capture, what the device had counted by its end, and what the capture says."""

    counters: dict[str, int]
    report: BusReport
    folder: Path
    name: str

    def way(self, direction: str) -> Traffic:
        (found,) = [row for row in self.report.traffic if row.direction == direction and row.framing != "other"]
        return found


@dataclass(frozen=True)
class Set:
    """A device and what the guest makes of it."""

    device: str
    driver: str
    options: str = ""
    mux: str = ""
    phases: tuple[str, ...] = ("plain",)
    modules: tuple[Path, ...] = ()
    more_modules: tuple[str, ...] = field(default=())


def read_counters(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in path.read_text().splitlines())}


def phases(image: Image, made: Set, folder: Path) -> list[Phase]:
    overlay = Overlay(
        script=SCRIPT.read_text(encoding="utf-8"),
        environment={
            "DEVICE": made.device,
            "DRIVER": made.driver,
            "OPTIONS": made.options,
            "MUX": made.mux,
            "BYTES": "3M",
            "PHASES": " ".join(made.phases),
        },
        files={IN_GUEST: built_chips()},
        modules=made.modules,
        more_modules=made.more_modules,
    )
    ended = asyncio.run(run_guest(image, overlay, Computer(), results=folder, wall_limit_s=400))
    assert ended.status == 0, (folder / "stderr").read_text()
    return [one_phase(folder / "files", name) for name in made.phases]


def one_phase(files: Path, name: str) -> Phase:
    before, after, end = (read_counters(files / f"{name}.{moment}") for moment in ("before", "after", "end"))
    assert after == end, "something was still on its way when the counters were read"
    said = (files / f"{name}.tcpdump").read_text()
    assert "\n0 packets dropped by kernel" in said, said
    report = bus.analyze(files / f"{name}.pcap")
    assert (report.summary.lost_submissions, report.summary.lost_completions) == (0, 0)
    assert report.summary.cut_transfers == 0
    for direction in ("in", "out"):
        rows = [row for row in report.traffic if row.direction == direction]
        assert len(rows) == 1, rows
        assert rows[0].faulty_transfers == 0
        assert rows[0].whole_transfers == rows[0].transfers > 0
    return Phase({key: after[key] - before[key] for key in after}, report, files, name)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(Set("ncm", "cdc_ncm"), id="ntb16"),
        pytest.param(
            Set("ncm", "huawei_cdc_ncm", "--posing huawei --ntb32 --ntb-out-max 8192 --ntb-out-datagrams 5",
                more_modules=("huawei_cdc_ncm",)),
            id="ntb32",
        ),
        # what a host puts into its tables are packets, not frames
        pytest.param(Set("mbim", "cdc_mbim"), id="mbim"),
    ],
)  # fmt: skip
def test_blocks_of_cdc_ncm_and_cdc_mbim(image: Image, tmp_path: Path, made: Set) -> None:
    (phase,) = phases(image, made, tmp_path)
    counted = {key.partition("/")[2]: value for key, value in phase.counters.items()}
    up, down = phase.way("out"), phase.way("in")
    assert {up.framing, down.framing} == {"ntb32" if "ntb32" in made.options else "ntb16"}

    # towards the device: usbnet counts datagrams and their bytes when the URB has completed, cdc_ncm counts blocks and
    # their overhead (headers, tables, padding) when it has filled them. A block that its timer ends while the queue is
    # stopped is thrown away (usbnet_start_xmit): tx_dropped, and its number is missing on the bus.
    assert up.datagrams == counted["tx_packets"]
    assert up.payload_bytes == counted["tx_bytes"]
    lost = counted["tx_dropped"]
    assert up.transfers == counted["driver_tx_ntbs"] - lost
    assert up.missing_blocks == lost
    overhead = up.bytes - up.payload_bytes
    assert overhead == up.header_bytes + up.padding_bytes
    assert (overhead == counted["driver_tx_overhead"]) == (lost == 0)
    assert 0 <= counted["driver_tx_overhead"] - overhead <= lost * 16_384
    reasons = [value for key, value in counted.items() if key.startswith("driver_tx_reason_")]
    assert sum(reasons) >= counted["driver_tx_ntbs"]

    # towards the host: usbnet counts bytes behind the Ethernet header, which packets of MBIM do not have on the bus
    assert down.datagrams == counted["rx_packets"]
    header = 0 if made.device == "mbim" else ETHERNET_HEADER
    assert down.payload_bytes - header * down.datagrams == counted["rx_bytes"]
    assert down.transfers == counted["driver_rx_ntbs"]
    assert down.bytes - down.payload_bytes == counted["driver_rx_overhead"]

    if "ntb-out-datagrams" in made.options:
        assert up.most_datagrams == 5

    # the function's own counters are of all the time since it was plugged in, as the driver's are
    own = json.loads((phase.folder / f"{phase.name}.device.json").read_text())["device"][made.device]
    ended = read_counters(phase.folder / f"{phase.name}.end")
    since = {key.partition("/")[2]: value for key, value in ended.items()}
    assert own["uplink"]["datagrams"] == since["tx_packets"]
    assert own["downlink"]["datagrams"] == since["rx_packets"]


def test_frames_of_cdc_ether(image: Image, tmp_path: Path) -> None:
    (phase,) = phases(image, Set("ecm", "cdc_ether"), tmp_path)
    up, down = phase.way("out"), phase.way("in")
    assert {up.framing, down.framing} == {"ethernet"}
    # the byte that usbnet sends behind a frame that fills its last USB packet is counted as one of the frame's
    assert up.datagrams == up.transfers == phase.counters["usb0/tx_packets"]
    assert up.bytes == phase.counters["usb0/tx_bytes"]
    assert down.datagrams == down.transfers == phase.counters["usb0/rx_packets"]
    assert down.bytes - ETHERNET_HEADER * down.transfers == phase.counters["usb0/rx_bytes"]
    own = json.loads((phase.folder / f"{phase.name}.device.json").read_text())["device"]["ecm"]
    ended = read_counters(phase.folder / f"{phase.name}.end")
    assert (own["uplink"]["frames"], own["uplink"]["bytes"]) == (ended["usb0/tx_packets"], ended["usb0/tx_bytes"])
    assert own["downlink"]["frames"] == ended["usb0/rx_packets"]
    assert (own["too_long"], own["not_taken"]) == (0, 0)
    (device,) = [device for device in phase.report.devices if device.kind == "ecm"]
    assert device.kind_by == "both", "by its descriptors, for which libpcap asks, and by what it carries"
    assert uplink_verdict(phase).startswith("Uplink is Ethernet: one datagram per URB, ")


def test_raw_ip_of_qmi_wwan(image: Image, tmp_path: Path) -> None:
    (phase,) = phases(image, Set("qmi-modem", "qmi_wwan", "--framing raw-ip"), tmp_path)
    for direction, letter in (("out", "t"), ("in", "r")):
        way = phase.way(direction)
        assert way.framing == "raw-ip"
        assert way.datagrams == way.transfers == phase.counters[f"wwan0/{letter}x_packets"]
        assert way.bytes == way.payload_bytes == phase.counters[f"wwan0/{letter}x_bytes"]


def uplink_verdict(phase: Phase) -> str:
    return next(verdict.text for verdict in phase.report.verdicts if verdict.text.startswith("Uplink"))


def test_qmap_of_rmnet_without_and_with_aggregation(image: Image, tmp_path: Path) -> None:
    built = rebuilt_driver("rmnet")
    # aggregates fit into the driver's buffers, which follow the MTU of 16,000
    options = "--aggregate-bytes 15872"
    made = Set("qmi-modem", "qmi_wwan", options, mux="rmnet", phases=("plain", "aggregated"), modules=(built.module,))
    plain, aggregated = phases(image, made, tmp_path)
    for phase in (plain, aggregated):
        up, down, counted = phase.way("out"), phase.way("in"), phase.counters
        assert {up.framing, down.framing} == {"qmap"}
        # wwan0 counts transfers as they are on the bus
        assert (up.transfers, up.bytes) == (counted["wwan0/tx_packets"], counted["wwan0/tx_bytes"])
        assert (down.transfers, down.bytes) == (counted["wwan0/rx_packets"], counted["wwan0/rx_bytes"])
        # rmnet0 counts datagrams: behind their headers towards the host; with headers and padding towards the device
        assert (down.datagrams, down.payload_bytes) == (counted["rmnet0/rx_packets"], counted["rmnet0/rx_bytes"])
        assert up.bytes == up.payload_bytes + QMAP_HEADER * up.datagrams + up.padding_bytes
        # it counts them before wwan0's queue, whose fq_codel drops whole transfers: what the bus lacks was in these
        lost = counted["rmnet0/tx_packets"] - up.datagrams
        lost_bytes = counted["rmnet0/tx_bytes"] - up.bytes
        dropped = counted["wwan0/queue_dropped"]
        assert dropped <= lost <= dropped * (1 if phase is plain else DATAGRAMS)
        assert (lost == 0) == (lost_bytes == 0)
        assert (counted["wwan0/tx_dropped"], counted["rmnet0/tx_dropped"]) == (0, 0)
    assert plain.way("out").datagrams_per_transfer == 1
    assert (aggregated.way("out").datagrams_per_transfer or 0) > 1.5
    texts = [
        next(v.text for v in phase.report.verdicts if v.text.startswith("Uplink")) for phase in (plain, aggregated)
    ]
    assert texts[0].startswith("Uplink is not aggregated: 1.0 datagram per URB")
    assert texts[1].startswith("Uplink is aggregated")
