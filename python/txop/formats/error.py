"""The one exception that the parsers of this package raise."""

from __future__ import annotations

from txop.core.errors import TxopError
from txop.core.visible import visible


class FormatError(TxopError, ValueError):
    """Text that is not what it should be.

    ``what`` is a clause without a full stop that a user understands; ``line`` (counted from 1) or ``offset``
    (characters or bytes, counted from 0) say where, when that is known.

    >>> str(FormatError("the JSON is cut off", line=12))
    'the JSON is cut off (line 12)'
    """

    def __init__(self, what: str, *, line: int | None = None, offset: int | None = None) -> None:
        where = f" (line {line})" if line is not None else f" (at offset {offset})" if offset is not None else ""
        super().__init__(what + where)
        self.what = what
        self.line = line
        self.offset = offset


def quoted_start(text: str, length: int = 60) -> str:
    r"""The first characters of ``text`` for a message, made visible; says so when there is nothing.

    >>> quoted_start("\x1b[2J boom\nand more")
    'it starts with "\\x1b[2J boom\\nand more"'
    >>> quoted_start("  ")
    'it is empty'
    """
    head = text[: length * 4].strip()
    if not head:
        return "it is empty"
    cut = visible(head[:length])
    return f'it starts with "{cut}{"..." if len(head) > length else ""}"'
