"""Simulations from Python: the shipped scenarios, the document, its tables, the page."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop import _native, simulate
from txop.simulate import FormatError, ScenarioError, Simulation, check, shipped
from txop.simulate.page import page
from txop.simulate.plots import draw
from txop.simulate.simulation import summary_of
from txop.simulate.tables import TABLES, frame, write_csv
from txop.simulate.view import headline

SHORT = [("run.warm_up_s", "0.2"), ("run.duration_s", "0.5")]


@pytest.fixture(scope="module")
def swept() -> Simulation:
    return simulate.run("two-stations", settings=SHORT, sweeps=["wlan.dut.mcs=1,7"], seeds=3)


LATER = {"_sdio-neo.toml": [1], "_sdio-guest.toml": [1, 2, 3]}
"""Flows of shipped scenarios that begin after the end of SHORT, by the file that has them."""


def short(name):
    later = next((flows for base, flows in LATER.items() if base in shipped()[name].text), [])
    return [*SHORT, *((f"traffic.{flow}.start_s", "0") for flow in later)]


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_scenario_runs(name):
    done = simulate.run(name, settings=short(name))
    assert done.origin == "simulated"
    assert done.scenario.title == shipped()[name].title != ""
    assert done.scenario.description.strip()
    run = done.points[0].runs[0]
    assert len(run.flows) == len({flow.name for flow in run.flows})
    if run.air is not None:
        assert 0 < run.air.busy_share <= 1
        assert [station.name for station in run.air.stations] == done.scenario.hosts[1:]
    assert "simulated" in page(done)


def test_the_same_seed_gives_the_same_document():
    one = simulate.run_json("two-stations", settings=SHORT, seeds=2, threads=1)
    assert one == simulate.run_json("two-stations", settings=SHORT, seeds=2, threads=2)
    assert one != simulate.run_json("two-stations", settings=[*SHORT, ("run.seed", "5")], seeds=2)


def test_a_document_of_another_kind_is_refused(swept):
    text = swept.model_dump_json()
    for wrong in (
        "{}",
        "[]",
        "x",
        text.replace("txop-simulate", "txop-air"),
        text.replace('"version":1', '"version":9'),
    ):
        with pytest.raises(FormatError):
            Simulation.parse(wrong)


def test_the_model_knows_every_key_of_the_document():
    document = json.loads(simulate.run_json("two-stations", settings=SHORT, waterfall=True))
    assert set(document) == set(Simulation.model_fields)
    (point,) = document["points"]
    (run,) = point["runs"]
    model = Simulation.parse(json.dumps(document))
    parsed = model.points[0].runs[0]
    for raw, typed in (
        (run, parsed),
        (run["air"], parsed.air),
        (run["air"]["stations"][0], parsed.air.stations[0]),
        (run["air"]["stations"][0]["up"], parsed.air.stations[0].up),
        (run["flows"][0]["latency"], parsed.flows[0].latency),
        (run["flows"][0]["tcp"], parsed.flows[0].tcp),
        (run["series"], parsed.series),
        (point["summary"][0], model.points[0].summary[0]),
        (document["scenario"], model.scenario),
    ):
        assert set(raw) == set(type(typed).model_fields)
    assert set(run["flows"][0]) == {name.rstrip("_") for name in type(parsed.flows[0]).model_fields}
    assert parsed.waterfalls is not None
    assert {fall.ta for fall in parsed.waterfalls} == {"server", "dut"}


def test_summary_is_over_the_seeds(swept):
    for point in swept.points:
        total = summary_of(point, "goodput_mbit_s")
        rates = [run.goodput_mbit_s for run in point.runs]
        assert total.n == 3
        assert total.mean == pytest.approx(sum(rates) / 3)
        assert (total.min, total.max) == (min(rates), max(rates))
    slow, fast = (summary_of(point, "goodput_mbit_s", "up").mean for point in swept.points)
    assert fast > 2 * slow


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_csv_with_the_swept_values_and_the_origin(swept, name):
    out = io.StringIO()
    write_csv(swept, name, out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    if name in ("endpoints", "waterfall", "drops"):  # nothing of that kind in this simulation
        assert not rows
        return
    assert {row["origin"] for row in rows} == {"simulated"}
    assert {row["wlan.dut.mcs"] for row in rows} == {"1", "7"}


def test_the_frame_has_every_figure_of_every_run(swept):
    figures = frame(swept)
    goodput = figures.filter((figures["figure"] == "goodput_mbit_s") & (figures["of"] == "up"))
    assert goodput.height == 2 * 3
    assert set(figures["origin"]) == {"simulated"}
    text = simulate.run("two-stations", settings=SHORT, sweeps=["wlan.ap.queueing.kind=fifo,airtime"])
    assert set(frame(text)["wlan.ap.queueing.kind"]) == {"fifo", "airtime"}


def test_pages_have_their_plots(swept):
    html = page(swept)
    assert html.count("<figure") == 2
    assert "wlan.dut.mcs" in html
    alone = simulate.run("ap-fifo", settings=[*SHORT, ("title", "'<script>alert(1)</script>'")], waterfall=True)
    html = page(alone)
    assert html.count("<svg") >= 4
    total, unit = headline(alone)[0][0].rsplit(" ", 1)
    assert unit == "Mbit/s"
    assert float(total) == pytest.approx(alone.points[0].runs[0].goodput_mbit_s, abs=0.06)
    assert html.index("goodput of all flows") < html.index('id="scenario"')
    assert headline(swept) == []
    assert "<script>alert" not in html
    assert draw(alone, "sweep") is None


def test_errors_name_the_place(tmp_path):
    file = tmp_path / "link.toml"
    file.write_text("[wlan.ap]\nmcs = 77\n[[traffic]]\nkind = 'ping'\nfrom = 'dut'\nto = 'server'\n")
    with pytest.raises(
        ScenarioError, match=re.escape(f"{file}, line 2: wlan.ap.mcs: 77 is not in the range from 0 to 31")
    ):
        check(str(file))
    for name, what in (
        (str(tmp_path / "none.toml"), "No such file"),
        (str(tmp_path), "Is a directory"),
        ("a\0b", "not the name of a file"),
    ):
        with pytest.raises(ScenarioError, match=what):
            check(name)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        check(str(file))


def test_a_scenario_can_stand_on_another_file(tmp_path):
    (tmp_path / "base.toml").write_text("[pipe]\nrate_mbit_s = 5\n[[traffic]]\nkind='udp'\nfrom='server'\nto='dut'\n")
    over = tmp_path / "over.toml"
    over.write_text("base = 'base.toml'\n[pipe]\ndelay_ms = 3\n")
    assert check(str(over))["pipe"] == {**check(str(over))["pipe"], "rate_mbit_s": 5.0, "delay_ms": 3.0}


def test_a_simulation_can_be_interrupted():
    told = []

    def stop(done: int, total: int) -> None:
        told.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate.run("pipe", settings=SHORT, seeds=500, threads=1, progress=stop)
    assert told == [(1, 500)]


def test_names_are_drawn_as_bars_and_numbers_as_lines(swept):
    def marks(spec: object) -> set[str]:
        return set(re.findall(r"'type': '(bar|line|rule)'", str(spec)))

    names = simulate.run("two-stations", settings=SHORT, sweeps=["wlan.dut.tx_ampdu=false,true", "wlan.dut.mcs=7"])
    bars, lines = draw(names, "sweep"), draw(swept, "sweep")
    assert bars is not None
    assert lines is not None
    assert marks(bars.spec) == {"bar"}
    assert marks(lines.spec) == {"line", "rule"}
    # Two flows of one station: one colour, two densities.
    encoding = bars.spec["encoding"]
    assert len(set(encoding["color"]["scale"]["range"])) == 1
    assert len(set(encoding["opacity"]["scale"]["range"])) == 2


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=40))
def test_any_sweep_is_run_or_refused(text):
    # A sweep of the seed: whatever it is, it is quick.
    try:
        done = simulate.run(
            "pipe", settings=[("run.warm_up_s", "0"), ("run.duration_s", "0.001")], sweeps=[f"run.seed={text}"]
        )
    except ScenarioError:
        return
    assert [point.values[0] for point in done.points] == list(done.axes[0].values)


@settings(deadline=None)
@given(first=st.integers(-50, 50), steps=st.integers(0, 30), by=st.integers(1, 7))
def test_a_range_has_both_ends(first, steps, by):
    last = first + steps * by
    try:
        done = simulate.run("pipe", settings=[("run.warm_up_s", "0"), ("run.duration_s", "0.001")],
                        sweeps=[f"run.seed={first}..{last}:{by}"])  # fmt: skip
    except ScenarioError:
        assert first < 0  # a seed is 0 or more
        return
    values = [int(point.values[0]) for point in done.points]
    assert values == list(range(first, last + 1, by))


def test_what_the_reader_raises_is_the_reason():
    def refuse(name: str) -> str:
        raise ValueError(f"never heard of {name}")

    with pytest.raises(ValueError, match=r"x\.toml: never heard of x\.toml"):
        _native.check_scenario("x.toml", refuse)
