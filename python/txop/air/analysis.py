"""From a capture to a report: the call into the native analyzer."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

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


class AnalysisOptions(TypedDict, total=False):
    """Options of :func:`analyze` and :func:`analyze_json`. One that is left out is off, or covers the whole capture."""

    pair: tuple[str, str] | None
    """The two addresses between which the goodput is to be explained, both directions; default: the busiest."""
    bssid: str | None
    """Report only the stations, links, waterfall and steadiness of this network. Figures of the channel (busy, frames,
    floods) stay of all on it, and the network's part of them is named."""
    channel: int | None
    """Count only frames on this channel: its number, or the MHz of its centre."""
    interface: int | None
    """Count only records of this interface of the capture, numbered from 0 as in the file."""
    from_: Moment | None
    """Count only records from then on; see :data:`~txop.core.moment.Moment`. What stations claim and use of
    capabilities is taken from the whole capture all the same."""
    to: Moment | None
    """Count only records before then."""
    block_acks: bool
    """List every Block Ack (``block_ack_log``)."""
    progress: Progress | None
    """See :data:`Progress`. An exception raised in it ends the analysis."""
    follow: bool
    """Wait at the end of the file for more. Ctrl-C then ends the waiting, and the report covers all that came."""
    key_file: str | os.PathLike[str] | None
    """Keys to decrypt protected frames with (``docs/air-decryption.md``). Packets are looked at, too."""
    packets: bool
    """Look at packets: flows, TCP segments that were sent again, DHCP."""


def analyze(
    path: str | os.PathLike[str],
    *,
    snapshot: Callable[[AirReport], None] | None = None,
    **options: Unpack[AnalysisOptions],
) -> AirReport:
    """Analyze the capture at ``path`` (pcap or pcapng, also gzip or zstd; ``"-"`` reads standard input).

    Args:
        path: The capture.
        snapshot: With ``follow``: called about once a second with a report of what there is so far.
        options: See :class:`AnalysisOptions`.

    Raises:
        OSError: the file cannot be opened or read.
        ValueError: it is not a capture of a known kind, it has nothing of ``bssid``, ``channel`` or ``interface``,
            ``pair`` is not two MAC addresses, ``from_`` and ``to`` are not a window, or the key file is invalid.
    """
    from txop.air.report import AirReport

    shown = None if snapshot is None else lambda document: snapshot(AirReport.parse(document))
    return AirReport.parse(analyze_json(path, snapshot=shown, **options))


def analyze_json(
    path: str | os.PathLike[str],
    *,
    snapshot: Callable[[bytes], None] | None = None,
    **options: Unpack[AnalysisOptions],
) -> bytes:
    """The same as the JSON document itself (UTF-8), exactly as the analyzer wrote it; see ``docs/air-json.md``."""
    from txop import _native

    given: dict[str, Any] = dict(options)
    start, end = end_of(given.pop("from_", None)), end_of(given.pop("to", None))
    check_order(start, end)
    channel, interface = options.get("channel"), options.get("interface")
    if channel is not None and not 1 <= channel <= _HIGHEST_CHANNEL:
        raise ValueError(f"{channel} is neither the number of a channel nor its MHz")
    if interface is not None and not 0 <= interface <= _HIGHEST_INTERFACE:
        raise ValueError(f"{interface} is not the number of an interface")
    return _native.analyze_air(os.fspath(path), start=start, end=end, snapshot=snapshot, **given)
