"""Links from the page to the captures in the archive."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from txop.archive.reader import Archive
from txop.measure.probes.bus_capture import BUS_FILES
from txop.report.campaign.pieces import Link, Links

_ENDINGS = (".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz", ".pcap.zst", ".pcapng.zst")
_MOST = 96


def capture_links(archive: Archive, target: Path) -> Links | None:
    """Captures of the runs, of the air and of the USB, linked relative to the page; ``None`` when there are none."""
    home = target.absolute().parent
    links: list[Link] = []
    count = 0
    for run in archive.runs:
        for name in run.files:
            path = archive.layout.run(run.run) / name
            if "/" in name or not (name in BUS_FILES or name.endswith(_ENDINGS)) or not path.is_file():
                continue
            count += 1
            if len(links) < _MOST:
                place = os.path.relpath(path.absolute(), home)
                links.append(Link(f"{run.run}/{name}", "./" + quote(place)))
    if not links:
        return None
    note = "The links work while the page lies beside the archive."
    if count > len(links):
        note = f"The first {len(links)} of {count}. {note}"
    return Links("", links, note=note)
