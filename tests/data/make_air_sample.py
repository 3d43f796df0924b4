"""Writes air-v2.json: a report with every part filled in, as the analyzer would write it for one access point, the
device under test with late Block Acks, a second station, and ghosts. Run it by hand after a change of the layout.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from air_sample_sections import AP, BIN_US, DUT, OTHER, SPAN_US, SSID, Sections, event, retry, said, spread

from txop.air import AirReport

PACKETS = "air-v2-packets.json"
"""What decryption and packets add to the first report."""


class Sample(Sections):
    """One made-up capture as a whole."""

    def document(self) -> dict[str, Any]:
        q, share = self.quality, self.retry_share
        down = {
            "payload": 0.42 + 0.14 * q,
            "mac_headers": 0.021,
            "preamble": 0.013,
            "ifs_backoff": 0.11,
            "ack": 0.024,
            "rts_cts": 0.0,
            "retries": 0.17 - 0.15 * q,
            "reverse": 0.043,
            "other_stations": 0.061,
            "beacons_management": 0.021,
            "damaged": 0.006,
            "idle_queued": 0.04,
        }
        up = {
            "payload": 0.012,
            "mac_headers": 0.003,
            "preamble": 0.008,
            "ifs_backoff": 0.02,
            "ack": 0.006,
            "rts_cts": 0.0,
            "retries": 0.002,
            "reverse": 0.63,
            "other_stations": 0.061,
            "beacons_management": 0.021,
            "damaged": 0.006,
            "idle_queued": 0.0,
        }
        falls = [self.waterfall(AP, DUT, "downlink", 58.4 + 4 * q, down), self.waterfall(DUT, AP, "uplink", 52.0, up)]
        stations = [
            self.station(AP, "ap", 96_240, share, 19.8e6),
            self.station(DUT, "station", 27_320, 0.031, 2.9e6),
            self.station(OTHER, "station", 4_120, 0.08, 1.1e6),
            {
                **self.station("01:00:5e:00:00:fb", "group", 1, 0, 0),
                "frames_sent": 0,
                "bad_fcs_sent": 0,
                "bytes_sent": 0,
                "data_frames_sent": 0,
                "frames_received": 410,
                "retries_sent": 0,
                "retry_percent": None,
                "airtime_us": None,
                "airtime": None,
                "rates": [],
                "signal_dbm": None,
                "mpdu_retry": retry(0, 0),
                "first_seen_us": None,
                "last_seen_us": None,
            },
        ]
        ghosts = []
        for k in range(41):
            bits = self.random.sample(range(48), self.random.choice((1, 1, 2, 3)))
            origin = self.random.choice((AP, DUT, OTHER))
            damaged = int(origin.replace(":", ""), 16)
            for bit in bits:
                damaged ^= 1 << bit
            text = f"{damaged:012x}"
            ghosts.append(
                {
                    "address": ":".join(text[i : i + 2] for i in range(0, 12, 2)),
                    "of": origin if k % 9 else None,
                    "distance": len(bits) if k % 9 else None,
                    "frames_sent": 1 + k % 3,
                    "frames_received": k % 2,
                    "bad_fcs": 1 + k % 3 + k % 2,
                    "reason": "only in frames with a bad FCS",
                }
            )
        frames = 131_872
        late = q < 0.5
        return {
            "format": "txop-air",
            "version": 2,
            "tool": "txop 0.1.0",
            "origin": "imported",
            "path": self.path,
            "frames": frames,
            "bad_fcs": 911,
            "summary": {
                "container": "pcapng",
                "compression": "none",
                "link_types": [{"number": 127, "name": "IEEE802_11_RADIOTAP", "frames": frames}],
                "not_wlan": 0,
                "unreadable": 3,
                "empty_psdus": 0,
                "unreadable_examples": ["record 5120 at byte 7012233: MAC header cut short"],
                "first_time_unix_s": 1605700800.25,
                "span_us": SPAN_US,
                "captured_bytes": 148_220_114,
                "channels": [{"frequency_mhz": 2452, "channel": 9, "band": "2.4 GHz", "frames": frames}],
                "fcs": {"good": frames - 911 - 40, "bad": 911, "unknown": 40, "disagreements": 0, "flagged_good": 0},
                "snap_lengths": [262144],
                "cut_frames": 0,
                "own_transmissions": 0,
                "dropped_by_capture": 0,
                "damage": {"offset": 150_331_912, "message": "the file ends inside a packet block of 1584 bytes"}
                if late
                else None,
                "window": None,
                "selection": None,
                "limits": [
                    {
                        "code": "no-snr",
                        **said("The receiver reports no noise level.", frames=(frames, "count", frames)),
                        "affects": ["stations"],
                    }
                ],
            },
            "timing": {
                "frames": 32768,
                "clock": "tsft",
                "stamp_meaning": "mpdu-first-bit",
                "ambiguous_with": None,
                "confidence": 0.97,
                "hypotheses": [
                    {
                        "meaning": "mpdu-first-bit",
                        "pairs": 9120,
                        "median_gap_us": 10.0,
                        "iqr_us": 1.0,
                        "in_window": 0.97,
                    },
                    {"meaning": "ppdu-start", "pairs": 9120, "median_gap_us": 42.0, "iqr_us": 4.0, "in_window": 0.01},
                    {"meaning": "ppdu-end", "pairs": 9120, "median_gap_us": 212.0, "iqr_us": 180.0, "in_window": 0.0},
                ],
                "ampdu_reference": "ppdu-id",
                "grouping": "ampdu-reference",
                "control_rates_believable": True,
                "control_rate_overlaps": 12,
                "control_rate_checked": 8800,
                "clock_jumps": 0,
                "text": ["Stamps are TSFT and mark the first bit of the MPDU: 97 % of 9,120 responses come at SIFS."],
            },
            "hearing": {
                "silence_is_evidence": True,
                "proof": said(
                    "291 of the 293 beacons of 18:0f:76:c5:0a:ea that were due were captured (99 %)",
                    heard=(291.0, "count", 293),
                    due=(293.0, "count", 293),
                ),
                "doubts": [],
                "missing_attempts": None,
                "no_proof": None,
                "control_frames": 31_204,
                "responses": 30_190,
                "responses_without_frame": 212,
                "beacon_senders": 2,
                "beacons": [{"address": AP, "interval_tu": 100, "heard": 291, "due": 293, "heard_share": 291 / 293}],
            },
            "floods": [
                {
                    "kind": "deauthentication",
                    "frames": 1_553,
                    "most_in_a_second": 582,
                    "first_us": 1_000_000.0,
                    "last_us": 3_700_000.0,
                    "sender": OTHER,
                    "receiver": "ff:ff:ff:ff:ff:ff",
                    **said("deauthentication flood: 1,553 frames in 2.7 s", frames=(1_553.0, "count", 1_553)),
                }
            ],
            "events": {
                "frames": [
                    {"kind": "association-response", "frames": 1},
                    {"kind": "handshake-1", "frames": 2},
                    {"kind": "deauthentication", "frames": 1_553},
                ],
                "rows": [
                    event(0.2e6, "association-response", AP, DUT, code=0, text="success"),
                    event(0.21e6, "handshake-1", AP, DUT, end_us=0.31e6, frames=2, retries=1),
                    event(
                        1e6,
                        "deauthentication",
                        OTHER,
                        "ff:ff:ff:ff:ff:ff",
                        end_us=3.7e6,
                        frames=1_553,
                        code=7,
                        text="frame sent before association",
                    ),
                ],
                "rows_left_out": 0,
                "frames_left_out": 0,
            },
            "rate_timeline": {
                "bin_us": 100_000.0,
                "rows": [
                    {
                        "address": AP,
                        "start_us": 100_000.0 * span,
                        "label": label,
                        "family": "ht",
                        "mbit_s": rate,
                        "frames": 30 - 10 * order,
                        "retries": 3,
                    }
                    for span in range(2)
                    for order, (label, rate) in enumerate((("HT20 MCS7", 65.0), ("HT20 MCS5", 52.0)))
                ],
                "frames_left_out": 0,
            },
            "block_ack_log": {
                "frames": 1,
                "rows": [
                    {
                        "number": 12,
                        "at_us": 250_000.0,
                        "recipient": DUT,
                        "originator": AP,
                        "tid": 0,
                        "start": 100,
                        "bits": 64,
                        "acknowledged": 8,
                        "bitmap": "ff00000000000000",
                    }
                ],
                "rows_left_out": 0,
            },
            "stations": stations,
            "bss": [
                {
                    "bssid": AP,
                    "ssid": SSID,
                    "channel": 9,
                    "packets": 118_002,
                    "retries": int(118_002 * share * 0.8),
                    "retry_percent": 100 * int(118_002 * share * 0.8) / 118_002,
                    "beacons": 293,
                    "data_packets": 117_512,
                    "probes": 22,
                    "stations": 2,
                    "members": [
                        {
                            "address": AP,
                            "packets": 117_512,
                            "retries": 22_560,
                            "retry_percent": 100 * 22_560 / 117_512,
                            "sent": 92_000,
                            "received": 25_400,
                        }
                    ],
                },
                {
                    "bssid": "24:f5:a2:c0:4e:b1",
                    "ssid": "customer-wifi",
                    "channel": 11,
                    "packets": 190,
                    "retries": 0,
                    "retry_percent": 0.0,
                    "beacons": 190,
                    "data_packets": 0,
                    "probes": 0,
                    "stations": 0,
                    "members": [],
                },
            ],
            "access_points": [
                {
                    "bssid": AP,
                    "kind": "ap",
                    "ssids": [SSID],
                    "hidden": False,
                    "channel": 9,
                    "frequency_mhz": 2452,
                    "width_mhz": 20,
                    "punctured_mhz": None,
                    "standards": ["b", "g", "n"],
                    "security": "WPA2 Personal",
                    "key_managements": ["PSK"],
                    "pairwise_ciphers": ["CCMP-128"],
                    "group_ciphers": ["CCMP-128"],
                    "pmf": "no",
                    "wps": True,
                    "country": "DE",
                    "mld": None,
                    "beacons": 293,
                    "signal_dbm": spread([-40.0, -42.0, -44.0]),
                    "stations": 1,
                    "first_seen_us": 0.0,
                    "last_seen_us": 29_900_000.0,
                },
                {
                    "bssid": "24:f5:a2:c0:4e:b1",
                    "kind": "ap",
                    "ssids": [],
                    "hidden": True,
                    "channel": None,
                    "frequency_mhz": None,
                    "width_mhz": None,
                    "punctured_mhz": None,
                    "standards": [],
                    "security": None,
                    "key_managements": [],
                    "pairwise_ciphers": [],
                    "group_ciphers": [],
                    "pmf": None,
                    "wps": False,
                    "country": None,
                    "mld": "24:f5:a2:c0:4e:b0",
                    "beacons": 1,
                    "signal_dbm": None,
                    "stations": 0,
                    "first_seen_us": None,
                    "last_seen_us": None,
                },
            ],
            "links": [
                self.link(AP, DUT, "downlink", 92_110, share, 18.9e6),
                self.link(DUT, AP, "uplink", 24_300, 0.03, 2.7e6),
                self.link(AP, OTHER, "downlink", 3_100, 0.09, 0.8e6),
                self.link(OTHER, AP, "uplink", 2_900, 0.07, 0.9e6),
            ],
            "ghosts": ghosts,
            "ghost_effect": {
                "addresses": 46,
                "addresses_good": 5,
                "ghosts": 41,
                "ghost_frames": 102,
                "retry_all": retry(117_512, int(117_512 * (share * 0.8 + 0.004))),
                "retry_good": retry(116_640, int(116_640 * share * 0.8)),
                "addresses_evicted": 0,
            },
            "exchanges": [
                self.exchange(AP, DUT, 9_260, 10.6, 0.12 if late else 0.01),
                self.exchange(DUT, AP, 20_110, 10.2, 0.01),
                self.exchange(AP, OTHER, 820, 11.9, 0.05),
            ],
            "block_acks": [self.block_ack()],
            "ack_verdicts": [
                {
                    "originator": AP,
                    "recipient": DUT,
                    "question": "block-ack",
                    "answer": "late" if late else "in-order",
                    **said(
                        "08:be:ac:0b:14:c4 receives the frames and acknowledges them too late."
                        if late
                        else "08:be:ac:0b:14:c4 acknowledges what it receives, in time.",
                        late=(411.0, "count", 9_790),
                    ),
                    "evidence": [
                        said(
                            "94 % of 9,790 left-out MPDUs are in the last quarter of their A-MPDU (by chance: 27 %).",
                            share=(94.0, "%", 9_790),
                        ),
                        said(
                            "411 MPDUs were acknowledged by a later Block Ack without a retransmission.",
                            late=(411.0, "count", 9_790),
                        ),
                        said(
                            "Median age of a left-out MPDU 180 µs, of an acknowledged one 1,400 µs (n = 800 each).",
                            left_out=(180.0, "µs", 800),
                            acked=(1_400.0, "µs", 800),
                        ),
                    ]
                    if late
                    else [
                        said(
                            "Block Ack holes: 0.8 % of 82,400 MPDUs, at any position alike.",
                            share=(0.8, "%", 82_400),
                        )
                    ],
                },
                {
                    "originator": AP,
                    "recipient": DUT,
                    "question": "ack",
                    "answer": "not-determined",
                    **said(
                        "Cannot be determined from this capture, because only 31 single frames ask for an ACK.",
                        ppdus=(31.0, "count", 31),
                    ),
                    "evidence": [],
                },
            ],
            "aggregation": [
                self.aggregation(AP, DUT, 0, 7_410, 11.2 + 9 * q),
                self.aggregation(DUT, AP, 0, 5_020, 1.0),
                self.aggregation(AP, OTHER, None, 210, 1.0),
            ],
            "multi_link_devices": [
                {
                    "mld": "06:00:00:00:00:b0",
                    "kind": "station",
                    "links": [
                        {
                            "address": OTHER,
                            "link_id": 0,
                            "channel": 6,
                            "own_claims": 1,
                            "named_by_others": 0,
                            "frames_sent": 410,
                            "mpdu_retry": {"frames": 400, "retries": 20, "percent": 5.0},
                            "airtime_us": 210_000.0,
                        },
                        {
                            "address": "06:00:00:00:00:b1",
                            "link_id": 1,
                            "channel": None,
                            "own_claims": 0,
                            "named_by_others": 1,
                            "frames_sent": 0,
                            "mpdu_retry": {"frames": 0, "retries": 0, "percent": None},
                            "airtime_us": None,
                        },
                    ],
                    "links_captured": 1,
                    "frames_sent": 410,
                    "data_frames_sent": 400,
                    "bytes_sent": 410_000,
                    "mpdu_retry": {"frames": 400, "retries": 20, "percent": 5.0},
                    "airtime_us": 210_000.0,
                },
            ],
            "unclear_links": [
                {
                    "address": "06:00:00:00:00:c1",
                    "mlds": ["06:00:00:00:00:c0", "06:00:00:00:00:ee"],
                    "text": said(
                        "2 frames claim 06:00:00:00:00:c1 for 2 multi-link devices, 1 of them for one and 1 for "
                        "others: which one it is a link of can't be determined",
                        all=(2, "count", 2),
                        count=(2, "count", 2),
                        first=(1, "count", 2),
                        others=(1, "count", 2),
                    ),
                },
            ],
            "multi_user": [
                {
                    "ta": AP,
                    "ra": OTHER,
                    "frames": 25,
                    "single_user": 10,
                    "extended_range": 1,
                    "multi_user": 7,
                    "trigger_based": 7,
                    "format_unknown": 0,
                    "unit_known": 25,
                    "certainly_ofdma": 9,
                    "certainly_ofdma_share": 0.36,
                    "ppdus_timed": 9,
                    "ppdus_air_us": 4_500.0,
                    "band_share": 0.21,
                    "ppdus_joint": 4,
                    "resource_units": [{"tones": 26, "frames": 5}, {"tones": 106, "frames": 4}],
                },
            ],
            "multi_user_ppdus": [
                {
                    "ta": AP,
                    "ppdus": 7,
                    "parts_without_stamp": 0,
                    "allocation_known": 6,
                    "contradictory": 0,
                    "units": 18,
                    "users": 18,
                    "users_captured": 10,
                    "users_not_captured": 8,
                    "resource_units": [{"tones": 242, "units": 12}, {"tones": 484, "units": 6}],
                    "allocations": [{"units": "484 + 2 x 242", "users": 3, "ppdus": 6, "users_captured": 10}],
                    "sig_timed": 7,
                    "sig_us": 84.0,
                    "sig_air_us": 4_200.0,
                    "sig_share": 0.02,
                    "sig_b_rates": [{"mcs": 0, "dcm": False, "ppdus": 7}],
                },
            ],
            "airtime": {
                "busy_us": 23.9e6,
                "observed_us": SPAN_US,
                "busy_share": 23.9e6 / SPAN_US,
                "bss_us": None,
                "bss_share": None,
                "bss_busy_share": None,
                "bss_kinds": None,
                "busy_share_low": 23.8e6 / SPAN_US,
                "busy_share_high": 24.3e6 / SPAN_US,
                "kinds": {
                    "data_us": 15.9e6,
                    "retry_us": 5.0e6 - 4e6 * q,
                    "control_us": 2.1e6,
                    "management_us": 0.1e6,
                    "beacon_us": 0.63e6,
                    "unknown_us": 0.17e6,
                },
                "frames_without_duration": 212,
                "uncertainty_us": 61_000.0,
                "by_phy": [
                    {"phy": "HT mixed", "ppdus": 29_300, "airtime_us": 20.1e6},
                    {"phy": "OFDM", "ppdus": 31_240, "airtime_us": 2.4e6},
                    {"phy": "DSSS/CCK", "ppdus": 2_150, "airtime_us": 1.4e6},
                ],
                "series": [
                    {
                        "start_us": k * BIN_US,
                        "busy_share": 0.75 + 0.05 * self.random.random() - (0.68 if 49 < k < 53 and late else 0),
                        "data_share": 0.5 if not (49 < k < 53 and late) else 0.0,
                        "retry_share": 0.16 * (1 - q) + 0.01,
                        "bss_share": None,
                    }
                    for k in range(int(SPAN_US / BIN_US))
                ],
                "bin_us": BIN_US,
            },
            "waterfall": falls[0]["steps"],
            "waterfalls": falls,
            "capabilities": self.capabilities(),
            "steadiness": [
                self.steadiness(AP, DUT, "downlink", falls[0]["payload_mbit_s"]),
                self.steadiness(DUT, AP, "uplink", 0.7),
            ],
        }


def main(folder: Path) -> None:
    for name, quality in (("air-v2.json", 0.0), ("air-v2-good.json", 1.0)):
        path = "rtl8xxxu.pcapng" if quality == 0 else "8192cu.pcapng"
        document = Sample(quality, path).document()
        if quality == 0:
            document |= json.loads((Path(__file__).parent / PACKETS).read_text(encoding="utf-8"))
        # Fields that the sections above leave out have the value of a document that lacks them.
        document = AirReport.parse(json.dumps(document)).model_dump(mode="json")
        text = json.dumps(document, indent=1)
        (folder / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
