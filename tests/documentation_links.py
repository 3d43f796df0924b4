"""Headings and links of Markdown documents, with the anchors that code hosts and the site give to headings."""

from __future__ import annotations

import functools
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")


def slug(heading: str) -> str:
    """The anchor of a heading: lower case, hyphens for blanks, no other punctuation."""
    kept = (c for c in heading.strip().lower() if c in " -_" or unicodedata.category(c)[0] in "LNM")
    return re.sub(" ", "-", "".join(kept))


@functools.cache
def _tokens(text: str) -> list[Token]:
    """The tokens of a document, which many others lead to; nobody changes them."""
    return _PARSER.parse(text)


@functools.cache
def anchors(text: str) -> frozenset[str]:
    """The anchors of a document's headings; of the same one twice, the second has -1."""
    tokens = _tokens(text)
    found: Counter[str] = Counter()
    names = set()
    for before, inline in pairwise(tokens):
        if before.type == "heading_open":
            words = "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))
            name = slug(words)
            names.add(f"{name}-{found[name]}" if found[name] else name)
            found[name] += 1
    return frozenset(names)


def links(text: str) -> Iterator[str]:
    """Where the links and pictures of a document lead."""

    def within(tokens: list[Token]) -> Iterator[str]:
        for token in tokens:
            for attribute in ("href", "src"):
                target = token.attrGet(attribute)
                if isinstance(target, str):
                    yield unquote(target)
            yield from within(token.children or [])

    yield from within(_tokens(text))


def broken(document: Path) -> list[str]:
    """Links of ``document`` to files or anchors that are not there; addresses on the network are not looked up."""
    missing = []
    for link in links(document.read_text(encoding="utf-8")):
        if re.match("[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = Path(os.path.normpath(document.parent / name)) if name else document
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            missing.append(link)
    return missing
