"""What a capture does not show, in one paragraph: which verdicts are missing, why, and what to capture better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from txop.air.model import AckVerdict
from txop.air.report import AirReport
from txop.present.format import plural

NEARER = "place the sniffer nearer to the stations"
WIDER = "use a sniffer with as many streams, and as wide a channel, as they use"
RESPONSES = "use a sniffer that delivers ACKs, Block Acks and CTS"
LONGER = "capture for longer"
ONCE = "capture the channel once, with one sniffer"
BESIDE = "use a sniffer beside the two stations"
STAMPS = "capture with hardware time stamps (TSFT) and A-MPDU status"

WHY: dict[str, tuple[str, tuple[str, ...]]] = {
    "no-data": ("none of their data was captured", (NEARER, WIDER)),
    "data-missing": ("much of their data was not captured", (NEARER, WIDER)),
    "frames-missing": ("the capture misses frames", (NEARER,)),
    "too-few": ("too few frames", (LONGER,)),
    "positions-unknown": ("the A-MPDUs were not captured whole", (NEARER, STAMPS)),
    "retries-unexplained": ("what most retries repeat was not captured", (NEARER,)),
    "no-acks": ("this sniffer delivers no ACKs", (RESPONSES,)),
    "no-control-frames": ("no control frame was captured", (RESPONSES,)),
    "no-responses": ("no response was captured", (NEARER, RESPONSES)),
    "own-receiver": ("the receiver is the capturing machine, which does not record its responses", (BESIDE,)),
    "repeated-frames": ("frames are repeated without the retry bit", ()),
    "duplicates": ("frames are in the file twice", (ONCE,)),
    "heard-twice": ("two interfaces captured the same frames", ("choose one with --capture-interface",)),
    "merged-channels": ("captures of several channels were merged", ("choose one with --channel",)),
    "clock-jumps": ("captures with clocks of their own were merged", (ONCE,)),
    "disorder": ("the records are out of order", ("sort them (reordercap)",)),
}
"""By reason of a verdict: why it is open, and what would decide it."""
OTHERWISE = ("the capture does not show it", (NEARER,))

QUESTIONS = {"block-ack": "Block Acks", "ack": "ACKs"}


@dataclass(frozen=True)
class Undetermined:
    """All that is unknown."""

    count: int
    """Answers that are missing."""
    text: str
    """Which, and why."""
    advice: str
    """What to capture better; empty when nothing would help."""


def undetermined(verdicts: Iterable[AckVerdict]) -> Undetermined | None:
    """One paragraph about the verdicts that are open; ``None`` when there are none."""
    open_ones = [verdict for verdict in verdicts if verdict.answer == "not-determined"]
    if not open_ones:
        return None
    links: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for verdict in open_ones:
        links.setdefault((verdict.question, verdict.reason or ""), set()).add((verdict.originator, verdict.recipient))
    parts = [
        f"{QUESTIONS.get(question, question)} on {plural(len(pairs), 'link')} ({WHY.get(reason, OTHERWISE)[0]})"
        for (question, reason), pairs in sorted(links.items(), key=lambda item: -len(item[1]))
    ]
    advice = dict.fromkeys(line for (_, reason) in links for line in WHY.get(reason, OTHERWISE)[1])
    return Undetermined(len(open_ones), ", ".join(parts), "; ".join(advice))


def blind_spots(report: AirReport) -> str:
    """What the sniffer never delivers; empty when it delivers every kind of response."""
    return "; ".join(spot.text for spot in report.hearing.blind_spots)
