"""Short texts that take a regular expression through each of its branches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from txop.log.pattern_check import constants, parser
from txop.log.rule_files import ADDRESS

_MAC = "24:f5:a2:c0:4e:b1"
_CATEGORIES = {
    constants.CATEGORY_DIGIT: "1",
    constants.CATEGORY_WORD: "w",
    constants.CATEGORY_SPACE: " ",
    constants.CATEGORY_NOT_SPACE: "x",
    constants.CATEGORY_NOT_DIGIT: "x",
    constants.CATEGORY_NOT_WORD: "-",
}


def texts_by_branch(pattern: str) -> list[list[str]]:
    """For each branch of ``pattern`` the texts that go through it: with optional parts, and without."""
    tree = list(parser.parse(pattern.replace(ADDRESS, _MAC), re.ASCII))
    return [list(pair) for pair in zip(_texts(tree, optional=True), _texts(tree, optional=False), strict=True)]


def _texts(items: Sequence[tuple[Any, Any]], *, optional: bool) -> list[str]:
    """The first text takes the first branch everywhere; each further one differs from it in one branch."""
    texts = [""]
    for operator, argument in items:
        parts = list(_parts(operator, argument, optional=optional))
        first = texts[0]
        texts = [text + parts[0] for text in texts] + [first + part for part in parts[1:]]
    return texts


def _parts(operator: Any, argument: Any, *, optional: bool) -> Iterator[str]:
    if operator is constants.LITERAL:
        yield chr(argument)
    elif operator is constants.NOT_LITERAL:
        yield "y" if argument == ord("x") else "x"
    elif operator is constants.ANY:
        yield "'"
    elif operator is constants.AT:
        yield ""
    elif operator is constants.IN:
        yield _one_of(argument)
    elif operator is constants.BRANCH:
        for branch in argument[1]:
            yield from _texts(list(branch), optional=optional)
    elif operator is constants.SUBPATTERN:
        yield from _texts(list(argument[-1]), optional=optional)
    else:
        assert operator in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT), operator
        least, most, repeated = argument
        times = max(least, 1) if optional and most else least
        for text in _texts(list(repeated), optional=optional):
            yield text * times


def _one_of(items: Sequence[tuple[Any, Any]]) -> str:
    if items[0][0] is constants.NEGATE:
        taken = re.compile("[" + "".join(_in_class(item) for item in items[1:]) + "]", re.ASCII)
        return next(letter for letter in "x0 y-/" if not taken.match(letter))
    kind, value = items[0]
    if kind is constants.LITERAL:
        return chr(value)
    return chr(value[0]) if kind is constants.RANGE else _CATEGORIES[value]


def _in_class(item: tuple[Any, Any]) -> str:
    kind, value = item
    if kind is constants.LITERAL:
        return re.escape(chr(value))
    if kind is constants.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {"1": r"\d", "w": r"\w", " ": r"\s", "x": r"\S", "-": r"\W"}[_CATEGORIES[value]]
