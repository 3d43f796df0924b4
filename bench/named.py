"""Measures how often a campaign of two identical arms names a gain or a cost anywhere: terminal, mail or page.

    .venv/bin/python bench/named.py [--campaigns 2000] [--blocks 6 7 8 ...] [--kinds quiet loud] [--seed 1] [--json]
    .venv/bin/python bench/named.py --archives A/A-ARCHIVE...

Simulated campaigns have two tests with 34 figures each, primary and exploratory, which go through ``txop compare``'s
own function, its headline and the mail. The figures of a run share three causes (the state of the host, of the channel
and of the other end), so that they are correlated as real ones are. ``quiet``: the noise of most figures is below their
margin, as on an emulated link; ``loud``: the noise of every figure is ten times its margin, so that no margin keeps an
accident from being named. A campaign counts when any row has the verdict better or worse, or when the words stand in
the headline or the mail.

Real campaigns of one arm against itself are compared with every choice of swapped labels: 2^(blocks - 1) different
campaigns each, all of them without a difference.
"""

import argparse
import itertools
import json
import math
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from txop.archive.journal import Event
from txop.archive.layout import Layout
from txop.archive.reader import Archive, read_archive
from txop.archive.run_file import RunFile, Value
from txop.compare.archive import compare
from txop.core.metrics import METRICS, describe
from txop.core.origin import Origin
from txop.plan.model import Plan
from txop.report.exports.mail import lines

BLOCKS = (6, 7, 8, 9, 10, 12, 15, 20)
KINDS = ("quiet", "loud")
ARMS = ("one", "other")
_NAMED = re.compile(r"\b(better|worse|gains|costs)\b")
_MAIL = re.compile(r"^(\* .* vs |\s*(better|worse))")

PLAN = """
title = "two identical arms"
target.dut = { kind = "local" }
target.peer = { kind = "local", address = "192.0.2.2" }
arm = [{ name = "one" }, { name = "other" }]
test = [
  { name = "tx", kind = "tcp-tx", latency = "ping" },
  { name = "rx", kind = "tcp-rx", latency = "ping" },
]
design = { blocks = 6 }
"""


@dataclass(frozen=True)
class Share:
    """How many campaigns named anything."""

    kind: str
    blocks: int
    campaigns: int
    named: int
    primary: int
    """Those of them that named a primary figure."""

    @property
    def percent(self) -> float:
        """The share, in percent."""
        return 100 * self.named / self.campaigns

    @property
    def error(self) -> float:
        """Its Monte-Carlo standard error, in percent."""
        return 100 * math.sqrt(0.05 * 0.95 / self.campaigns)


def figures() -> list[str]:
    """The figures of a run that are judged, without those of trials and of single stations."""
    left_out = ("cycles", "recovery", "slab", "vmalloc", "pages", "leaks", "kmemleak", "recovered", "silence", "ncm")
    judged = [key for key, metric in METRICS.items() if metric.better is not None and not key.startswith(left_out)]
    return judged[:34]


def campaign(kind: str, blocks: int, rng: np.random.Generator, folder: Path) -> Archive:
    """A campaign without any difference."""
    plan = Plan.model_validate(tomllib.loads(PLAN))
    keys = figures()
    weights = rng.normal(0, 1, (3, len(keys))) / math.sqrt(3)
    runs = []
    for block, (position, arm), test in itertools.product(range(1, blocks + 1), enumerate(ARMS), ("tx", "rx")):
        noise = 0.7 * rng.normal(0, 1, 3) @ weights + 0.7 * rng.normal(0, 1, len(keys))
        values = {}
        for place, key in enumerate(keys):
            metric = describe(key)
            size = metric.margin * (10 if kind == "loud" else 0.4 if place % 3 else 1.2)
            if metric.scale == "ratio":
                value = 50 * math.exp(size / 100 * noise[place])
            else:
                value = 50 * metric.margin + size * noise[place]
            values[key] = Value(value=float(value), unit=metric.unit, source="simulated")
        runs.append(
            RunFile(
                run=f"{block:03d}-{arm}-{test}",
                block=block,
                position=position + 1,
                arm=arm,
                test=test,
                origin=Origin.HARDWARE,
                state="valid",
                started_at="2026-01-01T00:00:00+00:00",
                seconds=30.0,
                metrics=values,
            )
        )
    done = Event(event="campaign-finished", at="2026-01-01T00:00:00+00:00", monotonic_s=0.0)
    return Archive(layout=Layout(folder), plan=plan, events=[done], runs=runs)


def names_anything(archive: Archive) -> tuple[bool, bool]:
    """Whether a comparison names a gain or a cost of any figure, and of a primary one. Rows, headline and mail have to
    agree."""
    result = compare(archive)
    rows = [(f.role, row) for f in result.figures for row in (*f.rows, *f.direct) if row.verdict in ("better", "worse")]
    told = [*result.headline, *(line for line in lines(archive, result) if _MAIL.match(line))]
    in_words = any(_NAMED.search(text) for text in told)
    if bool(rows) != in_words:
        raise AssertionError(f"the rows name {len(rows)} figures, the text says: {told}")
    return bool(rows), any(role == "primary" for role, _ in rows)


def simulated(kind: str, blocks: int, campaigns: int, seed: int) -> Share:
    """The share among simulated campaigns."""
    rng = np.random.default_rng([seed, blocks, KINDS.index(kind)])
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "archive.json").write_text('{"format": "txop-archive", "version": 1}')
        Path(folder, "plan.toml").write_text(PLAN)
        found = [names_anything(campaign(kind, blocks, rng, Path(folder))) for _ in range(campaigns)]
    return Share(kind, blocks, campaigns, sum(named for named, _ in found), sum(primary for _, primary in found))


def swapped(archive: Archive) -> Iterator[Archive]:
    """A campaign with its labels swapped in every choice of blocks; the first block keeps its own."""
    first, second = (arm.name for arm in archive.plan.arm[:2])
    other = {first: second, second: first}
    blocks = sorted({run.block for run in archive.runs})
    for chosen in itertools.product((False, True), repeat=len(blocks) - 1):
        swap = dict(zip(blocks, (False, *chosen), strict=True))
        runs = [
            run.model_copy(update={"arm": other[run.arm], "run": f"{run.block:03d}-{other[run.arm]}-{run.test}"})
            if swap[run.block]
            else run
            for run in archive.runs
        ]
        yield Archive(layout=archive.layout, plan=archive.plan, events=archive.events, runs=runs)


def real(path: Path) -> Share:
    """The share among the swaps of a real campaign of one arm against itself."""
    archive = read_archive(path)
    found = [names_anything(each) for each in swapped(archive)]
    blocks = len({run.block for run in archive.runs})
    return Share(path.name, blocks, len(found), sum(named for named, _ in found), sum(primary for _, primary in found))


def main() -> int:
    """Print a table, or JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=2000)
    parser.add_argument("--blocks", type=int, nargs="+", default=BLOCKS)
    parser.add_argument("--kinds", choices=KINDS, nargs="+", default=KINDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--archives", type=Path, nargs="+")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.archives:
        found = (real(path) for path in args.archives)
    else:
        found = (simulated(k, n, args.campaigns, args.seed) for k in args.kinds for n in args.blocks)
    shares = []
    for share in found:
        shares.append(share)
        if args.json:
            print(json.dumps({**share.__dict__, "percent": share.percent}), flush=True)
        else:
            print(
                f"{share.kind:8} {share.blocks:3d} blocks: {share.percent:4.1f} % of {share.campaigns} name something, "
                f"{100 * share.primary / share.campaigns:.1f} % a primary figure",
                flush=True,
            )
    campaigns, named = sum(s.campaigns for s in shares), sum(s.named for s in shares)
    print(f"{100 * named / campaigns:.2f} % of all {campaigns}", file=sys.stderr)
    return int(any(share.percent > 5 + 3 * share.error for share in shares if not args.archives))


if __name__ == "__main__":
    sys.exit(main())
