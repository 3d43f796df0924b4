"""A plot laid out again for the width of a phone, where the broad one would be too small to read."""

from __future__ import annotations

from typing import Any

_BROAD = 340
"""Plots up to this width (px, without their axes) fit a phone as they are."""
_WIDTH = 290
_LEAST = 120
_LETTER = 6
"""Width of a letter of an axis label, px."""
_TICKS = 5


def narrowed(spec: dict[str, Any]) -> dict[str, Any] | None:
    """The Vega-Lite chart ``spec`` in 290 px or less, with fewer ticks, one legend entry a line and facets below each
    other; ``None``: it is narrow already, is made of several charts side by side, or has marks at fixed pixels."""
    panels = [spec, *spec.get("vconcat", ()), *([spec["spec"]] if "facet" in spec else ())]
    widths = [panel["width"] for panel in panels if "width" in panel]
    beside = spec.get("columns", 1)
    if "hconcat" in spec or not widths or not all(isinstance(w, int) and w * beside > _BROAD for w in widths):
        return None
    if _has_fixed_places(spec):
        return None
    narrow: dict[str, Any] = _laid_out(spec, max(_LEAST, _WIDTH + 5 * _LETTER - _LETTER * _letters_beside(spec)))
    return narrow


def _letters_beside(spec: dict[str, Any]) -> int:
    """How long the longest label beside bars is; 5, as of numbers, where there are none."""
    names = {
        encoding["y"]["field"]
        for part in (spec, *spec.get("layer", ()))
        if (encoding := part.get("encoding", {})).get("y", {}).get("type") in ("nominal", "ordinal")
    }
    rows = [
        row for rows in (*spec.get("datasets", {}).values(), spec.get("data", {}).get("values", ())) for row in rows
    ]
    return max((len(str(row[name])) for row in rows for name in names if name in row), default=5)


def _laid_out(part: Any, width: int, key: str = "") -> Any:
    if isinstance(part, dict):
        if key in ("datasets", "data"):
            return part
        return {name: _laid_out(value, width, name) for name, value in part.items()}
    if isinstance(part, list):
        return [_laid_out(each, width, key) for each in part]
    if key == "width" and isinstance(part, int):
        return width
    if key == "tickCount" and isinstance(part, int):
        return min(part, _TICKS)
    return 1 if key == "columns" else part


def _has_fixed_places(part: Any) -> bool:
    """Whether a mark has its place along the width in pixels."""
    if isinstance(part, dict):
        encoding = part.get("encoding")
        if isinstance(encoding, dict) and any("value" in encoding.get(name, ()) for name in ("x", "x2")):
            return True
        return any(_has_fixed_places(value) for name, value in part.items() if name not in ("datasets", "data"))
    return isinstance(part, list) and any(map(_has_fixed_places, part))
