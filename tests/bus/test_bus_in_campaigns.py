"""The USB capture of a campaign's run: its digest in the run's record, and its chapter of the report."""

from __future__ import annotations

import json
import shutil
import struct
from dataclasses import asdict
from pathlib import Path

import pytest

from instrument_bench import TCP, facts_of, make_plan
from txop import bus
from txop.archive.derived import rebuild
from txop.archive.reader import read_archive
from txop.campaign.instruments import instruments_of
from txop.compare.archive import compare
from txop.measure.instrument import Marks, Reading
from txop.measure.probes.bus_analysis import BusAnalysis, device_under_test, digest_of
from txop.report.campaign import page
from usb_trace import IN, OUT, Trace, qmap, tcp

GOLDEN = Path(__file__).parent.parent / "data" / "archive-v1"


IN_THE_CAPTURE = Marks(idle=0, load=1, window=2, end=4)
"""The transfers of ``make_trace`` begin at 2 s and take 2 s."""


def read(folder: Path) -> Reading:
    return BusAnalysis().read(facts_of(make_plan(TCP, "[collect]\nusbmon = true"), folder, IN_THE_CAPTURE))


def test_the_figures_are_those_of_the_analysis(make_trace, tmp_path):
    make_trace("usb.pcap", per_transfer=3)
    reading = read(tmp_path)
    values = {key: value.value for key, value in reading.metrics.items()}
    # A transfer each way in 20 ms, and an interrupt transfer for every tenth.
    assert values["usb_out_urbs_per_s"] == pytest.approx(50, rel=0.02)
    assert values["usb_in_urbs_per_s"] == pytest.approx(50, rel=0.02)
    assert values["usb_interrupt_urbs_per_s"] == pytest.approx(5, rel=0.15)
    assert (values["usb_out_datagrams_per_urb"], values["usb_in_datagrams_per_urb"]) == (3, 4)
    assert values["usb_out_turnaround_us"] == pytest.approx(300, rel=0.03)
    assert reading.bus is not None
    assert reading.bus["device"] == "1.5"
    assert reading.bus["product"] == "Modem"
    assert reading.files == {"usb.pcap": "USB capture"}
    assert json.loads(json.dumps(reading.bus, allow_nan=False)) == reading.bus


def test_what_a_cut_capture_hides_is_a_lower_bound(make_trace, tmp_path):
    make_trace("usb.pcap", per_transfer=3, snap=64 + 60)
    reading = read(tmp_path)
    report = bus.analyze(tmp_path / "usb.pcap")
    down = next(each for each in report.traffic if each.direction == "in" and each.datagrams)
    assert down.datagrams_per_transfer is None
    assert reading.metrics["usb_in_datagrams_per_urb"].value == down.at_least_per_transfer


def test_blocks_without_their_tables_give_no_figure(tmp_path):
    trace = Trace(220)
    table = struct.pack("<4sHHHHHHHH", b"NCM0", 20, 0, 32, 60, 92, 60, 0, 0)
    block = struct.pack("<4sHHHH", b"NCMH", 12, 0, 152, 12) + table + bytes(120)
    for n in range(60):
        trace.transfer(2_000_000 + n * 20_000, 300, IN, block)
    values = {}
    for snap in (65_535, 64 + 12):
        trace.write(tmp_path / "usb.pcap", snap)
        values[snap] = read(tmp_path).metrics["usb_in_datagrams_per_urb"]
    assert values[65_535].value == 2
    assert (values[64 + 12].value, values[64 + 12].reason) == (None, "the capture does not show it")


def test_missing_completions_are_a_warning(tmp_path):
    trace = Trace(220)
    for n in range(60):
        trace.transfer(2_000_000 + n * 20_000, 300, OUT, qmap([tcp(0)]))
    del trace.records[-9]
    trace.write(tmp_path / "usb.pcap")
    assert "USB capture: completions are missing in it, so its rates are lower bounds" in read(tmp_path).warnings


def test_without_a_capture_every_figure_says_why(tmp_path):
    reading = read(tmp_path)
    assert reading.bus is None
    assert {value.value for value in reading.metrics.values()} == {None}
    assert {value.reason for value in reading.metrics.values()} == {"no USB capture of this run"}


@pytest.mark.parametrize("content", [b"", b"\xd4\xc3\xb2\xa1", b"<html>no capture</html>" * 9, bytes(4096)])
def test_a_damaged_capture_costs_its_figures_and_nothing_else(tmp_path, content):
    (tmp_path / "usb.pcap").write_bytes(content)
    reading = read(tmp_path)
    assert {value.value for value in reading.metrics.values()} == {None}
    assert all(value.reason for value in reading.metrics.values())
    assert reading.files == {"usb.pcap": "USB capture"}


def test_the_device_is_the_one_of_the_run(make_trace, tmp_path):
    report = bus.analyze(make_trace("usb.pcap"))
    assert device_under_test(tmp_path) is None
    (tmp_path / "usb-dut.json").write_text(json.dumps({"before": {"busnum": "1", "devnum": "5"}, "after": {}}))
    assert device_under_test(tmp_path) == "1.5"
    (tmp_path / "usb-dut.json").write_text('{"before": "1.5"}')
    assert device_under_test(tmp_path) is None

    reading = Reading()
    digest_of(report, "3.9", reading, "usb.pcap")
    assert reading.metrics["usb_out_urbs_per_s"].value is not None
    assert reading.warnings == [
        "USB capture: the device under test (3.9) is not in the capture; its figures are of the only device in it"
    ]
    two = report.model_copy(update={"devices": [*report.devices, report.devices[0].model_copy(update={"name": "1.6"})]})
    reading = Reading()
    digest_of(two, "3.9", reading, "usb.pcap")
    assert reading.metrics["usb_out_urbs_per_s"].reason == "the device under test (3.9) is not in the capture"
    assert reading.bus is None


def test_a_plan_that_asks_for_usbmon_gets_the_analysis():
    asked = make_plan(TCP, "[collect]\nusbmon = true")
    assert "bus" in [each.name for each in instruments_of(asked, asked.test[0])]
    silent = make_plan()
    assert "bus" not in [each.name for each in instruments_of(silent, silent.test[0])]


@pytest.fixture
def archive(make_trace, tmp_path) -> Path:
    """The golden archive, its runs of one arm with a USB capture."""
    folder = tmp_path / "archive"
    shutil.copytree(GOLDEN, folder)
    plan = (folder / "plan.toml").read_text()
    (folder / "plan.toml").write_text(plan.replace("[collect]\n", "[collect]\nusbmon = true\n"))
    trace = make_trace("usb.pcap")
    for path in sorted((folder / "runs").glob("*-patch10-*/run.json")):
        shutil.copy(trace, path.parent / "usb.pcap")
        reading = read(path.parent)
        run = json.loads(path.read_text())
        run["metrics"] |= {key: asdict(value) for key, value in reading.metrics.items()}
        run["bus"] = reading.bus
        run["bus"]["conclusions"].append({"heading": "", "subject": "<i>", "text": "<b>bold</b>"})
        run["files"] = run.get("files", {}) | reading.files
        path.write_text(json.dumps(run))
    return folder


def test_the_page_has_a_chapter_about_the_bus(archive):
    read_back = read_archive(archive)
    text = page(read_back, compare(read_back), archive / "report.html")
    chapter = text[text.index("</span>On the USB</h2>") :]
    chapter, _, after = chapter.partition('<details class="chapter">')
    assert 'id="bus"' in chapter
    assert "uplink is not aggregated" in chapter.lower()
    assert "&lt;b&gt;bold" in chapter
    assert "<b>bold" not in chapter
    assert "usb.pcap" in after.partition("<summary>Captures (")[2]  # captures have one list, below the table of runs


def test_derived_tables_have_the_digest(archive):
    import polars as pl

    (table,) = [path for path in rebuild(read_archive(archive)) if path.stem == "runs"]
    runs = pl.read_parquet(table)
    filled = runs.filter(runs["bus_json"].is_not_null())
    assert set(filled["arm"]) == {"patch10"}
    assert json.loads(filled["bus_json"][0])["device"] == "1.5"
