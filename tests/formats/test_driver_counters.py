"""``/proc/net/wireless``, ``xmit`` of ath9k, ``tx_stats`` of mt76, ``ethtool -i``."""

from __future__ import annotations

import pytest

from counter_specimens import FW_STATS, TX_STATS, WIRELESS, XMIT
from txop.formats import ath9k_debugfs, ath10k_debugfs, ethtool, mt76_debugfs, proc_wireless
from txop.formats.error import FormatError


def test_proc_net_wireless() -> None:
    first, second = proc_wireless.parse(WIRELESS)
    assert (first.interface, first.quality, first.level, first.noise_dbm) == ("wlan0", 48, -62, None)
    assert (first.discarded_retry, first.discarded_misc, first.missed_beacons) == (31, 7, 0)
    assert (second.interface, second.level, second.missed_beacons) == ("wlp2s0", 0, 2)
    assert proc_wireless.parse("\n".join(WIRELESS.splitlines()[:2])) == ()
    with pytest.raises(FormatError):
        proc_wireless.parse("wlan0: 1 2 3")


def test_xmit_is_summed_over_access_categories() -> None:
    counters = ath9k_debugfs.parse_xmit(XMIT)
    assert counters["MPDUs Queued"] == 1300
    assert (counters["AMPDUs Completed"], counters["AMPDUs Retried"]) == (8100, 2000)
    with pytest.raises(FormatError):
        ath9k_debugfs.parse_xmit(XMIT.partition("\n")[2])


def test_fw_stats() -> None:
    found = ath10k_debugfs.parse_fw_stats(FW_STATS)
    assert (found["Channel noise floor"], found["MPDU queued"], found["MPDU errors (FCS, MIC, ENC)"]) == (
        -104,
        7_000,
        1_500,
    )
    assert found["PHY underrun"] == 4_000_000_000, "32 bits that the kernel prints with a sign"
    assert not {"vdev id", "num rx frames", "Peer RSSI"} & set(found)
    with pytest.raises(FormatError):
        ath10k_debugfs.parse_fw_stats(FW_STATS[FW_STATS.index("ath10k VDEV") :])


def test_tx_stats() -> None:
    found = mt76_debugfs.parse_tx_stats(TX_STATS)
    assert (found.longest, found.counts, found.block_ack_misses) == ((1, 10, 19), (6000, 3000, 1000), 250)
    assert found.amsdus == ((1, 7000), (2, 3000))
    assert found.error_percent is None
    assert mt76_debugfs.parse_tx_stats(TX_STATS + "PER: 2.5%\n").error_percent == 2.5
    with pytest.raises(FormatError):
        mt76_debugfs.parse_tx_stats(TX_STATS.replace(" 6000 |", ""))


def test_a_driver_and_its_levels() -> None:
    assert ethtool.parse_driver("driver: ath9k\nversion: 6.12\nbus-info: 0000:01:00.0\n") == "ath9k"
    assert ethtool.parse_driver("version: 6.12\n") is None
    assert [ethtool.signed_dbm(value) for value in (205, 164, 0, None, 2437)] == [-51, -92, None, None, None]
