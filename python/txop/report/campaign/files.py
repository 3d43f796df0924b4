"""Every plot of a campaign as PNG and SVG, for a mail, a wiki or slides."""

from __future__ import annotations

import json
from pathlib import Path

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.core.whole_file import replacement
from txop.present.plot import Theme, standalone
from txop.report.campaign.gallery import Gallery

SCALE = 2.0
"""Pixels of a PNG for one unit of the plot."""


def write_plots(archive: Archive, result: CompareResult, folder: Path, theme: Theme = "light") -> list[Path]:
    """Write ``NAME.png`` and ``NAME.svg`` of each plot of the page into ``folder``, which is made when missing.

    Names are the same whenever the plan is: ``runs-tx.throughput_mbit_s.png``, ``latency-tx.svg``.

    Raises:
        OSError: a file could not be written.
    """
    import vl_convert

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for drawing in Gallery(archive, result).everything():
        spec = json.dumps(standalone(drawing.spec, theme), allow_nan=False)
        for suffix, content in (
            ("svg", vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode("utf-8")),
            ("png", vl_convert.vegalite_to_png(spec, scale=SCALE, allowed_base_urls=[])),
        ):
            target = folder / f"{drawing.name}.{suffix}"
            with replacement(target) as path:
                path.write_bytes(content)
            written.append(target)
    return written
