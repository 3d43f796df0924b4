"""The testbed as the plan describes it: its targets, the link between them, and where instruments tap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from txop.archive.reader import Archive
from txop.core.visible import visible
from txop.report.answer.setup import TargetLine, targets

_WIDTH = 470
_TOP, _TOP_ALONE = 0, 54
"""Where the drawing begins, with a sniffer above the link and without one."""
_BOTTOM, _BOTTOM_STATIONS = 136, 174
_MOST_LETTERS = 27
_MOST_STATIONS = 3
_LINKS = {"emulated": "emulated link", "guest": "modelled air"}


@dataclass(frozen=True)
class Tap:
    """A place where something is measured, by its number in the drawing."""

    number: int
    what: str


@dataclass(frozen=True)
class Testbed:
    """The drawing, and what its numbers mean."""

    svg: Markup
    taps: Sequence[Tap]


def testbed(archive: Archive) -> Testbed:
    """The testbed of a campaign."""
    plan = archive.plan
    known = {each.name: each for each in targets(archive)}
    stations = list(dict.fromkeys(name for test in plan.test for name in test.stations_measured))
    kind = known["dut"].kind if "dut" in known else ""
    link = _LINKS.get(kind, "air")
    drawing = _Drawing()
    drawing.box(10, 66, "dut", _about(known.get("dut")), tested=True)
    drawing.box(300, 66, "peer", _about(known.get("peer")))
    drawing.line(170, 96, 300, 96, link)
    taps = ["traffic tools at both ends: throughput, RTT"]
    drawing.tap(160, 66, 1)
    drawing.tap(310, 66, 1)
    taps.append("counters" + (" and kernel log" if plan.collect.kernel_log else "") + " of the device under test")
    drawing.tap(20, 66, 2)
    if plan.collect.usbmon:
        taps.append("usbmon: the bus below the driver")
        drawing.tap(20, 126, len(taps))
    if plan.collect.air:
        taps.append("capture of the air")
        if "sniffer" in known:
            drawing.box(155, 6, "sniffer", "", height=34)
            drawing.arrow(235, 92, 235, 42)
        drawing.tap(235 if "sniffer" not in known else 305, 96 if "sniffer" not in known else 8, len(taps))
    others = [name for name in stations if name not in ("dut", "peer")]
    for place, name in enumerate(others[:_MOST_STATIONS]):
        drawing.box(10 + 155 * place, 138, name, "", height=30, width=145)
    label = f"Testbed: dut and peer over the {link}" + (f", {len(others)} more stations" if others else "")
    top = _TOP if plan.collect.air and "sniffer" in known else _TOP_ALONE
    bottom = _BOTTOM_STATIONS if others else _BOTTOM
    return Testbed(drawing.svg(label, top, bottom), [Tap(number, what) for number, what in enumerate(taps, start=1)])


def _about(target: TargetLine | None) -> str:
    if target is None:
        return ""
    return target.driver or target.what or target.kind


class _Drawing:
    """Boxes and lines in the colours of the page."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def box(
        self, x: int, y: int, name: str, about: str, *, tested: bool = False, height: int = 60, width: int = 160
    ) -> None:
        stroke = "var(--link)" if tested else "var(--plot-faint)"
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="var(--soft)" stroke="{stroke}"/>'
        )
        middle = y + height / 2 + (4 if not about else -3)
        self._text(x + width / 2, middle, name, bold=True)
        if about:
            self._text(x + width / 2, middle + 17, about)

    def line(self, x: int, y: int, to_x: int, to_y: int, label: str) -> None:
        self._parts.append(f'<path d="M{x} {y}L{to_x} {to_y}" stroke="var(--plot-text)" stroke-dasharray="4 3"/>')
        self._text((x + to_x) / 2, y + 18, label)

    def arrow(self, x: int, y: int, to_x: int, to_y: int) -> None:
        self._parts.append(f'<path d="M{x} {y}L{to_x} {to_y}m-4 6l4-6l4 6" fill="none" stroke="var(--plot-text)"/>')

    def tap(self, x: int, y: int, number: int) -> None:
        self._parts.append(f'<circle cx="{x}" cy="{y}" r="8.5" fill="var(--link)"/>')
        self._parts.append(
            f'<text x="{x}" y="{y + 4}" font-size="11" text-anchor="middle" fill="var(--back)">{number}</text>'
        )

    def _text(self, x: float, y: float, text: str, *, bold: bool = False) -> None:
        shown = visible(text)
        shown = shown if len(shown) <= _MOST_LETTERS else f"{shown[: _MOST_LETTERS - 1]}…"
        weight = ' font-weight="600"' if bold else ""
        size = 12 if bold else 11
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="middle" fill="var(--text)"{weight}>'
            f"{escape(shown)}</text>"
        )

    def svg(self, label: str, top: int, bottom: int) -> Markup:
        body = "".join(self._parts)
        return Markup(  # noqa: S704 - texts are escaped above
            f'<svg role="img" aria-label="{escape(label)}" viewBox="0 {top} {_WIDTH} {bottom - top}" width="{_WIDTH}" '
            f'height="{bottom - top}" style="--drawn: {_WIDTH}px">{body}</svg>'
        )
