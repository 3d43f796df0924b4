"""The index of words finds what looking for each text finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.log import shipped_rules
from txop.log.literals import LiteralIndex, kind_of

RULES = shipped_rules()
LITERALS = [literal for rule in RULES.rules.values() for literal in rule.contains]
INDEX = LiteralIndex(LITERALS)
SAMPLES = sorted({line for rule in RULES.rules.values() for sample in rule.samples for line in sample.splitlines()})

# few letters, so that texts share pieces; also what is more than one byte, and lone surrogates
letters = st.sampled_from("ab01 -:é\ud800")
texts = st.text(letters, min_size=3, max_size=9).filter(lambda text: bool(text.strip()))


def slow(literals: list[str], message: str) -> tuple[int, ...]:
    """The same by looking for each, where digits count as one."""
    return tuple(number for number, literal in enumerate(literals) if kind_of(literal) in kind_of(message))


@pytest.mark.parametrize("place", ["alone", "in front", "behind", "other digits", "in a word"])
def test_the_samples_of_the_rules(place):
    for line in SAMPLES:
        message = {
            "alone": line,
            "in front": f"{line} and more",
            "behind": f"x: {line}",
            "other digits": line.translate(str.maketrans("0123456789", "7777777777")),
            "in a word": f"xyz{line}xyz",
        }[place]
        assert INDEX.possible(message) == slow(LITERALS, message), message


@given(st.lists(texts, min_size=1, max_size=12, unique=True), st.lists(st.text(letters, max_size=24), max_size=6))
@settings(max_examples=400, deadline=None)
def test_any_texts_and_messages(literals, messages):
    index = LiteralIndex(literals)
    for message in [*messages, *literals, *(f"{one} {two}" for one in literals[:3] for two in messages[:3])]:
        for _ in range(2):  # what was looked up before is remembered
            assert index.possible(message) == slow(literals, message), (literals, message)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_shipped_texts_within_any_message(data):
    parts = data.draw(st.lists(st.one_of(st.sampled_from(LITERALS), st.text(max_size=20)), max_size=6))
    message = data.draw(st.sampled_from(["", " ", ": "])).join(parts)
    assert INDEX.possible(message) == slow(LITERALS, message)
    named = {rule.key for rule in RULES.rules.values() if rule.names(message)}
    hidden = {key for rule in named for key in RULES.rules[rule].hides}
    if any(not RULES.rules[key].otherwise for key in named):
        hidden |= {key for key in named if RULES.rules[key].otherwise}
    assert {rule.key for rule, _ in RULES.naming(message, anyone=True)} == named - hidden


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr("txop.log.literals._MAX_KINDS", 8)
    monkeypatch.setattr("txop.log.literals._MAX_WORDS", 8)
    index = LiteralIndex(["abc def", "ghi"])
    for number in range(100):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        assert index.possible(f"{word} ghi{word}") == (1,)
        assert len(index._of_kind) <= 8
        assert len(index._of_word) <= 8
