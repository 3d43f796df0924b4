"""Measures the verdict itself: how often it sees a difference that is not there, and how often its interval holds the
truth.

    .venv/bin/python bench/verdict.py [--campaigns 2000] [--seed 1] [--json]

Each simulated campaign has randomised blocks of two runs. A run's throughput is 100 Mbit/s, times the arm's effect,
times the state of the world at that moment (constant; slow: autocorrelation 0.9 from run to run, SD 4 %; or falling
by 8 % from the first run to the last), plus independent noise of 2 Mbit/s. Every campaign goes through txop's own
comparison. Results are shares with their Monte-Carlo standard error. Exit code 1 when one is worse than nominal by
more than chance explains.
"""

import argparse
import json
import math
import sys
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from txop.stats.comparison import Comparison
from txop.stats.power import smallest_detectable_effect
from txop.stats.settings import ComparisonSettings
from txop.stats.signed_rank import signed_rank
from txop.stats.verdict import compare_paired, compare_unpaired

BLOCKS = (6, 7, 8, 9, 10, 12, 14, 16, 18, 20)
WORLDS = ("none", "slow", "linear")
NOISE = 2.0
MARGIN = 3.0
EFFECT = 1.10
ALLOWED_SE = 3.5
"""There are some ninety shares in the tables; by chance alone one in four thousand is this far off."""

Runs = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One line of the first table."""

    world: str
    blocks: int
    false_positive: float
    false_verdict: float
    coverage: float
    least_attained: float
    sees_detectable: float


def world(kind: str, runs: int, rng: np.random.Generator) -> Runs:
    """What everything is multiplied by, run after run."""
    if kind == "none":
        return np.ones(runs)
    if kind == "linear":
        return np.linspace(1.04, 0.96, runs)
    steps = rng.normal(0, 0.04 * math.sqrt(1 - 0.81), runs)
    state = np.empty(runs)
    state[0] = rng.normal(0, 0.04)
    for i in range(1, runs):
        state[i] = 0.9 * state[i - 1] + steps[i]
    return 1 + state


def campaign(kind: str, blocks: int, effect: float, rng: np.random.Generator) -> tuple[Runs, Runs]:
    """Baseline and arm, block by block, in random order within each block."""
    state = world(kind, 2 * blocks, rng).reshape(blocks, 2)
    noise = rng.normal(0, NOISE, (blocks, 2))
    first = rng.integers(0, 2, blocks)
    rows = np.arange(blocks)
    baseline = 100 * state[rows, first] + noise[rows, first]
    arm = 100 * effect * state[rows, 1 - first] + noise[rows, 1 - first]
    return baseline, arm


def one_after_the_other(kind: str, runs: int, rng: np.random.Generator) -> tuple[Runs, Runs]:
    """First all runs of the baseline, then all of the arm, as comparisons are often made."""
    values = 100 * world(kind, 2 * runs, rng) + rng.normal(0, NOISE, 2 * runs)
    return values[:runs], values[runs:]


def compare(baseline: Runs, arm: Runs) -> Comparison:
    """The comparison of a throughput, with its usual margin."""
    return compare_paired(baseline, arm, ComparisonSettings(scale="ratio", better="higher", margin=MARGIN))


def covered(found: Comparison, truth: float) -> bool:
    """Whether the interval holds the true effect in percent."""
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def measure(kind: str, blocks: int, campaigns: int, rng: np.random.Generator) -> Row:
    """Simulate, compare, count."""
    nothing = [compare(*campaign(kind, blocks, 1.0, rng)) for _ in range(campaigns)]
    something = [compare(*campaign(kind, blocks, EFFECT, rng)) for _ in range(campaigns)]
    multiple = smallest_detectable_effect(blocks, 1.0)
    attained = nothing[0].attained_confidence
    assert multiple is not None
    assert attained is not None
    # The same campaigns, their differences shifted by what they should detect, given the SD that they really have.
    d = np.array([[math.log1p(point / 100) for point in found.points] for found in nothing])
    shift = multiple * float(d.std())
    seen = sum(signed_rank(row + shift).low > 0 for row in d)
    return Row(
        kind,
        blocks,
        sum(found.p is not None and found.p <= 0.05 for found in nothing) / campaigns,
        sum(found.verdict in ("better", "worse") for found in nothing) / campaigns,
        sum(covered(found, 100 * (EFFECT - 1)) for found in something) / campaigns,
        attained,
        seen / campaigns,
    )


def standard_error(share: float, n: int) -> float:
    """The standard error of a share of ``n``."""
    return math.sqrt(max(share * (1 - share), 1e-9) / n)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=2000, help="for each line of the table (default 2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    count = options.campaigns
    rng = np.random.default_rng(options.seed)
    rows = [measure(kind, blocks, count, rng) for kind in WORLDS for blocks in BLOCKS]
    wrong_way = {}
    for kind in WORLDS:
        found = (
            compare_unpaired(
                *one_after_the_other(kind, 10, rng), ComparisonSettings(scale="ratio", better="higher", margin=MARGIN)
            )
            for _ in range(count)
        )
        wrong_way[kind] = sum(c.p is not None and c.p <= 0.05 for c in found) / count
    too_many = [r for r in rows if r.false_positive > 0.05 + ALLOWED_SE * standard_error(0.05, count)]
    too_few = [r for r in rows if r.coverage < 0.95 - ALLOWED_SE * standard_error(0.05, count)]
    holds = not too_many and not too_few
    if options.json:
        print(
            json.dumps({"campaigns": count, "rows": [asdict(r) for r in rows], "unpaired": wrong_way, "holds": holds})
        )
        return 0 if holds else 1
    print(
        f"{count} campaigns for each line; standard error {100 * standard_error(0.05, count):.2f} % near 5 % and 95 %,"
    )
    print(f"{100 * standard_error(0.8, count):.2f} % near 80 %. Margin {MARGIN:g} %, noise of a run {NOISE:g} %.\n")
    print("| drift | blocks | p <= 0.05, no effect | better or worse, no effect ", end="")
    print("| interval holds +10 % | exact | sees its detectable effect |")
    print("|---|---|---|---|---|---|---|")
    for r in rows:
        shares = (r.false_positive, r.false_verdict, r.coverage, r.least_attained, r.sees_detectable)
        print(f"| {r.world} | {r.blocks} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
    print("\nFor comparison, 10 runs of one arm and then 10 of the other, Mann-Whitney, p <= 0.05 without any effect:")
    print("; ".join(f"{kind} drift {100 * share:.1f} %" for kind, share in wrong_way.items()) + ".")
    for text, bad in (("False positives exceed 5 %", too_many), ("Intervals hold less than 95 %", too_few)):
        if bad:
            print(f"{text}: " + ", ".join(f"{r.world} drift, {r.blocks} blocks" for r in bad))
    print("The nominal 5 % " + ("holds." if holds else "does NOT hold."))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
