"""Figures of round-trip times: quantiles with lost probes at infinity, and the share that was lost."""

from __future__ import annotations

import math
from collections.abc import Sequence

from txop.exchange.imported import ImportedRun

_KEYS = (("rtt_p50_ms", 0.50), ("rtt_p95_ms", 0.95), ("rtt_p99_ms", 0.99))
_FEW = 100


def put_round_trips(run: ImportedRun, rtts_ms: Sequence[float | None], source: str) -> None:
    """Set the figures of a run; ``None`` is a probe that was lost."""
    from txop.stats.spread import quantile

    if not rtts_ms:
        for key, _ in _KEYS:
            run.put(key, None, source, "no round trip within the window")
        return
    probed = [math.inf if rtt is None else rtt for rtt in rtts_ms]
    for key, probability in _KEYS:
        run.put(key, quantile(probed, probability), source)
    run.put("probe_loss_percent", 100 * sum(map(math.isinf, probed)) / len(probed), source)
    if len(probed) < _FEW:
        run.warnings.append(f"the 99th percentile of {len(probed)} probes is their largest")
