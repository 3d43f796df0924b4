"""``txop simulate``."""

from __future__ import annotations

import json
import os

import pytest

from txop.cli.app import main

SHORT = ("--duration", "0.5", "--set", "run.warm_up_s=0.2")


@pytest.fixture
def run(capfd):
    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["simulate", *arguments])
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def test_tables_say_what_was_simulated(run):
    code, out, _ = run("two-stations", *SHORT)
    assert code == 0
    assert "origin" in out.lower()
    assert "simulated: a model in virtual time, not a measurement" in out
    for word in ("down", "echo", "Goodput waterfall", "Retries"):
        assert word in out


def test_json_is_one_document(run):
    code, out, _ = run("two-stations", *SHORT, "--json", "--seeds", "2")
    document = json.loads(out)
    assert code == 0
    assert (document["format"], document["version"], document["origin"]) == ("txop-simulate", 1, "simulated")
    assert [found["seed"] for found in document["points"][0]["runs"]] == [1, 2]


def test_sweeps_and_files(run, tmp_path):
    code, out, err = run(
        "two-stations", *SHORT, "--sweep", "mcs=0..2", "--sweep", "wlan.ap.tx_ampdu=true,false",
        "--csv", str(tmp_path / "csv"), "--parquet", str(tmp_path / "all.parquet"), "--html", str(tmp_path / "a.html"),
    )  # fmt: skip
    assert code == 0, err
    assert "6 points" in out
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "all.parquet").read_bytes().startswith(b"PAR1")
    assert (tmp_path / "csv" / "flows.csv").read_text().startswith("mcs,wlan.ap.tx_ampdu,seed,flow,")
    code, out, _ = run("two-stations", *SHORT, "--csv", "-", "--table", "runs")
    assert code == 0
    assert out.splitlines()[0].startswith("seed,measured_s,goodput_mbit_s")


def test_the_capture_of_the_air_is_read_by_txop_air(run, tmp_path, capfd):
    file = tmp_path / "air.pcapng"
    code, out, _ = run("two-stations", *SHORT, "--air", str(file), "--json")
    assert code == 0
    falls = json.loads(out)["points"][0]["runs"][0]["waterfalls"]
    with pytest.raises(SystemExit):
        main(["air", str(file), "--json"])
    report = json.loads(capfd.readouterr().out)
    assert report["origin"] == "simulated"

    def figures(waterfalls):
        return [[(step["cause"], step["us"]) for step in fall["steps"]] for fall in waterfalls]

    assert figures(report["waterfalls"]) == figures(falls)
    assert "frames-missing" not in [limit["code"] for limit in report["summary"]["limits"]]
    assert "frames that collided" in [step["label"] for step in falls[0]["steps"] if step["us"] > 0]
    assert "idle" in [step["label"] for step in falls[0]["steps"]]


def test_the_capture_of_the_bus_is_read_by_txop_bus(run, tmp_path, capfd):
    file = tmp_path / "usb.pcapng"
    code, out, _ = run("modem-both-rmnet", *SHORT, "--usb", str(file), "--json")
    assert code == 0
    bus = {endpoint["endpoint"]: endpoint for endpoint in json.loads(out)["points"][0]["runs"][0]["bus"]}
    with pytest.raises(SystemExit):
        main(["bus", str(file), "--json"])
    report = json.loads(capfd.readouterr().out)
    assert report["origin"] == "simulated"
    found = {int(e["address"], 16): e for e in report["endpoints"] if e["transfer"] == "bulk"}
    assert found
    for address, endpoint in found.items():
        assert endpoint["completions"] == pytest.approx(bus[address]["urbs_per_s"] * 0.5, abs=1)


def test_the_list_names_what_can_be_run(run):
    code, out, _ = run("--list")
    assert code == 0
    assert "ap-airtime " in out
    assert "_anomaly" not in out
    _, out, _ = run("--list", "--json")
    assert {"name", "title"} == set(json.loads(out)[0])


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "no scenario was given"),
        (("two-statoins",), "Did you mean two-stations?"),
        (("zzz",), "`txop simulate --list` shows those"),
        (("two-stations", *SHORT, "--parquet", "/dev/full"), "No space left on device"),
        (("nothing/here.toml",), "No such file"),
        (("two-stations", "--set", "mcs"), "is not a setting"),
        (("two-stations", "--set", "wlan.ap.mcs=99"), "wlan.ap.mcs=99: 99 is not in the range from 0 to 31"),
        (("two-stations", "--set", "wlan.ap.mcz=9"), "did you mean mcs?"),
        (("two-stations", "--duration", "-3"), "run.duration_s=-3.0: -3 is not in the range"),
        (("two-stations", "--duration", "nan"), "nan is not a finite number"),
        (("two-stations", "--sweep", "mcs"), "write it as key=first..last"),
        (("two-stations", "--sweep", "mcs=0..99"), "is not in the range from 0 to 31"),
        (("two-stations", "--seeds", "0"), "greater than or equal to 1"),
        (("two-stations", "--table", "flows"), "--table goes with --csv"),
        (("two-stations", "--csv", "-"), "--csv - writes one table"),
        (("two-stations", "--csv", "x", "--table", "nix"), 'unknown table "nix"'),
        (("two-stations", "--air", "/nonexistent/x.pcapng"), "No such file or directory"),
    ],
)
def test_what_cannot_be_is_said_in_one_paragraph(run, arguments, what):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert what in " ".join(err.split())
    assert "Traceback" not in err


def test_a_capture_that_was_not_finished_leaves_nothing(run, tmp_path):
    code, _, _ = run("two-stations", "--set", "wlan.ap.mcs=99", "--air", str(tmp_path / "a.pcapng"))
    assert code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("scenario", "option", "what"),
    [
        ("pipe", "--air", "this link has none"),
        ("modem-up", "--air", "this link has none"),
        ("sdio-polling", "--usb", "no host of this link has one"),
        ("two-stations", "--usb", "no host of this link has one"),
    ],
)
def test_nothing_is_captured_that_is_not_there(run, tmp_path, scenario, option, what):
    code, out, err = run(scenario, *SHORT, option, str(tmp_path / "capture.pcapng"))
    assert (code, out) == (2, "")
    assert what in err
    assert list(tmp_path.iterdir()) == []


def test_a_base_that_is_no_ordinary_file_is_refused(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "over.toml").write_text("base = 'pipe'\n")
    code, out, err = run(str(tmp_path / "over.toml"))
    assert (code, out) == (2, "")
    assert "not an ordinary file" in " ".join(err.split())


def test_what_the_host_and_the_bus_had_to_do(run):
    code, out, _ = run("sdio-polling", *SHORT)
    assert code == 0
    assert "Context switches" in out
    assert "found something" in out
    code, out, _ = run("modem-crash", "--duration", "5")
    assert code == 0
    assert "it was fed beyond the limits it had named" in out
    code, out, _ = run("modem-both", *SHORT, "--seeds", "2")
    assert "Means of the run with seed 1, warm-up included" in out
