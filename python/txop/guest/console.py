"""The console of a guest as text to show: bounded, without anything that acts on a terminal."""

from __future__ import annotations

import re

from txop.core.visible import visible

EXCERPT_LINES = 12
_MAX_LINE = 400
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[@-Z\\-_c])")
_TROUBLE = re.compile(
    r"kernel panic|BUG:|Oops|general protection|unable to handle|out of memory|No init found|txop:|"
    r"hung task|blocked for more than|Call Trace|cut here",
    re.IGNORECASE,
)


def console_lines(data: bytes) -> list[str]:
    """Lines of a console, terminal escapes taken out, what is left of them made visible."""
    text = _ESCAPE.sub("", data.decode("utf-8", "replace"))
    rows = (row.rstrip() for row in re.split(r"[\r\n]+", text))
    return [visible(row[:_MAX_LINE]) for row in rows if row.strip("\x00 \t")]


def excerpt(data: bytes, lines: int = EXCERPT_LINES) -> str:
    """The lines that say why a guest failed: from the first sign of trouble on, else the last ones.

    >>> excerpt(b"booting\\r\\nKernel panic - not syncing: no\\r\\n\\x1b[31mbye\\x1b[0m\\r\\n", 2)
    'Kernel panic - not syncing: no\\nbye'
    """
    rows = console_lines(data)
    first = next((number for number, row in enumerate(rows) if _TROUBLE.search(row)), None)
    chosen = rows[-lines:] if first is None else rows[first : first + lines]
    return "\n".join(chosen)
