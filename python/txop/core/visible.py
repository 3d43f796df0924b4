"""How text from outside (an SSID, a file name, a kernel log) is shown without letting it act."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""``text`` with every character that does not print (control, terminal escape, bidi override, surrogate) shown as
    its escape, so that an SSID can neither move the cursor nor reorder a line.

    >>> visible("caf\u00e9 \x1b[2J")
    'café \\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
