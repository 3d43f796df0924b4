"""Statistical power: the smallest detectable effect, and the blocks that would decide an open comparison.

``plan check``, the table of effects and the sentence of a comparison all ask here. An effect is detectable when the
exact signed-rank test finds it in 80 % of campaigns with normal differences. In a family of m comparisons that are
judged together (:mod:`txop.stats.holm`) it has to reach alpha / m, as Holm's first step asks where the others show
nothing. The effects come from a table (``bench/power_table.py`` makes it); past its end the large-sample variance of
the Hodges-Lehmann estimate, pi/(3n), carries on from the last entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from txop.stats.limits import MAX_BLOCKS
from txop.stats.power_table import SMALLEST_EFFECT
from txop.stats.samples import Floats, significance_level

POWER = 0.8

_QUANTILES = 9
"""Plausible sizes of effect and noise each that :func:`blocks_to_decide` averages over."""


def smallest_detectable_effect(n: int, sd: float, *, confidence: float = 0.95, family: int = 1) -> float | None:
    """Effect that ``n`` pairs show in 4 of 5 campaigns when their differences have standard deviation ``sd``; in its
    unit. ``family``: how many comparisons are judged together.

    ``None`` when ``n`` pairs can never show anything, when ``sd`` is 0 (then the runs are not independent replicates),
    and for a confidence other than 0.90, 0.95 and 0.99.

    Raises:
        ValueError: ``n`` or ``family`` below 1, ``sd`` negative or not finite, or a confidence outside 0 to 1.
    """
    if n < 1:
        raise ValueError(f"a campaign needs at least 1 block, not {n}")
    _check(sd, "sd")
    multiple = _multiple(n, confidence, family)
    return None if multiple is None or sd == 0 else multiple * sd


def as_change(effect: float | None, *, ratio: bool) -> float | None:
    """An effect as it is reported: of 100 times a logarithm the change in percent, of a difference itself."""
    if effect is None or not ratio:
        return effect
    return 100 * math.expm1(effect / 100) if effect < 70_000 else math.inf


def blocks_needed(effect: float, sd: float, *, confidence: float = 0.95, family: int = 1) -> int | None:
    """Fewest blocks that show ``effect`` in 4 of 5 campaigns when the differences have standard deviation ``sd``.

    ``None`` for an effect of 0, for more than :data:`~txop.stats.limits.MAX_BLOCKS`, and for a confidence other than
    0.90, 0.95 and 0.99.

    Raises:
        ValueError: ``effect`` or ``sd`` negative or not finite, or a confidence outside 0 to 1.
    """
    _check(effect, "effect")
    _check(sd, "sd")
    if not is_known(confidence) or effect == 0:
        return None
    return _first(lambda n: (multiple := _multiple(n, confidence, family)) is not None and multiple * sd <= effect)


def blocks_to_decide(
    estimate: float, sd: float, n: int, *, margin: float, confidence: float = 0.95, family: int = 1
) -> int | None:
    """Blocks in all at which 4 of 5 campaigns like this one would have a verdict: better, worse or equivalent.

    What is known of a campaign of ``n`` blocks is an estimate and a standard deviation, and both are uncertain. So the
    chance of a verdict is averaged over the effects and sizes of noise that such a campaign leaves plausible: the
    effect around ``estimate`` with the standard error of the Hodges-Lehmann estimate, the noise by the chi-squared
    distribution. Taken as exact, they promise too much: the campaigns that ask are those that had bad luck.

    ``None`` where no number up to :data:`~txop.stats.limits.MAX_BLOCKS` has that chance, as when the effect is about
    as large as the margin.

    Args:
        estimate: Of the effect, on the scale of the differences (logarithms of ratios).
        sd: Standard deviation of the differences, in the same unit.
        n: Blocks that both are from, at least 2.
        margin: Smallest effect that matters, in the same unit, above 0.
        confidence: Of the verdict.
        family: How many comparisons are judged together.
    """
    if n < 2 or not is_known(confidence) or margin <= 0 or sd <= 0:
        return None
    from scipy import special

    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    sds = sd * np.sqrt((n - 1) / special.chdtri(n - 1, levels))[:, None]
    effects = abs(estimate) + sds * math.sqrt(math.pi / (3 * n)) * special.ndtri(levels)[None, :]
    return _first(
        lambda blocks: _decided(blocks, effects, sds, margin, confidence, family) >= POWER,
        above=n,
    )


def _decided(blocks: int, effects: Floats, sds: Floats, margin: float, confidence: float, family: int) -> float:
    """Chance of a verdict with ``blocks`` blocks, averaged over ``effects`` and ``sds``; normal approximation, with the
    critical value that the table of the exact test implies."""
    from scipy import special

    errors = sds * math.sqrt(math.pi / (3 * blocks))
    multiple, alone = _multiple(blocks, confidence, family), _multiple(blocks, confidence, 1)
    chance = np.zeros(np.broadcast(effects, errors).shape)
    if multiple is not None:
        least = np.maximum(margin, multiple * sds - special.ndtri(POWER) * errors)
        chance = special.ndtr((effects - least) / errors) + special.ndtr((-effects - least) / errors)
    if alone is not None:
        most = margin - (alone * sds - special.ndtri(POWER) * errors)
        inside = special.ndtr((most - effects) / errors) - special.ndtr((-most - effects) / errors)
        chance = chance + np.maximum(inside, 0) * (most > 0)
    return float(np.mean(np.minimum(chance, 1)))


def is_known(confidence: float) -> bool:
    """Whether there is a table for this confidence."""
    significance_level(confidence)
    return round(confidence, 9) in SMALLEST_EFFECT


def _first(enough: Callable[[int], bool], above: int = 1) -> int | None:
    """The first number of blocks above ``above`` that is enough, up to the most that a campaign may have; found by
    doubling and halving, as more blocks are not worse."""
    low, high = above, above + 1
    while not enough(high):
        if high >= MAX_BLOCKS:
            return None
        low, high = high, min(2 * high, MAX_BLOCKS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=4096)
def _multiple(n: int, confidence: float, family: int) -> float | None:
    """The detectable effect in standard deviations. A family between two of the table has the larger one's."""
    if family < 1:
        raise ValueError(f"a family has at least 1 comparison, not {family}")
    if not is_known(confidence):
        return None
    table = SMALLEST_EFFECT[round(confidence, 9)]
    found = next((size for size in sorted(table) if size >= family), None)
    if found is None:
        return _beyond(n, 1 - confidence, family, table[max(table)])
    first, multiples = table[found]
    last = first + len(multiples) - 1
    if n < first:
        return None
    return multiples[n - first] if n <= last else multiples[-1] * math.sqrt(last / n)


def _beyond(n: int, alpha: float, family: int, largest: tuple[int, tuple[float, ...]]) -> float | None:
    """For more comparisons than the table has: the normal quantiles, never less than for the largest it has."""
    if 2 / 2**n > alpha / family * (1 + 1e-9):
        return None
    from scipy import special

    first, multiples = largest
    last = first + len(multiples) - 1
    known = multiples[min(n, last) - first] * math.sqrt(last / max(n, last))
    quantiles = -float(special.ndtri(alpha / family / 2)) + float(special.ndtri(POWER))
    return max(known, quantiles * math.sqrt(math.pi / (3 * n)))


def _check(value: float, what: str) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{what} must be a finite number, 0 or more; got {value}")
