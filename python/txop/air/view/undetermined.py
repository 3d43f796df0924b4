"""What a capture does not show, in one paragraph: which verdicts are missing, why, and what to capture better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

QUESTIONS = {"block-ack": "whether Block Acks come in time", "ack": "whether ACKs come in time"}
OPEN_SHOWN = 4
"""Things that are unknown that are named; the others are counted."""
ADVICE_SHOWN = 2
"""Pieces of advice that stand behind them, those for most links first."""


@dataclass(frozen=True)
class Undetermined:
    """All that is unknown."""

    text: str
    """Which answers are missing, and why."""
    advice: str
    """What to capture better; empty when nothing would help."""


@dataclass(frozen=True)
class Open:
    """One thing that is unknown, and what would show it."""

    text: str
    advice: tuple[str, ...] = ()


def together(parts: Sequence[Open]) -> Undetermined | None:
    """All that is unknown in one paragraph; ``None`` when nothing is."""
    if not parts:
        return None
    shown, more = parts[:OPEN_SHOWN], len(parts) - OPEN_SHOWN
    text = "; ".join(part.text for part in shown) + (f"; and {more} more (section 4)" if more > 0 else "")
    advice = list(dict.fromkeys(line for part in shown for line in part.advice))
    return Undetermined(text, "; ".join(advice[:ADVICE_SHOWN]))


def undetermined(verdicts: Iterable[AckVerdict]) -> list[Open]:
    """The verdicts that are open, those of most links first."""
    open_ones = [verdict for verdict in verdicts if verdict.answer == "not-determined"]
    links: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for verdict in open_ones:
        links.setdefault((verdict.question, verdict.reason or ""), set()).add((verdict.originator, verdict.recipient))
    ranked = sorted(links.items(), key=lambda item: -len(item[1]))
    found: dict[str, Open] = {}
    for (question, reason), pairs in ranked:
        why, advice = WHY.get(reason, OTHERWISE)
        where = f"on {plural(len(pairs), 'link')} ({why})"
        before = found.get(question)
        text = f"{before.text}, {where}" if before else f"{QUESTIONS.get(question, question)} {where}"
        found[question] = Open(text, (*(before.advice if before else ()), *advice))
    return list(found.values())


def blind_spots(report: AirReport) -> str:
    """What the sniffer never delivers; empty when it delivers every kind of response."""
    return "; ".join(spot.text for spot in report.hearing.blind_spots)
