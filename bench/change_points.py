"""Measures how `txop trend` finds change points, beside Apache Otava on the same runs.

    .venv/bin/pip install --target /tmp/otava apache-otava==0.8.0
    PYTHONPATH=/tmp/otava .venv/bin/python bench/change_points.py [--series 100] [--seed 1] [--json]

Each simulated series is of six archives of eight runs. A run is 100 Mbit/s with independent noise of 2 %; from the
fourth archive on, it is slower by the step. In the second table each archive also has a state of its own (SD 1 %), as
campaigns of different weeks have. `trend` is the method of txop: neighbours and the last against the first, exact,
adjusted by Holm, with a margin of 3 %. Otava sees the 48 runs one after the other, with its defaults (p 0.001) and with
a least change of 3 %, too. Found: a change point at the fourth archive. False: a change point anywhere else. Without
Otava in the path, its columns are left out.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise

import numpy as np

from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import compare_unpaired, with_holm

ARCHIVES, RUNS, AT = 6, 8, 3
NOISE, MARGIN = 0.02, 3.0
STEPS = (0.0, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0)
STATES = (0.0, 0.01)

Series = list[list[float]]
Method = Callable[[Series], set[int]]


def series(step: float, state: float, dice: np.random.Generator) -> Series:
    """Runs of each archive."""
    made = []
    for archive in range(ARCHIVES):
        level = 100 * (1 - step / 100 if archive >= AT else 1) * (1 + state * dice.standard_normal())
        made.append([float(level * (1 + NOISE * dice.standard_normal())) for _ in range(RUNS)])
    return made


def trend(values: Series) -> set[int]:
    """The archives at which txop has a change point, as `txop.report.trend.follow` compares them."""
    pairs = [*pairwise(range(ARCHIVES)), (0, ARCHIVES - 1)]
    compared = [
        compare_unpaired(values[one], values[other], ComparisonSettings(scale="ratio", better="higher", margin=MARGIN))
        for one, other in pairs
    ]
    adjusted = with_holm(compared)
    return {
        other for (_, other), each in zip(pairs[:-1], adjusted[:-1], strict=True) if each.verdict in ("better", "worse")
    }


def otava(least_change: float) -> Method | None:
    """Otava's method; `None`: it is not here."""
    try:
        compute_change_points = import_module("otava.analysis").compute_change_points
    except ImportError:
        return None

    def found(values: Series) -> set[int]:
        flat: Sequence[float] = [value for archive in values for value in archive]
        points, _ = compute_change_points(flat, max_pvalue=0.001, min_magnitude=least_change)
        return {round(point.index / RUNS) for point in points}  # the boundary between archives that is nearest

    return found


def main() -> int:
    """Run all, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    methods: dict[str, Method | None] = {"trend": trend, "otava": otava(0.0), "otava, 3 %": otava(0.03)}
    rows = []
    for state in STATES:
        for step in STEPS:
            dice = np.random.default_rng([options.seed, round(state * 1000), round(step * 10)])
            made = [series(step, state, dice) for _ in range(options.series)]
            row: dict[str, object] = {"state_percent": 100 * state, "step_percent": step, "n": len(made)}
            for name, method in methods.items():
                if method is not None:
                    found = [method(values) for values in made]
                    row[f"{name}: found"] = sum(AT in each for each in found) / len(made) if step else None
                    row[f"{name}: false"] = sum(bool(each - ({AT} if step else set())) for each in found) / len(made)
            rows.append(row)
            if not options.json:
                shares = ", ".join(
                    f"{key} {value:.3f}" for key, value in row.items() if ":" in key and value is not None
                )
                print(f"state {100 * state:.0f} %, step {step:.0f} % (n = {len(made)}): {shares}")
    if options.json:
        json.dump({"format": "txop-bench-change-points", "rows": rows}, sys.stdout, indent=2)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
