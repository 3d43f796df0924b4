"""Plots laid out again for a phone: narrower, the same data, and only where that can be done."""

from __future__ import annotations

import re
from typing import Any

import pytest

from txop.present.chapters import Drawing, Painter
from txop.present.narrow import narrowed

POINT = {"mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}


def chart(**more: Any) -> dict[str, Any]:
    values = [{"x": 1, "width": 900, "name": "short"}, {"x": 2, "width": 901, "name": "a longer label"}]
    return {"data": {"values": values}, "width": 620, "height": 100, **POINT, **more}


def test_the_width_changes_and_the_data_do_not():
    spec = chart(encoding={"x": {"field": "x", "type": "quantitative", "axis": {"tickCount": 12}}})
    narrow = narrowed(spec)
    assert narrow is not None
    assert narrow["data"] is spec["data"]
    assert (narrow["width"], narrow["height"]) == (290, 100)
    assert narrow["encoding"]["x"]["axis"]["tickCount"] == 5
    assert spec["width"] == 620


def test_long_labels_leave_less_room():
    y = {"field": "name", "type": "nominal"}
    with_labels = narrowed(chart(encoding={"y": y}))
    in_a_layer = narrowed({**chart(), "layer": [{"mark": "bar", "encoding": {"y": y}}]})
    assert with_labels is not None
    assert in_a_layer is not None
    assert 120 <= with_labels["width"] == in_a_layer["width"] < 290


@pytest.mark.parametrize(
    "spec",
    [
        chart(width=320),
        {"facet": {"field": "x"}, "columns": 1, "spec": chart(width=320)},
        {"hconcat": [chart(), chart()]},
        {"vconcat": [chart(), chart(width=200)]},
        chart(layer=[{"mark": "text", "encoding": {"x": {"value": 570}}}]),
    ],
    ids=["narrow already", "facets", "side by side", "one of them narrow", "fixed places"],
)
def test_others_stay_as_they_are(spec):
    assert narrowed(spec) is None


def test_facets_come_below_each_other():
    narrow = narrowed({"facet": {"field": "x"}, "columns": 3, "spec": chart(width=300)})
    assert narrow is not None
    assert (narrow["columns"], narrow["spec"]["width"]) == (1, 290)


def test_a_broad_plot_is_drawn_twice_and_another_once():
    painter = Painter()
    both, one = painter.picture(Drawing(chart(), "c")), painter.picture(Drawing(chart(width=320), "c"))
    assert one.narrow is None
    assert both.narrow is not None
    widths = [float(re.findall(r'width="([\d.]+)"', svg)[0]) for svg in (both.svg, both.narrow)]
    assert widths[0] > 600 > 365 > widths[1]
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (both.svg, both.narrow)]
    assert not ids[0] & ids[1]
