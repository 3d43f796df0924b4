"""What the plots of a campaign hold: checked on their data, against numpy where it can compute the same."""

from __future__ import annotations

import itertools
import json
import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.archive.reader import read_archive
from txop.archive.run_file import RunFile, Value
from txop.compare import words
from txop.compare.archive import compare
from txop.present.blocks import Lines
from txop.present.chapters import Drawing
from txop.present.plot import INK, standalone, svg
from txop.report.answer.air_digest import digest as digest_of
from txop.report.campaign.files import write_plots
from txop.report.campaign.gallery import _alike, _with_alike
from txop.report.campaign.plots import air, latency, latency_tests, time
from txop.report.campaign.plots.drawing import arm_inks, spaced
from txop.report.campaign.plots.forest import forest
from txop.report.campaign.plots.samples import RunSeries, load, thinned
from txop.report.campaign.plots.spread import boxes, in_time
from txop.report.campaign.quoted import quoted

INKS = {"vanilla": "three", "vendor": "one"}


def rows_with(spec, *keys):
    """The rows of the chart's tables that have these fields."""
    return [row for table in spec["datasets"].values() for row in table if all(key in row for key in keys)]


def test_a_box_has_the_quartiles_that_numpy_has(golden_result):
    figure = golden_result.figure("tx.throughput_mbit_s")
    drawn = boxes(figure, arm_inks(golden_result))
    assert drawn is not None
    found = rows_with(drawn.spec, "q1", "q3")
    assert len(found) == 3
    for box, arm in zip(found, figure.arms, strict=True):
        numbers = [point.value for point in arm.points]
        expected = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1])
        assert [box[k] for k in ("low", "q1", "q2", "q3", "high")] == pytest.approx(list(expected))


def test_four_runs_get_no_box_and_five_do(golden_result):
    figure = golden_result.figure("tx.throughput_mbit_s")
    for count, wanted in ((4, 0), (5, 3)):
        arms = [arm.model_copy(update={"points": arm.points[:count], "n": count}) for arm in figure.arms]
        drawn = boxes(figure.model_copy(update={"arms": arms}), arm_inks(golden_result))
        assert drawn is not None
        assert len(rows_with(drawn.spec, "q1")) == wanted
        assert len(rows_with(drawn.spec, "block")) == 3 * count
        assert {row["n"] for row in rows_with(drawn.spec, "n")} == {f"n={count}"}


def test_an_infinite_value_is_shown_and_takes_the_box_away(golden_result):
    figure = golden_result.figure("tx.rtt_p99_ms")
    drawn = boxes(figure, arm_inks(golden_result))
    assert drawn is not None
    endless = [row for row in rows_with(drawn.spec, "infinite") if row["infinite"]]
    assert [row["about"] for row in endless] == ["005-vanilla-tx: ∞ ms"]
    assert endless[0]["y"] is None
    assert len(rows_with(drawn.spec, "q1")) == 2


def test_forest_draws_the_intervals_of_the_result(golden_result):
    figures = [figure for figure in golden_result.figures if figure.role == "primary"]
    (drawn,) = forest(figures, "primary")
    found = {row["row"]: row for row in rows_with(drawn.spec, "left")}
    low, high = drawn.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    for figure in figures:
        for row in figure.rows:
            shown = found[f"{figure.test} {figure.metric.title}, {row.arm}"]
            assert row.estimate is not None
            assert row.low is not None
            assert row.high is not None
            assert shown["at"] == pytest.approx(1 + row.estimate / 100)
            assert shown["left"] == pytest.approx(1 + row.low / 100)
            assert shown["right"] == pytest.approx(1 + row.high / 100)
            assert low < shown["left"] <= shown["at"] <= shown["right"] < high
            assert not shown["open_left"]
            assert row.verdict in shown["text"]


def test_forest_for_a_phone_has_the_same_effects_under_a_heading_for_each_figure(golden_result):
    figures = [figure for figure in golden_result.figures if figure.role == "primary"]
    (drawn,) = forest(figures, "primary")
    assert drawn.narrow is not None
    broad, narrow = rows_with(drawn.spec, "row"), rows_with(drawn.narrow, "row")
    keys = ("at", "left", "right", "m0", "m1", "ink", "text", "about")
    assert [[row[key] for key in keys] for row in narrow] == [[row[key] for key in keys] for row in broad]
    assert [row["text"] for row in rows_with(drawn.narrow, "figure")] == [words.label(figure) for figure in figures]
    tops = [place for row in narrow for place in (row["words"], row["y"])]
    assert tops == sorted(tops)
    assert drawn.narrow["height"] > tops[-1]


def test_forest_shows_an_end_that_is_not_there_as_an_arrow(golden_result):
    figure = golden_result.figure("tx.throughput_mbit_s")
    endless = [row.model_copy(update={"high": None}) for row in figure.rows]
    (drawn,) = forest([figure.model_copy(update={"rows": endless})], "primary")
    found = rows_with(drawn.spec, "open_right")
    assert all(row["open_right"] and not row["open_left"] for row in found)
    none = [row.model_copy(update={"high": None, "low": None, "confidence": None}) for row in figure.rows]
    (drawn,) = forest([figure.model_copy(update={"rows": none})], "primary")
    assert all(row["left"] is None for row in rows_with(drawn.spec, "at", "row"))


def test_units_have_panels_of_their_own(golden_result):
    figures = [figure for figure in golden_result.figures if figure.test == "tx"]
    names = [drawn.name for drawn in forest(figures, "all")]
    assert names == ["effects-all-ratio", "effects-all-difference-pp", "effects-all-difference-1-s"]


def test_a_ratio_that_could_not_be_taken_is_drawn_as_a_difference(golden_result):
    figure = golden_result.figure("tx.cpu_s_per_gbit")
    assert figure.metric.scale == "ratio"
    rows = [figure.rows[0].model_copy(update={"effect_unit": "core-s/Gbit"}), *figure.rows[1:]]
    ratio, difference = sorted(forest([figure.model_copy(update={"rows": rows})], "all"), key=lambda d: len(d.name))
    assert ratio.name == "effects-all-ratio"
    assert difference.name == "effects-all-difference-core-s-gbit"
    assert [row["at"] for row in rows_with(difference.spec, "left")] == [rows[0].estimate]


def test_the_order_of_runs_shows_void_ones(golden, golden_result):
    figure = golden_result.figure("tx.throughput_mbit_s")
    drawn = in_time(figure, golden.runs, arm_inks(golden_result))
    assert drawn is not None
    found = rows_with(drawn.spec, "order", "state")
    assert [row["order"] for row in found] == list(range(1, 28))
    assert sum(row["state"] == "void" for row in found) == 1
    assert sum(row["state"] == "left out" for row in found) == 2
    assert sum(row["state"] == "counts" for row in found) == 24


series = st.lists(
    st.tuples(
        st.floats(-1e6, 1e6, allow_nan=False),
        st.one_of(st.none(), st.floats(-1e9, 1e9, allow_nan=False)),
    ),
    min_size=1,
    max_size=300,
).map(lambda points: sorted(points, key=lambda p: p[0]))


@given(series, st.integers(1, 20))
def test_thinning_keeps_peaks_and_stays_bounded(points, buckets):
    kept = thinned(points, buckets)
    assert len(kept) <= max(2 * buckets, 3 * (buckets + 1))
    assert [t for t, _ in kept] == sorted(t for t, _ in kept)
    assert set(kept) <= set(points)
    known = [v for _, v in points if v is not None]
    if known:
        left = [v for _, v in kept if v is not None]
        assert max(left) == max(known)
        assert min(left) == min(known)
    assert any(v is None for _, v in kept) == any(v is None for _, v in points)


@given(st.lists(st.integers(), min_size=1, max_size=100), st.integers(1, 30))
def test_spaced_is_bounded_and_keeps_the_order(items, most):
    found = spaced(items, most)
    assert len(found) == min(most, len(items))
    assert found[0] == items[0]
    assert most == 1 or found[-1] == items[-1]


def test_the_median_line_is_the_median_over_runs():
    dice = np.random.default_rng(1)
    values = dice.normal(20, 2, size=(7, 30))
    runs = [RunSeries(f"r{i}", i, "vanilla", [(float(t), float(v)) for t, v in enumerate(row)], 30.0)
            for i, row in enumerate(values)]  # fmt: skip
    drawn = time.over_time("tx", "throughput_mbit_s", runs, INKS)
    assert drawn is not None
    line = [row for row in rows_with(drawn.spec, "kind", "v") if row["kind"] == "median"]
    assert [row["t"] for row in line] == pytest.approx(list(range(30)))
    assert [row["v"] for row in line] == pytest.approx(list(np.median(values, axis=0)))


def test_lost_probes_hold_the_distribution_down():
    runs = [
        RunSeries("a", 1, "vanilla", [(t, 10.0 + t) for t in range(8)] + [(8.0, None), (9.0, None)], 10.0),
        RunSeries(
            "b",
            2,
            "vanilla",
            [(-1.0, 999.0)] + [(float(t), 10.0 + t) for t in range(10)] + [(10.0, 1.0), (12.0, 1.0)],
            10.0,
        ),
    ]
    drawn = latency.distribution("latency", runs, INKS, seed=1)
    assert drawn is not None
    rows = rows_with(drawn.spec, "mean")
    assert rows[-1]["mean"] == pytest.approx((0.8 + 1.0) / 2)
    assert rows[-1]["ms"] < 999
    assert "2 lost probes" in drawn.caption
    for row in rows:
        expected = np.mean([[10 + t <= row["ms"] for t in range(8)].count(True) / 10,
                            [10 + t <= row["ms"] for t in range(10)].count(True) / 10])  # fmt: skip
        assert row["mean"] == pytest.approx(expected, abs=1e-4)
        assert row["low"] <= row["mean"] <= row["high"]


def test_the_distributions_of_all_tests_share_one_axis_with_a_panel_for_each_arm():
    tests = {
        test: [
            RunSeries(f"{arm}-{block}", block, arm, [(float(t), at * (1 + t)) for t in range(9)] + [(9.0, None)], 10.0)
            for arm, at in (("vanilla", slow), ("vendor", 1.0))
            for block in (1, 2)
        ]
        for test, slow in (("mcs0", 40.0), ("mcs7", 10.0))
    }
    drawn = latency_tests.all_tests(tests, INKS)
    assert drawn is not None
    panels = drawn.spec["vconcat"]
    assert [panel["title"] for panel in panels] == ["vanilla", "vendor"]
    axes = [panel["layer"][0]["encoding"]["x"]["scale"] for panel in panels]
    assert axes[0] == axes[1]
    for panel, arm in zip(panels, INKS, strict=True):
        rows = drawn.spec["datasets"][panel["layer"][0]["data"]["name"]]
        for test in tests:
            values = [v for run in tests[test] if run.arm == arm for _, v in run.points if v is not None]
            mine = [row for row in rows if row["test"] == test]
            assert mine[-1]["share"] == pytest.approx(0.9), "the lost probe holds it down"
            for row in mine:
                assert row["share"] == pytest.approx(sum(v <= row["ms"] for v in values) / len(values) * 0.9, abs=0.06)
    assert "8 runs" in drawn.caption
    assert latency_tests.all_tests({"mcs0": tests["mcs0"], "mcs7": []}, INKS) is None
    assert svg(drawn.spec, ident="x", label="x").result()


def test_round_trips_have_their_scale_in_plain_numbers():
    runs = [RunSeries("a", 1, "vanilla", [(t / 10, 20.0 + t) for t in range(90)], 9.0)]
    drawn = latency.distribution("down", runs, INKS, seed=1)
    assert drawn is not None
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", svg(drawn.spec, ident="x", label="x").result())
    assert {"30", "60", "100"} <= set(labels)
    assert not [each for each in labels if "e+" in each]


def test_probes_after_the_load_are_in_no_distribution_and_the_axis_says_where_it_ended():
    dice = np.random.default_rng(3)
    loaded = [(float(t) / 10, float(20 + dice.random())) for t in range(-50, 100)]
    idle = [(float(t) / 10, 1.0) for t in range(100, 150)]
    runs = [RunSeries("a", 1, "vanilla", loaded + idle, 10.0)]
    drawn = latency.distribution("tx", runs, INKS, seed=1)
    assert drawn is not None
    assert min(row["ms"] for row in rows_with(drawn.spec, "mean")) > 19
    carried = [RunSeries("a", 1, "vanilla", [(float(t), 5.0) for t in range(-5, 12)], 10.0)]
    phases = time.phases_of([*runs, *carried], carried)
    assert (phases.begin_s, phases.end_s, phases.window_s, phases.load_s) == (-5.0, 14.9, 10.0, 11.5)
    for name, mine in (("rtt_ms", runs), ("throughput_mbit_s", carried)):
        plot = time.over_time("tx", name, mine, INKS, phases)
        assert plot is not None
        assert {row["t"] for row in rows_with(plot.spec, "kind", "t") if row["kind"] == "mark"} == {0.0, 10.0, 11.5}
        assert {row["phase"] for row in rows_with(plot.spec, "phase")} == {"warm-up", "window", "after"}
        assert "window from 0 to 10 s, end of the load at 11.5 s" in plot.caption
        assert "[-5.0, 14.9]" in str(plot.spec)


def test_quantiles_shift_by_what_was_added():
    dice = np.random.default_rng(2)
    runs = []
    for block in range(1, 9):
        sample = dice.exponential(10, 400)
        runs.append(RunSeries("v", block, "vanilla", [(float(i), float(x)) for i, x in enumerate(sample)], 400.0))
        runs.append(RunSeries("w", block, "vendor", [(float(i), float(x) + 3) for i, x in enumerate(sample)], 400.0))
    drawn = latency.shifts("tx", runs, INKS, 0.95)
    assert drawn is not None
    assert [row["at"] for row in rows_with(drawn.spec, "quantile")] == pytest.approx([3.0] * 11)


def test_the_waterfall_adds_up_and_is_the_mean_of_the_runs(golden):
    runs = [run for run in golden.runs if run.test == "tx" and run.arm == "vendor" and run.state == "valid"]
    found = digest_of("vendor", runs)
    assert found.runs == len(runs)
    assert math.fsum(found.shares.values()) == pytest.approx(1, abs=1e-3)
    payload = [next(s["share"] for s in (run.air or {})["waterfall"] if s["cause"] == "payload") for run in runs]
    assert found.shares["payload"] == pytest.approx(np.mean(payload))
    drawn = air.waterfalls("tx", [found])
    assert drawn is not None
    bars = rows_with(drawn.spec, "cause")
    assert bars[0]["from"] == 0
    assert all(a["to"] == b["from"] for a, b in itertools.pairwise(bars))
    assert bars[-1]["to"] <= 1.001
    assert {"payload", "b  IFS, backoff", "R  retries"} <= {row["cause"] for row in bars}


json_like = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)
step = st.fixed_dictionaries({}, optional={"cause": json_like, "share": json_like, "label": json_like})
conclusion = st.fixed_dictionaries({}, optional={"heading": json_like, "subject": json_like, "text": json_like})
digest = st.fixed_dictionaries(
    {},
    optional={
        "retry_percent": json_like,
        "ampdu_mpdus": json_like,
        "waterfall": st.one_of(json_like, st.lists(st.one_of(step, json_like), max_size=5)),
        "advice": st.one_of(json_like, st.lists(json_like, max_size=3)),
        "verdicts": json_like,
        "conclusions": st.one_of(json_like, st.lists(st.one_of(conclusion, json_like), max_size=3)),
    },
)


@settings(max_examples=150)
@given(st.lists(digest, max_size=3))
def test_no_digest_breaks_the_page(digests):
    base = RunFile(run="001-a-tx", block=1, position=1, arm="a", test="tx", origin="emulated", state="valid",
                   started_at="", seconds=1.0)  # fmt: skip
    found = digest_of("a", [base.model_copy(update={"air": each}) for each in digests])
    assert all(0 <= share <= 1 for share in found.shares.values())
    air.waterfalls("tx", [found])
    runs = [base.model_copy(update={"air": each}) for each in digests]
    quoted("x", [("a", runs)], "air", ("advice", "verdicts"))


def test_sentences_are_of_one_run_which_is_named_with_its_command():
    def run(block, mbit_s):
        return RunFile(
            run=f"{block:03}-a-tx", block=block, position=1, arm="a", test="tx", origin="emulated", state="valid",
            started_at="", seconds=1.0,
            metrics={"throughput_mbit_s": Value(value=mbit_s, unit="Mbit/s", source="iperf3")},
            air={
                "advice": [f"idle {block} %"],
                "verdicts": [f"{block} ACKs late"],
                "window": {"command": f"txop air air.pcapng --from @{block}.5 --to @9.5"},
            },
        )  # fmt: skip

    told = quoted("x", [("a", [run(1, 30.0), run(2, 10.0), run(3, 20.0)]), ("b", [])], "air", ("advice", "verdicts"))
    assert told is not None
    said = [(lines.title, list(lines.items)) for lines in told.pieces if isinstance(lines, Lines)]
    command = "a is run 003-a-tx, in its folder: txop air air.pcapng --from @3.5 --to @9.5"
    assert said == [("a", ["idle 3 %", "3 ACKs late"]), ("The runs", [command])]


def test_each_conclusion_has_its_heading_and_its_subject():
    """As the terminal has them: an answer without its question is none."""
    conclusions = [
        {"heading": "Where the throughput went", "subject": "Uplink, STA a → AP b", "text": "Idle 3 %"},
        {"heading": "Where the throughput went", "subject": "Uplink, STA a → AP b", "text": "Retries 2 %"},
        {"heading": "Not determined", "subject": "Block Ack, AP b → STA a", "text": "The capture misses frames"},
        {"heading": "Not determined", "subject": "Block Ack, STA a → AP b", "text": "Too few Block Acks"},
        {"heading": 5, "subject": "x", "text": "y"},
    ]
    run = RunFile(run="001-a-tx", block=1, position=1, arm="a", test="tx", origin="emulated", state="valid",
                  started_at="", seconds=1.0, air={"advice": ["old"], "conclusions": conclusions})  # fmt: skip
    told = quoted("x", [("a", [run])], "air", ("advice", "verdicts"))
    assert told is not None
    said = [(lines.title, list(lines.items)) for lines in told.pieces if isinstance(lines, Lines)]
    assert said[:-1] == [
        ("a: Where the throughput went - Uplink, STA a → AP b", ["Idle 3 %", "Retries 2 %"]),
        ("a: Not determined - Block Ack, AP b → STA a", ["The capture misses frames"]),
        ("a: Not determined - Block Ack, STA a → AP b", ["Too few Block Acks"]),
    ]


def test_series_that_are_too_long_are_said_not_to_be_drawn(sample, tmp_path, monkeypatch):
    root = sample.single(tmp_path / "wiki")
    (root / "runs" / "001-vendor-tx" / "series.json").write_text("[" * 1000, encoding="ascii")
    (root / "runs" / "001-vanilla-tx" / "series.json").write_text('{"series": {"x": [[0, "\\u0041"]]}}')
    monkeypatch.setattr("txop.report.campaign.plots.samples.MAX_FILE_BYTES", 999)
    archive = read_archive(root)
    found = load(archive, compare(archive), "tx", ["vanilla", "vendor"], ["x"])
    assert found.runs == {}
    assert found.left_out == ["the series of 001-vendor-tx are too long to be drawn"]
    assert archive.damage == ["runs/001-vanilla-tx/series.json: cannot be read"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_plot_of_its_own_has_the_colours_of_the_page(theme, golden_result):
    figure = golden_result.figure("tx.throughput_mbit_s")
    drawn = boxes(figure, arm_inks(golden_result))
    assert drawn is not None
    text = json.dumps(standalone(drawn.spec, theme))
    assert not any(ink in text for ink in INK.values())
    expected = {"light": ("#3a76b4", "#fdfdfc"), "dark": ("#5b9bd8", "#14171a")}[theme]
    assert all(color in text for color in expected)


def test_letters_are_as_large_as_the_chart_says_and_have_room_for_a_wider_font():
    label = "MMMMMMMMMMMMMMMMMMMM"  # of 20 letters, each 0.86 of its size in DejaVu Sans
    chart = {
        "data": {"values": [{"row": label, "x": 1, "about": '"fontSize": 99'}]},
        "mark": {"type": "text", "fontSize": 10},
        "encoding": {
            "y": {"field": "row", "type": "nominal", "title": None},
            "x": {"field": "x", "type": "quantitative", "axis": None},
            "text": {"field": "about", "type": "nominal"},
        },
        "width": 100,
    }
    root = ET.fromstring(svg(chart, ident="p", label="").result())  # noqa: S314 - written just now
    texts = {element.text: element.get("font-size") for element in root.iter() if element.tag == "text"}
    assert texts == {label: "11px", '"fontSize": 99': "10px"}
    assert float(root.get("width", "0")) - 100 > 20 * 0.86 * 11


def test_a_chart_that_is_none_fails_where_it_is_asked_for():
    drawn = svg({"nothing": 1}, ident="p", label="")
    with pytest.raises(ValueError, match=r"."):
        drawn.result()


def test_every_plot_becomes_a_png_and_an_svg(sample, tmp_path):
    archive = read_archive(sample.single(tmp_path / "wiki"))
    written = write_plots(archive, compare(archive), tmp_path / "plots")
    names = {path.name for path in written}
    assert names == {path.name for path in (tmp_path / "plots").iterdir()}
    assert {"runs-tx.throughput_mbit_s.png", "effects-primary-ratio.svg"} <= names
    for path in written:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
            width, height = int.from_bytes(content[16:20]), int.from_bytes(content[20:24])
            assert 300 < width < 4000
            assert 100 < height < 4000
        else:
            assert ET.fromstring(content.decode()).tag.endswith("svg")  # noqa: S314 - written just now
            assert not re.search(rb"var\(--|#0a[0-9a-f]{2}0b", content)


def test_a_figure_that_repeats_another_is_named_and_not_drawn(golden_result):
    first = next(f for f in golden_result.figures if f.role == "exploratory" and f.rows)
    same = first.model_copy(
        update={"name": f"{first.test}.other", "metric": first.metric.model_copy(update={"title": "the other one"})}
    )
    points = [arm.model_copy(update={"points": arm.points[1:]}) for arm in first.arms]
    found = _alike([first, same, first.model_copy(update={"name": f"{first.test}.third", "arms": points})])
    assert found == {first.name: ["the other one"], f"{first.test}.third": []}
    drawing = Drawing({}, "tx retries, %; lower is better.")
    assert _with_alike(drawing, ["the other one"]).caption.endswith("better. The same in every run: the other one.")
    assert _with_alike(drawing, []) is drawing


@pytest.mark.parametrize(
    ("times", "is_logarithmic", "low", "high"),
    [
        ([10.0] * 999 + [1000.0], False, 9.5, 25.0),  # one late probe does not stretch it
        ([1.0, 100.0], True, 0.9, 110.0),
        ([5.0, 5.0], False, 4.5, 6.0),
        ([0.0, 0.0], False, -0.1, 1.1),
    ],
)
def test_the_axis_of_round_trip_times_shows_what_is_usual(times, is_logarithmic, low, high):
    axis = latency.RttAxis.of(times)
    assert axis.is_logarithmic is is_logarithmic
    assert low < axis.grid[0] + 1e-9
    assert axis.grid[0] < axis.grid[-1] < high
