"""Whether a regular expression can be trusted with lines that someone else wrote.

Python's ``re`` goes back and tries again, which for some patterns takes time exponential in the length of the line.
A pattern is accepted when that cannot happen here: no repetition inside a repetition, no look-around, no
back-reference, and few ways to divide a text among repetitions that may give characters back to what follows. On the
1,024 characters that a rule sees this leaves some milliseconds in the worst case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from txop.core.errors import TxopError

parser: Any = re._parser  # type: ignore[attr-defined]  # the tree that `re` itself compiles
constants: Any = re._constants  # type: ignore[attr-defined]

MAX_PATTERN = 1000
"""Characters of a pattern."""

_LINE = 1024
"""Characters that a rule sees at most."""

_MAX_WAYS = 4096
"""Ways to divide a text among the repetitions of a pattern that may give characters back."""

_LETTERS = 129
"""Characters are treated as ASCII codes, with 128 for all others."""

Letters = frozenset[int]
_ALL: Letters = frozenset(range(_LETTERS))


class PatternError(TxopError, ValueError):
    """A pattern that is not accepted, and why."""


def check(pattern: str) -> None:
    """Raise :class:`PatternError` when ``pattern`` does not compile or may take too long.

    >>> check(r"probe of (?P<device>\\S+) failed with error (?P<errno>-?\\d+)")
    >>> check(r"(a+)+b")
    Traceback (most recent call last):
    txop.log.pattern_check.PatternError: a repetition inside a repetition can take endless time
    """
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"it has {len(pattern)} characters; at most {MAX_PATTERN} are allowed")
    try:
        tree = parser.parse(pattern, re.ASCII)
        re.compile(pattern, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"it is not a regular expression ({error})") from error
    if (ways := _ways(list(tree), inside=False, after=None)) > _MAX_WAYS:
        raise PatternError(
            f"its repetitions may divide a text in {ways:,} ways, which takes too long on long lines: use a class that "
            "what follows is not in ([^:]+: or \\S+ before a space), or bounds (\\S{1,40}:)"
        )


def _ways(items: Sequence[tuple[Any, Any]], *, inside: bool, after: Letters | None) -> int:
    """In how many ways the repetitions in ``items`` can divide a text.

    ``after`` are the characters that may follow the whole sequence; None when the pattern may end there.
    """
    product = 1
    for position, (operation, argument) in enumerate(items):
        follow = _first(items[position + 1 :], after)
        product *= _ways_of(str(operation), argument, inside=inside, follow=follow)
    return product


def _ways_of(name: str, argument: Any, *, inside: bool, follow: Letters | None) -> int:
    if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"):
        return 1
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, body = int(argument[0]), min(int(argument[1]), _LINE), list(argument[2])
        if inside and least != most and most > 1:
            raise PatternError("a repetition inside a repetition can take endless time")
        gives_back = least != most and name != "POSSESSIVE_REPEAT" and follow is not None
        choices = most - least + 1 if gives_back and _alphabet(body) & (follow or _ALL) else 1
        return choices * _ways(body, inside=inside or most > 1, after=_ALL if most > 1 else follow)
    if name == "SUBPATTERN":
        return _ways(list(argument[3]), inside=inside, after=follow)
    if name == "ATOMIC_GROUP":
        return _ways(list(argument), inside=inside, after=follow)
    if name == "BRANCH":
        return max(_ways(list(branch), inside=inside, after=follow) for branch in argument[1])
    raise PatternError("look-around, back-references and conditions are not allowed")


def _first(items: Sequence[tuple[Any, Any]], after: Letters | None) -> Letters | None:
    """The characters that can come first in ``items`` (then ``after``); None when nothing need come at all."""
    found: Letters = frozenset()
    for operation, argument in items:
        name = str(operation)
        if name == "AT":
            if str(argument) in ("AT_END", "AT_END_STRING"):
                return found | frozenset({10})
            continue
        found |= _alphabet([(operation, argument)], first_only=True)
        if not _can_be_empty(operation, argument):
            return found
    return None if after is None else found | after


def _can_be_empty(operation: Any, argument: Any) -> bool:
    name = str(operation)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return argument[0] == 0 or all(_can_be_empty(*item) for item in argument[2])
    if name == "SUBPATTERN":
        return all(_can_be_empty(*item) for item in argument[3])
    if name == "ATOMIC_GROUP":
        return all(_can_be_empty(*item) for item in argument)
    if name == "BRANCH":
        return any(all(_can_be_empty(*item) for item in branch) for branch in argument[1])
    return name == "AT"


def _alphabet(items: Sequence[tuple[Any, Any]], *, first_only: bool = False) -> Letters:
    """The characters that ``items`` can match, or can begin with."""
    found: Letters = frozenset()
    for operation, argument in items:
        name = str(operation)
        if name == "LITERAL":
            found |= _letter(argument)
        elif name == "NOT_LITERAL":
            found |= _ALL - ({argument} if argument < 128 else frozenset())
        elif name == "ANY":
            found |= _ALL - {10}
        elif name == "IN":
            found |= _class(argument)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            found |= _alphabet(list(argument[2]), first_only=first_only)
        elif name == "SUBPATTERN":
            found |= _alphabet(list(argument[3]), first_only=first_only)
        elif name == "ATOMIC_GROUP":
            found |= _alphabet(list(argument), first_only=first_only)
        elif name == "BRANCH":
            for branch in argument[1]:
                found |= _alphabet(list(branch), first_only=first_only)
        elif name != "AT":
            return _ALL
        if first_only and not _can_be_empty(operation, argument):
            return found
    return found


def _letter(code: int) -> Letters:
    return frozenset({min(code, 128)})


def _class(members: Sequence[tuple[Any, Any]]) -> Letters:
    found: set[int] = set()
    negated = False
    for operation, argument in members:
        name = str(operation)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            found |= _letter(argument)
        elif name == "RANGE":
            low, high = argument
            found |= {min(code, 128) for code in range(low, min(high, 128) + 1)} | ({128} if high >= 128 else set())
        elif name == "CATEGORY":
            found |= _category(str(argument))
    if not negated:
        return frozenset(found)
    return frozenset(_ALL - (found - {128}))  # 128 stands for many characters: some of them are left


_CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


def _category(name: str) -> Letters:
    """``CATEGORY_UNI_NOT_SPACE`` and the like."""
    kind = next((escape for word, escape in _CATEGORIES.items() if name.endswith(word)), r"[\s\S]")
    inside = frozenset(code for code in range(128) if re.match(kind, chr(code)))
    return _ALL - inside if "_NOT_" in name else inside  # with re.ASCII no other character is in a category


def group_names(pattern: str) -> frozenset[str]:
    """Names of the groups of an accepted pattern."""
    return frozenset(cast("dict[str, int]", re.compile(pattern).groupindex))
