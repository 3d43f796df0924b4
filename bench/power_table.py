"""Writes python/txop/stats/power_table.py: the effect that the exact signed-rank test sees in 4 of 5 campaigns.

    .venv/bin/python bench/power_table.py > python/txop/stats/power_table.py

Differences are normal with standard deviation 1. A sample z shifted by an effect e has the interval of z shifted by
e, so the test finds the effect when e > -(lower end for z): the effect found with 80 % power is the 80 % quantile of
that. No search, one pass. The upper end of z is the lower end of -z, just as likely, and is used too. Takes about two
minutes.
"""

import numpy as np

from txop.stats.signed_rank import null_cdf, tail_count

SEED = 20260101
DRAWS = 40_000
WALSH_AVERAGES = 20_000_000
"""Small samples get more draws: as many as make this many averages."""
CONFIDENCES = (0.90, 0.95, 0.99)
LAST = 60
CHUNK_VALUES = 4_000_000
POWER = 0.8


def multipliers(n: int, rng: np.random.Generator) -> dict[float, float]:
    """Effect in standard deviations of one difference for ``n`` pairs, by confidence; none where there is no
    interval."""
    ranks = {confidence: tail_count(null_cdf(n), 1 - confidence) for confidence in CONFIDENCES}
    ranks = {confidence: k for confidence, k in ranks.items() if k}
    if not ranks:
        return {}
    i, j = np.triu_indices(n)
    ends: dict[float, list[np.ndarray]] = {confidence: [] for confidence in ranks}
    left = max(DRAWS, WALSH_AVERAGES // i.size)
    while left:
        rows = min(left, max(1, CHUNK_VALUES // i.size))
        z = rng.standard_normal((rows, n))
        walsh = (z[:, i] + z[:, j]) / 2
        walsh.partition(sorted({place for k in ranks.values() for place in (k - 1, i.size - k)}), axis=1)
        for confidence, k in ranks.items():
            ends[confidence] += [-walsh[:, k - 1], walsh[:, i.size - k]]
        left -= rows
    return {confidence: float(np.quantile(np.concatenate(parts), POWER)) for confidence, parts in ends.items()}


def main() -> None:
    """Print the module."""
    rng = np.random.default_rng(SEED)
    found = {n: multipliers(n, rng) for n in range(2, LAST + 1)}
    print('"""Written by bench/power_table.py; change that, not this."""\n')
    print("SMALLEST_EFFECT: dict[float, tuple[int, tuple[float, ...]]] = {")
    for confidence in CONFIDENCES:
        values = {n: effects[confidence] for n, effects in found.items() if confidence in effects}
        print(f"    {confidence}: (\n        {min(values)},\n        (")
        for value in values.values():
            print(f"            {value:.4f},")
        print("        ),\n    ),")
    print("}")
    print('"""By confidence: the smallest number of pairs, and for it and each next one the effect,')
    print('in standard deviations of one difference."""')


if __name__ == "__main__":
    main()
