"""Writes air-v2.json: a report with every part filled in, as the analyzer would write it for one access point, the
device under test with late Block Acks, a second station, and ghosts. Run it by hand after a change of the layout.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

AP, DUT, OTHER = "18:0f:76:c5:0a:ea", "08:be:ac:0b:14:c4", "a4:c3:f0:12:9b:07"
PACKETS = "air-v2-packets.json"
"""What decryption and packets add to the first report."""

SSID, SPAN_US, BIN_US = "CHT57196", 30_000_000.0, 250_000.0

HT_MBIT_S = (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0)


def said(text: str, **figures: tuple[float, str, int]) -> dict[str, Any]:
    """A sentence with its figures: name, (value, unit, n)."""
    rows = [{"name": name, "value": value, "unit": unit, "n": n} for name, (value, unit, n) in figures.items()]
    return {"text": text, "figures": rows}


def event(start_us: float, kind: str, sender: str, receiver: str, **more: Any) -> dict[str, Any]:
    """An event of one frame, unless ``more`` says otherwise."""
    row = {"start_us": start_us, "end_us": start_us, "kind": kind, "sender": sender, "receiver": receiver, "bssid": AP}
    return row | {"from_bssid": None, "frames": 1, "retries": 0, "code": None, "text": None} | more


def retry(frames: int, retries: int) -> dict[str, Any]:
    return {"frames": frames, "retries": retries, "percent": 100 * retries / frames if frames else None}


def spread(values: list[float]) -> dict[str, Any]:
    v = sorted(values)

    def at(q: float) -> float:
        return v[min(len(v) - 1, int(q * len(v)))]

    return {
        "n": len(v),
        "min": v[0],
        "p5": at(0.05),
        "median": at(0.5),
        "p95": at(0.95),
        "max": v[-1],
        "mean": sum(v) / len(v),
    }


def bars(values: list[float], width: float = 1.0) -> list[dict[str, Any]]:
    counts: dict[int, int] = {}
    for value in values:
        counts[int(value // width)] = counts.get(int(value // width), 0) + 1
    return [{"low": k * width, "high": (k + 1) * width, "count": c} for k, c in sorted(counts.items())]


class Sample:
    """One made-up capture; ``quality`` 0 (the late driver) to 1 (the good one)."""

    def __init__(self, quality: float, path: str) -> None:
        self.random = random.Random(20201118)  # noqa: S311 - repeatable on purpose
        self.quality, self.path = quality, path
        self.retry_share = 0.24 - 0.22 * quality

    def rates(self, frames: int, share: float, best: int) -> list[dict[str, Any]]:
        rows = []
        for mcs, mbit_s in enumerate(HT_MBIT_S):
            n = int(frames * max(0.0, 0.62 - 0.3 * abs(best - mcs)) * self.random.uniform(0.8, 1.1))
            if n:
                sgi = " SGI" if mcs == 7 else ""
                rate = mbit_s * (10 / 9 if sgi else 1)
                rows.append(
                    {
                        "label": f"HT20 MCS{mcs}{sgi}",
                        "family": "ht",
                        "mbit_s": round(rate, 1),
                        "frames": n,
                        "retries": int(n * share * (1.4 - 0.1 * mcs)),
                        "bytes": n * 1538,
                    }
                )
        rows.append(
            {
                "label": "1 Mb/s",
                "family": "dsss",
                "mbit_s": 1.0,
                "frames": frames // 90,
                "retries": 3,
                "bytes": frames // 90 * 250,
            }
        )
        return sorted(rows, key=lambda row: -row["frames"])

    def station(
        self, address: str, kind: str, frames: int, share: float, airtime: float, **more: Any
    ) -> dict[str, Any]:
        retries = int(frames * share)
        kinds = {
            "data_us": airtime * (0.86 - share),
            "retry_us": airtime * share,
            "control_us": airtime * 0.09,
            "management_us": airtime * 0.004,
            "beacon_us": airtime * 0.046 if kind == "ap" else 0.0,
            "unknown_us": 0.0,
        }
        signal = [self.random.gauss(-48 if kind == "ap" else -41, 2) for _ in range(400)]
        return {
            "address": address,
            "kind": kind,
            "ssid": SSID if kind == "ap" else None,
            "frames_sent": frames,
            "bad_fcs_sent": frames // 130,
            "bytes_sent": frames * 1300,
            "data_frames_sent": int(frames * 0.93),
            "frames_received": frames // 2,
            "retries_sent": retries,
            "retry_percent": 100 * retries / frames,
            "wireshark": {
                "packets": int(frames * 1.4),
                "retries": int(retries * 1.2),
                "retry_percent": 100 * int(retries * 1.2) / int(frames * 1.4),
                "sent": int(frames * 0.9),
                "received": int(frames * 0.5),
            },
            "mpdu_retry": retry(int(frames * 0.92), int(retries * 0.99)),
            "airtime_us": sum(kinds.values()),
            "airtime": kinds,
            "rates": self.rates(frames, share, 7 if self.quality > 0.5 else 6),
            "signal_dbm": spread(signal),
            "first_seen_us": 0.0,
            "last_seen_us": SPAN_US - 2100,
            "power_management_frames": 0 if kind == "ap" else 212,
            "power_management_changes": 0 if kind == "ap" else 14,
            **more,
        }

    def link(self, ta: str, ra: str, direction: str, frames: int, share: float, airtime: float) -> dict[str, Any]:
        return {
            "bssid": AP,
            "station": ra if ta == AP else ta,
            "direction": direction,
            "ta": ta,
            "ra": ra,
            "frames": frames,
            "bytes": frames * 1400,
            "data_frames": int(frames * 0.97),
            "wireshark_retry": retry(frames, int(frames * share)),
            "mpdu_retry": retry(int(frames * 0.96), int(frames * share * 0.98)),
            "byte_retry_percent": 101 * share,
            "airtime_us": airtime,
            "rates": self.rates(frames, share, 7 if self.quality > 0.5 else 6),
            "signal_dbm": spread([self.random.gauss(-45, 2) for _ in range(300)]),
            "first_seen_us": 1200.0,
            "last_seen_us": SPAN_US - 3000,
        }

    def exchange(self, ta: str, ra: str, ppdus: int, median_us: float, tail: float) -> dict[str, Any]:
        gaps = [max(7.0, self.random.gauss(median_us, 0.8)) for _ in range(ppdus // 4)]
        gaps += [self.random.uniform(median_us, median_us + 14) for _ in range(int(ppdus / 4 * tail))]
        answered = int(ppdus * (0.965 - tail / 4))
        return {
            "ta": ta,
            "ra": ra,
            "ppdus": ppdus,
            "acked": answered // 9,
            "block_acked": answered - answered // 9,
            "rts": 0,
            "cts": 0,
            "answered_share": answered / ppdus,
            "missing_resent": int((ppdus - answered) * 0.8),
            "missing_not_resent": ppdus - answered - int((ppdus - answered) * 0.8),
            "answered_resent": int(answered * 0.05),
            "late_responses": int(ppdus * tail / 4),
            "data_gap_us": spread(gaps),
            "data_late_responses": int(ppdus * tail / 4),
            "late_answered": int(ppdus * tail / 8),
            "late_answered_resent": int(ppdus * tail / 10),
            "in_time_answered": answered // 9,
            "in_time_answered_resent": 2,
            "data": self.kind(ppdus - 40, answered - 40),
            "management": self.kind(40, 40),
            "unexpected_rate": 0,
            "rate_checked": answered,
            "expected_gap_us": 10.0,
            "gap_us": spread(gaps),
            "gap_histogram": bars(gaps),
            "by_rate": [
                {
                    "frames": "data",
                    "label": f"HT20 MCS{m}",
                    "rate_known": True,
                    "ppdus": ppdus // 5,
                    "answered": int(ppdus // 5 * (1.01 - 0.02 * m)),
                    "missing_resent": 3,
                    "answered_share": int(ppdus // 5 * (1.01 - 0.02 * m)) / (ppdus // 5),
                    "median_gap_us": median_us,
                    "response_rate": "24 Mb/s",
                    "expected_rate": "24 Mb/s",
                }
                for m in (3, 4, 5, 6, 7)
            ],
        }

    @staticmethod
    def kind(ppdus: int, answered: int) -> dict[str, int]:
        missing = ppdus - answered
        resent = int(missing * 0.8)
        return {
            "ppdus": ppdus,
            "answered": answered,
            "missing_resent": resent,
            "missing_not_resent": missing - resent,
            "late_answered": answered // 40,
            "late_answered_resent": answered // 50,
            "in_time_answered": answered // 9,
            "in_time_answered_resent": 2,
        }

    def block_ack(self) -> dict[str, Any]:
        mpdus = 82_400
        positions = []
        for from_end in range(24):
            n = int(7400 * 0.9**from_end)
            late = (1 - self.quality) * (0.62 if from_end == 0 else 0.38 if from_end == 1 else 0.1 / from_end)
            positions.append({"from_end": from_end, "mpdus": n, "left_out": int(n * (0.008 + late))})
        left = sum(row["left_out"] for row in positions)
        resent = int(left * 0.93)
        return {
            "originator": AP,
            "recipient": DUT,
            "tid": 0,
            "block_acks": 7410,
            "requests": 38,
            "bitmap_bits": [64],
            "addba_requests": 1,
            "addba_accepted": 1,
            "addba_refused": 0,
            "delba": 0,
            "window": 64,
            "amsdu_permitted": False,
            "transmissions": mpdus + left,
            "mpdus": mpdus,
            "retransmissions": resent,
            "resent_although_acked": 12,
            "newly_acked": mpdus - 90,
            "acked_not_captured": 212,
            "stale_bits": 5120,
            "left_out": left,
            "outside_bitmap": 3,
            "left_out_late": left - resent - 6,
            "left_out_resent_acked": resent - 20,
            "left_out_resent_lost": 20,
            "left_out_abandoned": 6,
            "left_out_retransmissions": resent,
            "left_out_in_tail": int(left * 0.94),
            "left_out_positioned": left,
            "positioned": mpdus,
            "positioned_in_tail": int(mpdus * 0.27),
            "by_position_from_end": positions,
            "age_left_out_us": spread([abs(self.random.gauss(180, 90)) + 16 for _ in range(800)]),
            "age_acked_us": spread([abs(self.random.gauss(1400, 700)) + 240 for _ in range(800)]),
            "examples": [
                {"frame": 1207, "at_us": 118_402.0, "start_sequence": 4090, "answered": 16, "left_out": [4, 5, 6]}
            ],
            "without_data": 31,
        }

    def aggregation(self, ta: str, ra: str, tid: int | None, ppdus: int, mean: float) -> dict[str, Any]:
        sizes = [float(min(32, max(1, round(self.random.gauss(mean, mean / 3))))) for _ in range(ppdus)]
        return {
            "ta": ta,
            "ra": ra,
            "tid": tid,
            "ppdus": ppdus,
            "ampdus": sum(s > 1 for s in sizes),
            "mpdus": int(sum(sizes)),
            "mpdus_per_ppdu": spread(sizes),
            "histogram": bars(sizes),
            "bytes_per_ppdu": spread([s * 1542 for s in sizes]),
            "duration_us": spread([36 + s * 190 for s in sizes]),
            "amsdu_mpdus": 0,
            "amsdu_subframes": None,
        }

    def waterfall(self, ta: str, ra: str, direction: str, phy: float, shares: dict[str, float]) -> dict[str, Any]:
        labels = {
            "payload": "Payload",
            "mac_headers": "MAC and LLC headers",
            "preamble": "PHY preambles",
            "ifs_backoff": "Inter-frame spaces and backoff",
            "ack": "ACK and Block Ack",
            "rts_cts": "RTS/CTS",
            "retries": "Retries",
            "reverse": "Reverse direction",
            "other_stations": "Other stations",
            "beacons_management": "Beacons and management",
            "damaged": "Damaged frames",
            "idle_queued": "Idle while the sender had queued data",
            "idle": "Idle",
            "unobserved": "Not observed",
        }
        rest = 1 - sum(shares.values())
        shares = {**shares, "idle": shares.get("idle", 0.0) + rest}
        steps = [
            {
                "cause": c,
                "label": label,
                "us": shares.get(c, 0.0) * SPAN_US,
                "share": shares.get(c, 0.0),
                "mbit_s": shares.get(c, 0.0) * phy,
            }
            for c, label in labels.items()
        ]
        payload = shares["payload"] * phy
        return {
            "ta": ta,
            "ra": ra,
            "direction": direction,
            "observed_us": SPAN_US,
            "phy_rate_mbit_s": phy,
            "payload_mbit_s": payload,
            "payload_bytes": int(payload * SPAN_US / 8),
            "mpdus": 82_400,
            "mpdus_timed": 82_400,
            "timing": "stamps",
            "steps": steps,
            "advice": [
                said(
                    f"Retries take {100 * shares['retries']:.1f} % of the time ({shares['retries'] * phy:.1f} Mbit/s): "
                    "the Block Acks of 08:be:ac:0b:14:c4 leave out the last MPDUs of each A-MPDU; "
                    "an acknowledgement in time brings them back.",
                    share=(100 * shares["retries"], "%", 82_400),
                ),
                said(
                    f"Inter-frame spaces and backoff take {100 * shares['ifs_backoff']:.1f} % "
                    f"({shares['ifs_backoff'] * phy:.1f} "
                    "Mbit/s): longer A-MPDUs (mean 11.2 of 32 MPDUs permitted) pay this price less often.",
                    share=(100 * shares["ifs_backoff"], "%", 82_400),
                ),
            ],
        }

    def steadiness(self, ta: str, ra: str, direction: str, level: float) -> dict[str, Any]:
        series = []
        for k in range(int(SPAN_US / BIN_US)):
            at_s = k * BIN_US / 1e6
            factor = 0.0 if 12.4 <= at_s < 13.2 and self.quality < 0.5 else 0.7 if at_s > 21 else 1.0
            frames = int(level * factor * 22 * self.random.uniform(0.9, 1.1))
            share = self.retry_share * self.random.uniform(0.7, 1.3) * (1.8 if at_s > 21 else 1)
            series.append(
                {
                    "start_us": k * BIN_US,
                    "mbit_s": frames / 22,
                    "retry": retry(frames, int(frames * share)),
                    "phy_rate_mbit_s": 58.0 - (12 if at_s > 21 else 0) if frames else None,
                    "busy_share": min(1.0, 0.06 + 0.75 * factor * self.random.uniform(0.95, 1.05)),
                }
            )
        events = [
            {
                "start_us": 12.4e6,
                "end_us": 13.2e6,
                "kind": "dropout",
                **said(
                    "unexplained drop to 0 at 12.4 s for 0.8 s: retry % unchanged, sender silent",
                    start=(12.4, "s", 3),
                ),
            },
            {
                "start_us": 21.0e6,
                "end_us": SPAN_US,
                "kind": "retry-shift",
                **said(
                    "retry % rises from 24 to 43 at 21.0 s with the PHY rate falling from 58 to 46 Mbit/s",
                    retry_from=(24.0, "%", 900),
                    retry_to=(43.0, "%", 800),
                ),
            },
        ]
        return {
            "ta": ta,
            "ra": ra,
            "direction": direction,
            "bin_us": BIN_US,
            "series": series,
            "events": events if self.quality < 0.5 else events[1:],
            "median_mbit_s": level,
            "variation": 0.21,
        }

    def capabilities(self) -> list[dict[str, Any]]:
        rows = [
            ("2.4 GHz", True, "channel 9", True, "all 104,731 frames", None),
            ("5 GHz", None, None, None, None, "only channel 9 was captured"),
            ("Spatial streams", True, "RX 1, TX 1", True, "MCS 0..7", None),
            ("802.11n", True, "HT capabilities in the association request", True, "HT frames: 81,240", None),
            ("802.11ac", False, None, False, None, None),
            ("WMM", True, "WMM information element", True, "AC_BE 80,101, AC_VO 12", None),
            ("WPA2", True, "RSN: CCMP, PSK", True, "protected data: 80,113 of 80,113", None),
            ("Protected Management Frames", False, None, False, None, None),
            ("Short Guard Interval", True, "20 MHz", True, "61,002 of 81,240 HT frames", None),
            ("TX A-MPDU", None, None, False, "no A-MPDU in 20,110 PPDUs", "ADDBA accepted as recipient only"),
            ("STBC receive", True, "1 stream", None, None, "the receiver does not report STBC"),
            ("40 MHz in 2.4 GHz with coexistence", False, None, False, None, None),
            ("Greenfield preamble", True, "HT capabilities bit", False, "0 of 81,240", "claimed, never seen used"),
            ("Power management", True, None, True, "PM bit in 212 frames, 14 changes", None),
        ]
        keys = ("capability", "claimed", "claimed_detail", "seen", "seen_detail", "note")
        word = {True: "yes", False: "no", None: "not_available"}
        used = {True: 81_240, False: 0, None: None}
        filled: list[dict[str, Any]] = [
            {**dict(zip(keys, row, strict=True)), "claimed": word[row[1]], "seen": used[row[3]]} for row in rows
        ]
        for row in filled:
            row["note"] = said(row["note"], frames=(81_240.0, "count", 81_240)) if row["note"] else None
        sources = {"ap": "beacon or probe response", "station": "association request"}
        return [
            {"address": a, "role": r, "ssid": SSID, "claimed_in": sources[r], "frames": 81_240, "rows": filled}
            for a, r in ((AP, "ap"), (DUT, "station"))
        ]

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
                    "291 of the 293 beacons of 18:0f:76:c5:0a:ea that were due were heard (99 %)",
                    heard=(291.0, "count", 293),
                    due=(293.0, "count", 293),
                ),
                "doubts": [],
                "control_frames": 31_204,
                "responses": 30_190,
                "responses_without_frame": 212,
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
                            "411 MPDUs were acknowledged by a later Block Ack without having been sent again.",
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
                            "0.8 % of 82,400 MPDUs left out, at any position alike.",
                            share=(0.8, "%", 82_400),
                        )
                    ],
                },
                {
                    "originator": AP,
                    "recipient": DUT,
                    "question": "ack",
                    "answer": "cannot-be-told",
                    **said(
                        "Cannot be told from this capture, because only 31 single frames ask for an ACK.",
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
                        "others: which one it is a link of can't be told",
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
        text = json.dumps(document, indent=1)
        (folder / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
