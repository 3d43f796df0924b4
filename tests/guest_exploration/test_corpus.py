"""Which scripts are kept, and which are favoured."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from txop.guest_exploration.corpus import Corpus
from txop.guest_exploration.script import Fault

ONE, TWO = Fault("disconnect"), Fault("firmware_hang")


def test_only_what_is_new_is_kept() -> None:
    corpus = Corpus()
    assert corpus.observe(1, (ONE,), ["line a", "step b"]) is not None
    assert corpus.observe(2, (TWO,), ["line a"]) is None
    kept = corpus.observe(3, (TWO, ONE), ["line a", "line c"])
    assert kept is not None
    assert kept.new == {"line c"}
    assert [entry.number for entry in corpus.entries] == [1, 3]


def test_a_script_at_the_beginning_is_kept_in_any_case() -> None:
    corpus = Corpus()
    corpus.observe(1, (), ["line a"], keep=True)
    assert corpus.observe(2, (ONE,), ["line a"], keep=True) is not None


def test_what_is_rare_is_chosen_often() -> None:
    corpus = Corpus()
    corpus.observe(1, (ONE,), ["line often"])
    corpus.observe(2, (TWO,), ["line seldom"])
    for number in range(3, 12):
        corpus.observe(number, (ONE,), ["line often"])
    assert corpus.weight(corpus.entries[0]) == pytest.approx(1 / 100)
    assert corpus.weight(corpus.entries[1]) == pytest.approx(1)
    random = Random(1)  # noqa: S311 - no secret
    chosen = Counter(corpus.choose(random).number for _ in range(1000))
    assert 970 < chosen[2] < 1000


def test_what_was_done_to_the_driver_counts_little_beside_what_it_did() -> None:
    corpus = Corpus()
    corpus.observe(1, (ONE,), ["line a"])
    corpus.observe(2, (TWO,), ["struck b", "chip urbs.failed: 2+"])
    assert corpus.weight(corpus.entries[0]) == pytest.approx(25 * corpus.weight(corpus.entries[1]))


def test_the_blocks_of_a_function_are_favoured_as_one_find() -> None:
    corpus = Corpus()
    corpus.observe(1, (ONE,), [f"block m m_stop+{offset:#x}" for offset in range(50)], blocks=90)
    corpus.observe(2, (TWO,), ["block m m_stop+0x3", "block m m_read.cold+0x3", "block m m_read+0x9"], blocks=43)
    assert [entry.blocks for entry in corpus.entries] == [90, 43]
    assert corpus.weight(corpus.entries[0]) == pytest.approx(1), "the rarest of them"
    assert corpus.weight(corpus.entries[1]) == pytest.approx(1 / 4 + 1)


def test_a_script_without_a_new_block_is_not_kept() -> None:
    corpus = Corpus()
    assert corpus.observe(1, (ONE,), ["block m m_stop+0x3"]) is not None
    assert corpus.observe(2, (TWO,), ["block m m_stop+0x3"]) is None
    assert corpus.observe(3, (TWO,), ["block m m_stop+0x9"]) is not None


def test_a_smaller_script_that_shows_as_much_takes_the_place() -> None:
    corpus = Corpus()
    corpus.observe(1, (ONE, TWO), ["line a"])
    corpus.observe(2, (TWO,), ["line b", "line a"])
    assert corpus.entries[0].script == (TWO,)
    assert corpus.observe(3, (), ["line b"]) is None
    assert corpus.entries[1].script == (), "line b is all that it was kept for"
    assert corpus.entries[0].script == (TWO,), "line a is not shown by it"
