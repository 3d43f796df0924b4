#!/usr/bin/env python3
"""Finds words that users should not have to read: `scripts/vocabulary.py`, part of `make lint`.

What users read are documents, strings and docstrings of the Python package, its templates and data, and strings and
documentation comments of the crates. ``vocabulary.toml`` beside this file has the words, what to write instead, and
where a word is allowed. In documents, code (blocks and between back quotes) is left out.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = Path(__file__).with_suffix(".toml")
TREES = (
    *("*.md", "docs/**/*.md", "crates/*/*.md"),
    *("python/txop/**/*.py", "python/txop/**/*.toml", "python/txop/**/*.j2", "crates/*/src/**/*.rs"),
)
"""Files that users read, or that have texts for them."""
CODE = re.compile(r"^(```|~~~).*?^\1\s*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
GAP = r"[\s/!*#]+"
"""What may be between two words: a line break with the mark of a comment, too."""
RUST = re.compile(r'^\s*//[/!](?P<doc>.*)$|//.*$|"(?P<text>(?:\\.|[^"\\])*)"', re.MULTILINE)


@dataclass(frozen=True)
class Word:
    """A word to avoid, and what to write instead."""

    find: str
    say: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The word in any case, also where a line breaks within it."""
        return re.compile(rf"\b(?:{self.find.replace(' ', GAP)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Allowed:
    """Where words are allowed."""

    path: str
    words: tuple[str, ...]


def read(file: Path = WORDS) -> tuple[list[Word], list[Allowed]]:
    """The words and the places where some are allowed. Raises KeyError where one lacks its reason."""
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    allowed = [Allowed(each["path"], tuple(each["words"])) for each in found.get("allow", []) if each["reason"]]
    return [Word(each["find"], each["say"]) for each in found["word"]], allowed


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """What ``path`` has for users: the line, from 1, and the text from there on."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield 1, CODE.sub(lambda code: re.sub(r"[^\n]", " ", code.group(0)), text)
    elif path.suffix in (".toml", ".j2"):
        yield 1, text
    elif path.suffix == ".py":
        yield from _python(text)
    elif path.suffix == ".rs":
        for match in RUST.finditer(text):
            part = "doc" if match.group("doc") is not None else "text"
            if match.group(part):
                yield text.count("\n", 0, match.start(part)) + 1, match.group(part)


def _python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def findings(path: Path, name: str, words: list[Word], allowed: list[Allowed]) -> Iterator[tuple[int, str, Word]]:
    """Words to avoid in ``path``, called ``name``: line, what stands there, and the word."""
    here = [each for each in allowed if fnmatch(name, each.path)]
    wanted = [word for word in words if not any({"*", word.find} & {*each.words} for each in here)]
    for line, text in texts(path) if wanted else ():
        for word in wanted:
            for match in word.pattern.finditer(text):
                yield line + text.count("\n", 0, match.start()), " ".join(match.group(0).split()), word


def main() -> int:
    """1 where a word is found, or an exception is for nothing."""
    words, allowed = read()
    files = sorted({file for pattern in TREES for file in ROOT.glob(pattern) if file.is_file()})
    count = 0
    for file in files:
        name = str(file.relative_to(ROOT))
        for line, found, word in findings(file, name, words, allowed):
            print(f"{name}:{line}: {found}: write {word.say}")
            count += 1
    names = [str(file.relative_to(ROOT)) for file in files]
    for each in allowed:
        if not any(fnmatch(name, each.path) for name in names):
            print(f"{WORDS.name}: nothing is at {each.path}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
