"""Which of many texts a message has: an index by words, and a memory of the kinds of messages seen before.

Most messages of a log are like an earlier one, but for numbers; and most words of the others have been seen.
"""

from __future__ import annotations

from collections.abc import Iterable

_SIZE = 5
"""Characters of a piece."""

_MAX_KINDS = 4096
"""Kinds of messages that are remembered."""

_MAX_WORDS = 16_384
"""Words that are remembered."""

_MAX_WORD = 64
"""Longer words are not remembered."""

_ZEROS = bytes.maketrans(b"123456789", b"000000000")


def kind_of(message: str) -> bytes:
    """``message`` with ``0`` for each digit: what messages that differ in their numbers have in common.

    >>> kind_of("usb 1-1.4: error -71") == kind_of("usb 2-3.1: error -32")
    True
    """
    return message.encode("utf-8", "surrogatepass").translate(_ZEROS)


class LiteralIndex:
    """Finds the texts that a message may have, by their numbers."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._kinds = [kind_of(literal) for literal in literals]
        self._pieces: dict[bytes, tuple[int, ...]] = _anchors(self._kinds)
        self._short = tuple(piece for piece in self._pieces if len(piece) < _SIZE)
        self._of_word: dict[bytes, tuple[int, ...]] = {}
        self._of_kind: dict[bytes, tuple[int, ...]] = {}

    def possible(self, message: str) -> tuple[int, ...]:
        """The texts that are in ``message`` when only the digits are right, in their order."""
        kind = kind_of(message)
        found = self._of_kind.get(kind)
        if found is None:
            found = self._look(kind)
            if len(self._of_kind) >= _MAX_KINDS:
                self._of_kind.clear()
            self._of_kind[kind] = found
        return found

    def _look(self, kind: bytes) -> tuple[int, ...]:
        candidates: set[int] = set()
        of_word = self._of_word
        for word in kind.split(b" "):
            numbers = of_word.get(word)
            if numbers is None:
                numbers = self._learn(word)
            if numbers:
                candidates.update(numbers)
        if not candidates:
            return ()
        kinds = self._kinds
        return tuple([number for number in sorted(candidates) if kinds[number] in kind])

    def _learn(self, word: bytes) -> tuple[int, ...]:
        """The texts of which a piece is in ``word``."""
        pieces = self._pieces
        found = {word[at : at + _SIZE] for at in range(len(word) - _SIZE + 1)}
        numbers = [number for piece in found if piece in pieces for number in pieces[piece]]
        numbers += [number for piece in self._short if piece in word for number in pieces[piece]]
        learnt = tuple(numbers)
        if len(word) <= _MAX_WORD:
            if len(self._of_word) >= _MAX_WORDS:
                self._of_word.clear()
            self._of_word[word] = learnt
        return learnt


def _anchors(literals: list[bytes]) -> dict[bytes, tuple[int, ...]]:
    """One piece of each literal, without spaces, with the literals that it stands for.

    A text with a literal has its piece in one word. The piece is the one that the fewest literals share.
    """
    pieces = [_pieces(literal) for literal in literals]
    shared: dict[bytes, int] = {}
    for of_one in pieces:
        for piece in of_one:
            shared[piece] = shared.get(piece, 0) + 1
    anchors: dict[bytes, tuple[int, ...]] = {}
    for number, of_one in enumerate(pieces):
        anchor = min(of_one, key=lambda piece: (shared[piece], piece))
        anchors[anchor] = (*anchors.get(anchor, ()), number)
    return anchors


def _pieces(literal: bytes) -> list[bytes]:
    longest = max((len(word) for word in literal.split(b" ")), default=0)
    size = min(_SIZE, longest)
    return list(
        dict.fromkeys(word[at : at + size] for word in literal.split(b" ") for at in range(len(word) - size + 1))
    )
