"""How the time stamps of a capture were calibrated. Mirrors the timing part of ``report/mod.rs``."""

from __future__ import annotations

from txop.present.document import Model


class StampHypothesis(Model):
    """Response gaps under one meaning of the time stamp."""

    meaning: str
    """`mpdu-first-bit`, `ppdu-start`, `ppdu-end`."""
    pairs: int
    """Solicited responses looked at."""
    median_gap_us: float | None
    """Median gap, µs."""
    iqr_us: float | None
    """Interquartile range of the gap, µs."""
    in_window: float | None
    """Share of gaps within SIFS -3/+10 µs."""


class Timing(Model):
    """How the time stamps were calibrated (see `docs/air-counting.md`)."""

    clock: str
    """`tsft`, `timestamp-field` or `capture-clock`."""
    stamp_meaning: str | None
    """`mpdu-first-bit`, `ppdu-start`, `ppdu-end`; `None` when it could not be inferred."""
    ambiguous_with: str | None
    """Another meaning that the evidence cannot tell from it; the confidence is halved then."""
    confidence: float | None
    """0 to 1: share of solicited responses that fall into the SIFS window under the chosen meaning, times the
    evidence (pairs / (pairs + 10))."""
    hypotheses: list[StampHypothesis]
    """The evidence, one row per meaning tried."""
    ampdu_reference: str
    """`ppdu-id`, `not-a-ppdu-id` (with the reason in `text`), `absent`."""
    grouping: str
    """How MPDUs were grouped to PPDUs: `ampdu-reference`, `equal-tsft`, `none`."""
    control_rates_believable: bool | None
    """Whether the rates that control frames claim can be true; `None` when not enough pairs."""
    control_rate_overlaps: int
    """Control responses that would overlap the next frame at their claimed rate, and all that were checked."""
    control_rate_checked: int
    """Denominator of `control_rate_overlaps`."""
    clock_jumps: int
    """Times the clock jumped (reset, wrap, several radios) and was re-anchored."""
    text: list[str]
    """All of this in words."""
