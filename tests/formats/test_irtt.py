"""irtt: its own statistics, computed again from its single round trips."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from txop.formats import irtt
from txop.formats.error import FormatError

FOLDER = Path(__file__).with_name("captured") / "irtt"
RUNS = [f"v{version}{ending}" for version in ("0.9.0", "0.9.2") for ending in (".json", "-lossy.txt", "-lossy.json.gz")]


@pytest.mark.parametrize("name", RUNS)
def test_the_round_trips_give_irtts_own_statistics(name: str) -> None:
    result = irtt.parse((FOLDER / name).read_bytes())
    assert result.version == name[1:6]
    for figures, values in (
        (result.rtt, [trip.rtt_ms for trip in result.round_trips]),
        (result.send_delay, [trip.send_delay_ms for trip in result.round_trips]),
        (result.receive_delay, [trip.receive_delay_ms for trip in result.round_trips]),
    ):
        known = [value for value in values if value is not None]
        assert figures is not None
        assert figures.count == len(known)
        assert figures.min_ms == pytest.approx(min(known), abs=1e-6)
        assert figures.max_ms == pytest.approx(max(known), abs=1e-6)
        assert figures.mean_ms == pytest.approx(statistics.fmean(known), abs=2e-6)
        assert figures.median_ms == pytest.approx(statistics.median(known), abs=2e-6)
    ipdv = [abs(trip.ipdv_rtt_ms) for trip in result.round_trips if trip.ipdv_rtt_ms is not None]
    assert result.ipdv_round_trip is not None
    assert result.ipdv_round_trip.mean_ms == pytest.approx(statistics.fmean(ipdv), abs=2e-6)
    lost = [trip for trip in result.round_trips if trip.lost]
    assert result.packets_sent == len(result.round_trips)
    assert result.packet_loss_percent == pytest.approx(100 * len(lost) / len(result.round_trips))
    assert all(trip.rtt_ms is None for trip in lost)
    assert result.started_unix_s is not None
    first = result.round_trips[0].sent_unix_s
    assert first == pytest.approx(result.started_unix_s, abs=0.05)


@pytest.mark.parametrize("version", ["0.9.0", "0.9.2"])
def test_the_direction_of_loss(version: str) -> None:
    result = irtt.parse((FOLDER / f"v{version}-lossy.txt").read_bytes())
    by_direction = [trip.lost for trip in result.round_trips if trip.lost]
    assert by_direction.count("upstream") == 5
    assert by_direction.count("downstream") == 3
    assert by_direction.count("direction unknown") == 1
    assert result.duplicates == 1
    late = [trip.late for trip in result.round_trips]
    if version == "0.9.2":
        assert late.count(True) == result.late_packets == 5
    else:
        assert late == [None] * 40
        assert result.expected_packets is None


def test_missed_timers_are_noted() -> None:
    text = (FOLDER / "v0.9.2.json").read_text().replace('"timer_misses": 0', '"timer_misses": 3')
    assert "timer_misses" in text
    result = irtt.parse(text)
    assert result.timer_misses == 3
    assert any("too busy" in note for note in result.notes)


def test_what_is_not_irtt(captured: Callable[[str], str]) -> None:
    with pytest.raises(FormatError, match="irtt failed: read udp4"):
        irtt.parse(captured("irtt/v0.9.2-refused.txt"))
    with pytest.raises(FormatError, match="no JSON of irtt"):
        irtt.parse(captured("irtt/v0.9.0.stdout.txt"))
    with pytest.raises(FormatError, match="cut off"):
        irtt.parse(captured("irtt/v0.9.0.json")[:3000])
    with pytest.raises(FormatError, match="gzip data is damaged or cut off"):
        irtt.parse((FOLDER / "v0.9.0-lossy.json.gz").read_bytes()[:500])


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    monkeypatch.setattr(irtt, "JSON_LIMIT_BYTES", 100_000)
    with pytest.raises(FormatError, match="when decompressed"):
        irtt.parse(gzip.compress(b" " * 200_000))
