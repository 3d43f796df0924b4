"""How many runs the method takes: one limit, which plans, comparisons and advice all know."""

from __future__ import annotations

MAX_BLOCKS = 1000
"""Blocks of a campaign, pairs of a comparison, runs of one arm that are compared unpaired: no more than this."""

EXACT_PAIRS = 500
"""Up to this many pairs the signed-rank distribution is counted; beyond it, it is taken to be normal."""

EXACT_RUNS = 100
"""Up to this many runs of each arm the Mann-Whitney distribution is counted; beyond it, it is taken to be normal."""
