"""From a capture to a report: the call into the native analyzer."""

from __future__ import annotations

import os
from collections.abc import Callable

from txop.air.model import AirReport

Progress = Callable[[int, int | None], None]
"""Called now and then with the bytes read so far and the size of the file (``None`` when it is not known)."""

STDIN = "-"
"""The path that means standard input."""


def analyze(
    path: str | os.PathLike[str],
    *,
    pair: tuple[str, str] | None = None,
    progress: Progress | None = None,
    follow: bool = False,
    snapshot: Callable[[AirReport], None] | None = None,
) -> AirReport:
    """Analyze the capture at ``path`` (pcap or pcapng, also gzip or zstd; ``"-"`` reads standard input).

    Args:
        path: The capture.
        pair: The two addresses between which the goodput is to be explained, both directions; default: the busiest.
        progress: See :data:`Progress`. An exception raised in it ends the analysis.
        follow: Wait at the end of the file for more. Ctrl-C then ends the waiting, and the report covers all that came.
        snapshot: With ``follow``: called about once a second with a report of what there is so far.

    Raises:
        OSError: the file cannot be opened or read.
        ValueError: it is not a capture of a known kind, or ``pair`` is not two MAC addresses.
    """
    shown = None if snapshot is None else lambda document: snapshot(AirReport.parse(document))
    return AirReport.parse(analyze_json(path, pair=pair, progress=progress, follow=follow, snapshot=shown))


def analyze_json(
    path: str | os.PathLike[str],
    *,
    pair: tuple[str, str] | None = None,
    progress: Progress | None = None,
    follow: bool = False,
    snapshot: Callable[[bytes], None] | None = None,
) -> bytes:
    """The same as the JSON document itself (UTF-8), exactly as the analyzer wrote it; see ``docs/air-json.md``."""
    from txop import _native

    return _native.analyze_air(os.fspath(path), pair=pair, progress=progress, follow=follow, snapshot=snapshot)
