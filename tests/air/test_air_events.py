"""``txop air --events``: the table, and where it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from txop import air
from txop.air.view.sections.events import says


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from txop import _native

    path = tmp_path_factory.mktemp("capture") / "air.pcapng"
    _native.write_specimen(path, seed=1, seconds=1.0, scene="healthy")
    return path


def test_the_table_is_shown_where_it_is_asked_for(capture, txop, tmp_path):
    page = tmp_path / "air.html"
    events = air.analyze(capture).events
    names = {row.kind for row in events.frames}
    assert {"authentication", "association-request", "association-response"} <= names
    without = txop("air", str(capture), "--html", str(page))
    assert "In time order" not in without.stdout
    assert "Association response" in page.read_text()
    for options in (["--events"], ["--section", "events"]):
        done = txop("air", str(capture), *options)
        assert done.returncode == 0
        assert "10. Events" in done.stdout
        assert done.stdout.count("Association response") == 1 + sum(
            row.kind == "association-response" for row in events.rows
        )
    assert "Stations" not in txop("air", str(capture), "--section", "events").stdout
    table = txop("air", str(capture), "--table", "events", "--csv", "-").stdout
    assert len(table.splitlines()) == 1 + len(events.rows)


def test_a_code_is_named_with_its_meaning():
    sample = json.loads((Path(__file__).parent.parent / "data" / "air-v2.json").read_text())
    report = air.AirReport.parse(json.dumps(sample))
    said = [says(event) for event in report.events.rows]
    assert said == ["success (status 0)", "", "frame sent before association (reason 7)"]
    event = report.events.rows[0].model_copy(
        update={"sender": None, "text": None, "code": None, "from_bssid": "02:00:00:00:00:01"}
    )
    assert says(event) == "the station comes from 02:00:00:00:00:01, in the names of many stations"


def test_events_of_a_network_are_its_own(capture):
    whole = air.analyze(capture)
    bssid = next(row.bssid for row in whole.bss if row.beacons and row.data_packets)
    part = air.analyze(capture, bssid=bssid).events
    assert part.rows == [row for row in whole.events.rows if bssid in (row.bssid, row.sender, row.receiver)]
    assert part.rows
