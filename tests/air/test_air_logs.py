"""``txop air --rates`` and ``--block-acks``: rates over time, and Block Acks one by one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from txop import air


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from txop import _native

    path = tmp_path_factory.mktemp("capture") / "air.pcapng"
    _native.write_specimen(path, seed=1, seconds=1.0, scene="lossy")
    return path


def test_rates_over_time_sum_up_to_the_rates_of_each_station(capture, txop):
    report = air.analyze(capture)
    over_time: Counter[tuple[str, str]] = Counter()
    for cell in report.rate_timeline.rows:
        over_time[cell.address, cell.label] += cell.frames
    assert report.rate_timeline.frames_left_out == 0
    assert over_time == Counter({(s.address, rate.label): rate.frames for s in report.stations for rate in s.rates})
    assert len({cell.start_us for cell in report.rate_timeline.rows}) >= 10
    text = txop("air", str(capture), "--rates").stdout
    assert "12. Rates over time" in text
    assert "13. Block Acks" not in text
    rows = txop("air", str(capture), "--table", "rate_timeline", "--csv", "-").stdout.splitlines()
    assert len(rows) == 1 + len(report.rate_timeline.rows)


def test_every_block_ack_is_a_row_where_it_is_asked_for(capture, txop):
    assert air.analyze(capture).block_ack_log is None
    report = air.analyze(capture, block_acks=True)
    log = report.block_ack_log
    assert log.frames == sum(flow.block_acks for flow in report.block_acks)
    assert (len(log.rows), log.rows_left_out) == (log.frames, 0)
    for row in log.rows:
        octets = bytes.fromhex(row.bitmap)
        assert (len(octets) * 8, int.from_bytes(octets).bit_count()) == (row.bits, row.acknowledged)
    text = txop("air", str(capture), "--block-acks", "--top", "3").stdout
    assert f"{log.frames:,} frames" in text
    document = json.loads(txop("air", str(capture), "--block-acks", "--json").stdout)
    assert len(document["block_ack_log"]["rows"]) == log.frames
