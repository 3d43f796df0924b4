"""The error rate of `txop ci --quick`: looks before the end, two figures judged together (docs/statistics.md).

Pairs are drawn from normal distributions; both figures have the same part of their noise, as sending and receiving over
one air do. Each campaign is judged as `txop ci` judges: Holm's procedure, the interval and the margin, at each look.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from txop.stats.sequential import looks
from txop.stats.signed_rank import signed_rank

MARGIN = 0.03
SHARED = 0.5
"""Part of the variance that both figures share."""


@dataclass
class Tally:
    """What came of campaigns."""

    named: int = 0
    """A figure was called better or worse."""
    beyond_chance: int = 0
    """A figure had an adjusted p within the level, whatever its margin."""
    equivalent: int = 0
    blocks: int = 0
    first: int = 0
    """Ended at the first look."""


def campaign(
    random: np.random.Generator, effect: float, sd: float, blocks: int, confidence: float, tally: Tally
) -> None:
    """One of two figures, judged at each look until one decides."""
    shared = random.normal(size=blocks) * (sd * SHARED**0.5)
    own = random.normal(size=(2, blocks)) * (sd * (1 - SHARED) ** 0.5)
    d = effect + shared + own
    found = looks(blocks, confidence, 2)
    beyond = False
    for number, look in enumerate(found):
        results = [signed_rank(row[: look.blocks], confidence=look.confidence) for row in d]
        order = sorted(results, key=lambda result: result.p)
        passed = []
        for left, result in zip((2, 1), order, strict=True):  # Holm
            if result.p * left > (1 - look.confidence) * (1 + 1e-12):
                break
            passed.append(result)
        beyond = beyond or bool(passed)
        named = [result for result in passed if abs(result.estimate) >= MARGIN]
        same = all(result.low > -MARGIN and result.high < MARGIN for result in results)
        if named or same or number == len(found) - 1:
            tally.named += bool(named)
            tally.equivalent += same and not named
            tally.beyond_chance += beyond
            tally.blocks += look.blocks
            tally.first += number == 0
            return


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=4000)
    parser.add_argument("--confidence", type=float, default=0.95)
    given = parser.parse_args()
    print("| effect | spread | blocks | p within the level | better or worse | equivalent | blocks used | first look |")
    print("|---|---|---|---|---|---|---|---|")
    cases = [
        (0.0, 0.017, 12), (0.0, 0.024, 12), (0.0, 0.024, 16), (0.0, 0.10, 12), (MARGIN, 0.024, 12), (-0.05, 0.024, 12),
        (-0.10, 0.024, 12),
    ]  # fmt: skip
    for effect, sd, blocks in cases:
        random, tally = np.random.default_rng(1), Tally()
        for _ in range(given.campaigns):
            campaign(random, effect, sd, blocks, given.confidence, tally)
        n = given.campaigns
        shares = [f"{100 * each / n:.1f} %" for each in (tally.beyond_chance, tally.named, tally.equivalent)]
        print(
            f"| {100 * effect:+.0f} % | {100 * sd:.1f} % | {blocks} | {' | '.join(shares)} | {tally.blocks / n:.1f} | "
            f"{100 * tally.first / n:.0f} % |"
        )


if __name__ == "__main__":
    main()
