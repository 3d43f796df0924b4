"""Many figures judged together over label swaps: exact by enumeration, and its error rate."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from txop.stats.label_swaps import BlockSwaps, Declared, RunSwaps, Samples, adjusted, least


def by_hand(d: np.ndarray) -> list[float]:
    """Step-down maximum of Student's t over all sign choices, written down as its definition; all figures have as many
    blocks, so that normal quantiles keep the order of t."""
    n, m = d.shape
    rows = [np.array(signs) for signs in itertools.product((1, -1), repeat=n)]
    t = np.array([[abs(stats.ttest_1samp(signs * d[:, k], 0).statistic) for k in range(m)] for signs in rows])
    observed = np.array([abs(stats.ttest_1samp(d[:, k], 0).statistic) for k in range(m)])
    order = np.argsort(-observed)
    found, least = np.ones(m), 0.0
    for step, k in enumerate(order):
        top = t[:, order[step:]].max(axis=1)
        least = max(least, float(np.mean(top >= observed[k] * (1 - 1e-9))))
        found[k] = least
    return found.tolist()


def swaps_of(d: np.ndarray) -> BlockSwaps:
    return BlockSwaps([dict(enumerate(column)) for column in d.T.tolist()])


@pytest.mark.parametrize(("n", "m"), [(6, 3), (7, 5), (8, 2)])
def test_equal_to_the_definition(n: int, m: int) -> None:
    d = np.random.default_rng(n).normal(0.4, 1, (n, m))
    assert adjusted(swaps_of(d), range(m), {}) == pytest.approx(by_hand(d), abs=1e-12)


@given(st.integers(2, 10), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_p_values_are_shares_of_choices_and_keep_the_order_of_clearness(n: int, m: int, seed: int) -> None:
    d = np.random.default_rng(seed).normal(0, 1, (n, m))
    swaps = swaps_of(d)
    found = adjusted(swaps, range(m), {})
    assert all(2 / 2**n - 1e-12 <= p <= 1 for p in found)
    clear = [float(swaps.sizes(k)[0]) for k in range(m)]
    ranked = [p for _, p in sorted(zip(clear, found, strict=True), key=lambda each: -each[0])]
    assert ranked == sorted(ranked)
    alone = [adjusted(swaps, [k], {})[0] for k in range(m)]
    assert all(together >= one - 1e-12 for together, one in zip(found, alone, strict=True))


def test_a_second_reading_of_the_same_figure_costs_nothing() -> None:
    d = np.random.default_rng(3).normal(0.5, 1, (9, 1))
    assert adjusted(swaps_of(np.hstack([d, 7 * d, -d])), range(3), {}) == adjusted(swaps_of(d), [0], {}) * 3


def test_a_large_t_of_few_blocks_is_no_rarity() -> None:
    """Two blocks with nearly equal differences have a t of thousands in half of the choices, whatever they are."""
    rng = np.random.default_rng(5)
    clear = dict(enumerate(rng.normal(3, 1, 10).tolist()))
    few = {0: 1.0, 1: 1.0005, 2: 0.9995}
    alone = adjusted(BlockSwaps([clear]), [0], {})[0]
    assert alone <= 0.004
    assert adjusted(BlockSwaps([clear, few]), [0, 1], {})[0] <= 0.01


@pytest.mark.parametrize("blocks", [11, 12, 16, 20, 30])
def test_beside_an_undecided_noisy_primary_figure_a_clear_one_is_still_named(blocks: int) -> None:
    rng = np.random.default_rng(blocks)
    noisy = rng.normal(0, 0.3, blocks)
    noisy -= np.median(noisy)
    swaps = swaps_of(np.stack([noisy, rng.normal(0.7, 0.01, blocks)], axis=1))
    primary = {0: Declared(level=0.05, margin=0.03)}
    assert not swaps.verdicts(0, primary[0])[0]
    assert adjusted(swaps, [1], primary)[0] <= 0.05
    assert least(swaps, primary) <= 0.05


def test_what_cannot_be_named_is_told() -> None:
    blocks = 7
    rng = np.random.default_rng(2)
    noisy = rng.normal(0, 0.3, blocks)
    noisy[:3] *= -1
    swaps = swaps_of(np.stack([noisy, np.full(blocks, 0.7)], axis=1))
    assert least(swaps, {}) == 2 / 2**blocks
    assert adjusted(swaps, [1], {0: Declared(0.05, 0.03)})[0] == least(swaps, {0: Declared(0.05, 0.03)}) > 0.05


def test_figures_need_not_have_all_blocks() -> None:
    d = np.random.default_rng(4).normal(0.5, 1, 8)
    whole = dict(enumerate(d.tolist()))
    part = {block: value for block, value in whole.items() if block < 6}
    swaps = BlockSwaps([whole, part])
    assert adjusted(swaps, [1], {}) == pytest.approx(by_hand(d[:6, None]))


def test_a_figure_without_any_difference_is_never_clear() -> None:
    assert adjusted(BlockSwaps([{1: 0.0, 2: 0.0, 3: 0.0}]), [0], {}) == [1.0]
    assert adjusted(BlockSwaps([{1: 5.0}]), [0], {}) == [1.0]
    assert adjusted(BlockSwaps([]), [], {}) == []


def test_the_same_difference_in_all_blocks_is_as_clear_as_the_blocks_allow() -> None:
    assert adjusted(BlockSwaps([dict.fromkeys(range(7), 3.0)]), [0], {}) == [2 / 2**7]


@pytest.mark.parametrize("blocks", [6, 7, 9, 12])
def test_at_most_alpha_of_campaigns_without_a_difference_name_any_figure(blocks: int) -> None:
    """Declared figure and others together, with noise far larger than any margin: the worst case."""
    rng = np.random.default_rng(blocks)
    campaigns, named = 300, 0
    for _ in range(campaigns):
        common = rng.normal(0, 1, (blocks, 1))
        d = 0.6 * common + rng.standard_t(3, (blocks, 12))
        swaps = swaps_of(d)
        primary = Declared(level=0.05, margin=0.0)
        decided = bool(swaps.verdicts(0, primary)[0])
        found = adjusted(swaps, range(1, 12), {} if decided else {0: primary})
        named += decided or min(found) <= 0.05
    assert named / campaigns <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / campaigns)


@pytest.mark.parametrize("blocks", [7, 10])
def test_verdicts_on_declared_figures_are_those_of_the_signed_rank_test(blocks: int) -> None:
    d = np.random.default_rng(blocks).normal(0.6, 1, (blocks, 1))
    swaps, level, margin = swaps_of(d), 0.05, 0.5
    found = swaps.verdicts(0, Declared(level, margin))
    expected = 0
    for signs in itertools.product((1, -1), repeat=blocks - 1):
        flipped = np.array([1, *signs]) * d[:, 0]
        i, j = np.triu_indices(blocks)
        estimate = float(np.median((flipped[i] + flipped[j]) / 2))
        p = float(stats.wilcoxon(flipped, method="exact").pvalue)
        expected += int(p <= level and abs(estimate) >= margin)
    assert int(found.sum()) == expected


def by_permutation(x: np.ndarray, y: np.ndarray) -> float:
    """The share of all choices of labels with a t as large, written down as its definition."""
    values = np.concatenate([x, y])
    sizes = []
    for chosen in itertools.combinations(range(values.size), x.size):
        mine = np.isin(np.arange(values.size), chosen)
        sizes.append(abs(float(stats.ttest_ind(values[mine], values[~mine]).statistic)))
    return float(np.mean(np.array(sizes) >= sizes[0] * (1 - 1e-9)))


def test_unpaired_p_values_are_those_of_a_permutation_test() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(0, 1, 6), rng.normal(1.2, 1, 7)
    sample = Samples("tx", dict(enumerate(x.tolist())), {f"b{i}": v for i, v in enumerate(y.tolist())})
    (found,) = adjusted(RunSwaps([sample]), [0], {})
    exact = by_permutation(x, y)
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact / 10_000))


def test_unpaired_verdicts_follow_mann_whitney() -> None:
    rng = np.random.default_rng(10)
    x, y = rng.normal(0, 1, 8), rng.normal(0, 1, 8)
    sample = Samples("tx", dict(enumerate(x.tolist())), {f"b{i}": v for i, v in enumerate(y.tolist())})
    share = float(np.mean(RunSwaps([sample]).verdicts(0, Declared(0.05, 0.0))))
    sums = np.abs(np.array([sum(chosen) for chosen in itertools.combinations(range(1, 17), 8)]) - 68)
    p_values = {size: float(np.mean(sums >= size)) for size in set(sums.tolist())}
    assert share == pytest.approx(float(np.mean([p_values[size] <= 0.05 for size in sums.tolist()])), abs=0.01)


def test_many_blocks_stay_quick_and_small() -> None:
    d = np.random.default_rng(1).normal(0.2, 1, (1000, 40))
    found = adjusted(swaps_of(d), range(1, 40), {0: Declared(0.05, 0.0)})
    assert min(found) >= 1 / 10_000
