"""Runs as flent data: read back by txop, and loaded and plotted by flent itself."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import exchange_specimens as specimens
from txop.archive.reader import read_archive
from txop.core.errors import ExitCode
from txop.exchange.flent_export import STEP_S, export
from txop.exchange.imported import Direction
from txop.exchange.recognise import read_file
from txop.formats import flent

PINS = Path(__file__).parents[2] / "requirements" / "flent.txt"


def test_what_is_exported_reads_back(golden, tmp_path):
    archive = read_archive(golden)
    done = export(archive, tmp_path)
    assert [sentence for sentence in done.left_out if "void" not in sentence] == []
    assert len(done.files) == sum(run.state == "valid" for run in archive.runs)
    run = next(run for run in archive.runs if run.run == "001-vanilla-tx")
    found = flent.parse((tmp_path / "001-vanilla-tx.flent.gz").read_bytes())
    assert (found.version, found.name) == (4, "tcp_1up")
    assert "emulated" in found.title
    assert found.txop["origin"] == "emulated"
    ours = archive.series(run).series
    by_name = {series.name: series for series in found.series}
    assert [s.value for s in by_name["TCP upload"].samples] == [value for _, value in ours["throughput_mbit_s"]]
    assert [s.value for s in by_name["Ping (ms) ICMP"].samples] == [value for _, value in ours["rtt_ms"]]
    (again,) = read_file((tmp_path / "001-vanilla-tx.flent.gz").read_bytes(), Direction()).runs
    assert any("there its origin was emulated" in warning for warning in again.warnings)


def test_the_grid_lies_between_the_points_and_never_far_from_them(golden, tmp_path):
    export(read_archive(golden), tmp_path)
    for path in sorted(tmp_path.iterdir())[:6]:
        document = json.loads(gzip.decompress(path.read_bytes()))
        x_values = document["x_values"]
        assert x_values[:2] == [0.0, STEP_S]
        for name, values in document["results"].items():
            assert len(values) == len(x_values)
            raw = [point["val"] for point in document["raw_values"][name] if "val" in point]
            known = [value for value in values if value is not None]
            assert known
            assert min(raw) - 1e-9 <= min(known) <= max(known) <= max(raw) + 1e-9


def test_two_exports_are_the_same_bytes(golden, tmp_path):
    archive = read_archive(golden)
    one, two = export(archive, tmp_path / "a"), export(archive, tmp_path / "b")
    assert [path.read_bytes() for path in one.files] == [path.read_bytes() for path in two.files]


def test_what_flent_has_no_test_for_is_named(txop, tmp_path):
    (tmp_path / "w.txt").write_text(specimens.WIKI)
    assert txop("import", "w.txt", "-o", "theirs", cwd=tmp_path).returncode == 4
    done = txop("export", "theirs", "--format", "flent", "-o", "out", "--json", cwd=tmp_path)
    assert done.returncode == ExitCode.UNDECIDED, "not one run of a table has a series"
    assert all("no series" in sentence for sentence in json.loads(done.stdout)["left_out"])


DOWN, UP = "TCP download", "TCP upload"


@pytest.mark.parametrize(
    ("change", "name", "rates"),
    [
        ("streams = 4", "rtt_fair_var_down", [DOWN]),
        ('direction = "tx"', "rtt_fair_var_up", [UP]),
        ('direction = "both"', "rtt_fair_var", [UP, DOWN]),
    ],
)
def test_each_station_is_a_host_of_flents(of_stations, tmp_path, change, name, rates):
    (file,) = export(of_stations(change), tmp_path / "out").files
    document = json.loads(gzip.decompress(file.read_bytes()))
    assert (document["metadata"]["NAME"], document["metadata"]["HOSTS"]) == (name, ["fast", "far-off"])
    results, raw = document["results"], document["raw_values"]
    both = [f"{rate} BE {station}" for rate in rates for station in ("fast", "far-off")]
    pings = ["Ping (ms) ICMP fast", "Ping (ms) ICMP far-off"]
    assert sorted(raw) == sorted(both + pings), "what flent computes has no raw values"
    for rate in rates:
        mine = [{each for each in results[f"{rate} {of}"] if each is not None} for of in ("avg", "sum", "fairness")]
        assert mine == [{12.5}, {25.0}, {625 / (2 * 425)}]
    assert results["Ping (ms) avg"][0] == pytest.approx(43), "30 - 2 and 60 - 2 ms"
    assert sum("lost" in point for point in raw["Ping (ms) ICMP far-off"]) == 1


def test_datagrams_to_several_stations_are_left_out_and_those_from_them_are_not(of_stations, tmp_path):
    done = export(of_stations('rate_mbit_s = 40\ndirection = "rx"'), tmp_path / "out")
    assert done.left_out == ["001-all-on-down: flent has no test that sends UDP down to several hosts"]


def test_datagrams_from_several_stations(of_stations, tmp_path):
    (file,) = export(of_stations('rate_mbit_s = 40\ndirection = "tx"'), tmp_path / "out").files
    document = json.loads(gzip.decompress(file.read_bytes()))
    assert document["metadata"]["NAME"] == "udp_flood_var_up"
    assert {"UDP upload fast", "UDP upload far-off", "UDP upload sum"} <= document["results"].keys()


@pytest.fixture(scope="module")
def real_flent(tmp_path_factory) -> Path:
    """flent of the pinned version in an environment of its own."""
    place = tmp_path_factory.mktemp("flent")
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    pip = [place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", PINS]
    done = subprocess.run(pip, check=False, capture_output=True, text=True)
    if done.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail(f"flent could not be installed: {done.stderr[-500:]}")
        pytest.skip(f"NOT CHECKED: flent could not be installed: {done.stderr[-200:]}")
    return place / "bin/flent"


def running(real_flent: Path, home: Path) -> Callable[..., str]:
    """Runs flent, and gives what it printed."""
    environment = {**os.environ, "MPLBACKEND": "Agg", "HOME": str(home)}

    def run(*arguments: object) -> str:
        done = subprocess.run(
            [real_flent, *map(str, arguments)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert "rror" not in done.stderr, done.stderr
        return done.stdout

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "plots"),
    [
        ("streams = 4", ["all_scaled", "ping_cdf", "totals", "download", "box_download"]),
        ('direction = "both"', ["all_scaled", "ping_cdf", "totals"]),
        ('rate_mbit_s = 40\ndirection = "tx"', ["upload", "ping_cdf"]),
    ],
)
def test_flents_own_plots_of_several_stations(real_flent, of_stations, tmp_path, change, plots):
    (file,) = export(of_stations(change), tmp_path / "out").files
    run = running(real_flent, tmp_path)
    for plot in plots:
        picture = tmp_path / f"{plot}.png"
        run(file, "-f", "plot", "-p", plot, "-o", picture)
        assert picture.stat().st_size > 10_000, plot
    shown = run(file, "-f", "summary")
    assert "Ping (ms) ICMP far-off" in shown
    assert "guest-exact" in shown


@pytest.mark.slow
def test_flent_itself_loads_and_plots_every_kind(real_flent, golden, tmp_path):
    archive = read_archive(golden)
    export(archive, tmp_path)
    run = running(real_flent, tmp_path)
    for name, plot in (("001-vanilla-tx", "totals"), ("001-vanilla-rx", "totals"), ("001-vanilla-latency", "ping")):
        file = tmp_path / f"{name}.flent.gz"
        picture = tmp_path / f"{name}.png"
        run(file, "-f", "plot", "-p", plot, "-o", picture)
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 10_000
    shown = run(tmp_path / "001-vanilla-tx.flent.gz", "-f", "summary")
    series = archive.series(next(r for r in archive.runs if r.run == "001-vanilla-tx")).series["throughput_mbit_s"]
    line = next(line for line in shown.splitlines() if "TCP upload" in line)
    mean = sum(value for _, value in series if value is not None) / len(series)
    assert float(line.split(":")[1].split()[0]) == pytest.approx(mean, abs=0.006), "flent prints two decimals"
    assert "emulated" in shown
    together = [tmp_path / f"00{block}-{arm}-tx.flent.gz" for block in (1, 2) for arm in ("vanilla", "vendor")]
    run(*together, "-f", "plot", "-p", "box_totals_combine", "-o", tmp_path / "box.png")
    assert (tmp_path / "box.png").stat().st_size > 10_000


@pytest.mark.slow
def test_flents_own_files_are_read(real_flent):
    """The package brings data files of versions 2 to 4 along, for its own tests."""
    (folder,) = real_flent.parents[1].glob("lib/python3*/site-packages/unittests/test_data")
    read = {}
    for path in sorted(folder.glob("*.flent.gz")):
        found = flent.parse(path.read_bytes())
        read[path.name] = found.version
        for series in found.series:
            if series.mean_value is not None and series.name.startswith("Ping (ms) ICMP") and series.samples:
                values = [sample.value for sample in series.samples if sample.value is not None]
                assert sum(values) / len(values) == pytest.approx(series.mean_value, rel=0.01)
    assert set(read.values()) == {2, 3, 4}
    assert len(read) >= 8
