"""Measures what one arm that stalls does to the verdict, and what the sign test gives instead.

    .venv/bin/python bench/verdict_skew.py [--campaigns 10000] [--seed 1] [--json]

Both arms have noise of 2 % in each run. One of them loses something besides, on one side only: in *stalls* a share of
Exp(4 %) in every run, in *rare stalls* Exp(20 %) in one run of five, in *frequent stalls* in two of five. Differences
are shifted so that their true median is 0, as far as 4 million draws show. Each line says how often p <= 0.05 and how
often the interval holds the true median, for the signed-rank test and for the sign test, and how often the warning of
skewed differences is given. Exit code 1 when the sign test is worse than nominal by more than chance explains.
"""

import argparse
import json
import math
import sys
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from txop.stats.signed_rank import signed_rank
from txop.stats.skew import STRONG_P, sign_test, skewness

Floats = NDArray[np.float64]
BLOCKS = (8, 10, 12, 20, 40)
NOISE = 0.02
KINDS = ("none", "stalls", "rare stalls", "frequent stalls")
ALLOWED_SE = 3.5
DRAWS = 4_000_000


@dataclass(frozen=True)
class Row:
    """One line of the table; shares of campaigns."""

    kind: str
    blocks: int
    rank_false: float
    rank_holds: float
    sign_false: float
    sign_holds: float
    warned: float


def differences(kind: str, size: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Logarithms of arm over baseline, not yet centred."""
    d = rng.normal(0, NOISE * math.sqrt(2), size)
    if kind == "stalls":
        d -= rng.exponential(0.04, size)
    elif kind == "rare stalls":
        d -= rng.exponential(0.20, size) * (rng.random(size) < 0.2)
    elif kind == "frequent stalls":
        d -= rng.exponential(0.20, size) * (rng.random(size) < 0.4)
    return d


def measure(kind: str, blocks: int, campaigns: int, middle: float, rng: np.random.Generator) -> Row:
    """Simulate, test, count."""
    counts = np.zeros(5)
    for d in differences(kind, (campaigns, blocks), rng) - middle:
        rank, sign, skewed = signed_rank(d), sign_test(d, confidence=0.95), skewness(d)
        assert sign.low is not None
        assert sign.high is not None
        counts += (
            rank.p <= 0.05,
            rank.low <= 0 <= rank.high,
            sign.p <= 0.05,
            sign.low <= 0 <= sign.high,
            skewed is not None and skewed[1] <= STRONG_P,
        )
    return Row(kind, blocks, *(float(count) / campaigns for count in counts))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=10_000, help="for each line of the table (default 10000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    count, rng = options.campaigns, np.random.default_rng(options.seed)
    middles = {kind: float(np.median(differences(kind, (DRAWS,), rng))) for kind in KINDS}
    rows = [measure(kind, blocks, count, middles[kind], rng) for kind in KINDS for blocks in BLOCKS]
    allowed = ALLOWED_SE * math.sqrt(0.05 * 0.95 / count)
    holds = all(row.sign_false <= 0.05 + allowed and row.sign_holds >= 0.95 - allowed for row in rows)
    if options.json:
        print(json.dumps({"campaigns": count, "rows": [asdict(row) for row in rows], "holds": holds}))
        return 0 if holds else 1
    print(f"{count} campaigns for each line; standard error {100 * math.sqrt(0.05 * 0.95 / count):.2f} %.\n")
    print("| one arm has | blocks | signed rank: p <= 0.05 | its interval holds | sign test: p <= 0.05 ", end="")
    print("| its interval holds | warned |\n|---|---|---|---|---|---|---|")
    for row in rows:
        shares = (row.rank_false, row.rank_holds, row.sign_false, row.sign_holds, row.warned)
        print(f"| {row.kind} | {row.blocks} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
    print("\nThe sign test " + ("holds." if holds else "does NOT hold."))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
