"""Writes python/txop/stats/power_table.py: the effect that the exact signed-rank test finds in 4 of 5 campaigns.

    .venv/bin/python bench/power_table.py > python/txop/stats/power_table.py

Differences are normal with standard deviation 1. A sample z shifted by an effect e has the interval of z shifted by
e, so the test finds the effect when e > -(lower end for z): the effect found with 80 % power is the 80 % quantile of
that. No search, one pass. The upper end of z is the lower end of -z, just as likely, and is used too.

A figure that is judged in a family of m comparisons has to reach alpha / m when none of the others shows anything
(Holm's first step), so the table has a row for several m. Takes about five minutes.
"""

import numpy as np

from txop.stats.signed_rank import null_cdf, tail_count

SEED = 20260101
DRAWS = 40_000
WALSH_AVERAGES = 20_000_000
"""Small samples get more draws: as many as make this many averages."""
CONFIDENCES = (0.90, 0.95, 0.99)
FAMILIES = (1, 2, 3, 4, 6, 8, 12, 20, 40)
LAST = 60
CHUNK_VALUES = 4_000_000
POWER = 0.8
PER_LINE = 13

Kind = tuple[float, int]
"""A confidence, and a number of comparisons judged together."""


def multipliers(n: int, rng: np.random.Generator) -> dict[Kind, float]:
    """Effect in standard deviations of one difference for ``n`` pairs; none where there is no interval."""
    kinds = [(confidence, family) for confidence in CONFIDENCES for family in FAMILIES]
    ranks = {(c, m): tail_count(null_cdf(n), (1 - c) / m) for c, m in kinds}
    ranks = {kind: k for kind, k in ranks.items() if k}
    if not ranks:
        return {}
    i, j = np.triu_indices(n)
    ends: dict[int, list[np.ndarray]] = {k: [] for k in set(ranks.values())}
    left = max(DRAWS, WALSH_AVERAGES // i.size)
    while left:
        rows = min(left, max(1, CHUNK_VALUES // i.size))
        z = rng.standard_normal((rows, n))
        walsh = (z[:, i] + z[:, j]) / 2
        walsh.partition(sorted({place for k in ends for place in (k - 1, i.size - k)}), axis=1)
        for k, parts in ends.items():
            parts += [-walsh[:, k - 1], walsh[:, i.size - k]]
        left -= rows
    found = {k: float(np.quantile(np.concatenate(parts), POWER)) for k, parts in ends.items()}
    return {kind: found[k] for kind, k in ranks.items()}


def main() -> None:
    """Print the module."""
    rng = np.random.default_rng(SEED)
    found = {n: multipliers(n, rng) for n in range(2, LAST + 1)}
    print('"""Written by bench/power_table.py; change that, not this."""\n')
    print("# fmt: off")
    print("SMALLEST_EFFECT: dict[float, dict[int, tuple[int, tuple[float, ...]]]] = {")
    for confidence in CONFIDENCES:
        print(f"    {confidence}: {{")
        for family in FAMILIES:
            values = {n: effects[confidence, family] for n, effects in found.items() if (confidence, family) in effects}
            numbers = [f"{value:.4f}," for value in values.values()]
            print(f"        {family}: ({min(values)}, (")
            for start in range(0, len(numbers), PER_LINE):
                print(f"            {' '.join(numbers[start : start + PER_LINE])}")
            print("        )),")
        print("    },")
    print("}")
    print("# fmt: on")
    print('"""By confidence and number of comparisons judged together: the smallest number of pairs, and for it and')
    print('each next one the effect, in standard deviations of one difference."""')


if __name__ == "__main__":
    main()
