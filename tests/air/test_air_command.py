"""``txop air`` from its arguments to its output, with the analyzer replaced by stored reports."""

from __future__ import annotations

import io
import json
from types import BuiltinFunctionType

import pytest
from rich.console import Console

import txop.air
from txop.air.compare import different_pairs
from txop.air.tables import TABLES
from txop.cli import air, app
from txop.cli.air_live import LatestSummary
from txop.core.errors import ExitCode, UserError

ADDRESS = "08:be:ac:0b:14:c4"


@pytest.fixture
def run(monkeypatch, capsys):
    def start(reports, *arguments, columns=100):
        documents = {str(name): report.model_dump_json().encode() for name, report in reports.items()}
        monkeypatch.setattr(txop.air, "analyze_json", lambda path, **_: documents[path])
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as leaving:
            app.main(["air", *arguments])
        out = capsys.readouterr()
        return leaving.value.code, out.out, out.err

    return start


def whole(report):
    return report.model_copy(update={"summary": report.summary.model_copy(update={"damage": None})})


def test_one_screen_has_what_matters_and_says_where_the_rest_is(run, report):
    code, out, err = run({"a": whole(report).model_copy(update={"traffic": None})}, "a")
    assert (code, err) == (0, "")
    lines = [line.rstrip() for line in out.splitlines()]
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("Where the throughput went: Downlink, AP ")
    findings = [line for line in lines if line.startswith("- ")]
    assert 2 <= len(findings) <= 3
    assert findings[0].startswith("- Block Ack, AP ")
    assert "…" not in out, "every sentence is whole"
    assert [line for line in lines if line.startswith("  and ") and line.endswith(": --all")], "the others are counted"
    assert lines.count("Stations") == 1
    assert "3 records cannot be read, 1 limit of what this capture can show: --section summary" in lines
    assert "Sections (--section NAME; --all for all): summary, stations, ghosts, exchanges," in out


def test_options_that_ask_for_a_table_show_it_below(run, report):
    _, out, _ = run({"a": whole(report).model_copy(update={"traffic": None})}, "a", "--events")
    assert out.index("Sections (--section NAME") < out.index("\n10. ")
    assert "1. Summary" not in out
    assert "1. Summary" in run({"a": whole(report)}, "a", "--top", "3")[1]


def test_the_whole_report_begins_with_where_the_throughput_went(run, report):
    code, out, err = run({"a": whole(report)}, "a", "--all")
    assert code == 0
    assert err == ""
    assert out.startswith("Where the throughput went")
    assert out.index("Retries take") < out.index("Late - Block Ack") < out.index("1. Summary")
    for number, title in enumerate(("Summary", "Stations", "Ghost", "Exchanges", "Aggregation", "Airtime", "Goodput",
                                    "Capability", "Steadiness"), 1):  # fmt: skip
        assert f"{number}. {title}" in out
    assert "and 31 more, --top 0 shows all." in out


def test_damaged_capture_is_reported_with_a_warning_and_its_own_code(run, report):
    code, out, err = run({"a": report}, "a")
    assert code == 4
    assert "Sections (" in out
    assert "damaged at byte 150,331,912" in err


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
def test_tables_keep_to_the_terminal(run, report, columns):
    _, out, _ = run({"a": whole(report)}, "a", columns=columns)
    assert max(len(line.rstrip()) for line in out.splitlines()) <= columns
    _, out, _ = run({"a": whole(report)}, "a", "--all", columns=columns)
    assert max(len(line.rstrip()) for line in out.splitlines()) <= columns
    if columns >= 60:
        stations = out[out.index("2. Stations") :].split("Networks")[0]
        assert ADDRESS in stations


def test_json_is_the_document_itself(run, report):
    code, out, _ = run({"a": whole(report)}, "a", "--json")
    assert code == 0
    assert json.loads(out) == json.loads(whole(report).model_dump_json())


def test_hostile_text_is_inert_on_the_terminal(run, hostile_report, good_report):
    for arguments in (
        ("a",),
        ("a", "--top", "0", "--ghosts"),
        ("a", "b"),
        ("a", "--json"),
        ("a", "--list"),
        ("a", "--csv", "-", "--table", "bss"),
    ):
        _, out, err = run({"a": hostile_report, "b": good_report}, *arguments)
        assert all(c.isprintable() or c == "\n" for c in out + err), arguments


def test_two_captures_side_by_side(run, report, good_report):
    reports = {"a": whole(report), "b": whole(good_report)}
    code, out, _ = run(reports, "a", "b")
    assert code == 0
    assert "B − A" in out
    assert "points" in out
    _, out, _ = run(reports, "a", "b", "--json")
    document = json.loads(out)
    assert document["format"] == "txop-air-compare"
    assert len(document["captures"]) == 2
    _, out, _ = run({**reports, "c": whole(report)}, "a", "b", "c")
    assert "B − A" not in out


def test_sections_and_station(run, report):
    _, out, _ = run({"a": whole(report)}, "a", "--section", "ghosts,airtime")
    assert "3. Ghost" in out
    assert "6. Airtime" in out
    assert "1. Summary" not in out
    assert "Where the throughput" not in out
    _, out, _ = run({"a": whole(report)}, "a", "--section", "stations", "--station", ADDRESS.upper())
    table = out.split("\nStations")[1].split("\nNetworks")[0]
    assert ADDRESS in table
    assert "a4:c3:f0:12:9b:07" not in table


def test_ghosts_are_left_out_or_listed(run, report):
    ghost = report.stations[1].model_copy(update={"address": "08:be:ac:0b:14:c5", "kind": "ghost"})
    changed = whole(report).model_copy(update={"stations": [*report.stations, ghost]})
    _, out, _ = run({"a": changed}, "a", "--section", "stations", columns=200)
    assert "08:be:ac:0b:14:c5" not in out
    assert "their likely origin" in out
    assert "folded" not in out
    _, out, _ = run({"a": changed}, "a", "--section", "stations", "--ghosts", columns=200)
    assert "08:be:ac:0b:14:c5" in out


def test_csv_and_html_files(run, report, tmp_path):
    code, out, err = run(
        {"a": whole(report)}, "a", "--csv", str(tmp_path / "tables"), "--html", str(tmp_path / "page.html")
    )
    assert code == 0
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == set(TABLES)
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "Where the throughput went" in out
    assert "1. Summary" not in out
    assert "Wrote" in err


def test_a_page_to_stdout_is_all_that_is_there(run, report):
    code, out, err = run({"a": whole(report)}, "a", "--html", "-")
    assert code == 0
    assert out.startswith("<!doctype html>")
    assert out.rstrip().endswith("</html>")
    assert "Wrote" not in err


def test_csv_to_stdout(run, report):
    _, out, _ = run({"a": whole(report)}, "a", "--csv", "-", "--table", "ghosts")
    assert out.splitlines()[0] == "capture,address,of,distance,frames_sent,frames_received,bad_fcs,reason"
    assert len(out.splitlines()) == 1 + len(report.ghosts)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a", "--section", "nonsense"), "choose from summary"),
        (("a", "--station", "me"), "not a MAC address"),
        (("a", "--pair", ADDRESS), "two addresses"),
        (("a", "--csv", "-"), "--table"),
        (("a", "--csv", "-", "--table", "x"), "choose from"),
        (("a", "--table", "bss"), "--csv"),
        (("a", "--open"), "--html"),
        (("a", "--html", "-", "--json"), "both write to stdout"),
        (("a", "--html", "-", "--csv", "-", "--table", "bss"), "both write to stdout"),
        (("a", "--html", "-", "--open"), "--open needs a file"),
        (("a", "--html", "no/such/folder/page.html"), "no such folder"),
        (("a", "--json", "--csv", "-"), "both write to stdout"),
        (("a", "b", "--follow"), "one capture"),
        (("-", "-"), "only once"),
        ((), "No capture given"),
    ],
)
def test_wrong_use_is_said_plainly(run, report, arguments, words):
    code, out, err = run({"a": report, "b": report}, *arguments)
    assert code == 2
    assert out == ""
    assert words.lower() in err.lower().replace("\n", " ")


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_empty_capture_is_a_no(run, empty_report, arguments):
    code, out, err = run({"a": whole(empty_report)}, "a", *arguments)
    assert code == ExitCode.UNDECIDED
    assert "no 802.11 frames" in err
    assert out.startswith("{" if arguments else "In this capture: no 802.11 frames")


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_pair_that_is_not_there_is_an_error_that_names_the_busiest(run, report, arguments):
    busiest = max(report.links, key=lambda link: link.data_frames)
    absent = "02:00:00:00:00:01"
    code, out, err = run({"a": whole(report)}, "a", "--pair", f"{absent},{ADDRESS}", *arguments)
    assert (code, out) == (2, "")
    assert absent in err
    assert f"{busiest.ta},{busiest.ra}" in err
    code, _, _ = run({"a": whole(report)}, "a", "--pair", f"{busiest.ra},{busiest.ta}", *arguments)
    assert code == 0


def test_station_that_is_not_there_is_an_error(run, report):
    code, out, err = run({"a": whole(report)}, "a", "--station", "02:00:00:00:00:01")
    assert (code, out) == (2, "")
    assert "busiest stations: " in err


def test_station_filters_the_headline(run, report):
    explained = {end for fall in report.waterfalls for end in (fall.ta, fall.ra)}
    other = next(s.address for s in report.stations if s.kind == "station" and s.address not in explained)
    _, out, _ = run({"a": whole(report)}, "a", "--station", other)
    head = out[: out.index("\nStations")]
    assert head.startswith("In this capture: ")
    assert head.index("Unknown: ") < head.index(other)
    assert "of payload at" not in head
    assert "Block Ack, " not in head
    _, out, _ = run({"a": whole(report)}, "a", "--station", ADDRESS)
    assert "of payload at" in out


@pytest.mark.parametrize("arguments", [(), ("--json",), ("b",)])
def test_analyzer_of_another_version_is_said_plainly(monkeypatch, capsys, report, arguments):
    document = json.loads(whole(report).model_dump_json())
    del document["summary"]
    monkeypatch.setattr(txop.air, "analyze_json", lambda *_, **__: json.dumps(document).encode())
    with pytest.raises(SystemExit) as leaving:
        app.main(["air", "a", *arguments])
    assert leaving.value.code == 2
    err = capsys.readouterr().err
    assert "make setup" in err
    assert "summary" in err


def test_different_pairs_are_said_before_anything_is_compared(run, report, good_report):
    reports = {"a": whole(report), "b": whole(good_report)}
    _, out, _ = run(reports, "a", "b")
    warning = different_pairs([report, good_report])
    assert bool(warning) is ("different pairs" in out.split("B − A")[0])
    moved = report.model_copy(
        update={"waterfalls": [fall.model_copy(update={"ta": fall.ra, "ra": fall.ta}) for fall in report.waterfalls]}
    )
    _, out, _ = run({"a": whole(report), "b": whole(moved)}, "a", "b", columns=400)
    assert out.startswith("The captures explain different pairs")
    assert "--pair " in out.splitlines()[0]
    assert different_pairs([report, report]) == ""


def test_the_file_is_named_even_when_its_name_is_a_word_of_the_message(monkeypatch):
    def refuse(path, **_):
        raise ValueError("the input is empty")

    monkeypatch.setattr(txop.air, "analyze_json", refuse)
    with pytest.raises(UserError, match=r"^empty: the input is empty"):
        list(air._analyze(["empty"], air.AnalysisRequest()))


def test_ctrl_c_cannot_lose_the_report_while_a_snapshot_is_shown(report):
    latest = LatestSummary("mon0")
    assert isinstance(latest.put, BuiltinFunctionType), "a Python function would be interrupted by Ctrl-C"
    assert "mon0: waiting for frames" in str(latest.__rich__())
    for _ in range(3):
        latest.put(report.model_dump_json().encode())
    shown = io.StringIO()
    Console(width=400, file=shown).print(latest)
    assert f"{report.frames:,} frames" in shown.getvalue()


def test_the_list_is_of_access_points_and_nothing_else(run, report):
    code, out, _ = run({"a": whole(report)}, "a", "--list", columns=160)
    assert code == 0
    assert out.split()[:2] == ["Access", "points"]
    assert "18:0f:76:c5:0a:ea  CHT57196" in out
    assert "WPA2 Personal" in out
    assert "(hidden)" in out
    assert "Where the throughput went" not in out
    code, out, _ = run({"a": whole(report)}, "a", "--list", "--json")
    document = json.loads(out)
    assert code == 0
    assert list(document) == ["format", "version", "origin", "path", "frames", "access_points"]
    assert document["access_points"] == [row.model_dump(mode="json") for row in report.access_points]


def test_the_list_says_when_there_are_no_access_points(run, report):
    code, out, _ = run({"a": whole(report).model_copy(update={"access_points": []})}, "a", "--list")
    assert code == 0
    assert "No beacons and no probe responses" in out


@pytest.mark.parametrize("more", [("--csv", "-"), ("--section", "summary"), ("--follow",), ("b",)])
def test_the_list_does_not_go_with_other_output(run, report, more):
    code, _, err = run({"a": whole(report), "b": whole(report)}, "a", "--list", *more)
    assert code == 2
    assert "--list" in err
