"""What a campaign can see: the smallest detectable effect, and the blocks needed for a given one.

Both are for a single comparison by the exact signed-rank test with normal differences, found in 80 % of campaigns.
Judging several metrics together (:mod:`txop.stats.holm`) needs somewhat more. The effects come from a table
(``bench/power_table.py`` makes it); past its end the large-sample variance of the Hodges-Lehmann estimate, pi/(3n),
carries on from the last entry.
"""

from __future__ import annotations

import math

from txop.stats.limits import MAX_BLOCKS
from txop.stats.power_table import SMALLEST_EFFECT
from txop.stats.samples import significance_level

POWER = 0.8


def smallest_detectable_effect(n: int, sd: float, *, confidence: float = 0.95) -> float | None:
    """Effect that ``n`` pairs show in 4 of 5 campaigns when their differences have standard deviation ``sd``; in its
    unit.

    ``None`` when ``n`` pairs can never show anything, when ``sd`` is 0 (then the runs are not independent replicates),
    and for a confidence other than 0.90, 0.95 and 0.99.

    Raises:
        ValueError: ``n`` below 1, ``sd`` negative or not finite, or a confidence outside 0 to 1.
    """
    if n < 1:
        raise ValueError(f"a campaign needs at least 1 block, not {n}")
    _check(sd, "sd")
    multiple = _multiple(n, confidence)
    return None if multiple is None or sd == 0 else multiple * sd


def blocks_needed(effect: float, sd: float, *, confidence: float = 0.95) -> int | None:
    """Fewest blocks that show ``effect`` in 4 of 5 campaigns when the differences have standard deviation ``sd``.

    ``None`` for an effect of 0, for more than :data:`~txop.stats.limits.MAX_BLOCKS`, and for a confidence other than
    0.90, 0.95 and 0.99.

    Raises:
        ValueError: ``effect`` or ``sd`` negative or not finite, or a confidence outside 0 to 1.
    """
    _check(effect, "effect")
    _check(sd, "sd")
    table = _table(confidence)
    if table is None or effect == 0:
        return None
    first, multiples = table
    for index, multiple in enumerate(multiples):
        if multiple * sd <= effect:
            return first + index
    last = first + len(multiples) - 1
    root = multiples[-1] * sd / effect * math.sqrt(last)
    return math.ceil(root * root) if root * root <= MAX_BLOCKS else None


def is_known(confidence: float) -> bool:
    """Whether there is a table for this confidence."""
    return _table(confidence) is not None


def _multiple(n: int, confidence: float) -> float | None:
    table = _table(confidence)
    if table is None:
        return None
    first, multiples = table
    last = first + len(multiples) - 1
    if n < first:
        return None
    return multiples[n - first] if n <= last else multiples[-1] * math.sqrt(last / n)


def _table(confidence: float) -> tuple[int, tuple[float, ...]] | None:
    significance_level(confidence)
    return SMALLEST_EFFECT.get(round(confidence, 9))


def _check(value: float, what: str) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{what} must be a finite number, 0 or more; got {value}")
