"""Vega-Lite charts as static SVG that follows the colours of the page around it, in light, dark and print.

A chart names its colours with :data:`INK`, which are placeholders; :func:`svg` swaps them for CSS variables of the page
(``present/page.py`` gives them values). Marks carry their values as native tooltips, so no script is needed.

Charts are laid out with the font that the converter brings, so that a page does not depend on the fonts of the machine
that writes it; fonts of the machine are also opened again for each letter, which took most of the time of a page. The
reader's font may be wider: room is left for the widest usual one (:data:`_WIDEST`).
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import resources
from typing import Any, Literal

from markupsafe import Markup

from txop.core.visible import visible

INK: dict[str, str] = {
    name: f"#0a{number:02x}0b"
    for number, name in enumerate(
        (
            "text",
            "faint",
            "grid",
            "good",
            "bad",
            "warn",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "shade",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        )
    )
}
"""Placeholder colour by name; ``var(--plot-NAME)`` in the finished SVG."""

SERIES = ("one", "two", "five", "three", "twelve", "eleven", "eight")
"""Inks of series without a meaning of their own: the first six differ for deuteranopes and protanopes, too."""

DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (1, 3), (10, 4), (4, 1), (3, 5))
"""A dash for each series or arm, so that lines differ without colour, too."""

TEXTURES: tuple[str, ...] = (
    "",
    "M-1 7L7 -1M-1 1L1 -1M5 7L7 5",
    "M3 0V6",
    "M-1 -1L7 7M-1 5L1 7M5 -1L7 1",
    "M0 3H6",
    "M0 3H6M3 0V6",
    "M2 3H4",
)
"""A texture for each area, as strokes in a tile of 6 px: plain, then lines and dots in the colour of the page, so that
areas differ without colour, too."""

_CONFIG: dict[str, Any] = {
    "background": None,
    "font": "DejaVu Sans",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK["text"], "titleColor": INK["text"], "domainColor": INK["faint"], "tickColor": INK["faint"],
        "gridColor": INK["grid"], "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "tickSize": 4,
        "labelLimit": 400,
    },
    "legend": {"labelColor": INK["text"], "titleColor": INK["text"], "labelFontSize": 11, "titleFontSize": 11,
               "orient": "top",
               "title": None, "labelLimit": 420, "symbolSize": 80, "columns": 3, "offset": 6},
    "header": {"labelColor": INK["text"], "titleColor": INK["text"], "labelFontSize": 11, "titleFontSize": 11},
    "text": {"color": INK["text"], "fontSize": 11},
    "title": {"color": INK["text"], "fontSize": 12, "fontWeight": "normal", "anchor": "start"},
}  # fmt: skip

_SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", _SVG)
_PLAIN = 0x0B
"""The last byte of a placeholder; a texture is a higher one."""
_COLOR = re.compile(r"#0a([0-9a-f]{2})(0b|0c|0d|0e|0f|10|11)")
_NAMES = tuple(INK)


def fill(ink: str, texture: int = 0) -> str:
    """The placeholder of an area: the colour ``ink`` with one of :data:`TEXTURES`."""
    return f"{INK[ink][:-2]}{_PLAIN + texture:02x}"


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Chart data with every text made visible; a chart's data must come through here."""
    return [{key: visible(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows]


_LAYOUT_FONT = "Liberation Sans"
"""The one that vl-convert brings."""

_WIDEST = 1.15
"""How much wider DejaVu Sans, the widest of the fonts that ``shell.css`` names, is than the font of the layout: between
1.08 and 1.17 for texts of four letters and more (493 texts of a campaign's page)."""

_CONVERTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="txop-plots")
"""vl-convert converts one chart at a time, and lets Python go on meanwhile."""


def start_converter() -> None:
    """Let the converter load, which takes a third of a second, while other work goes on."""
    _CONVERTER.submit(_convert, {"data": {"values": [{}]}, "mark": "point"})


def svg(spec: dict[str, Any], *, ident: str, label: str) -> Future[Markup]:
    """``spec`` (Vega-Lite, as :meth:`altair.Chart.to_dict` gives it) as an SVG element for an HTML page.

    It is made on another thread, and there when it is asked for its ``result()``.

    Args:
        spec: The chart; its data must be inline.
        ident: Prefix for the ids inside the SVG, unique on the page.
        label: What the plot shows, for readers who cannot see it.
    """
    return _CONVERTER.submit(_svg, spec, ident, label)


def _svg(spec: dict[str, Any], ident: str, label: str) -> Markup:
    text = _convert({**spec, "config": _CONFIG | {"font": _LAYOUT_FONT}, "background": None})
    root = ET.fromstring(text)  # noqa: S314 - written by vl-convert just now
    _tidy(root, ident, label)
    _weave(root, ident)
    out = ET.tostring(root, encoding="unicode", short_empty_elements=False)
    out = out.replace(f' xmlns="{_SVG}"', "")
    return Markup(_COLOR.sub(_variable, out))  # noqa: S704 - serialised by ElementTree, which escapes


_SIZE = re.compile(r'(ontSize": )([\d.]+)')
"""The size of letters, in the JSON of a chart; in its data quotation marks have a backslash."""


def _convert(spec: dict[str, Any]) -> str:
    """The SVG of a chart with all letters larger, so that they have room."""
    import vl_convert

    text = json.dumps(spec, allow_nan=False)
    wide = _SIZE.sub(lambda match: f"{match[1]}{float(match[2]) * _WIDEST:.3f}", text)
    return vl_convert.vegalite_to_svg(wide, allowed_base_urls=[])


def _weave(root: ET.Element, ident: str) -> None:
    """Areas with a texture refer to a pattern, and the patterns stand first."""
    woven: dict[str, str] = {}
    for element in root.iter():
        found = _COLOR.fullmatch(element.get("fill", ""))
        if found is None or int(found[2], 16) == _PLAIN:
            continue
        name = f"{ident}-texture{len(woven)}"
        element.set("fill", f"url(#{woven.setdefault(found[0], name)})")
    if not woven:
        return
    definitions = ET.Element(f"{{{_SVG}}}defs")
    for color, name in woven.items():
        tile = ET.SubElement(definitions, f"{{{_SVG}}}pattern", id=name, width="6", height="6")
        tile.set("patternUnits", "userSpaceOnUse")
        ET.SubElement(tile, f"{{{_SVG}}}rect", width="6", height="6", fill=color)
        lines = TEXTURES[int(color[-2:], 16) - _PLAIN]
        ET.SubElement(tile, f"{{{_SVG}}}path", {"class": "texture", "d": lines})
    root.insert(0, definitions)


Theme = Literal["light", "dark"]


def standalone(spec: dict[str, Any], theme: Theme = "light") -> dict[str, Any]:
    """``spec`` with the colours of the page in place of inks and with a background: a chart that needs no page.

    The colours are those of ``shell.css``.
    """
    colors = theme_colors(theme)
    whole = {**spec, "config": {**_CONFIG, "background": colors["back"]}, "background": colors["back"], "padding": 12}

    def literal(match: re.Match[str]) -> str:
        index = int(match.group(1), 16)
        return colors[f"plot-{_NAMES[index]}"] if index < len(_NAMES) else match.group()

    found: dict[str, Any] = json.loads(_COLOR.sub(literal, json.dumps(whole, allow_nan=False)))
    return found


def theme_colors(theme: Theme) -> dict[str, str]:
    """The colours of a theme by the names of their CSS variables."""
    text = resources.files("txop.present").joinpath("shell.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", text, re.DOTALL)[:2]
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", light if theme == "light" else dark))


def _variable(match: re.Match[str]) -> str:
    index = int(match.group(1), 16)
    return f"var(--plot-{_NAMES[index]})" if index < len(_NAMES) else match.group()


_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match.group()):.1f}".removesuffix(".0")


def _drop_invisible(parent: ET.Element) -> None:
    """Remove paths that draw nothing, and groups that hold nothing."""
    for child in list(parent):
        _drop_invisible(child)
        local = child.tag.rpartition("}")[2]
        empty_path = local == "path" and (not child.get("d") or child.get("display") == "none")
        if empty_path or (local == "g" and len(child) == 0 and not child.get("id")):
            parent.remove(child)
            continue
        for name in ("pointer-events", "opacity"):
            if child.get(name) == ("none" if name == "pointer-events" else "1"):
                del child.attrib[name]


def _tidy(root: ET.Element, ident: str, label: str) -> None:
    """Prefix ids, turn mark labels into tooltips, and drop what only a stand-alone file or an editor needs."""
    _drop_invisible(root)
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            local = name.rpartition("}")[2]
            if local in ("d", "transform", "x2", "y2"):
                element.set(name, _LONG_NUMBER.sub(_rounded, value))
            if local == "id":
                element.set(name, f"{ident}-{value}")
            elif value.startswith("url(#"):
                element.set(name, value.replace("url(#", f"url(#{ident}-"))
            elif local == "font-family":
                del element.attrib[name]  # the page's own
            elif local == "font-size":
                element.set(name, f"{float(value.removesuffix('px')) / _WIDEST:.4g}px")
            elif local == "href":
                element.set(name, value if value.startswith("#") else "")
        spoken = element.attrib.pop("aria-label", None)
        for name in [n for n in element.attrib if n.startswith("aria-") or n in ("role", "class")]:
            del element.attrib[name]
        if spoken and element.tag.endswith(("path", "rect", "text", "line")):
            title = ET.SubElement(element, f"{{{_SVG}}}title")
            title.text = spoken
    root.set("role", "img")
    root.set("aria-label", visible(label))
    root.attrib.pop("version", None)
    root.set("style", f"--drawn: {float(root.get('width', '0')):.0f}px")
    root.attrib.pop("height", None)  # follows from the width and the view box
