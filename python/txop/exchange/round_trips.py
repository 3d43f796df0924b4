"""Figures of round-trip times: quantiles with lost probes at infinity, the share that was lost, and what a tool's own
summary says where it does not print single ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

from txop.exchange.imported import ImportedRun

NO_SINGLE = "only a summary is printed, no single round trips"

_KEYS = (("rtt_p50_ms", 0.50), ("rtt_p95_ms", 0.95), ("rtt_p99_ms", 0.99))
_FEW = 100


def put_round_trips(run: ImportedRun, rtts_ms: Sequence[float | None], source: str) -> None:
    """Set the quantiles and the loss of a run; ``None`` is a probe that was lost."""
    put_quantiles(run, rtts_ms, source)
    if rtts_ms:
        run.put("probe_loss_percent", 100 * sum(rtt is None for rtt in rtts_ms) / len(rtts_ms), source)


def put_quantiles(run: ImportedRun, rtts_ms: Sequence[float | None], source: str, *, floor_ms: float = 0.0) -> None:
    """Set the quantiles of a run; ``None`` is a probe that was lost. Times below ``floor_ms`` are known to be below it
    and no more, so a quantile that falls there is no number."""
    from txop.stats.spread import quantile

    if not rtts_ms:
        for key, _ in _KEYS:
            run.put(key, None, source, "no round trip within the window")
        return
    probed = [math.inf if rtt is None else rtt for rtt in rtts_ms]
    for key, probability in _KEYS:
        value = quantile(probed, probability)
        if value < floor_ms:
            run.put(key, None, source, f"below {floor_ms:g} ms, which the tool does not resolve")
        else:
            run.put(key, value, source)
    if len(probed) < _FEW:
        run.warnings.append(f"the 99th percentile of {len(probed)} probes is their largest")


def put_summary(
    run: ImportedRun,
    source: str,
    *,
    least: float | None = None,
    mean: float | None = None,
    most: float | None = None,
    deviation: float | None = None,
    loss_percent: float | None = None,
    no_quantiles: str | None = None,
) -> None:
    """Set what a tool's own summary gives; ``no_quantiles``: why there are none."""
    for key, value in (
        ("rtt_min_ms", least),
        ("rtt_mean_ms", mean),
        ("rtt_max_ms", most),
        ("rtt_stddev_ms", deviation),
        ("probe_loss_percent", loss_percent),
    ):
        if value is not None:
            run.put(key, value, source)
    if no_quantiles is not None:
        for key, _ in _KEYS:
            run.put(key, None, source, no_quantiles)
