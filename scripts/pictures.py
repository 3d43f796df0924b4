#!/usr/bin/env python3
"""Draws the plots (from what txop itself makes) and diagrams of the documents, docs/pictures/*.svg: `make pictures`.

The captures are specimens, the links are simulated, the campaign is an archive made by rule, and records are files of
docs/results, so every machine draws the same. A test draws them again and compares what they say.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diagrams

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs/pictures"
SECONDS = 2.0

Spec = dict[str, Any]


def campaign(name: str) -> Spec:
    """A plot of the sample campaign."""
    from txop.archive.reader import read_archive
    from txop.compare.archive import compare
    from txop.report.campaign.gallery import Gallery

    archive = read_archive(ROOT / "tests/data/archive-v1")
    drawings = Gallery(archive, compare(archive)).everything()
    return next(drawing.spec for drawing in drawings if drawing.name == name)


def capture(scene: str, plot: str, seconds: float = SECONDS) -> Spec:
    """A plot of ``txop air`` of a specimen."""
    from txop import _native
    from txop.air import analyze
    from txop.air.page.plots import draw, waterfall

    with tempfile.TemporaryDirectory(prefix="txop-pictures-") as folder:
        path = Path(folder) / "air.pcapng"
        _native.write_specimen(str(path), seed=1, seconds=seconds, scene=scene)
        report = analyze(path)
    if plot == "waterfall":
        return waterfall(report.waterfalls[0]).spec
    drawing = draw(report, plot)
    if drawing is None:
        raise ValueError(f"nothing to draw: {plot} of {scene}")
    return drawing.spec


def simulated(scenario: str, plot: str, *arguments: str) -> Spec:
    """A plot of ``txop simulate``."""
    from txop.simulate.plots import draw
    from txop.simulate.simulation import Simulation

    done = subprocess.run(
        [sys.executable, "-m", "txop", "simulate", scenario, *arguments, "--json"], stdout=subprocess.PIPE, check=True
    )
    drawing = draw(Simulation.parse(done.stdout), plot)
    if drawing is None:
        raise ValueError(f"nothing to draw: {plot} of {scenario}")
    return drawing.spec


def latency_at_every_rate() -> Spec:
    """RTT under load of an ath9k access point by rate and queue, from the record of the runs."""
    with (ROOT / "docs/results/ath9k-latency.csv").open(encoding="utf-8", newline="") as file:
        rows = [{**row, "rtt_p50_ms": float(row["rtt_p50_ms"])} for row in csv.DictReader(file)]
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    title, upright = "rate of the access point", {"labelAngle": 0}
    x = {"field": "rate", "type": "ordinal", "sort": rates, "title": title, "axis": upright}
    y = {
        "field": "rtt_p50_ms",
        "type": "quantitative",
        "title": "RTT p50 under load, ms",
        "scale": {"type": "log", "domain": [10, 1000]},
    }
    color = {"field": "queue", "type": "nominal", "title": None, "legend": {"orient": "top"}}
    mark = {"type": "point", "filled": True, "size": 40, "opacity": 0.7}
    median = {"type": "line", "strokeWidth": 1.5}
    return {
        "width": 560,
        "height": 260,
        "data": {"values": rows},
        "encoding": {"x": x, "color": color},
        "layer": [
            {"mark": mark, "encoding": {"y": y}},
            {"mark": median, "encoding": {"y": {**y, "aggregate": "median"}}},
        ],
    }


def latency_distributions() -> Spec:
    """How the RTTs of the same runs are distributed: all rates on one axis, a panel for each queue."""
    with (ROOT / "docs/results/ath9k-latency-distribution.csv").open(encoding="utf-8", newline="") as file:
        numbers = ("rtt_ms", "share_of_probes")
        rows = [{**row, **{name: float(row[name]) for name in numbers}} for row in csv.DictReader(file)]
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    across = {"type": "log", "domain": [2, 3000], "nice": False}
    x = {"field": "rtt_ms", "type": "quantitative", "title": "RTT under load, ms", "scale": across}
    y = {
        "field": "share_of_probes",
        "type": "quantitative",
        "title": "share of probes",
        "axis": {"format": "%", "tickCount": 4},
    }
    legend = {"orient": "top", "columns": 6, "symbolType": "stroke"}
    by_rate = {"field": "rate", "type": "nominal", "sort": rates, "title": None, "legend": legend}
    from txop.present.plot import DASHES

    dashes = {"range": [list(dash) for dash in DASHES[: len(rates)]]}
    return {
        "data": {"values": rows},
        "facet": {"row": {"field": "queue", "type": "nominal", "title": None, "header": {"orient": "top"}}},
        "spec": {
            "width": 560,
            "height": 130,
            "mark": {"type": "line", "interpolate": "monotone", "strokeWidth": 1.8},
            "encoding": {"x": x, "y": y, "color": by_rate, "strokeDash": {**by_rate, "scale": dashes, "legend": None}},
        },
    }


QUEUES = ("ap-fifo", "--sweep", "wlan.ap.queueing.kind=fifo,fq_codel,fq_mac,airtime", "--duration", "5")

ALL: dict[str, Callable[[], Spec]] = {
    "effects": lambda: campaign("effects-primary-ratio"),
    "one-axis": lambda: campaign("answer-tx"),
    "late-waterfall": lambda: capture("late-block-ack", "waterfall"),
    "late-position": lambda: capture("late-block-ack", "left_out"),
    "dropout": lambda: capture("dropout", "steadiness", 20.0),
    "ath9k-latency": latency_at_every_rate,
    "ath9k-latency-distribution": latency_distributions,
    "queues-goodput": lambda: simulated(QUEUES[0], "sweep", *QUEUES[1:]),
    "queues-latency": lambda: simulated(QUEUES[0], "sweep_latency", *QUEUES[1:]),
}
"""What is drawn, by file name."""


def draw(name: str) -> str:
    """The SVG of a picture."""
    import vl_convert

    from txop.present.plot import standalone

    return vl_convert.vegalite_to_svg(json.dumps(standalone(ALL[name]()), allow_nan=False), allowed_base_urls=[])


def main() -> int:
    """Draw the pictures that are named, or all, into docs/pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL))
    for name in parser.parse_args().names or ALL:
        PICTURES.mkdir(exist_ok=True)
        (PICTURES / f"{name}.svg").write_text(draw(name) + "\n", encoding="utf-8")
    return diagrams.main()


if __name__ == "__main__":
    sys.exit(main())
