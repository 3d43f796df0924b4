"""Flat tables: polars frames and CSV."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from txop.air.tables import TABLES, columns, rows, write_csv


def test_the_page_lists_every_table():
    page = (Path(__file__).parents[2] / "docs/air-json.md").read_text(encoding="utf-8")
    table = page.split("| table | rows |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_frame_and_csv_agree_in_shape(report, name):
    frame = report.table(name)
    out = io.StringIO()
    write_csv([report, report], name, out)
    lines = list(csv.reader(io.StringIO(out.getvalue())))
    assert lines[0] == ["capture", *frame.columns]
    assert len(lines) == 1 + 2 * frame.height
    assert frame.height == len(list(rows(report, TABLES[name])))
    assert frame.height > 0
    assert all(len(line) == len(lines[0]) for line in lines)


@pytest.mark.parametrize("name", TABLES)
def test_empty_report_gives_empty_frames_with_all_columns(empty_report, name):
    frame = empty_report.table(name)
    assert frame.height == 0
    assert frame.columns == list(columns(TABLES[name]))


def test_nested_values_become_columns(report):
    frame = report.table("stations")
    first = report.stations[0]
    assert frame["signal_dbm_median"][0] == first.signal_dbm.median
    assert frame["mpdu_retry_percent"][0] == first.mpdu_retry.percent
    assert frame["airtime_retry_us"][0] == first.airtime.retry_us
    group = [s.kind for s in report.stations].index("group")
    assert frame["signal_dbm_median"][group] is None
    assert frame["airtime_us"][group] is None


def test_unknown_table_is_a_key_error(report):
    with pytest.raises(KeyError):
        report.table("nonsense")


def test_csv_is_inert(hostile_report):
    for name in TABLES:
        out = io.StringIO()
        write_csv([hostile_report], name, out)
        assert all(c.isprintable() or c == "\n" for c in out.getvalue())


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@x", " =1", "\uff1d1"])
def test_csv_texts_are_no_formulas(report, start):
    bss = report.bss[0].model_copy(update={"ssid": start})
    out = io.StringIO()
    write_csv([report.model_copy(update={"bss": [bss]})], "bss", out)
    assert next(csv.DictReader(io.StringIO(out.getvalue())))["ssid"] == f"'{start}"


def test_numbers_stay_numbers_in_csv(report):
    bss = report.bss[0].model_copy(update={"retry_percent": -1.5})
    out = io.StringIO()
    write_csv([report.model_copy(update={"bss": [bss]})], "bss", out)
    assert next(csv.DictReader(io.StringIO(out.getvalue())))["retry_percent"] == "-1.5"


def test_heavy_libraries_wait_until_they_are_needed():
    code = (
        "import sys, txop.cli.app as app; app.build(); import txop.air;"
        "print([m for m in ('polars', 'altair', 'numpy', 'vl_convert', 'jinja2', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    only_cli = "import sys, txop.cli.app as app; app.build(); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", only_cli], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
