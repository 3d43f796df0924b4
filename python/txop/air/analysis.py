"""From a capture to a report: the call into the native analyzer."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from txop.core.moment import Moment, check_order, end_of

if TYPE_CHECKING:
    from txop.air.report import AirReport

Progress = Callable[[int, int | None], None]
"""Called now and then with the bytes read so far and the size of the file (``None`` when it is not known)."""

_HIGHEST_CHANNEL = 0xFFFF
_HIGHEST_INTERFACE = 0xFFFF_FFFF
"""MHz; a link header has 16 bits for it."""

STDIN = "-"
"""The path that means standard input."""


def analyze(
    path: str | os.PathLike[str],
    *,
    pair: tuple[str, str] | None = None,
    bssid: str | None = None,
    channel: int | None = None,
    interface: int | None = None,
    from_: Moment | None = None,
    to: Moment | None = None,
    block_acks: bool = False,
    progress: Progress | None = None,
    follow: bool = False,
    snapshot: Callable[[AirReport], None] | None = None,
    key_file: str | os.PathLike[str] | None = None,
    packets: bool = False,
) -> AirReport:
    """Analyze the capture at ``path`` (pcap or pcapng, also gzip or zstd; ``"-"`` reads standard input).

    Args:
        path: The capture.
        pair: The two addresses between which the goodput is to be explained, both directions; default: the busiest.
        bssid: Report only the stations, links, waterfall and steadiness of this network. What is said of the channel
            (busy, frames, floods) stays of all on it, and the network's part of it is named.
        channel: Count only frames on this channel: its number, or the MHz of its centre.
        interface: Count only records of this interface of the capture, numbered from 0 as in the file.
        from_: Count only records from then on; see :data:`~txop.core.moment.Moment`. What stations claim and use of
            capabilities is taken from the whole capture all the same.
        to: Count only records before then.
        block_acks: List every Block Ack (``block_ack_log``).
        progress: See :data:`Progress`. An exception raised in it ends the analysis.
        follow: Wait at the end of the file for more. Ctrl-C then ends the waiting, and the report covers all that came.
        snapshot: With ``follow``: called about once a second with a report of what there is so far.
        key_file: Keys to decrypt protected frames with (``docs/air-decryption.md``). Packets are looked at, too.
        packets: Look at packets: flows, TCP segments that were sent again, DHCP.

    Raises:
        OSError: the file cannot be opened or read.
        ValueError: it is not a capture of a known kind, it has nothing of ``bssid``, ``channel`` or ``interface``,
            ``pair`` is not two MAC addresses, ``from_`` and ``to`` are not a window, or the key file is invalid.
    """
    from txop.air.report import AirReport

    shown = None if snapshot is None else lambda document: snapshot(AirReport.parse(document))
    document = analyze_json(
        path,
        pair=pair,
        bssid=bssid,
        channel=channel,
        interface=interface,
        from_=from_,
        to=to,
        block_acks=block_acks,
        progress=progress,
        follow=follow,
        snapshot=shown,
        key_file=key_file,
        packets=packets,
    )
    return AirReport.parse(document)


def analyze_json(
    path: str | os.PathLike[str],
    *,
    pair: tuple[str, str] | None = None,
    bssid: str | None = None,
    channel: int | None = None,
    interface: int | None = None,
    from_: Moment | None = None,
    to: Moment | None = None,
    block_acks: bool = False,
    progress: Progress | None = None,
    follow: bool = False,
    snapshot: Callable[[bytes], None] | None = None,
    key_file: str | os.PathLike[str] | None = None,
    packets: bool = False,
) -> bytes:
    """The same as the JSON document itself (UTF-8), exactly as the analyzer wrote it; see ``docs/air-json.md``."""
    from txop import _native

    start, end = end_of(from_), end_of(to)
    check_order(start, end)
    if channel is not None and not 1 <= channel <= _HIGHEST_CHANNEL:
        raise ValueError(f"{channel} is neither the number of a channel nor its MHz")
    if interface is not None and not 0 <= interface <= _HIGHEST_INTERFACE:
        raise ValueError(f"{interface} is not the number of an interface")
    return _native.analyze_air(
        os.fspath(path),
        pair=pair,
        bssid=bssid,
        channel=channel,
        interface=interface,
        start=start,
        end=end,
        block_acks=block_acks,
        progress=progress,
        follow=follow,
        snapshot=snapshot,
        key_file=None if key_file is None else os.fspath(key_file),
        packets=packets,
    )
