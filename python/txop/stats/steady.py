"""Steadiness of one run: length of the warm-up, drift of the rest, and its effective sample size.

This marks a run; it never feeds a verdict. A verdict compares whole runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from txop.stats.samples import ROUNDING, Floats, finite

MAX_SAMPLES = 1_000_000
BATCH = 5
MOVING = 4
MAX_SD_SHARE = 0.05
MIN_TREND_BATCHES = 6
MAX_TREND_BATCHES = 60
BATCH_LENGTHS = 6
"""Length of a trend batch in autocorrelation times (the samples beyond the first that say nothing new)."""
TREND_P = 0.01


@dataclass(frozen=True)
class Cut:
    """Where MSER-5 would end the warm-up."""

    samples: int
    """Samples to drop from the start; a multiple of 5."""
    at_limit: bool
    """The search ended at the middle of the series: no steady part was found."""


@dataclass(frozen=True)
class Trend:
    """Kendall's rank correlation of time with the means of batches long enough to be nearly independent."""

    tau: float
    p: float
    batches: int


@dataclass(frozen=True)
class Steadiness:
    """Result of :func:`assess`."""

    n: int
    """Samples after the declared warm-up."""
    cut: Cut | None
    trend: Trend | None
    moving_sd_share: float | None
    """SD of the last four moving averages over four samples, as a share of the last one."""
    effective_n: float
    """Independent samples that would estimate the mean as well as these ``n`` do."""
    warnings: tuple[str, ...] = ()


def assess(series: ArrayLike, *, warm_up: int = 0) -> Steadiness:
    """Look at one run's evenly spaced samples, ``warm_up`` of which are declared warm-up and will be dropped.

    Raises:
        ValueError: no samples, too many, one that is not finite, or a warm-up that leaves none.
    """
    x = finite(series, "series", at_most=MAX_SAMPLES)
    if not 0 <= warm_up < x.size:
        raise ValueError(f"a warm-up of {warm_up} samples leaves nothing of {x.size}")
    kept = x[warm_up:]
    cut, moved, slope = mser5(x), moving_sd_share(kept), trend(kept)
    warnings = []
    if cut is None:
        warnings.append(f"{x.size} samples are too few to look for the end of the warm-up")
    elif cut.at_limit:
        warnings.append("no steady part was found: MSER-5 would drop half of the samples")
    elif cut.samples > warm_up:
        warnings.append(f"the warm-up lasts {cut.samples} samples by MSER-5; {warm_up} were declared")
    if moved is not None and moved > MAX_SD_SHARE:
        warnings.append(
            f"not steady at the end: the last {MOVING} moving averages vary by {100 * moved:.1f} % "
            f"(limit {100 * MAX_SD_SHARE:.0f} %)"
        )
    if slope is None:
        warnings.append("too few independent samples to test for a trend")
    elif slope.p < TREND_P:
        warnings.append(
            f"the run {'rises' if slope.tau > 0 else 'falls'} with time (tau = {slope.tau:+.2f}, p = {slope.p:.2g})"
        )
    return Steadiness(kept.size, cut, slope, moved, effective_sample_size(kept), tuple(warnings))


def mser5(series: ArrayLike) -> Cut | None:
    """Cut that minimises the marginal standard error of the mean of batches of five (White 1997; White, Cobb and
    Spratt 2000).

    The cut is searched in the first half, where the rule is sound. ``None`` below ten batches.

    Raises:
        ValueError: no samples, too many, or one that is not finite.
    """
    x = finite(series, "series", at_most=MAX_SAMPLES)
    batches = x.size // BATCH
    if batches < 10:
        return None
    means = _scaled(x)[: batches * BATCH].reshape(batches, BATCH).mean(axis=1)
    means -= means.mean()
    left = np.arange(batches, 0, -1)
    sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum((means**2)[::-1])[::-1]
    error = np.maximum(squares - sums**2 / left, 0.0) / left.astype(np.float64) ** 2
    limit = batches // 2
    best = int(np.argmin(error[: limit + 1]))
    return Cut(best * BATCH, best == limit)


def moving_sd_share(series: ArrayLike) -> float | None:
    """SD of the last four moving averages (each over four samples) relative to the last.

    More than 5 % means that throughput has not settled; the rule and its two numbers are those of the IETF's
    responsiveness test under working conditions (draft-ietf-ippm-responsiveness). ``None`` below seven samples or
    around a mean of 0.

    Raises:
        ValueError: no samples, too many, or one that is not finite.
    """
    x = finite(series, "series", at_most=MAX_SAMPLES)
    needed = 2 * MOVING - 1
    if x.size < needed:
        return None
    averages = np.convolve(_scaled(x[-needed:]), np.full(MOVING, 1 / MOVING), mode="valid")
    if abs(averages[-1]) <= ROUNDING * float(np.abs(averages).max()):
        return None
    return float(averages.std() / abs(averages[-1]))


def trend(series: ArrayLike) -> Trend | None:
    """Test for a monotone trend without being fooled by autocorrelation.

    Neighbouring samples are alike, and a test on them finds trends in every run. So the samples are first averaged in
    batches at least six autocorrelation times long (at most 60 batches). ``None`` with fewer than 6 batches, and for
    a constant series. Some correlation is left: with autocorrelation 0.6, p < 0.05 comes up in 6 to 9 % of series
    without a trend (without batches: 33 %), so :func:`assess` warns below 0.01.

    A strong trend is itself autocorrelation, so the autocorrelation time is taken from the series less its straight
    line.

    Raises:
        ValueError: no samples, too many, or one that is not finite.
    """
    x = _scaled(finite(series, "series", at_most=MAX_SAMPLES))
    n = x.size
    if n < MIN_TREND_BATCHES or np.ptp(x) == 0:
        return None
    time = np.arange(n) - (n - 1) / 2
    rest = x - x.mean() - time * float(time @ x / (time @ time))
    # of a straight line only rounding is left, and that differs from processor to processor
    independent = effective_sample_size(rest) if np.ptp(rest) > ROUNDING * np.ptp(x) else n
    length = max(math.ceil(BATCH_LENGTHS * (n / independent - 1)), math.ceil(n / MAX_TREND_BATCHES), 1)
    batches = n // length
    if batches < MIN_TREND_BATCHES:
        return None
    means = x[n - batches * length :].reshape(batches, length).mean(axis=1)
    if np.ptp(means) == 0:
        return None
    from scipy.stats import kendalltau

    found = kendalltau(np.arange(batches), means)
    return Trend(float(found.statistic), float(found.pvalue), batches)


def effective_sample_size(series: ArrayLike) -> float:
    """Independent samples with the same information about the mean: n / (1 + 2 * sum of autocorrelations), at most n.

    The sum ends where a pair of neighbouring autocorrelations turns negative, and pairs are kept from rising (initial
    monotone sequence; Geyer 1992). A constant series counts as one sample.

    Raises:
        ValueError: no samples, too many, or one that is not finite.
    """
    x = _scaled(finite(series, "series", at_most=MAX_SAMPLES))
    n = x.size
    centred = x - x.mean()
    if np.ptp(x) == 0 or not (power := float(centred @ centred)):
        return 1.0
    if n < 4:
        return float(n)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, size)
    correlation = np.fft.irfft(spectrum * np.conj(spectrum), size)[:n] / power
    even = n // 2 * 2
    pairs = correlation[:even].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: negative[0]] if negative.size else pairs)
    time = max(1.0, 2 * float(pairs.sum()) - 1)
    return max(1.0, n / time)


def _scaled(x: Floats) -> Floats:
    """``x`` in a range where squares neither overflow nor vanish; everything here is free of the unit."""
    largest = float(np.abs(x).max())
    return x / largest if largest > 0 else x
