"""How the evidence of a comparison is written in every sentence: ``95 % CI 24.1 to 38 %, n = 8 blocks, p = 0.031``."""

from __future__ import annotations

LEAST_P = 0.001
"""A smaller p is not written out."""


def p_value(p: float) -> str:
    """p alone, as in a column of a table.

    >>> p_value(0.0311), p_value(0.25), p_value(0.0004)
    ('0.031', '0.25', '<0.001')
    """
    return f"<{LEAST_P}" if p < LEAST_P else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def p_is(p: float, name: str = "p") -> str:
    """p in a sentence.

    >>> p_is(0.0311), p_is(0.0004, "adjusted p")
    ('p = 0.031', 'adjusted p < 0.001')
    """
    return f"{name} < {LEAST_P}" if p < LEAST_P else f"{name} = {p_value(p)}"


def level(confidence: float) -> str:
    """What stands before an interval.

    >>> level(0.95), level(0.995)
    ('95 % CI', '99.5 % CI')
    """
    return f"{100 * confidence:g} % CI"


def evidence(
    *,
    confidence: float,
    ends: str | None,
    n_baseline: int,
    n_arm: int,
    paired: bool,
    p: float | None,
    p_adjusted: float | None,
) -> str:
    """Interval, n and p of a comparison.

    Args:
        confidence: As asked for.
        ends: The interval, with its unit; ``None``: there is none.
        n_baseline: Runs of the baseline; in pairs, blocks.
        n_arm: Runs of the arm.
        paired: By block.
        p: Not adjusted.
        p_adjusted: Adjusted; left out where it is the same.
    """
    parts = ["no interval" if ends is None else f"{level(confidence)} {ends}"]
    if n_baseline == n_arm == 1:
        parts.append("n=1")
    else:
        parts.append(f"n = {n_baseline} blocks" if paired else f"n = {n_baseline} and {n_arm} runs")
    if p is not None:
        parts.append(p_is(p))
    if p_adjusted is not None and p_adjusted != p:
        parts.append(p_is(p_adjusted, "adjusted p"))
    if not paired:
        parts.append("unpaired, drift not controlled")
    return ", ".join(parts)
