"""What ``import txop`` offers: lazy, typed, with one base of all errors."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import txop
from txop import _native
from txop.cli.app import main

ARCHIVE = Path(__file__).parents[1] / "data" / "archive-v1"


def test_every_name_that_is_offered_is_there():
    assert {name: getattr(txop, name) is not None for name in txop.__all__} == dict.fromkeys(txop.__all__, True)
    assert set(txop.__all__) <= set(dir(txop))


def test_reading_an_archive_draws_and_sends_nothing():
    heavy = "{'altair', 'asyncssh', 'typer', 'rich'}"
    code = (
        f"import sys, txop; txop.read_archive({str(ARCHIVE)!r}).compare(); sys.exit(bool({heavy} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_campaign_has_the_rows_of_its_files():
    campaign = txop.read_archive(ARCHIVE)
    folders = sorted(path.parent.name for path in (ARCHIVE / "runs").glob("*/run.json"))
    assert sorted(campaign.runs["run"]) == folders
    assert set(campaign.runs["arm"]) == set(campaign.arms)
    assert set(campaign.runs["test"]) == set(campaign.tests)
    compared = {
        point.run for figure in campaign.compare().result.figures for arm in figure.arms for point in arm.points
    }
    assert set(campaign.runs.filter(pl.col("counts"))["run"]) == compared
    assert set(campaign.figures["run"]) == set(folders)
    missing = campaign.figures.filter(pl.col("value").is_null() & pl.col("reason").is_null())
    assert missing.height == 0


def test_a_comparison_is_that_of_the_command(capsys):
    comparison = txop.read_archive(ARCHIVE).compare()
    with pytest.raises(SystemExit):
        main(["compare", str(ARCHIVE), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert comparison.result.model_dump(mode="json")["figures"] == document["figures"]
    rows = {(figure["name"], row["arm"]): row for figure in document["figures"] for row in figure["rows"]}
    compared = comparison.rows.filter(pl.col("change").is_null())
    assert {(row["figure"], row["arm"]): row["verdict"] for row in compared.iter_rows(named=True)} == {
        key: row["verdict"] for key, row in rows.items()
    }
    assert [answer.arm for answer in comparison.answers] == [answer["arm"] for answer in document["answers"]]


def test_one_arm_of_two_campaigns():
    first, second = txop.read_archive(ARCHIVE), txop.read_archive(ARCHIVE)
    comparison = first.compare_with(second, arm="vendor")
    assert set(comparison.rows["verdict"]) <= {"equivalent", "inconclusive", "not-judged"}  # with itself
    with pytest.raises(txop.UserError):
        first.compare_with(second, arm="no-such-arm")


def test_a_page_is_written(sample, tmp_path):
    archive = sample.make(tmp_path / "archive", plan_text=sample.plan_of_tx())
    txop.read_archive(archive).write_page(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_capture_and_a_scenario(tmp_path):
    _native.write_specimen(str(tmp_path / "capture.pcapng"), seed=1, seconds=0.5, scene="late-block-ack")
    report = txop.air.analyze(tmp_path / "capture.pcapng")
    assert report.table("links")["data_frames"].sum() > 0
    done = txop.simulate.run("pipe", settings=[("run.duration_s", "0.1"), ("run.warm_up_s", "0")])
    assert done.origin == "simulated"


def test_a_log(tmp_path):
    (tmp_path / "dmesg.txt").write_text(
        "[    1.0] rtl8xxxu 1-1:1.0: probe with driver rtl8xxxu failed with error -11\n"
    )
    assert [fault.device for fault in txop.log.read(tmp_path / "dmesg.txt").faults] == ["usb 1-1"]
    with pytest.raises(FileNotFoundError):
        txop.log.read(str(tmp_path / "gone.txt"))


def test_every_error_of_txop_has_one_base():
    """Names that begin with an underscore stay inside their module."""
    found = []
    for module in pkgutil.walk_packages(txop.__path__, "txop."):
        if module.name == "txop.__main__":
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(value) and issubclass(value, Exception) and value.__module__ == module.name:
                found.append((f"{module.name}.{name}", value))
    assert len(found) > 20
    assert [name for name, value in found if not issubclass(value, txop.TxopError) and "._" not in name] == []


@pytest.mark.parametrize("call", [txop.air.analyze, txop.bus.analyze, txop.read_archive])
def test_what_is_not_that_is_a_txop_error(tmp_path, call):
    (tmp_path / "notes.txt").write_text("no capture\n")
    with pytest.raises(txop.TxopError):
        call(tmp_path / "notes.txt")
