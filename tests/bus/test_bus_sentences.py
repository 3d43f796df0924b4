"""What ``txop bus`` says of captures, sentence by sentence: what must be said of each, and what must not.

Real captures are found by their SHA-256 in the folder that ``TXOP_CAPTURES`` names, below ``usb`` and ``generated``;
what they are is known from their descriptors, from tshark and from where they come from. Without them the made-up ones
are left.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from txop import bus
from txop.bus import BusReport
from usb_trace import IN, OUT, Trace, qmap, tcp

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = Path(os.environ.get("TXOP_CAPTURES", ROOT.parent / "shared" / "captures"))
"""Real captures, not in this repository."""
LONG_COUNT = re.compile(r"(?<![\w.,:/-])(?<!record )[1-9]\d{3,}(?![\w:])")
"""A count without separated thousands; records have numbers, devices identifiers."""
NETWORK = ("QMI", "QMAP", "NCM", "RNDIS", "Uplink", "Downlink", "Raw-IP", "Ethernet")


@dataclass(frozen=True)
class Golden:
    """A capture, and what its report must say and must not."""

    name: str
    sha256: str
    must: tuple[str, ...]
    never: tuple[str, ...] = ()


CORPUS = (
    Golden(
        "usb/liquidctl_NZXT_Kraken_Z73_01_-_lcd_captures_-_himekifee_2png.pcapng",
        "ebee300316a927727083dd508b60d6dcdefa6781d71995315e276ec4285b0fc8",
        ("1.4: unknown",),
        NETWORK,
    ),
    Golden(
        "usb/netdev_asix_ax88772_excerpt.usbmon.txt",
        "cf6bd721e36c203417e037d6a7f4f1cda031c27d3c1d1a01c5690a8d967d39d4",
        ("1.2: of the vendor's own class", "1.0: no device: the default address, while devices are enumerated"),
        ("no network device", "datagrams after the first", "acknowledgements", "1.0: vendor"),
    ),
    Golden(
        "usb/minikbd_usb.pcap",
        "f6410e1c116ffbe110210326f568b981e45f4ff9341368316600eb1a1143e237",
        ("human interface device",),
        NETWORK,
    ),
    Golden(
        "usb/usbrply_fx2.cap",
        "ab4cb6125a1eafae1936102cfb9beed0458ca3e5e02950289dde7ec4e93fadde",
        ("1.31: of the vendor's own class", "1.0: no device: the default address, while devices are enumerated"),
        ("no network device", *NETWORK),
    ),
    Golden(
        "usb/liquidctl_NZXT_E500_01_-_generic_capture_-_jnettlet_e500-capture-1-original.pcapng",
        "c5f2a2e4ce257991b2b0a456120776b459db905f0f5c1344319140e11905d573",
        ("mass storage", "3.0: no device: the default address"),
        ("The enumeration of", *NETWORK),
    ),
    Golden(
        "usb/liquidctl_NZXT_E500_03_-_additional_captures_-_evils-devils_e500_trimmed_2020-03-22.pcapng.gz",
        "9631da43f49492222df8cb912e7884e79418f8c7be8fe602486290dd04c3e682",
        ("The enumeration of 3 of 5 devices is not in the capture", "1.0: no device: the default address"),
        NETWORK,
    ),
    Golden(
        "usb/quectel_rmnet_rk3399.usbmon.txt",
        "877e12ddab3e13784833040c96361434e8e5da293560602b626baf9032f93345",
        (
            "Perhaps a raw-IP modem",
            "what it answers is not in this capture",
            "no request to a bulk IN endpoint",
            "4 of 4 transfers with data are not whole in the capture, because the text form of usbmon shows at most 32",
        ),
        ("it answers nothing", "acknowledgement"),
    ),
    Golden(
        "usb/SYNTH_ncm_mbim_qmap.pcap",
        "06d46c49ff5bda91c107a4e055b9b8d2e078f2e66409d15c770fc8c823284ae0",
        ("1.6: unknown", "2 transfers to the host carry 16-bit NTBs"),
        ("modem (QMAP)", "aggregated:"),
    ),
    Golden(
        "usb/liquidctl_Corsair_AX1500i_01_-_captures_-_keckj_capture_2.pcapng",
        "087baf7222e86f730ac8d916170e6b45c445df865bc8a11c76a6dea916b457b1",
        ("of the vendor's own class: its descriptors do not define it",),
        ("no network device", *NETWORK),
    ),
    Golden(
        "usb/usbmontools_testdata_test1.pcap",
        "7fbba2defc7556d5aac940fef8beb35e476110343e562cc85c59f2dc8197ac5f",
        ("hub",),
        ("no network device", *NETWORK),
    ),
    Golden(
        "usb/liquidctl_Corsair_H150i_Elite_RGB_corsair_h150_elite.pcap",
        "10040376f6239cc4c3f3e13558aa6e0b8479868837f5fd92d2d2e1e84a42969c",
        (
            "1.4: human interface device",
            "2.1: hub",
            "1.2: hub",
            "At least 18,252 of 36,588 records repeat another that is at most 50 µs away",
            "2 completions have no submission in the capture: requests submitted before the capture began",
        ),
        ("unknown", ": records were dropped while capturing", "lower bounds", *NETWORK),
    ),
    Golden(
        "usb/liquidctl_Corsair_H100i_RGB_Platinum_02_-_generic_capture_-_TikiTDO_h100i_usb_dump.txt",
        "b7fffafd019fb44b72c60ccebac09fe5689cb2268ec59fd92c300e1a69ba60e7",
        (
            "1.1: hub",
            "12 completions have no submission in the capture: requests submitted before the capture began, or from",
            "Time steps back by more than 10 ms 2 times, by 568.2 ms in all, 326.1 ms at the most",
            "rates are of the time between these steps",
        ),
        ("plug the device in", "plug it in", "repeat another", "dropped while capturing"),
    ),
    Golden(
        "usb/f196_usbmon_036.mon",
        "d81c665dc4238feb54f9f0c245f00bece7682829d4f97b909a987e70abd48dba",
        ("1.36: human interface device", "The enumeration of the device is not in the capture"),
        ("before the capture, so", "nothing known in its transfers"),
    ),
    Golden(
        "generated/D_qmi_wwan_usbmon.pcap",
        "41a5e23a01deefc192f0e9530de78af7a865815d1490410cd26a86f22cc4b40d",
        (
            "QMI modem",
            "The modem agreed on the link raw IP; QMAP from the host, at most 11 datagrams and 4,096 bytes in a "
            "transfer; QMAP to the host, at most 32 datagrams and 16,384 bytes in a transfer (record ",
            "2 of 5,477 uplink URBs are not framed as agreed",
            "No downlink URB is seen to go past 32 datagrams and 16,384 bytes, but",
            "Uplink is raw IP",
            "Uplink is not aggregated: 1.0 datagram",
            "Downlink is aggregated: at least 6.0",
        ),
        ("erhaps", "mass storage", "too few to decide"),
    ),
    Golden(
        "generated/C_cdc_ncm_usbmon.pcap",
        "537ea3fac139d896ae79b1bc761dfc9a679a9701eb475a2c858f9f0b677d4491",
        ("NCM",),
        ("QMI", "QMAP"),
    ),
    Golden(
        "generated/C_cdc_ecm_usbmon.pcap",
        "7200d79a4a1606fdd0ec5cb38ab08750c86fc36fa39b5d648d8d491875f638a2",
        ("ECM",),
        ("QMI", "QMAP"),
    ),
    Golden(
        "generated/E_rtl8xxxu_usbmon.pcap",
        "4129906b9519852fbfbd199711a04ff8bcf2f1eeab8b6006e1ab793838bc2b04",
        ("Realtek Wi-Fi",),
        ("QMI", "QMAP", "NCM"),
    ),
)


@cache
def by_hash() -> dict[str, Path]:
    """The real captures that are there."""
    files = [path for folder in ("usb", "generated") for path in sorted((CAPTURES / folder).glob("*"))]
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in files if path.is_file()}


def said(report: BusReport) -> str:
    """All sentences: what each device is, by what, every verdict with its evidence, and every limit."""
    lines = [f"{d.name}: {d.kind_name}; {'; '.join(d.evidence)}" for d in report.devices]
    lines += [f"{verdict.text} {'; '.join(verdict.evidence)}" for verdict in report.verdicts]
    lines += [limit.text for limit in report.summary.limits]
    return "\n".join(lines)


@pytest.mark.parametrize("golden", CORPUS, ids=lambda golden: golden.name)
def test_the_sentences_of_real_captures(golden: Golden) -> None:
    path = by_hash().get(golden.sha256)
    if path is None:
        pytest.skip(f"SKIPPED: {golden.name} ({golden.sha256[:12]}) is not at {CAPTURES}")
    text = said(bus.analyze(path))
    for words in golden.must:
        assert words in text
    for words in golden.never:
        assert words not in text
    assert LONG_COUNT.findall(text) == []


@pytest.mark.parametrize("golden", CORPUS, ids=lambda golden: golden.name)
def test_every_conclusion_has_its_figures(golden: Golden) -> None:
    path = by_hash().get(golden.sha256)
    if path is None:
        pytest.skip(f"SKIPPED: {golden.name} ({golden.sha256[:12]}) is not at {CAPTURES}")
    for verdict in bus.analyze(path).verdicts:
        assert verdict.figures
        for figure in verdict.figures:
            assert figure.unit != "count" or figure.n >= figure.value, (figure, verdict.text)


def picture(n: int) -> bytes:
    """A block of a picture: the same pixel (red, green, blue, alpha) again and again."""
    pixel = bytes([n * 37 % 256, n * 101 % 256, n * 17 % 256, 255])
    return pixel * 128


def like_qmap() -> bytes:
    """A block of a picture that is a QMAP header in front of an IP packet of the right length by accident."""
    return qmap([tcp(400)])


def test_a_picture_stream_with_some_blocks_that_look_like_qmap_is_no_modem(tmp_path: Path) -> None:
    trace = Trace(220)
    for n in range(400):
        data = like_qmap() if n in (3, 4, 5, 6, 7, 150) else picture(n)
        trace.transfer(2_000_000 + n * 1000, 300, OUT, data)
    report = bus.analyze(trace.write(tmp_path / "picture.pcap"))
    text = said(report)
    assert [device.kind for device in report.devices] == ["unknown"]
    assert "6 of 400 transfers on endpoint 0x02 look like qmap: too few to decide" in text
    assert "Uplink" not in text
    assert "modem" not in text


def test_qmap_one_way_only_is_perhaps_a_modem(tmp_path: Path) -> None:
    trace = Trace(220)
    for n in range(40):
        trace.transfer(2_000_000 + n * 1000, 300, OUT, qmap([tcp(0)] * 3))
    report = bus.analyze(trace.write(tmp_path / "up.pcap"))
    assert report.devices[0].kind_name == "perhaps a QMI modem (QMAP one way only)"


def test_a_modem_without_descriptors_is_still_known_by_what_it_carries_both_ways(tmp_path: Path) -> None:
    trace = Trace(220)
    for n in range(40):
        trace.transfer(2_000_000 + n * 1000, 300, OUT, qmap([tcp(0)]))
        trace.transfer(2_000_000 + n * 1000 + 100, 300, IN, qmap([tcp(1448)] * 2))
    report = bus.analyze(trace.write(tmp_path / "both.pcap"))
    assert (report.devices[0].kind, report.devices[0].kind_by) == ("qmi", "content")
    assert "Uplink is not aggregated" in said(report)


@pytest.mark.parametrize(
    ("mark", "origin"),
    [
        ("guest-exact by txop", "guest-exact"),
        ("guest-fast by txop", "guest-fast"),
        ("emulated by txop", "emulated"),
        ("simulated by txop", "simulated"),
        ("usbmon of a real machine", "imported"),
    ],
)
def test_the_origin_is_what_the_recorder_wrote(tmp_path: Path, mark: str, origin: str) -> None:
    path = tmp_path / "usb.pcapng"
    path.write_bytes(_as_pcapng(mark))
    assert bus.analyze(path).origin == origin


def _as_pcapng(description: str) -> bytes:
    """A pcapng file of one transfer whose interface has a description."""
    trace = Trace(220)
    trace.transfer(2_000_000, 300, OUT, qmap([tcp(0)]))

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    text = description.encode()
    option = struct.pack("<HH", 3, len(text)) + text + bytes(-len(text) % 4) + bytes(4)
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", 220, 0, 0) + option)
    for at, data in trace.records:
        out += block(6, struct.pack("<IIIII", 0, at >> 32, at & 0xFFFFFFFF, len(data), len(data)) + data)
    return out
