"""What each figure means: what is counted, and the kernel file that says so. Where drivers differ, by driver."""

from __future__ import annotations

from dataclasses import dataclass

_STA = "net/mac80211/sta_info.c (sta_set_sinfo)"
_STATUS = "net/mac80211/status.c (ieee80211_tx_status_ext)"
_SURVEY = "include/net/cfg80211.h (struct survey_info)"
_MINSTREL = "net/mac80211/rc80211_minstrel_ht_debugfs.c"
_WEXT = "net/wireless/wext-compat.c (cfg80211_wireless_stats)"
_ETHTOOL = "net/mac80211/ethtool.c"
_ATH9K = "drivers/net/wireless/ath/ath9k/debug.c (read_file_xmit)"
_MT76 = "drivers/net/wireless/mediatek/mt76 (mt7915_ampdu_stat_read_phy, mt792x_ampdu_stat_read_phy)"

_ATH10K = "drivers/net/wireless/ath/ath10k/wmi.h (struct wmi_pdev_stats_tx, struct wmi_pdev_stats_rx)"
_DEBUGFS = "net/mac80211/debugfs_sta.c"
_AQM = f"{_DEBUGFS} (sta_aqm_read)"
_AQL = f"{_DEBUGFS} (sta_aql_read)"


@dataclass(frozen=True)
class Meaning:
    """Of one code."""

    title: str
    """What the figure is called in tables."""
    unit: str
    means: str
    source: str


MEANINGS: dict[str, Meaning] = {
    "tx-packets": Meaning("sent", "packets", "MSDUs handed to the driver for the peer", _STA),
    "rx-packets": Meaning("received", "packets", "MPDUs received from the peer", _STA),
    "tx-bytes": Meaning("sent", "bytes", "their bytes, with the 802.11 header as mac80211 has it", _STA),
    "rx-bytes": Meaning("received", "bytes", "their bytes", _STA),
    "tx-mbit-s": Meaning("sending", "Mbit/s", "bytes sent by the time between the readings", _STA),
    "rx-mbit-s": Meaning("receiving", "Mbit/s", "bytes received by the time between the readings", _STA),
    "tx-retries": Meaning(
        "retries",
        "attempts",
        "attempts after the first, by the driver's reports; of an A-MPDU with one report, those of the A-MPDU",
        _STATUS,
    ),
    "tx-retry-percent": Meaning("retries of attempts", "percent", "retries of packets and retries together", _STATUS),
    "tx-failed": Meaning(
        "lost after all retries", "packets", "reports of transmission without an acknowledgement", _STATUS
    ),
    "tx-failed-percent": Meaning("lost after all retries", "percent", "the same, of the packets sent", _STATUS),
    "rx-drop-misc": Meaning(
        "dropped on reception",
        "packets",
        "received frames that mac80211 refused for the peer: duplicates, not decryptable",
        _STA,
    ),
    "beacon-loss": Meaning(
        "beacon losses",
        "events",
        "times that no beacon came for several beacon intervals, so that the access point was asked",
        "net/mac80211/mlme.c (ieee80211_beacon_connection_loss_work)",
    ),
    "beacon-rx": Meaning(
        "beacons received", "beacons", "beacons that reached mac80211; firmware may filter them", _STA
    ),
    "beacon-rx-percent": Meaning(
        "beacons received", "percent", "of those due by the beacon interval; less where firmware filters them", _STA
    ),
    "signal-dbm": Meaning("signal", "dBm", "of the last frame that was received from the peer", _STA),
    "signal-average-dbm": Meaning("signal average", "dBm", "moving average of it", _STA),
    "ack-signal-dbm": Meaning(
        "signal of acknowledgements", "dBm", "of the last frame that the peer acknowledged", _STATUS
    ),
    "tx-rate": Meaning("last tx rate", "Mbit/s", "of the last frame sent, which may be a management frame", _STA),
    "rx-rate": Meaning("last rx rate", "Mbit/s", "of the last frame received, which may be a management frame", _STA),
    "expected-throughput": Meaning("expected throughput", "Mbit/s", "what rate control expects of its best rate", _STA),
    "tx-airtime-percent": Meaning("airtime of sending", "percent", "as the driver reports it, of the window", _STA),
    "rx-airtime-percent": Meaning(
        "airtime of receiving", "percent", "as mac80211 or the driver computes it, of the window", _STA
    ),
    "channel-active": Meaning("on the channel", "ms", "time that the radio was on it", _SURVEY),
    "channel-busy-percent": Meaning(
        "busy", "percent", "of that time: energy above the threshold, or own transmission", _SURVEY
    ),
    "channel-tx-percent": Meaning("transmitting", "percent", "of that time", _SURVEY),
    "channel-rx-percent": Meaning("receiving", "percent", "of that time: frames of any network", _SURVEY),
    "channel-own-rx-percent": Meaning(
        "receiving, own network", "percent", "of that time: frames of the own network", _SURVEY
    ),
    "noise-dbm": Meaning("noise", "dBm", "as the driver calibrated it last", _SURVEY),
    "rate-attempts": Meaning("attempts", "attempts", "MPDUs sent at the rate, retransmissions included", _MINSTREL),
    "rate-share-percent": Meaning("share of attempts", "percent", "of the attempts at all rates", _MINSTREL),
    "rate-failed-percent": Meaning("failed", "percent", "attempts that were not acknowledged", _MINSTREL),
    "attempts-failed-percent": Meaning(
        "failed at all rates", "percent", "attempts that were not acknowledged", _MINSTREL
    ),
    "ampdu-length": Meaning("MPDUs in an A-MPDU", "MPDUs", "moving average, of all A-MPDUs of late", _MINSTREL),
    "sample-percent": Meaning("packets that tried a rate", "percent", "of the packets", _MINSTREL),
    "wext-level-dbm": Meaning("signal", "dBm", "of the last frame that was received", _WEXT),
    "wext-retry": Meaning("lost after all retries", "packets", "tx failed of the access point's entry", _WEXT),
    "wext-misc": Meaning("dropped on reception", "packets", "rx drop misc of the access point's entry", _WEXT),
    "wext-beacon": Meaning("missed beacons", "beacons", "0 from drivers of cfg80211, which do not fill it in", _WEXT),
    "tx-filtered": Meaning("filtered", "packets", "given back by the driver because the peer sleeps", _ETHTOOL),
    "rx-duplicates": Meaning("duplicates", "packets", "received a second time: the acknowledgement was lost", _ETHTOOL),
    "counter": Meaning("counter", "", "as the driver names it", "the driver's own ethtool strings"),
    "subframes-retried-percent": Meaning(
        "MPDUs of A-MPDUs sent again", "percent", "of those completed and sent again", _ATH9K
    ),
    "subframes-lost": Meaning("MPDUs of A-MPDUs given up", "MPDUs", "after all retries", _ATH9K),
    "ampdu-count": Meaning("A-MPDUs", "A-MPDUs", "sent, single MPDUs included", _MT76),
    "ampdu-single-percent": Meaning("sent as single MPDUs", "percent", "of all A-MPDUs", _MT76),
    "block-ack-miss-percent": Meaning("A-MPDUs without a Block Ack", "percent", "of all A-MPDUs", _MT76),
    "firmware-msdus": Meaning("MSDUs queued", "packets", "that the firmware gave to its lower part (WAL)", _ATH10K),
    "firmware-mpdus": Meaning("MPDUs queued", "MPDUs", "the same, of MPDUs", _ATH10K),
    "firmware-mpdus-again": Meaning("MPDUs queued again", "MPDUs", "by software of the firmware", _ATH10K),
    "firmware-excessive-retries": Meaning("excessive retries", "events", "as the firmware counts them", _ATH10K),
    "firmware-dropped": Meaning("lost after all retries", "packets", "by software of the firmware", _ATH10K),
    "firmware-mpdu-errors": Meaning("MPDUs received with errors", "MPDUs", "FCS, MIC or decryption", _ATH10K),
    "airtime-tx": Meaning(
        "airtime of sending",
        "ms",
        "as the driver reports it, or as mac80211 estimates it; since the file was written to, if it was",
        f"{_DEBUGFS} (sta_airtime_read)",
    ),
    "airtime-rx": Meaning(
        "airtime of receiving", "ms", "as the driver or mac80211 computes it", f"{_DEBUGFS} (sta_airtime_read)"
    ),
    "airtime-weight": Meaning(
        "weight of airtime", "", "share among the peers, 256 by default", f"{_DEBUGFS} (sta_airtime_read)"
    ),
    "queue-packets": Meaning("packets from the queues", "packets", "handed to the driver, all TIDs", _AQM),
    "queue-drops": Meaning("dropped by CoDel", "packets", "as they had waited for too long, all TIDs", _AQM),
    "queue-drops-percent": Meaning("dropped by CoDel", "percent", "of those dropped and handed to the driver", _AQM),
    "queue-marks": Meaning("marked by CoDel (ECN)", "packets", "instead of being dropped, all TIDs", _AQM),
    "queue-over-limit": Meaning(
        "dropped as the queues were full", "packets", "limit of packets or of memory, all TIDs", _AQM
    ),
    "queue-backlog": Meaning("packets in the queues", "packets", "all TIDs", _AQM),
    "queue-target": Meaning("CoDel's target", "ms", "time in the queue that it aims at", _AQM),
    "aql-pending": Meaning("airtime in the driver", "ms", "of frames that it has not reported back, estimated", _AQL),
    "aql-limit": Meaning(
        "limit of airtime in the driver",
        "ms",
        "the higher one, for as long as all peers together have little in it",
        _AQL,
    ),
}

DRIVERS: dict[str, dict[str, tuple[str, str]]] = {
    "rtl8xxxu": {
        "tx-retries": (
            "none are counted: the driver reports each frame as sent once when USB has taken it",
            "drivers/net/wireless/realtek/rtl8xxxu/core.c (rtl8xxxu_tx_complete)",
        ),
        "tx-failed": (
            "frames that USB did not take; what the air lost is not counted",
            "drivers/net/wireless/realtek/rtl8xxxu/core.c (rtl8xxxu_tx_complete)",
        ),
    },
    "mt7915e": {
        "tx-retries": (
            "counted by the chip for the peer",
            "drivers/net/wireless/mediatek/mt76/mt7915/main.c (mt7915_sta_statistics)",
        ),
    },
    "ath10k_pci": {
        "tx-retries": (
            "counted by the firmware for the peer",
            "drivers/net/wireless/ath/ath10k/mac.c (ath10k_sta_statistics)",
        ),
    },
}
"""What a figure means where a driver fills it in otherwise than mac80211: by the name that ``ethtool -i`` has."""

NO_RETRIES = frozenset({"rtl8xxxu"})
"""Drivers that count no retries."""


def meaning_of(code: str, driver: str | None) -> tuple[str, str]:
    """What it means with a driver, and the source."""
    special = DRIVERS.get(driver or "", {}).get(code)
    return special if special is not None else (MEANINGS[code].means, MEANINGS[code].source)
