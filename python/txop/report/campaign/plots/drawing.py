"""What the plots of a campaign have in common: their data, the colour of an arm, bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import altair as alt
from altair.utils.schemapi import debug_mode

from txop.compare.result import CompareResult
from txop.present.plot import INK, plain

MAX_ARMS = 8
"""Arms in one plot; the tables have them all."""

ARM_INKS = ("three", "one", "five", "twelve", "eight", "eleven", "four", "ten")
"""Ink of the baseline, then of the other arms: the first six differ for deuteranopes and protanopes, too. Green and red
are left to verdicts."""

HALF, FULL = 470, 980
"""Widths of drawing areas, px."""

unchecked = debug_mode(False)
"""Decorator: altair does not check charts against its schema as they are made, which takes most of the time. vl-convert
refuses a wrong chart all the same."""

Item = TypeVar("Item")
Rows = list[dict[str, Any]]


def arm_inks(result: CompareResult) -> dict[str, str]:
    """The ink of each arm that plots show: the baseline and the first others."""
    rest = [arm.name for arm in result.arms if arm.name != result.baseline]
    shown = [result.baseline, *rest][:MAX_ARMS]
    return dict(zip(shown, ARM_INKS, strict=False))


class Tables:
    """The data of a chart, kept beside it: altair copies a chart many times over while it is made."""

    def __init__(self) -> None:
        self._tables: dict[str, Rows] = {}

    def add(self, rows: Rows) -> alt.NamedData:
        """Chart data, with all text made visible."""
        name = f"table{len(self._tables)}"
        self._tables[name] = plain(rows)
        return alt.NamedData(name)

    def layered(self, layers: Iterable[Any], **properties: Any) -> dict[str, Any]:
        """The charts on top of each other, with their data, as :func:`altair.layer` has them, but without its copies:
        it copies every chart four times."""
        drawn = [chart.to_dict(validate=False, context={"top_level": False}) for chart in layers]
        return {"layer": drawn, **properties, "datasets": self._tables}


def x_at(px: float) -> alt.XValue:
    """A place in pixels. What :func:`altair.value` gives takes altair 9 ms each to find the class of."""
    return alt.XValue(px)  # type: ignore[no-untyped-call]


def y_at(px: float) -> alt.YValue:
    """See :func:`x_at`."""
    return alt.YValue(px)  # type: ignore[no-untyped-call]


def arm_color(inks: Mapping[str, str], arms: Iterable[str], *, legend: bool | alt.Legend | None = True) -> alt.Color:
    """Colour by the field ``arm``; ``legend``: whether there is one, or how it looks."""
    wanted = set(arms)
    names = [arm for arm in inks if arm in wanted]
    scale = alt.Scale(domain=names, range=[INK[inks[name]] for name in names])
    if legend is True:
        legend = alt.Legend(title=None, symbolType="circle", symbolOpacity=1)
    key = legend if isinstance(legend, alt.Legend) else None
    return alt.Color("arm:N", scale=scale, legend=key)


def ink_color(rows: Rows) -> alt.Color:
    """Colour by the field ``ink``, which names it."""
    inks = sorted({str(row["ink"]) for row in rows})
    return alt.Color("ink:N", scale=alt.Scale(domain=inks, range=[INK[name] for name in inks]), legend=None)


def spaced(items: Sequence[Item], most: int) -> list[Item]:
    """At most ``most`` of the items, evenly spaced, the first and the last among them.

    >>> spaced([1, 2, 3, 4, 5], 3)
    [1, 3, 5]
    """
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[0]]
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]
