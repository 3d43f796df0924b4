"""The known name that is nearest to an unknown one, for "did you mean"."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_LISTED = 12
"""How many names are listed when none is near."""

_COMPARED = 100
"""How many characters of what was written are looked at."""


def nearest(word: str, candidates: Collection[str]) -> str | None:
    """The one of ``candidates`` that ``word`` is closest to; ``None``: none is close.

    A name without its table or test stands for the first that ends with it.

    >>> nearest("straems", ["streams", "name"])
    'streams'
    >>> nearest("rtt_p95_ms", ["tx.rtt_p50_ms", "tx.rtt_p95_ms"])
    'tx.rtt_p95_ms'
    """
    import difflib

    whole = next((name for name in candidates if word and name.endswith(f".{word}")), None)
    if whole is not None:
        return whole
    plain = {name.lower(): name for name in candidates}
    close = difflib.get_close_matches(word[:_COMPARED].lower(), plain, n=1)
    return plain[close[0]] if close else None


def did_you_mean(word: str, candidates: Sequence[str], listed: int = _LISTED) -> str | None:
    """What to do about ``word``: a suggestion when one of ``candidates`` is close, else the first ``listed`` of them.

    >>> did_you_mean("straems", ["streams", "name"])
    'did you mean "streams"?'
    >>> did_you_mean("x", ["a", "b"])
    'choose from a, b'
    """
    close = nearest(word, candidates)
    if close is not None:
        return f'did you mean "{close}"?'
    if not candidates:
        return None
    more = ", ..." if len(candidates) > listed else ""
    return f"choose from {', '.join(candidates[:listed])}{more}"
