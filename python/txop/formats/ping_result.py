"""What one run of ping or fping gives, whichever program printed it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from txop.formats.reading import real

Program = Literal["iputils", "iputils-json", "busybox", "bsd", "fping"]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that came."""

    sequence: int
    """Counted on past 65,535."""

    rtt_ms: float | None
    """``None`` when the packet is too short to carry a time."""

    time_unix_s: float | None
    """When it came (``-D``), else ``None``."""

    resolution_ms: float | None
    """The last digit that was printed."""

    bytes: int | None
    ttl: int | None
    duplicate: bool = False
    corrupted: bool = False
    """Its ICMP checksum was wrong; ping does not count it as received."""

    from_other_address: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class IcmpError:
    """An ICMP error that came instead of an answer."""

    sequence: int | None
    time_unix_s: float | None
    reporter: str | None
    what: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The last lines, as printed."""

    transmitted: int
    received: int
    duplicates: int
    corrupted: int
    errors: int
    loss_percent: float | None
    duration_ms: float | None
    rtt_min_ms: float | None
    rtt_mean_ms: float | None
    rtt_max_ms: float | None
    rtt_mdev_ms: float | None
    interval_ms: float | None = None
    """From one probe to the next, on average (``ipg`` of a flood)."""


@dataclass(frozen=True, slots=True)
class PingResult:
    """One run of ping to one host."""

    program: Program
    host: str | None
    address: str | None
    payload_bytes: int | None
    first_sequence: int
    replies: tuple[Reply, ...]
    lost: tuple[range, ...]
    """Numbers that no valid reply answered, in order. Without a summary, only below the last number that was seen."""

    unanswered_in_time: tuple[int, ...]
    """``no answer yet`` (``-O``); some of them may have been answered later."""

    errors: tuple[IcmpError, ...]
    summary: Summary | None
    """``None`` when ping was killed."""

    notes: tuple[str, ...]

    line: int | None = None
    """Line of the text in which it begins."""

    tos: int | None = None
    """The TOS byte that was asked for, where the command line is in the text."""

    several_hosts: bool = False
    """More than one host answered a probe, as to a broadcast."""

    @property
    def resolution_ms(self) -> float | None:
        """The coarsest rounding among the replies."""
        return max((reply.resolution_ms for reply in self.replies if reply.resolution_ms is not None), default=None)

    @property
    def lost_count(self) -> int:
        """How many numbers ``lost`` holds."""
        return sum(len(part) for part in self.lost)

    def lost_sequences(self) -> Iterator[int]:
        """The lost numbers one by one."""
        for part in self.lost:
            yield from part

    @property
    def answered(self) -> int:
        """How many probes have a valid reply in the text."""
        return sum(not reply.duplicate and not reply.corrupted for reply in self.replies)

    def rtts_ms(self) -> tuple[float, ...]:
        """Round-trip times of the first valid reply to each number, in order of arrival."""
        return tuple(
            reply.rtt_ms
            for reply in self.replies
            if reply.rtt_ms is not None and not reply.duplicate and not reply.corrupted
        )


def gaps(answered: list[int], first: int, past_the_end: int) -> tuple[range, ...]:
    """The numbers from ``first`` to before ``past_the_end`` that are not in ``answered`` (sorted)."""
    found = []
    expected = first
    for sequence in answered:
        if sequence >= past_the_end:
            break
        if sequence > expected:
            found.append(range(expected, sequence))
        expected = max(expected, sequence + 1)
    if expected < past_the_end:
        found.append(range(expected, past_the_end))
    return tuple(found)


def resolution_ms(printed: str | None) -> float | None:
    """One unit of the last digit printed.

    >>> resolution_ms("12.7"), resolution_ms("512"), resolution_ms(None)
    (0.1, 1.0, None)
    """
    if printed is None or real(printed) is None:
        return None
    return float(10.0 ** -len(printed.partition(".")[2]))
