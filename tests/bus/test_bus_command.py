"""``txop bus`` from its arguments to its output."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from html.parser import HTMLParser

import pytest

from program_server import PROGRAM
from txop.bus.page import comparison_page, page
from txop.bus.tables import TABLES, columns, write_csv
from txop.cli import app
from usb_trace import IN, OUT, Trace, qmap, tcp

HOSTILE = "<script>alert(1)</script>\"'&\x1b[2J\x07\u202egnp.exe{{7*7}}"
"""A product name that tries HTML, a terminal escape, a bell, a bidi override and a template."""


@pytest.fixture
def run(monkeypatch, capsys):
    def start(*arguments, columns=100):
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as leaving:
            app.main(["bus", *map(str, arguments)])
        out = capsys.readouterr()
        return leaving.value.code, out.out, out.err

    return start


def test_one_screen_has_what_matters_and_says_where_the_rest_is(run, make_trace):
    code, out, err = run(make_trace("a.pcap"))
    assert (code, err) == (0, "")
    lines = [line.rstrip() for line in out.splitlines()]
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert lines[0] == "What the bus shows"
    assert 1 <= len([line for line in lines if line.startswith("- ")]) <= 3
    assert "Uplink is not aggregated" in out
    assert "Framing" in out
    assert "Sections (--section NAME; --all for all): summary, devices, endpoints, traffic, requests" in out


def test_the_whole_report_begins_with_what_the_bus_shows(run, make_trace):
    code, out, err = run(make_trace("a.pcap"), "--all")
    assert (code, err) == (0, "")
    assert out.startswith("What the bus shows")
    assert out.index("Uplink is not aggregated") < out.index("1. Summary") < out.index("5. Control requests")
    assert max(map(len, out.splitlines())) <= 100


def test_the_section_of_modems_is_left_out_where_there_is_none(run, make_trace):
    trace = make_trace("a.pcap")
    assert "What host and modem agreed on" not in run(trace)[1]
    assert "6. What host and modem agreed on" in run(trace, "--section", "modem")[1]


def test_only_the_sections_named(run, make_trace):
    code, out, _ = run(make_trace("a.pcap"), "--section", "traffic")
    assert code == 0
    assert "4. What the bulk transfers carry" in out
    assert "1. Summary" not in out
    assert "Uplink is not aggregated" not in out


def test_two_captures_side_by_side(run, make_trace):
    code, out, _ = run(make_trace("a.pcap"), make_trace("b.pcap", link_type=249, per_transfer=15))
    assert code == 0
    text = " ".join(out.split())
    assert "15.0 times as many per transfer" in text
    assert "One side is URBs" in text


def test_lists_of_many_devices_say_what_they_leave_out(run, tmp_path):
    trace = Trace(220)
    for n in range(60):
        trace.transfer(2_000_000 + n * 1000, 300, OUT, qmap([tcp(0)]))
        trace.records[-2:] = [(at, _of_device(record, n + 1)) for at, record in trace.records[-2:]]
    path = trace.write(tmp_path / "many.pcap")
    evidence = run(path, "--section", "devices")[1].split("Evidence")[1]
    assert "and 36 more, of 1.25, 1.26" in " ".join(evidence.split())
    assert "--top 0 and --json have all" in " ".join(evidence.split())
    whole = run(path, "--section", "devices", "--top", "0")[1].split("Evidence")[1]
    assert "1.60: 1 of 1 transfers on endpoint 0x02" not in evidence
    assert all(f"- 1.{n}: " in whole for n in range(1, 61))
    assert "more, of" not in whole


def _of_device(record: bytes, device: int) -> bytes:
    return record[:11] + bytes([device]) + record[12:]


def test_submissions_alone_are_not_said_to_be_under_way(run, tmp_path):
    trace = Trace(220)
    for n in range(30):
        trace.transfer(2_000_000 + n * 1000, 300, OUT, qmap([tcp(0)]))
        del trace.records[-1]
    out = " ".join(run(trace.write(tmp_path / "submissions.pcap"), "--all")[1].split())
    assert "Not paired no completion is in the capture" in out
    assert "under way at the end" not in out
    assert "1.0 datagram per URB (QMAP), 1,000 URB/s handed over." in out


def test_taken_back_requests_stand_under_a_title_that_is_true_of_them(run, make_trace):
    out = run(make_trace("a.pcap", status=-2), "--all")[1]
    assert "Requests that did not succeed, or were taken back" in out


def test_a_device_of_another_kind_has_no_uplink(run, tmp_path):
    trace = Trace(220)
    for n in range(40):
        trace.transfer(2_000_000 + n * 1000, 300, OUT, bytes([n]) * 64)
        trace.transfer(2_000_000 + n * 1000, 400, IN, bytes([n]) * 64)
    path = trace.write(tmp_path / "vendor.pcap")
    code, out, _ = run(path, path)
    assert code == 0
    assert "Bulk OUT, transfers per second" in out
    assert "Bulk IN, throughput" in out
    assert not re.search("uplink|downlink", out, re.IGNORECASE)


def test_json_is_one_document(run, make_trace):
    a, b = make_trace("a.pcap"), make_trace("b.pcap", per_transfer=15)
    assert json.loads(run(a, "--json")[1])["format"] == "txop-bus"
    assert json.loads(run(a, b, "--json")[1])["format"] == "txop-bus-compare"


def test_csv_of_every_table(run, make_trace, tmp_path):
    code, _, err = run(make_trace("a.pcap"), "--csv", tmp_path / "tables")
    assert code == 0
    assert f"{len(TABLES)} tables" in err
    for name, table in TABLES.items():
        text = (tmp_path / "tables" / f"{name}.csv").read_text(encoding="utf-8")
        rows = list(csv.reader(io.StringIO(text)))
        assert rows[0] == ["capture", *columns(table)]
        assert all(len(row) == len(rows[0]) for row in rows)


def test_tables_become_frames(report):
    for name in TABLES:
        assert report.table(name).width == len(columns(TABLES[name]))
    assert report.table("traffic")["transfers"].sum() == 200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "b", "c"), "takes one capture, or two"),
        (("-", "-"), "only once"),
        (("a", "--table", "traffic"), "--table chooses"),
        (("a", "--section", "ghosts"), 'unknown section "ghosts"'),
        (("a", "--json", "--csv", "-"), "both write to stdout"),
        (("a", "--html", "-", "--json"), "both write to stdout"),
        (("there-is-no-such-file.pcap",), "No such file"),
    ],
)
def test_wrong_use_is_explained(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_what_is_no_usb_capture_is_refused_with_a_reason(run, tmp_path):
    (tmp_path / "notes.txt").write_text("hello\n")
    assert run(tmp_path / "notes.txt")[0] == 2
    (tmp_path / "wires.pcap").write_bytes(
        bytes.fromhex("d4c3b2a1020004000000000000000000ffff0000 2001000000000000000000000300000003000000 a50000")
    )
    code, _, err = run(tmp_path / "wires.pcap")
    assert code == 2
    assert "a capture of the wires" in " ".join(err.split())


def test_a_cut_capture_is_reported_with_its_own_code(run, make_trace, tmp_path):
    whole = make_trace("a.pcap").read_bytes()
    (tmp_path / "cut.pcap").write_bytes(whole[:-10])
    code, out, err = run(tmp_path / "cut.pcap")
    assert code == 4
    assert "Sections (" in out
    assert "is damaged at byte" in err


def test_from_a_pipe(make_trace):
    data = make_trace("a.pcap").read_bytes()
    done = subprocess.run([PROGRAM, "bus", "-", "--json"], input=data, capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout)["records"] == 2 * (3 + 100 + 100 + 10)


class Outline(HTMLParser):
    """Collects tags, and checks that they nest."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        del attrs
        self.tags.append(tag)
        if tag not in {"meta", "link", "br", "img", "input", "hr"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        del attrs
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def parsed(text: str) -> Outline:
    outline = Outline()
    outline.feed(text)
    outline.close()
    assert outline.open == []
    return outline


def test_the_page_shows_everything_and_fetches_nothing(report):
    text = page(report)
    outline = parsed(text)
    assert outline.tags.count("figure") == 2
    assert "Uplink is not aggregated: 1.0 datagram per URB" in outline.text
    assert not re.search(r"(src|href)=\"https?:", text)


def test_the_page_of_two_ranks_the_differences(report, aggregated):
    outline = parsed(comparison_page([report, aggregated]))
    assert "15.0 times as many per transfer" in outline.text


def test_a_hostile_product_name_acts_nowhere(run, make_trace, tmp_path):
    path = make_trace("a.pcap", product=HOSTILE)
    code, out, _ = run(path, "--html", tmp_path / "page.html")
    assert code == 0
    for text in (out, run(path)[1], run(path, "--csv", "-", "--table", "devices")[1]):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
    outline = parsed((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert outline.tags.count("script") == 1
    assert "<script>alert(1)</script>" in outline.text
    assert "{{7*7}}" in outline.text


def test_formulas_stay_text(report):
    devices = [device.model_copy(update={"product": "=1+1"}) for device in report.devices]
    out = io.StringIO()
    write_csv([report.model_copy(update={"devices": devices})], "devices", out)
    assert ",'=1+1," in out.getvalue()
