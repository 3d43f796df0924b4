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
