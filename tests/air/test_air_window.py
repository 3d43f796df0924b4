"""``--from`` and ``--to``: against editcap, through pipes and compressors, and what is refused."""

from __future__ import annotations

import datetime
import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop import air
from txop.core.errors import ExitCode
from txop.core.moment import check_order, end_of
from txop.present.window import records

LATE = 1_627_041_600
"""Captures made by rule begin here: 2021-07-23 12:00 UTC."""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from txop import _native

    path = tmp_path_factory.mktemp("capture") / "air.pcapng"
    _native.write_specimen(path, seed=1, seconds=1.5, scene="late-block-ack")
    return path


def figures(document: bytes | str) -> dict[str, object]:
    """A report without what names the file and without what is of the whole capture."""
    report = json.loads(document)
    for key in ("path", "timing", "capabilities"):
        del report[key]
    for key in ("window", "compression", "container"):
        report["summary"].pop(key, None)
    for station in report["stations"]:
        for key in ("key_managements", "pairwise_ciphers"):
            del station[key]
    for flow in report["block_acks"]:
        for key in ("window", "amsdu_permitted", "examples"):
            del flow[key]
    return report


@pytest.mark.skipif(shutil.which("editcap") is None, reason="editcap is not installed")
def test_a_window_is_what_editcap_cuts(capture, tmp_path):
    first = air.analyze(capture).summary.first_time_unix_s
    start, end = first + 0.5, first + 1.0
    cut = tmp_path / "cut.pcapng"
    moments = [f"{moment:.6f}" for moment in (start, end)]
    subprocess.run(["editcap", "-A", moments[0], "-B", moments[1], capture, cut], check=True, timeout=60)
    windowed = air.analyze_json(capture, from_=f"@{moments[0]}", to=f"@{moments[1]}")
    assert figures(windowed) == figures(air.analyze_json(cut))


def test_every_way_in_gives_the_same(capture, tmp_path, txop):
    expected = figures(air.analyze_json(capture, from_="+0.5s", to=1.0))
    packed = tmp_path / "air.pcapng.gz"
    packed.write_bytes(gzip.compress(capture.read_bytes()))
    assert figures(air.analyze_json(packed, from_=datetime.timedelta(milliseconds=500), to="+1000ms")) == expected
    with capture.open("rb") as content:
        done = txop("air", "-", "--json", "--from", ".5", "--to", "+1", stdin=content)
    assert done.returncode == 0
    assert figures(done.stdout) == expected
    assert expected["frames"] not in (0, air.analyze(capture).frames)


def test_the_window_is_named_in_text_and_page(capture, tmp_path, txop):
    page = tmp_path / "air.html"
    done = txop("air", str(capture), "--from", "+0.5", "--to", "+1", "--html", str(page))
    window = air.analyze(capture, from_=0.5, to=1).summary.window
    assert records(window) == air.analyze(capture).frames
    words = f"{window.records_inside:,} of {records(window):,} records"
    assert done.returncode == 0
    assert words in " ".join(done.stdout.split())
    assert words in page.read_text()
    assert "from +0.500000 s (2021-07-23 12:00:00.5" in page.read_text()


def test_an_empty_window_says_where_the_capture_is(capture, txop):
    for extra in ([], ["--json"]):
        done = txop("air", str(capture), "--from", "+60", *extra)
        said = " ".join(done.stderr.split())
        assert done.returncode == ExitCode.UNDECIDED
        assert "nothing in the window from +60.000000 s" in said
        assert "begins 2021-07-23 12:00:00.0" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--from", "soon"], '--from: "soon" is not a moment. Write +2.5s'),
        (["--from", "+2", "--to", "+2"], "the window ends before it begins"),
        (["--to", "9" * 400], "beyond the years"),
        (["--to", "-1"], "is not a moment"),
    ],
)
def test_what_is_no_window_is_refused_before_reading(capture, txop, options, words):
    done = txop("air", str(capture), *options)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("moment", "end"),
    [
        ("+2.5", (True, 2_500_000_000)),
        ("2.5s", (True, 2_500_000_000)),
        (2, (True, 2_000_000_000)),
        ("+3 ms", (True, 3_000_000)),
        ("90 min", (True, 5_400 * 10**9)),
        ("+1627041600", (True, LATE * 10**9)),
        ("1627041600.000000001", (False, LATE * 10**9 + 1)),
        ("@5", (False, 5 * 10**9)),
        (float(LATE), (False, LATE * 10**9)),
        ("2021-07-23T12:00:00Z", (False, LATE * 10**9)),
        ("2021-07-23 12:00", (False, LATE * 10**9)),
        ("2021-07-23T14:00:00.25+02:00", (False, LATE * 10**9 + 250_000_000)),
        (datetime.datetime(2021, 7, 23, 12, tzinfo=datetime.UTC), (False, LATE * 10**9)),
        (datetime.timedelta(seconds=1), (True, 10**9)),
        (None, None),
    ],
)
def test_moments(moment, end):
    assert end_of(moment) == end


@given(st.text(max_size=30) | st.floats() | st.integers())
def test_whatever_is_written_is_a_moment_or_refused(moment):
    try:
        end = end_of(moment)
        check_order(end, end_of("+1"))
    except ValueError:
        return
    assert end is not None
    assert abs(end[1]) < 1 << 63
