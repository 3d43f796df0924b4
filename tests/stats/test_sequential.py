"""Looks before the end: their levels by counting every order and every sign, and what they keep."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from txop.stats.sequential import Look, looks
from txop.stats.signed_rank import null_cdf, signed_rank, two_sided_p


def p_of(ranks: tuple[int, ...], signs: tuple[bool, ...]) -> float:
    """Of the first so many differences, whose sizes are in this order."""
    order = sorted(ranks)
    statistic = sum(order.index(rank) + 1 for rank, is_positive in zip(ranks, signs, strict=True) if is_positive)
    return two_sided_p(null_cdf(len(ranks)), statistic)


def counted(found: tuple[Look, ...], blocks: int, scale: float) -> float:
    """The share of all orders and signs in which a look decides."""
    decided = total = 0
    for ranks in permutations(range(blocks)):
        for signs in product((False, True), repeat=blocks):
            total += 1
            decided += any(p_of(ranks[: look.blocks], signs[: look.blocks]) <= look.level * scale for look in found)
    return decided / total


def test_what_is_spent_is_what_counting_every_order_and_sign_gives() -> None:
    found = looks(6, 0.6, 1)
    assert [look.blocks for look in found] == [5, 6]
    for number, look in enumerate(found, 1):
        assert counted(found[:number], 6, 1.0) == pytest.approx(look.spent, abs=1e-12)
    assert 0.3 < found[-1].spent <= 0.4


def test_in_a_family_each_part_of_it_keeps_its_share() -> None:
    """Holm's second step asks less of the second comparison: that has to hold at all looks together, too."""
    found = looks(6, 0.6, 2)
    assert len(found) > 1
    assert counted(found, 6, 1.0) <= 0.4 / 2
    assert counted(found, 6, 2.0) <= 0.4


@pytest.mark.parametrize("family", [1, 2, 3, 6])
@pytest.mark.parametrize("blocks", [6, 7, 8, 12, 16, 17, 30, 200])
def test_looks_are_in_order_end_at_the_end_and_keep_the_error_rate(blocks: int, family: int) -> None:
    found = looks(blocks, 0.95, family)
    if 2 * null_cdf(blocks)[0] > 0.05 / family:
        assert found == ()
        return
    places = [look.blocks for look in found]
    assert places == sorted(set(places))
    assert places[-1] == blocks
    assert all(0 < look.level <= 0.05 / family * (1 + 1e-6) for look in found)
    assert [look.spent for look in found] == sorted(look.spent for look in found)
    assert found[-1].spent <= 0.05 / family * (1 + 1e-6)
    for look in found:
        assert 0.95 <= look.confidence * (1 + 1e-8) < 1.0


def test_one_look_at_the_end_is_no_look() -> None:
    """The fewest blocks that can decide at all: the level is that of a campaign without looks."""
    (look,) = looks(7, 0.95, 2)
    assert look.blocks == 7
    assert look.level == pytest.approx(2 / 2**7)


def test_draws_agree() -> None:
    found, random = looks(12, 0.95, 1), np.random.default_rng(1)
    draws = 3000
    decided = sum(
        any(signed_rank(d[: look.blocks]).p <= look.level for look in found) for d in random.normal(size=(draws, 12))
    )
    assert decided / draws == pytest.approx(found[-1].spent, abs=4 * (0.05 * 0.95 / draws) ** 0.5)


def test_no_comparisons_are_an_error() -> None:
    with pytest.raises(ValueError, match="no comparisons"):
        looks(7, 0.95, 0)
