#!/usr/bin/env python3
"""Draws the diagrams of the documents, docs/pictures/*.svg, from the tables below: `make pictures`.

Each diagram is a function that places boxes, regions, arrows and words on a :class:`Drawing`; what a box says is data
in front of it. Colours are classes with a light and a dark form, which the browser chooses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

PICTURES = Path(__file__).resolve().parents[1] / "docs/pictures"

STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, sans-serif; fill: #1f2328 }
.small { font-size: 11.5px; fill: #57606a } .title { font-weight: 600 } .tap-number { font-weight: 700; fill: #fff }
.paper { fill: #fdfdfc } .box { fill: #fff; stroke: #8c959f } .region { fill: #f3f5f7; stroke: #b6bec7 }
.tested { fill: #dcebfb; stroke: #2f6fb3 } .model { fill: #fdf0d8; stroke: #b07a1c }
.void { fill: #f7dede; stroke: #b3403c } .good { fill: #ddf1e2; stroke: #2c8a4b }
.band { fill: #e6e9ec; stroke: none } .line { stroke: #57606a; fill: none }
.strong { stroke: #2f6fb3; stroke-width: 3; fill: none } .dot, .tap { fill: #2f6fb3 } .head { fill: #57606a }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9aa4ae } .paper { fill: #15191e } .box { fill: #1f252c; stroke: #6e7781 }
.region { fill: #1a1f25; stroke: #444c56 } .tested { fill: #17324d; stroke: #6cb0f5 }
.model { fill: #3a2e14; stroke: #d9a441 } .void { fill: #43201f; stroke: #e5807c }
.good { fill: #163524; stroke: #5cc47f } .band { fill: #2a3038 } .line { stroke: #9aa4ae }
.strong { stroke: #6cb0f5 } .dot, .tap { fill: #6cb0f5 } .tap-number { fill: #10151a } .head { fill: #9aa4ae }
}"""


@dataclass
class Drawing:
    """An SVG picture under construction; lengths are pixels, the origin is at the top left.

    Attributes:
        title: What the picture shows, for screen readers.
    """

    width: float
    height: float
    title: str
    parts: list[str] = field(default_factory=list)

    def words(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """One line of text with its baseline at ``y``."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, lines: tuple[str, ...], kind: str = "box") -> None:
        """A box with centred lines, the first one bold."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" class="{kind}" '
            'stroke-width="1.2"/>'
        )
        top = y + height / 2 - 16 * (len(lines) - 1) / 2 + 4.5
        for number, line in enumerate(lines):
            self.words(x + width / 2, top + 16 * number, line, "small" if number else "title", "middle")

    def region(self, x: float, y: float, width: float, height: float, label: str) -> None:
        """An area that holds boxes, with its name at the top left."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" class="region" stroke-width="1"/>'
        )
        self.words(x + 10, y + 18, label, "small title")

    def arrow(self, points: list[tuple[float, float]], *, both: bool = False, dashed: bool = False) -> None:
        """A line through ``points`` with a head at its end, or at both ends."""
        path = " L".join(f"{x:g},{y:g}" for x, y in points)
        start = ' marker-start="url(#head)"' if both else ""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<path d="M{path}" class="line" stroke-width="1.4" marker-end="url(#head)"{start}{dash}/>')

    def tap(self, x: float, y: float, number: int) -> None:
        """The mark of a place where something is measured."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="9.5" class="tap"/>')
        self.words(x, y + 4.5, str(number), "tap-number", "middle")

    def line(self, x: float, y: float, to_x: float, to_y: float, kind: str = "line") -> None:
        """A straight line without a head."""
        self.parts.append(f'<path d="M{x:g},{y:g} L{to_x:g},{to_y:g}" class="{kind}"/>')

    def dot(self, x: float, y: float) -> None:
        """A point of data."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="4" class="dot"/>')

    def area(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """A filled rectangle without words."""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"/>')

    def svg(self) -> str:
        """The picture as a file."""
        head = (
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path d="M0,0 L8,4 L0,8 z" class="head"/></marker>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" role="img">\n<title>{escape(self.title)}</title>\n'
            f"<style>{STYLE}\n</style>\n<defs>{head}</defs>\n"
            f'<rect width="{self.width:g}" height="{self.height:g}" class="paper"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


ARMS = ("vanilla", "patched")
BLOCKS: tuple[tuple[str, float, float | None], ...] = (
    ("block 1", 16.1, 19.9),
    ("block 2", 15.2, 19.6),
    ("block 3", 15.9, None),
    ("block 4", 14.8, 19.1),
    ("block 5", 15.6, 20.4),
    ("block 6", 15.0, 19.4),
    ("block 7", 15.3, 19.2),
    ("block 3 again", 15.7, 20.8),
)
"""The figure of each arm; a run without one is void, and its block is measured again. All are invented."""
MARGIN = 3.0


def hodges_lehmann(changes: list[float]) -> tuple[float, float, float]:
    """Low end, estimate and high end of seven changes: 95.3 % leave out two averages of pairs at either end."""
    pairs = sorted((a + b) / 2 for i, a in enumerate(changes) for b in changes[i:])
    return pairs[2], pairs[len(pairs) // 2], pairs[-3]


def concepts() -> Drawing:
    """Blocks and arms, the figure of each run, the differences, interval and verdict."""
    d = Drawing(960, 424, "From blocks and arms to a verdict")
    d.words(20, 28, "1  Runs", "title")
    d.words(20, 46, "every arm in every block, in random order", "small")
    for column, arm in enumerate(ARMS):
        d.words(156 + 92 * column, 76, arm, "title", "middle")
    left, scale = 372.0, 5.2
    changes = []

    def place(percent: float) -> float:
        return left + scale * (percent + 5)

    d.words(352, 28, "2  Change within each block", "title")
    d.words(352, 46, "drift from block to block cancels", "small")
    d.area(place(-MARGIN), 66, 2 * MARGIN * scale, 306, "band")
    d.line(place(0), 66, place(0), 372)
    for row, (name, base, other) in enumerate(BLOCKS):
        y = 86 + 36 * row
        d.words(20, y + 19, name, "small")
        d.box(115, y, 82, 28, (f"{base:.1f}",))
        d.box(207, y, 82, 28, ("void",) if other is None else (f"{other:.1f}",), "void" if other is None else "box")
        if other is not None:
            change = 100 * (other / base - 1)
            changes.append(change)
            d.dot(place(change), y + 14)
            d.words(place(change) + 9, y + 18.5, f"+{change:.0f} %", "small")
    d.words(20, 396, "A run gives one number per figure:", "small")
    d.words(20, 412, "here tx throughput, Mbit/s", "small")
    d.words(place(-MARGIN), 396, "Grey: the margin, the smallest effect", "small")
    d.words(place(-MARGIN), 412, "that matters", "small")
    d.arrow([(300, 230), (340, 230)])
    d.arrow([(616, 230), (650, 230)])
    d.words(660, 28, "3  Exact interval", "title")
    d.words(660, 46, "over the blocks, 95 %", "small")

    def across(percent: float) -> float:
        return 660 + 2.9 * (percent + 5)

    low, middle, high = hodges_lehmann(changes)
    d.area(across(-MARGIN), 168, 2 * MARGIN * 2.9, 124, "band")
    d.line(across(0), 168, across(0), 292)
    d.line(across(low), 230, across(high), 230, "strong")
    d.dot(across(middle), 230)
    d.words(across(middle), 214, f"+{middle:.0f} %", "title", "middle")
    d.words(across(middle), 254, f"+{low:.0f} to +{high:.0f} %", "small", "middle")
    d.arrow([(804, 230), (834, 230)])
    d.words(842, 28, "4  Verdict", "title")
    for row, (word, said) in enumerate(VERDICTS):
        d.box(842, 112 + 62 * row, 106, 50, (word, said), "good" if word == "better" else "box")
    return d


VERDICTS = (
    ("better", "beyond margin"),
    ("worse", "beyond margin"),
    ("equivalent", "inside margin"),
    ("inconclusive", "neither"),
)

TAPS = (
    (1, "iperf3, ping, irtt at both ends: throughput, RTT, loss"),
    (2, "/proc, iw, ethtool, debugfs: CPU, signal, rates, counters"),
    (3, "kernel log: faults"),
    (4, "usbmon: URBs, datagrams per URB"),
    (5, "sniffer in monitor mode: retries, A-MPDUs, airtime"),
    (6, "hooks: reset and power of a lost target"),
)


def targets() -> Drawing:
    """A testbed with its targets, and where each instrument taps."""
    d = Drawing(940, 430, "A testbed, and where each instrument taps it")
    d.region(20, 20, 250, 130, "the machine txop runs on")
    d.box(40, 52, 210, 80, ("txop run plan.toml", "journal and archive", "needs nothing on the targets"))
    d.region(20, 196, 250, 214, "dut: device under test")
    d.box(40, 228, 100, 50, ("kernel", "mac80211, log"))
    d.box(160, 228, 95, 50, ("iperf3, ping",))
    d.box(40, 300, 100, 50, ("driver", "the arm"), "tested")
    d.box(40, 362, 100, 42, ("bus", "USB, PCI, SDIO"))
    d.box(160, 330, 95, 74, ("device", "dongle, card"))
    d.arrow([(90, 278), (90, 300)], both=True)
    d.arrow([(140, 383), (160, 383)], both=True)
    d.arrow([(90, 350), (90, 362)], both=True)
    d.region(660, 196, 260, 214, "peer: access point and server")
    d.box(680, 228, 105, 50, ("iperf3, ping",))
    d.box(795, 228, 105, 50, ("kernel",))
    d.box(680, 330, 220, 70, ("access point", "its own machine, or the peer"))
    d.region(370, 20, 190, 130, "sniffer (optional)")
    d.box(390, 52, 150, 80, ("monitor interface", "tcpdump"))
    d.words(465, 345, "air", "title", "middle")
    d.arrow([(255, 362), (680, 362)], both=True)
    d.arrow([(465, 325), (465, 150)], dashed=True)
    d.words(472, 306, "overhears", "small")
    d.arrow([(145, 132), (145, 196)], both=True)
    d.words(152, 174, "SSH, or the same machine", "small")
    d.arrow([(270, 76), (370, 76)], both=True)
    d.arrow([(250, 112), (310, 112), (310, 212), (660, 212)], both=True)
    d.words(480, 205, "SSH", "small", "middle")
    d.tap(243, 228, 1)
    d.tap(772, 228, 1)
    d.tap(52, 228, 2)
    d.tap(886, 228, 2)
    d.tap(128, 228, 3)
    d.tap(40, 362, 4)
    d.tap(526, 52, 5)
    d.tap(262, 300, 6)
    for row, (number, said) in enumerate(TAPS):
        d.tap(582, 38 + 25 * row, number)
        d.words(600, 42.5 + 25 * row, said, "small")
    return d


CHIP_IN_QEMU = True
"""Where the virtual chip runs: in a process of the guest behind vhci-hcd, or in a device of QEMU outside it."""
CHIP = {
    False: ("txop-vusb", "chip, air, counters", "a process of the guest"),
    True: ("virtual chip", "chip, air, counters", "a device of QEMU"),
}
BUS = {False: ("USB core, vhci-hcd", "virtual host controller"), True: ("USB core, xhci-hcd", "QEMU's controller")}


def guest() -> Drawing:
    """What runs where in a guest."""
    d = Drawing(940, 440, "What runs where in a guest")
    d.region(10, 10, 920, 420, "the machine txop runs on")
    d.box(30, 60, 150, 100, ("txop run", "txop guest run", "compare, report"))
    d.box(30, 300, 150, 100, ("archive", "raw files, captures", "kernel log, chip.json"))
    d.region(250, 40, 440 if CHIP_IN_QEMU else 660, 380, "QEMU: the distribution's kernel, no network")
    d.region(270, 72, 190, 330, "namespace dut")
    d.box(285, 104, 160, 44, ("iperf3, ping",))
    d.box(285, 160, 160, 44, ("wpa_supplicant",))
    d.box(285, 216, 160, 44, ("mac80211, cfg80211",))
    d.box(285, 272, 160, 52, ("driver under test", "stock, patched or yours"), "tested")
    d.box(285, 342, 160, 48, BUS[CHIP_IN_QEMU])
    peer = 700 if not CHIP_IN_QEMU else 480
    d.region(peer, 72, 190, 210, "namespace ap (peer)")
    d.box(peer + 15, 104, 160, 44, ("iperf3, ping",))
    d.box(peer + 15, 160, 160, 44, ("hostapd",))
    d.box(peer + 15, 216, 160, 44, ("mac80211_hwsim", "a radio"))
    chip = 490 if not CHIP_IN_QEMU else 710
    d.box(chip, 318, 180 if not CHIP_IN_QEMU else 190, 84, CHIP[CHIP_IN_QEMU], "model")
    for upper, lower in ((148, 160), (204, 216), (260, 272), (324, 342)):
        d.arrow([(365, upper), (365, lower)], both=True)
    for upper, lower in ((148, 160), (204, 216)):
        d.arrow([(peer + 95, upper), (peer + 95, lower)], both=True)
    d.arrow([(445, 366), (chip, 366)], both=True)
    d.words((445 + chip) / 2, 358, "URBs", "small", "middle")
    end = (chip, 340) if CHIP_IN_QEMU else (chip + 180, 360)
    d.arrow([(peer + 95, 260), (peer + 95, end[1]), end], both=True)
    d.words(peer + 103, 306, "frames of the", "small")
    d.words(peer + 103, 322, "modelled air", "small")
    d.arrow([(180, 110), (250, 110)])
    d.words(215, 102, "boots", "small", "middle")
    d.arrow([(250, 350), (180, 350)])
    d.words(215, 342, "virtio", "small", "middle")
    d.words(215, 368, "ports", "small", "middle")
    return d


LAYERS = (
    ("traffic", "iperf3, ttcp at both ends", "throughput, TCP retransmissions, TCP RTT, UDP loss, jitter", "window"),
    ("", "ping, irtt", "RTT p50 to p99, lost probes", "window"),
    ("kernel", "/proc, softirqs", "CPU per Gbit, context switches, interrupts", "idle, window"),
    ("", "kernel log", "faults, warnings, hung tasks", "loaded to end"),
    ("driver", "iw, ethtool, debugfs", "signal, bitrates, retries, airtime, AQL", "window"),
    ("", "sysfs, build-id", "which build was loaded; time to load", "load"),
    ("bus", "usbmon, SDIO log", "URBs, datagrams per URB, completion time", "window of the capture"),
    ("air", "sniffer or virtual chip", "retries, A-MPDUs, airtime, Block Ack holes", "window of the capture"),
)
PHASES = (("load the arm", 150.0), ("idle", 110.0), ("warm-up", 110.0), ("measured window", 330.0), ("end", 100.0))


def metrics() -> Drawing:
    """Where each figure comes from, and from which phase of a run."""
    d = Drawing(940, 424, "Where each figure comes from")
    for x, heading in ((30, "layer"), (140, "read from"), (360, "figures"), (764, "phase")):
        d.words(x, 30, heading, "small title")
    for row, (layer, source, figures, phase) in enumerate(LAYERS):
        y = 42 + 34 * row
        if layer:
            rows = 1
            while row + rows < len(LAYERS) and not LAYERS[row + rows][0]:
                rows += 1
            d.box(20, y, 100, 34 * rows - 6, (layer,), "tested" if layer == "driver" else "box")
        d.box(136, y, 200, 28, (source,))
        d.arrow([(338, y + 14), (354, y + 14)])
        d.words(362, y + 18.5, figures)
        d.words(764, y + 18.5, phase, "small")
    left = 20.0
    for name, width in PHASES:
        d.box(left, 342, width - 6, 34, (name,), "tested" if name == "measured window" else "box")
        left += width
    d.words(
        20,
        398,
        "A run, from left to right. Captures and logs cover all of it; a figure is of the phase that is named.",
        "small",
    )
    return d


MEASURED = (
    ("polling", (46, 43, 49, "better"), (-17, -20, -13, "worse")),
    ("interrupts, by the work queue", (73, 69, 77, "better"), (21, 16, 30, "better")),
    ("PIO", (0, -2, 1, "equivalent"), (-6, -10, -2, "inconclusive")),
    ("polling and PIO", (44, 42, 48, "better"), (-18, -21, -13, "worse")),
    ("one segment", (0, -2, 1, "equivalent"), (-3, -7, 0, "inconclusive")),
    ("1 line", (-44, -45, -43, "worse"), (-62, -63, -60, "worse")),
)
"""Change of throughput to and from an SDIO card, in percent: estimate, ends of the interval of 95 %, verdict
(docs/results/virtual-sdio.md, polling against interrupts; n = 11 blocks)."""
SIGNS = {"better": "▲", "worse": "▼", "equivalent": "=", "inconclusive": "?"}


def verdicts() -> Drawing:
    """A measured campaign: effects against the baseline with intervals and verdicts."""
    d = Drawing(940, 322, "ath6kl_sdio on a virtual AR6003: throughput against SDIO interrupts with DMA")
    d.words(20, 28, "ath6kl_sdio, how the host serves the card: throughput against SDIO interrupts with DMA", "title")
    d.words(
        20, 46, "Linux 6.12.117, virtual AR6003, guest-exact, n = 11 blocks, 308 runs; exact intervals of 95 %", "small"
    )
    for panel, heading in enumerate(("to the card, %", "from the card, %")):
        left = 222.0 + 350 * panel
        zero, scale = left + 142, 1.75
        d.words(zero, 78, heading, "title", "middle")
        d.area(zero - MARGIN * scale, 88, 2 * MARGIN * scale, 208, "band")
        d.line(zero, 88, zero, 296)
        for row, (name, *sides) in enumerate(MEASURED):
            estimate, low, high, verdict = sides[panel]
            y = 108 + 34 * row
            if not panel:
                d.words(20, y + 4.5, name)
            d.line(zero + low * scale, y, zero + high * scale, y, "strong")
            d.dot(zero + estimate * scale, y)
            shown = f"{estimate:+d}".replace("-", "−") if estimate else "0"
            d.words(left + 346, y + 4.5, f"{SIGNS[verdict]} {shown} %", "small", "end")
    d.words(20, 314, "▲ better  ▼ worse  = equivalent  ? inconclusive; grey: the margin of 3 %", "small")
    return d


ALL: dict[str, Callable[[], Drawing]] = {
    "concepts": concepts,
    "guest": guest,
    "metrics": metrics,
    "targets": targets,
    "verdicts": verdicts,
}
"""What is drawn, by file name."""


def main() -> int:
    """Draw all diagrams into docs/pictures."""
    for name, draw in ALL.items():
        (PICTURES / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
