"""C source as tokens with their places. Comments and white space are not tokens, a preprocessor line is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from txop.core.errors import TxopError


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of source."""

    kind: str
    """``word`` (identifier or keyword), ``number``, ``text`` (string or character), ``mark`` (punctuation),
    ``directive`` (a preprocessor line, with its continuations)."""
    text: str
    start: int
    """Index of its first character in the source."""

    @property
    def end(self) -> int:
        """Index behind its last character."""
        return self.start + len(self.text)


class TokenError(TxopError):
    """Text that cannot be split into tokens. ``offset``: index of the character where it ends being C."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.offset = offset


# ISO C 11, 6.4: the longest punctuator first; no digraphs and no trigraphs, which the kernel does not use
_MARKS = ("<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||")
_MARKS_ASSIGN = ("*=", "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##")
_MARK = "|".join(re.escape(mark) for mark in (*_MARKS, *_MARKS_ASSIGN))
_PIECE = re.compile(
    r"(?P<space>[ \t\r\n\f\v]+|\\\r?\n)"
    r"|(?P<comment>//(?:\\\r?\n|[^\n])*|/\*(?:[^*]|\*(?!/))*+\*/)"
    r'|(?P<text>[LuU]?(?:u8)?"(?:[^"\\\n]|\\[\s\S])*+"|[LuU]?\'(?:[^\'\\\n]|\\[\s\S])*+\')'
    r"|(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)"
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)"
    rf"|(?P<mark>{_MARK}|/(?!\*)|[][(){{}}.&*+~!%<>^|?:;=,#@`-])"
)
_DIRECTIVE = re.compile(r"#(?:/\*(?:[^*]|\*(?!/))*+\*/|//[^\n]*|\\\r?\n|[^\n])*")

OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = {close: opening for opening, close in OPEN.items()}


def tokens_of(source: str) -> list[Token]:
    """The tokens of a source, in their order.

    >>> [token.text for token in tokens_of("a->b += 1; /* and */ // more")]
    ['a', '->', 'b', '+=', '1', ';']

    Raises:
        TokenError: An unfinished comment or string, or a character that C does not have.
    """
    found: list[Token] = []
    at, fresh = 0, True
    while at < len(source):
        if fresh and source[at] == "#":
            match = _DIRECTIVE.match(source, at)
            assert match is not None
            found.append(Token("directive", match[0].rstrip(), at))
            at = match.end()
            continue
        match = _PIECE.match(source, at)
        if match is None:
            what = "a comment" if source.startswith("/*", at) else "a string" if source[at] in "\"'" else None
            raise TokenError(f"{what} does not end" if what else f"{source[at]!r} is not part of C", at)
        kind = match.lastgroup or ""
        if kind == "space":
            fresh = fresh or ("\n" in match[0] and not match[0].startswith("\\"))
        elif kind != "comment":
            found.append(Token(kind, match[0], at))
            fresh = False
        at = match.end()
    return found


def find(tokens: Sequence[Token], wanted: Sequence[str], start: int, end: int) -> list[int]:
    """Indices in ``[start, end)`` at which the texts of ``wanted`` follow each other; matches do not overlap."""
    found = []
    at, length = start, len(wanted)
    while at + length <= end:
        if all(tokens[at + offset].text == text for offset, text in enumerate(wanted)):
            found.append(at)
            at += length
        else:
            at += 1
    return found


def partners(tokens: Sequence[Token]) -> list[int]:
    """For each bracket the index of the one it belongs to; -1 for other tokens, and for a bracket without partner.

    Both branches of an ``#if`` may open the same block; such brackets stay without a partner, and others are right.
    """
    found = [-1] * len(tokens)
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in OPEN:
            stack.append(index)
        elif token.text in CLOSE:
            while stack and OPEN[tokens[stack[-1]].text] != token.text and token.text == "}":
                stack.pop()  # the end of a block ends what is open within it
            if stack and OPEN[tokens[stack[-1]].text] == token.text:
                opening = stack.pop()
                found[opening], found[index] = index, opening
    return found


def left_open(texts: Sequence[str]) -> tuple[str, ...]:
    """The brackets that have no partner within these tokens.

    >>> left_open([")", "(", "{", "}"])
    (')', '(')
    """
    stack: list[str] = []
    for text in texts:
        if text in CLOSE and stack and stack[-1] == CLOSE[text]:
            stack.pop()
        elif text in OPEN or text in CLOSE:
            stack.append(text)
    return tuple(stack)


def line_of(source: str, offset: int) -> int:
    """Number of the line of a character, from 1."""
    return source.count("\n", 0, offset) + 1
