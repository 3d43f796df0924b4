"""What ``txop air`` finds in a run's capture, and the digest of it that goes into the run's record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from txop.measure.instrument import PostRunInstrument, Reading, RunFacts
from txop.measure.probes.air_capture import NAME
from txop.measure.probes.air_counts import COUNT_KEYS, counts
from txop.measure.probes.windowed import capture_window, not_of_window
from txop.measure.traffic.flows import flows_of
from txop.measure.traffic.iperf3_reading import jain
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.present.format import capital

if TYPE_CHECKING:
    from txop.air.model import AckVerdict, Aggregation, Waterfall
    from txop.air.report import AirReport

AIR_FILES = ("air.pcapng", "air.pcap")
"""Where the capture of a run may be: of the emulated link or of dumpcap, of tcpdump."""
CAPTURE_FILE = AIR_FILES[0]
"""Written by the emulated link."""

MAX_TEXTS = 6
_KEYS = ("air_retry_percent", "air_ampdu_mpdus", "air_goodput_share_percent")
_LIMITS = {"air_ampdu_mpdus": ("no-ampdu-status",)}
"""Limits of a capture that take a figure away."""


class AirAnalysis(PostRunInstrument):
    """Analyses the measured window of a run's capture after the run. It records nothing itself."""

    name = "air"

    def read(self, facts: RunFacts) -> Reading:
        """Figures and digest of the capture; not available, with the reason, without one."""
        from txop.air import analyze

        reading = Reading()
        file = next((name for name in AIR_FILES if (facts.folder / name).is_file()), None)
        if file is None:
            return _nothing(reading, "no capture of this run")
        reading.files[file] = "802.11 capture"
        try:
            window = capture_window(facts, sniffer_of(facts.plan))
            report = analyze(facts.folder / file, from_=window.start, to=window.end)
        except (OSError, ValueError) as error:
            return _nothing(reading, f"{file}: {error}")
        cut = report.summary.window
        if cut is not None and (why := not_of_window(facts, NAME, cut, window)) is not None:
            return _nothing(reading, f"{file}: {why}")
        direction = main_direction(facts.test, facts.plan.warm_up_s(facts.test))
        digest_of(report, direction, reading, file)
        if reading.air is not None:
            reading.air["window"] = window.digest(cut, "air", file)
        if stations := facts.test.stations_measured:
            _fairness(report, len(stations), reading, file)
        return reading


def sniffer_of(plan: Plan) -> str:
    """The target with a clock that stamps the capture: the sniffer, else the end of the link that knows its own air."""
    return "sniffer" if "sniffer" in plan.target and plan.target["dut"].kind not in ("guest", "emulated") else "dut"


def main_direction(test: Test, warm_up_s: float) -> str | None:
    """``uplink`` or ``downlink``: where a test's data goes, seen from a station; ``None`` when both ways or neither."""
    ways = {flow.direction for flow in flows_of(test, warm_up_s)}
    return {frozenset({"tx"}): "uplink", frozenset({"rx"}): "downlink"}.get(frozenset(ways))


def digest_of(report: AirReport, direction: str | None, reading: Reading, source: str = CAPTURE_FILE) -> None:
    """Take from a report what explains a run: of the pair and direction with the most payload."""
    falls = [fall for fall in report.waterfalls if direction in (None, fall.direction)] or list(report.waterfalls)
    fall = max(falls, key=lambda each: each.payload_bytes or 0, default=None)
    if fall is None:
        from txop.air.report import PREVENT_WATERFALLS

        _nothing(reading, _why_not(report, PREVENT_WATERFALLS, "no data frames in the capture"))
        return
    link = next((each for each in report.links if (each.ta, each.ra) == (fall.ta, fall.ra)), None)
    exchange = next((each for each in report.exchanges if (each.ta, each.ra) == (fall.ta, fall.ra)), None)
    aggregation = [each for each in report.aggregation if (each.ta, each.ra) == (fall.ta, fall.ra)]
    retry = link.mpdu_retry.percent if link is not None else None
    ampdu = _mean_mpdus(aggregation)
    payload = next((step.share for step in fall.steps if step.cause == "payload"), None)
    for key, value in zip(_KEYS, (retry, ampdu, None if payload is None else 100 * payload), strict=True):
        why = _why_not(report, _LIMITS.get(key, ()), "the capture does not show it")
        reading.put(key, value, source, why if value is None else None)
    for key, value, reason in counts(report, fall.ta, fall.ra, fall.direction):
        reading.put(key, value, source, reason)
    of_pair = [v for v in report.ack_verdicts if {v.originator, v.recipient} == {fall.ta, fall.ra}][:MAX_TEXTS]
    reading.air = {
        "ta": fall.ta,
        "ra": fall.ra,
        "direction": fall.direction,
        "frames": report.frames,
        "retry_percent": retry,
        "ampdu_mpdus": ampdu,
        "phy_mbit_s": fall.phy_rate_mbit_s,
        "response_delay_p50_us": exchange.gap_us.median if exchange is not None and exchange.gap_us else None,
        "waterfall": [{"cause": step.cause, "label": step.label, "share": step.share} for step in fall.steps],
        "conclusions": _conclusions(report, fall, of_pair),
        "limits": [limit.code for limit in report.summary.limits][:20],
        "idle_is_known": report.hearing.silence_is_evidence,
    }


def _conclusions(report: AirReport, fall: Waterfall, verdicts: Sequence[AckVerdict]) -> list[dict[str, str]]:
    """What ``txop air`` prints of the pair, each with its heading and its subject."""
    from txop.air.view.answers import answer_of
    from txop.air.view.headline import WATERFALL_HEADING, flow_title

    flow = flow_title(report, fall)
    found = [{"heading": WATERFALL_HEADING, "subject": flow, "text": capital(line.text)} for line in fall.advice]
    answers = [answer_of(report, verdict) for verdict in verdicts]
    return [
        *found[:MAX_TEXTS],
        *({"heading": capital(each.answer), "subject": each.title, "text": each.text} for each in answers),
    ]


def _fairness(report: AirReport, stations: int, reading: Reading, source: str) -> None:
    """Jain's index of the airtime of the stations with the most bytes, both directions of each together."""
    moved: dict[str, int] = {}
    airtime_us: dict[str, float] = {}
    for link in report.links:
        if link.direction in ("uplink", "downlink") and link.airtime_us is not None:
            moved[link.station] = moved.get(link.station, 0) + link.bytes
            airtime_us[link.station] = airtime_us.get(link.station, 0.0) + link.airtime_us
    most = sorted(moved, key=lambda address: -moved[address])[:stations]
    value = jain([airtime_us[address] for address in most]) if len(most) == stations else None
    reason = None if value is not None else f"the capture does not hold the airtime of {stations} stations"
    reading.put("airtime_jain_index", value, source, reason)


def _mean_mpdus(aggregation: Sequence[Aggregation]) -> float | None:
    """MPDUs in a data PPDU, over all TIDs of a pair; ``None`` where those of one could not be grouped to PPDUs."""
    ppdus = 0
    for each in aggregation:
        if each.ppdus is None:
            return None
        ppdus += each.ppdus
    return sum(each.mpdus for each in aggregation) / ppdus if ppdus else None


def _why_not(report: AirReport, codes: Collection[str], otherwise: str) -> str:
    """The first limit of the capture with one of these codes, in words."""
    return next((limit.text for limit in report.summary.limits if limit.code in codes), otherwise)


def _nothing(reading: Reading, reason: str, source: str = CAPTURE_FILE) -> Reading:
    for key in (*_KEYS, *COUNT_KEYS):
        reading.put(key, None, source, reason)
    return reading
