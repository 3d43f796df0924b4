"""Measures the warnings "not settled": how often a steady series gets one, and how often a ramp and a jump do.

    .venv/bin/python bench/ramp.py [--series 1000] [--seed 1]

Series are AR(1) around 1, around a ramp (a line from 0.6 to 1 or from 0.2 to 1, or 1 - 0.6 exp(-3 t)), or around a jump
from 0.6 to 1 after two fifths. Prints the two tables of docs/statistics.md: shares in percent.
"""

import argparse
import math
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from txop.stats.ramp import ramp
from txop.stats.step import step

SAMPLES = (6, 10, 20, 30, 100)
CORRELATIONS = (0.0, 0.6, 0.9)
SPREADS = (0.05, 0.2)


def course(kind: str, n: int) -> NDArray[np.float64]:
    """What the noise is put on."""
    t = np.linspace(0.0, 1.0, n)
    return {"steady": np.ones(n), "0.6 to 1": 0.6 + 0.4 * t, "levels off": 1 - 0.6 * np.exp(-3 * t),
            "0.2 to 1": 0.2 + 0.8 * t, "jumps": np.where(np.arange(n) < 2 * n // 5, 0.6, 1.0)}[kind]  # fmt: skip


def noise(n: int, correlation: float, spread: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Stationary AR(1)."""
    steps = rng.normal(0, 1, n)
    x = np.empty(n)
    x[0] = steps[0]
    for i in range(1, n):
        x[i] = correlation * x[i - 1] + math.sqrt(1 - correlation**2) * steps[i]
    return 1 + spread * x


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=1000, help="for each figure (1000)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    table(ramp, ("steady", "0.6 to 1", "levels off", "0.2 to 1"), options)
    print()
    table(step, ("steady", "jumps", "0.6 to 1", "levels off"), options)
    return 0


def table(
    warning: Callable[[NDArray[np.float64]], object], kinds: tuple[str, ...], options: argparse.Namespace
) -> None:
    """Shares of series that get a warning, for each kind with both spreads."""
    rng = np.random.default_rng(options.seed)
    print("| samples | autocorrelation | " + " | ".join(kinds) + " |\n" + "|---" * (len(kinds) + 2) + "|")
    for n in SAMPLES:
        for correlation in CORRELATIONS:
            cells = []
            for kind in kinds:
                shares = []
                for spread in SPREADS:
                    drawn = (course(kind, n) * noise(n, correlation, spread, rng) for _ in range(options.series))
                    shares.append(100 * sum(warning(x) is not None for x in drawn) / options.series)
                cells.append(" / ".join(f"{share:.1f}" for share in shares))
            print(f"| {n} | {correlation:g} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
