"""The sections of a report of `txop air`, each with every field, for make_air_sample.py."""

from __future__ import annotations

import random
from typing import Any

AP, DUT, OTHER = "18:0f:76:c5:0a:ea", "08:be:ac:0b:14:c4", "a4:c3:f0:12:9b:07"

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


class Sections:
    """The sections of one made-up capture; ``quality`` 0 (the late driver) to 1 (the good one)."""

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
            "retries_without_attempt": 0,
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
            "late_after_us": 11.0,
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
            "nulls": 0,
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
            "left_out_positioned_block_acks": None,
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
            "retries": "Repeats of captured MPDUs",
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
            "events_sought": True,
            "not_sought": None,
            "median_bins": len(series) - 2,
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
