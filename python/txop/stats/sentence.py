"""A comparison in one line of plain English."""

from __future__ import annotations

import math

from txop.stats.comparison import Comparison
from txop.stats.limits import MAX_BLOCKS
from txop.stats.wording import evidence


def sentence(c: Comparison) -> str:
    """What was found, with its interval, n and p-value; and what to do when nothing was found.

    Names are as given, so text from outside still has to be made visible.
    """
    name, base = c.arm_name, c.baseline_name
    if c.verdict in ("better", "worse"):
        way = f" ({'higher' if c.estimate > 0 else 'lower'})" if c.better == "lower" else ""
        text = f"{name} is {_size(c.estimate, c)} {c.verdict}{way} than {base} ({_details(c, signed=False)})"
    else:
        found = f"{_change(c.estimate, c)} ({_details(c, signed=True)})"
        if c.verdict == "equivalent":
            text = f"{name} and {base} are equivalent within {_size(c.margin, c)}: {found}"
        elif c.verdict is None:
            text = f"{name} against {base}: {found}; informational"
        else:
            text = f"{name} against {base} is inconclusive: {found}"
    if c.blocks_needed is not None:
        text += f"; about {c.blocks_needed} blocks are needed to settle a margin of {_size(c.margin, c)}"
    if c.beyond_limit:
        text += f"; more than {MAX_BLOCKS} blocks would be needed to settle a margin of {_size(c.margin, c)}"
    return f"{text}; small but real" if c.small_but_real else text


def _details(c: Comparison, *, signed: bool) -> str:
    shown = None
    if c.low is not None and c.high is not None:
        ends = sorted((c.low, c.high), key=abs) if not signed else [c.low, c.high]
        low, high = (_number(end if signed else abs(end), c, signed=signed) for end in ends)
        shown = f"{low} to {high}{_unit(c)}"
    return evidence(
        confidence=c.confidence,
        ends=shown,
        n_baseline=c.n_baseline,
        n_arm=c.n_arm,
        paired=c.paired,
        p=c.p,
        p_adjusted=c.p_adjusted,
    )


def _size(value: float, c: Comparison) -> str:
    return _number(abs(value), c, signed=False) + _unit(c)


def _change(value: float, c: Comparison) -> str:
    return _number(value, c, signed=True) + _unit(c)


def _unit(c: Comparison) -> str:
    unit = "percentage points" if c.unit == "%" and c.scale == "difference" else c.unit
    return f" {unit}" if unit else ""


def _number(value: float, c: Comparison, *, signed: bool) -> str:
    """One decimal for percent, three digits for anything else."""
    if c.scale == "ratio" and math.isfinite(value) and abs(value) < 1e4:
        text = f"{value:+.1f}" if signed else f"{value:.1f}"
        return text if text not in ("-0.0", "+0.0") else "0.0"
    text = f"{value:+.3g}" if signed else f"{value:.3g}"
    return text if text not in ("-0", "+0") else "0"
