"""What drivers are judged by in a capture, in both directions of one pair: retries as Wireshark counts them, addresses
that exist through damage only, and acknowledgements that are missing, late or incomplete; each with its denominator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from txop.air.report import AirReport

WAYS = ("up", "down")
"""From the station and to it, as the air has them: ``uplink`` and ``downlink``."""

OF_A_WAY = (
    "retry_percent",
    "unanswered_percent",
    "ppdus",
    "late_ack_percent",
    "acks",
    "left_out_percent",
    "left_out_received_percent",
    "mpdus",
)
"""Figures of a direction; ``ppdus`` is the denominator of those unanswered, ``acks`` of late ones, ``mpdus`` of those
left out."""

COUNT_KEYS = (
    "air_bss_retry_percent",
    "air_ghost_addresses",
    *(f"air_{way}_{what}" for way in WAYS for what in OF_A_WAY),
)

NO_PAIR = "the capture has no data between a station and its access point"

Count = tuple[str, float | None, str | None]
"""Metric, value, and why there is none."""


def counts(report: AirReport, ta: str, ra: str, direction: str) -> Iterator[Count]:
    """Every figure of :data:`COUNT_KEYS`, of the pair that the link ``ta`` to ``ra`` belongs to."""
    ends = {"uplink": (ta, ra), "downlink": (ra, ta)}.get(direction)
    bssid = next((link.bssid for link in report.links if (link.ta, link.ra) == (ta, ra)), None)
    row = max((bss for bss in report.bss if bss.bssid == bssid), key=lambda bss: bss.packets, default=None)
    known = row is not None and row.retry_percent is not None
    yield (
        "air_bss_retry_percent",
        row.retry_percent if row else None,
        None if known else "no network row holds the pair",
    )
    yield "air_ghost_addresses", float(report.ghost_effect.ghosts), None
    for way in WAYS:
        pair = None if ends is None else ends if way == "up" else (ends[1], ends[0])
        for what, (value, reason) in zip(OF_A_WAY, _way(report, pair), strict=True):
            yield f"air_{way}_{what}", value, reason


def _way(report: AirReport, pair: tuple[str, str] | None) -> Iterator[tuple[float | None, str | None]]:
    """Value or reason of each of :data:`OF_A_WAY`, of data from the first to the second address."""
    if pair is None:
        yield from [(None, NO_PAIR)] * len(OF_A_WAY)
        return
    link = next((each for each in report.links if (each.ta, each.ra) == pair), None)
    exchange = next((each for each in report.exchanges if (each.ta, each.ra) == pair), None)
    retry = link.wireshark_retry if link is not None else None
    yield _share(retry.retries if retry else None, retry.frames if retry else 0, "no frames in this direction")
    ppdus = exchange.ppdus if exchange is not None else 0
    yield _share(exchange.missing_resent if exchange else None, ppdus, "no PPDU that solicits a response")
    yield float(ppdus), None
    acks = exchange.acked + exchange.block_acked if exchange is not None else 0
    yield _share(exchange.late_responses if exchange else None, acks, "no response with a known gap")
    yield float(acks), None
    flows = [flow for flow in report.block_acks if (flow.originator, flow.recipient) == pair]
    mpdus = sum(flow.transmissions for flow in flows)
    for left_out in (sum(flow.left_out for flow in flows), sum(flow.left_out_late for flow in flows)):
        yield _share(left_out, mpdus, "no Block Ack in this direction")
    yield float(mpdus), None


def _share(part: int | None, whole: int, reason: str) -> tuple[float | None, str | None]:
    """A percentage, or why there is none."""
    return (100 * part / whole, None) if part is not None and whole else (None, reason)
