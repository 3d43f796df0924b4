"""mac80211's debugfs, as the kernel's format strings print it (no such file on a machine without a radio)."""

from __future__ import annotations

import pytest

from txop.formats import mac80211_debugfs as debugfs
from txop.formats.error import FormatError


def test_airtime_of_three_kernels() -> None:
    oldest = debugfs.parse_airtime("RX: 1234 us\nTX: 98765432100 us\nDeficit: VO: 1 us VI: 2 us BE: -300 us BK: 4 us\n")
    assert (oldest.rx_us, oldest.tx_us, oldest.weight) == (1234, 98_765_432_100, None)
    assert oldest.deficit_us["BE"] == -300
    with_weight = debugfs.parse_airtime(
        "RX: 1 us\nTX: 2 us\nWeight: 256\nDeficit: VO: 0 us VI: 0 us BE: 0 us BK: 0 us\n"
    )
    assert with_weight.weight == 256
    virtual = debugfs.parse_airtime("RX: 1 us\nTX: 2 us\nWeight: 256\nVirt-T: VO: 5 us VI: 5 us BE: 5 us BK: 5 us\n")
    assert virtual.deficit_us == {}
    with pytest.raises(FormatError, match="airtime expected"):
        debugfs.parse_airtime("RX: 1 us\n")


def test_aqm() -> None:
    text = (
        "target 19999us interval 99999us ecn yes\n"
        "tid ac backlog-bytes backlog-packets new-flows drops marks overlimit collisions tx-bytes tx-packets flags\n"
        "0 2 3028 2 17 5 1 0 3 4294967295 123456 0x0(RUN)\n"
        "6 0 0 0 0 0 0 0 0 0 0 0x3(STOP AMPDU NO-AMSDU)\n"
    )
    managed = debugfs.parse_aqm(text)
    assert (managed.target_us, managed.interval_us, managed.ecn) == (19_999, 99_999, True)
    best_effort, voice = managed.queues
    assert (best_effort.tid, best_effort.access_category, best_effort.drops, best_effort.ecn_marks) == (0, 2, 5, 1)
    assert (best_effort.backlog_bytes, best_effort.tx_bytes, best_effort.tx_packets) == (3028, 4_294_967_295, 123_456)
    assert voice.states == ("STOP", "AMPDU", "NO-AMSDU")
    with pytest.raises(FormatError, match="aqm expected"):
        debugfs.parse_aqm("nothing")


def test_aql() -> None:
    limits = debugfs.parse_aql(
        "Q depth: VO: 0 us VI: 0 us BE: 4312 us BK: 0 us\n"
        "Q limit[low/high]: VO: 5000/12000 VI: 5000/12000 BE: 5000/12000 BK: 5000/12000\n"
    )
    assert limits.depth_us["BE"] == 4312
    assert (limits.limit_low_us["BE"], limits.limit_high_us["VO"]) == (5000, 12_000)
