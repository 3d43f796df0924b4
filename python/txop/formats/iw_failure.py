"""What iw prints instead of an answer: ``command failed: No such device (-19)``, ``nl80211 not found.``."""

from __future__ import annotations

import re

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start

_FAILED = re.compile(r"command failed: (?P<what>[^\n]{1,200})|(?P<missing>nl80211 not found\.)")


def not_iw(what: str, text: str) -> FormatError:
    """The error for ``text`` in which nothing of ``what`` was found."""
    failed = _FAILED.search(text[:65_536])
    if failed is None:
        return FormatError(f"{what} expected; {quoted_start(text)}")
    return FormatError(f"{what}: iw failed: {visible(failed['what'] or failed['missing'])}")
