"""Where in a C source an edit acts: the definition it names, and the statement that holds what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from txop.arms.edits.tokens import OPEN, Token
from txop.core.errors import TxopError


class PlaceError(TxopError):
    """A place that cannot be found, in words."""


@dataclass(frozen=True)
class Span:
    """Tokens ``[start, end)``."""

    start: int
    end: int


def definitions(tokens: Sequence[Token], partner: Sequence[int], name: str) -> list[Span]:
    """Every definition of ``name`` outside functions: function, initialised object, struct, union or enum.

    A span goes from the first word of the definition to its closing brace, or the semicolon behind that.
    """
    found = []
    depth = 0
    for index, token in enumerate(tokens):
        if token.kind == "mark" and token.text in OPEN and partner[index] >= 0:
            depth += 1
        elif token.kind == "mark" and token.text in OPEN.values() and partner[index] >= 0:
            depth -= 1
        elif depth == 0 and token.kind == "word" and token.text == name:
            end = _body_end(tokens, partner, index)
            if end is not None:
                found.append(Span(_begin(tokens, index), end))
    return found


def _body_end(tokens: Sequence[Token], partner: Sequence[int], name: int) -> int | None:
    """Behind the definition with a name that is at ``name``; ``None`` when it is a use or a declaration."""
    at = name + 1
    if _text(tokens, name - 1) in ("struct", "union", "enum"):
        return _with_semicolon(tokens, partner[at]) if _is(tokens, partner, at, "{") else None
    if _is(tokens, partner, at, "("):
        at = partner[at] + 1
        while at < len(tokens) and tokens[at].kind == "word":  # attributes, as __must_hold(x)
            at = partner[at + 1] + 1 if _is(tokens, partner, at + 1, "(") else at + 1
        return partner[at] + 1 if _is(tokens, partner, at, "{") else None
    while _is(tokens, partner, at, "["):
        at = partner[at] + 1
    while at < len(tokens) and tokens[at].kind == "word":
        at = partner[at + 1] + 1 if _is(tokens, partner, at + 1, "(") else at + 1
    if _text(tokens, at) == "=" and _is(tokens, partner, at + 1, "{"):
        return _with_semicolon(tokens, partner[at + 1])
    return None


def _begin(tokens: Sequence[Token], name: int) -> int:
    at = name
    while at > 0 and tokens[at - 1].kind != "directive" and tokens[at - 1].text not in (";", "}"):
        at -= 1
    return at


def _with_semicolon(tokens: Sequence[Token], brace: int) -> int:
    return brace + 2 if _text(tokens, brace + 1) == ";" else brace + 1


def statement(tokens: Sequence[Token], partner: Sequence[int], match: Span, scope: Span) -> Span:
    """The whole statement that holds a match; in a list in braces, the entry with its comma.

    ``if``, ``else`` and loops belong to the statement that depends on them: a match in ``x();`` of
    ``if (a) x(); else y();`` stands for all of it. In ``if (a) { x(); }`` it stands for ``x();``.

    Raises:
        PlaceError: The match is in no braces, or crosses statements or a preprocessor line.
    """
    opening = _enclosing(tokens, partner, match, scope)
    if opening is None:
        raise PlaceError("it is in no braces, so it has no statement around it")
    is_list = _is_list(tokens, opening, scope)
    at, end = opening + 1, partner[opening]
    while at < end:
        after = _entry_end(tokens, partner, at, end) if is_list else _statement_end(tokens, partner, at, end)
        if at <= match.start < after:
            if match.end > after:
                raise PlaceError("it reaches over more than one statement")
            if any(token.kind == "directive" for token in tokens[at:after]):
                raise PlaceError("a preprocessor line cuts the statement around it")
            return Span(at, after)
        at = after
    raise PlaceError("there is no statement around it")


def _enclosing(tokens: Sequence[Token], partner: Sequence[int], match: Span, scope: Span) -> int | None:
    """The innermost opening brace around a match, within the scope."""
    at = match.start - 1
    while at >= scope.start:
        if tokens[at].text == "}" and partner[at] >= 0:
            at = partner[at]
        elif tokens[at].text == "{" and partner[at] >= match.end:
            return at
        at -= 1
    return None


def _is_list(tokens: Sequence[Token], opening: int, scope: Span) -> bool:
    """Whether braces hold entries with commas between them: an initialiser, or an enum."""
    while _text(tokens, opening - 1) == "{" and opening > scope.start:
        opening -= 1
    before = _text(tokens, opening - 1)
    return before in ("=", ",", "]", "enum") or (before.isidentifier() and _text(tokens, opening - 2) == "enum")


def _entry_end(tokens: Sequence[Token], partner: Sequence[int], at: int, end: int) -> int:
    if tokens[at].kind == "directive":
        return at + 1
    while at < end:
        if tokens[at].text == ",":
            return at + 1
        if tokens[at].kind == "directive":
            return at
        at = _over(tokens, partner, at)
    return end


def _statement_end(tokens: Sequence[Token], partner: Sequence[int], at: int, end: int) -> int:
    """Behind the statement that begins at ``at``. Not recursive: a chain of ``else if`` may be long."""
    heads: list[str] = []
    while at < end:
        text = tokens[at].text
        if tokens[at].kind == "directive" and not heads:
            return at + 1
        if text in ("if", "while", "for", "switch") or (_is_loop_macro(tokens, partner, at)):
            heads.append(text)
            at = _over(tokens, partner, at + 1)
            continue
        if text in ("do", "else"):
            heads.append(text)
            at += 1
            continue
        if text in ("case", "default") or (tokens[at].kind == "word" and _text(tokens, at + 1) == ":"):
            while at < end and tokens[at].text != ":":
                at = _over(tokens, partner, at)
            at += 1
            if heads:
                continue
            return min(at, end)
        at = _simple_end(tokens, partner, at, end)
        at, more = _rest_of_heads(tokens, partner, heads, at, end)
        if not more:
            return min(at, end)
    return end


def _rest_of_heads(
    tokens: Sequence[Token], partner: Sequence[int], heads: list[str], at: int, end: int
) -> tuple[int, bool]:
    """Where a statement under ``if``, ``else`` and loops goes on, and whether it does."""
    while heads:
        head = heads.pop()
        if head == "if" and at < end and tokens[at].text == "else":
            return at, True
        if head == "do" and at < end and tokens[at].text == "while":
            at = _simple_end(tokens, partner, at, end)
    return at, False


def _simple_end(tokens: Sequence[Token], partner: Sequence[int], at: int, end: int) -> int:
    """Behind a block or a statement that ends with a semicolon."""
    if tokens[at].text == "{" and partner[at] >= 0:
        return partner[at] + 1
    while at < end and tokens[at].text != ";":
        at = _over(tokens, partner, at)
    return at + 1


def _is_loop_macro(tokens: Sequence[Token], partner: Sequence[int], at: int) -> bool:
    """Such as ``list_for_each_entry(...)`` of the kernel, which a statement follows."""
    named = tokens[at].kind == "word" and "for_each" in tokens[at].text and _is(tokens, partner, at + 1, "(")
    return named and _text(tokens, partner[at + 1] + 1) != ";"


def _over(tokens: Sequence[Token], partner: Sequence[int], at: int) -> int:
    """Behind a token, or behind all that its bracket holds."""
    if at < len(tokens) and tokens[at].text in OPEN and partner[at] > at:
        return partner[at] + 1
    return at + 1


def _is(tokens: Sequence[Token], partner: Sequence[int], at: int, text: str) -> bool:
    return at < len(tokens) and tokens[at].text == text and partner[at] > at


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) else ""
