"""Series and arms stay apart for readers with colour blindness, in light and dark."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from txop.present.plot import DASHES, SERIES, TEXTURES, Theme, fill, svg, theme_colors
from txop.report.campaign.plots.drawing import ARM_INKS

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG
# 15 (2009), severity 1.0, for linear RGB.
VISION = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
}
CLEAR = 18.0
"""Distance in CIELAB: about eight times what is just noticed."""


def lab(color: str, seen: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """A colour of sRGB in CIELAB (D65), as it is seen."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    r, g, b = (min(1.0, max(0.0, sum(k * part for k, part in zip(row, linear, strict=True)))) for row in seen)
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(theme: Theme, pair: tuple[str, str], vision: str) -> float:
    colors = theme_colors(theme)
    one, other = (lab(colors[f"plot-{ink}"], VISION[vision]) for ink in pair)
    return float(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_first_series_and_arms_differ(theme: Theme, vision: str) -> None:
    pairs = {*combinations(SERIES[:6], 2), *combinations(ARM_INKS[:6], 2)}
    assert {pair: d for pair in pairs if (d := distance(theme, pair, vision)) < CLEAR} == {}


def test_the_simulation_sees_what_is_alike() -> None:
    assert distance("light", ("one", "four"), "usual") > CLEAR
    assert distance("light", ("one", "four"), "protanopia") < CLEAR / 4


def test_every_line_has_a_dash_of_its_own() -> None:
    assert len(set(DASHES)) == len(DASHES) >= max(len(SERIES), len(ARM_INKS))


def test_every_area_has_a_texture_of_its_own() -> None:
    assert len(set(TEXTURES)) == len(TEXTURES) >= len(SERIES)
    assert len({fill("bad", number) for number in range(len(TEXTURES))}) == len(TEXTURES)


def test_areas_of_one_lightness_differ_by_their_texture() -> None:
    inks = [fill(ink, number) for number, ink in enumerate(("one", "bad", "four"))]
    kinds = ["data", "retries", "control"]
    spec = {
        "data": {"values": [{"kind": kind, "share": 1} for kind in kinds]},
        "mark": "bar",
        "encoding": {
            "x": {"field": "share", "type": "quantitative"},
            "color": {"field": "kind", "type": "nominal", "scale": {"domain": kinds, "range": inks}},
        },
    }
    drawn = str(svg(spec, ident="here", label="shares").result())
    patterns = re.findall(r'<pattern id="([^"]+)".*?<rect[^>]*fill="([^"]+)".*?<path[^>]*d="([^"]+)"', drawn)
    assert [(color, strokes) for _, color, strokes in patterns] == [
        ("var(--plot-bad)", TEXTURES[1]),
        ("var(--plot-four)", TEXTURES[2]),
    ]
    referred = re.findall(r'fill="url\(#([^)]+)\)"', drawn)
    # The bar and its sign in the legend.
    assert {name: referred.count(name) for name, _, _ in patterns} == {name: 2 for name, _, _ in patterns}
    assert 'fill="var(--plot-one)"' in drawn
    assert "#0a" not in drawn
