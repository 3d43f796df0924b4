"""What a fuzzer's device can answer: the recorded replies, by what syzkaller looks them up.

``syz_usb_control_io`` finds a response by the type of a request and its number alone (syzkaller executor/common_usb.h,
lookup_control_response), and a descriptor by the type of the request and of the descriptor. So all registers that a
driver reads with one request have one set of replies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from txop.formats.usb_urbs import Setup
from txop.guest_probe.probe import GET_DESCRIPTOR, TYPE_BITS, Probe

MOST_VALUES = 256
"""Recorded values of a length that a description lists: the most frequent ones."""
MOST_TEXTS = 32
"""The same of replies that are no integers."""


@dataclass(frozen=True)
class Response:
    """The recorded replies to the requests of one type and number."""

    request_type: int
    """Bits 5 and 6 of bmRequestType."""
    request: int
    """bRequest; of a descriptor its type."""
    replies: tuple[bytes, ...]
    """Different ones, the most frequent first."""
    registers: tuple[tuple[int, int], ...]
    """wValue and wIndex with which they were asked for."""

    @property
    def longest(self) -> int:
        """Bytes of the longest reply."""
        return max(map(len, self.replies), default=0)


def is_get_descriptor(setup: Setup) -> bool:
    """Whether the response is looked up among descriptors."""
    return setup.is_in and setup.request == GET_DESCRIPTOR


def responses(probe: Probe) -> tuple[Response, ...]:
    """Of all requests for data, but for descriptors."""
    return _grouped(
        probe, lambda setup: None if is_get_descriptor(setup) else (setup.request_type & TYPE_BITS, setup.request)
    )


def descriptors(probe: Probe) -> tuple[Response, ...]:
    """Of all requests for descriptors."""
    return _grouped(
        probe, lambda setup: (setup.request_type & TYPE_BITS, setup.value >> 8) if is_get_descriptor(setup) else None
    )


def _grouped(probe: Probe, key_of: Callable[[Setup], tuple[int, int] | None]) -> tuple[Response, ...]:
    counts: dict[tuple[int, int], Counter[bytes]] = {}
    registers: dict[tuple[int, int], dict[tuple[int, int], None]] = {}
    for request in probe.requests:
        key = key_of(request.setup) if request.setup.is_in else None
        if key is None:
            continue
        registers.setdefault(key, {})[request.setup.value, request.setup.index] = None
        seen = counts.setdefault(key, Counter())
        for reply in request.replies:
            if reply.status == 0:
                seen[reply.data] += reply.times
    return tuple(
        Response(*key, tuple(most_frequent(seen)), tuple(registers[key])) for key, seen in sorted(counts.items())
    )


def most_frequent(seen: Counter[bytes]) -> Iterable[bytes]:
    """What was seen, the most frequent first; the same order each time."""
    return (data for data, _ in sorted(seen.items(), key=lambda item: (-item[1], len(item[0]), item[0])))
