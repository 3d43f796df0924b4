"""Tables that people write, and flent's files: what is read of them, and what is named instead."""

from __future__ import annotations

import bz2
import gzip
import json

import pytest

import exchange_specimens as specimens
from txop.formats import driver_table, flent, ttcp
from txop.formats.dokuwiki import tables
from txop.formats.error import FormatError
from txop.formats.written_number import NotANumberError, number, written


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12.0), ("17,2", 17.2), ("1,234.5", 1234.5), ("1,234,567", 1234567.0), ("0,5", 0.5), ("-3.5", -3.5)],
)
def test_a_comma_is_read_as_what_it_can_only_be(text, value):
    assert number(text) == value


@pytest.mark.parametrize("text", ["1,234", "12,345", "", "x", "1,2,3", "1.2.3", "1,23.4", "nan", "inf", "--1", "1e"])
def test_what_could_be_two_numbers_or_is_none_is_refused(text):
    with pytest.raises(NotANumberError):
        number(text)


def test_a_range_is_no_single_figure():
    found = written("7-14 Mbits/s")
    assert (found.low, found.high, found.unit, found.single) == (7.0, 14.0, "Mbits/s", None)
    assert written("42 %").single == 42.0
    with pytest.raises(NotANumberError, match="ends before"):
        written("9~7 %")


def test_a_ttcp_table_with_its_quoting():
    found = ttcp.parse(specimens.TTCP)
    assert [(t.section, t.sender, t.receiver, len(t.rows)) for t in found.tables] == [
        ("Performance data: Old SDIO", "host", "neo", 2),
        ("Performance data: Old SDIO", "neo", "host", 1),
    ]
    row = found.tables[0].rows[1]
    assert (row.line, row.sender_1000b_s, row.sender_switches, row.receiver_1000b_s, row.receiver_switches) == (
        6, 710.0, 310.0, 700.0, 12100.0,
    )  # fmt: skip
    assert [(p.mean_ms, p.samples, p.line) for p in found.pings] == [(75.91, 100, 14)]
    assert found.problems == []


@pytest.mark.parametrize(
    ("before", "after", "line", "what"),
    [
        ("710.00     310      700.00   12100", "710.00     310      700.00", 6, "3 of 4 cells"),
        ("710.00 ", "1,234 ", 6, "may be 1234 or 1.234"),
        ("AVG:   705.00", "AVG:   799.00", 7, "the average 799 is not that of the rows"),
        ("*1000B/s ctx_sw     *1000B/s ctx_sw\n>  1:   700", "KB/s ctx_sw KB/s ctx_sw\n>  1:   700", 4, "units other"),
    ],
)
def test_a_wrong_row_is_named_with_its_line_and_the_rest_is_read(before, after, line, what):
    text = specimens.TTCP.replace(before, after, 1)
    assert text != specimens.TTCP
    found = ttcp.parse(text)
    assert (line, True) in [(at, what in said) for at, said in found.problems]
    assert found.tables[1].rows


def test_cells_of_a_wiki_table_are_not_cut_within_links():
    (first, _) = list(tables(specimens.WIKI))
    assert first.headings == ("Driver Testing", "TCP TX Throughput")
    assert first.rows[0].cells[5] == "[[x|many]]"
    assert first.rows[0].line == 4


def test_rows_by_driver_and_what_is_wrong_with_the_others():
    found = driver_table.parse(specimens.WIKI)
    assert [(row.line, row.way, row.driver) for row in found.rows] == [
        (4, "tx", "Linux 5, drv (vanilla)"),
        (5, "tx", "Linux 5, drv (patch 10; tag x/y)"),
        (6, "tx", "Linux 5, vendor"),
        (8, "tx", "Linux 5, other"),
        (11, "rx", "Linux 5, drv (patch 10)"),
    ]
    comma = found.rows[1]
    assert comma.throughput_mbit_s is not None
    assert comma.retries_percent is not None
    assert (comma.throughput_mbit_s.single, comma.retries_percent.single) == (20.6, 12.5)
    assert found.rows[2].retries_percent is None
    assert found.rows[3].throughput_mbit_s is None
    named = found.rows[0].named
    assert named is not None
    assert (named.retries_percent, named.rate, named.unit) == (17.0, 12.5, "MBps")
    assert [(line, what.split(":")[0]) for line, what in found.problems] == [
        (6, "retries"),
        (7, "the cell of the driver is empty"),
        (8, "throughput"),
    ]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_every_version_of_flent_is_read_with_its_units(version):
    found = flent.parse(specimens.flent_bytes(version))
    series = {each.name: each for each in found.series}
    assert found.version == version
    assert [sample.value for sample in series["TCP upload"].samples] == [10.0] * 4 + [20.0] * 4
    assert {sample.value for sample in series["Ping (ms) UDP BE"].samples} == {8.0}, (
        "125 transactions a second are 8 ms"
    )
    lost = [sample for sample in series["Ping (ms) ICMP"].samples if sample.value is None]
    assert len(lost) == (1 if version == 4 else 0)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, bytes])
def test_flent_files_are_unpacked(pack):
    assert flent.parse(pack(specimens.flent_bytes(4))).name == "tcp_1up"


def test_a_file_of_version_1_without_raw_values_says_so():
    made = specimens.flent(1)
    made["metadata"]["SERIES_META"] = {}
    found = flent.parse(json.dumps(made))
    assert any("drew onto a grid" in note for note in found.notes)
    assert [s.value for s in next(s for s in found.series if s.name == "TCP upload").samples] == [10.0] * 4 + [20.0] * 4


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (specimens.flent_bytes(5), "of version 5: its units and meaning are not known"),
        (specimens.flent_bytes(4, version="x"), "version that is not a number"),
        (specimens.flent_bytes(4)[:900], "cut off or damaged"),
        (gzip.compress(specimens.flent_bytes(4))[:200], "gzip data is damaged or cut off"),
        (bz2.compress(specimens.flent_bytes(4))[:200], "bzip2 data is cut off"),
        (specimens.flent_bytes(4, metadata={"TITLE": "x"}), "without the name"),
        (specimens.flent_bytes(4, raw_values={}), "without a single sample"),
        (b'{"a": 1}', "expected"),
    ],
)
def test_what_is_refused_is_refused_with_its_reason(data, what):
    with pytest.raises(FormatError, match=what):
        flent.parse(data)


def test_half_a_document_is_named_with_its_line():
    whole = specimens.flent_bytes(4)
    with pytest.raises(FormatError) as caught:
        flent.parse(whole[: len(whole) // 2])
    assert caught.value.line == whole[: len(whole) // 2].count(b"\n") + 1
