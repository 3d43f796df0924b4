#!/usr/bin/env python3
"""Runs what documents show being run, and compares the output with what they show.

    scripts/document_examples.py                       # every document
    scripts/document_examples.py --write docs/bus.md   # put what was printed into the document

A ``console`` block has commands behind ``$`` and their output. A ``python`` block that a ``text`` block follows at once
is run and prints that text. All examples of a document run in one folder, from first to last. In an output, ``...``
stands for any text, and for any number of lines where it is a line. Blocks of ``console slow`` take longer than a few
seconds, and use the guest images, builds and runs that are in the user's cache.

Documents may use ``examples`` (that of the repository), ``campaign`` (an archive made by rule: its figures are
invented), ``capture.pcapng`` (two seconds of the specimen ``late-block-ack``), and files that they show: a block that
begins with ``# NAME.toml``.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from txop.guest_image.cache import default_cache

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 100
_FILE = re.compile(r"^```toml\n# (\w+\.toml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """Something to run, and what the document shows of it.

    Attributes:
        line: Where it is in the document, from 1.
        start: Offset of the shown output in the document's text.
        end: Offset behind it.
    """

    line: int
    command: str
    shown: str
    start: int
    end: int
    python: bool = False
    slow: bool = False


def examples(text: str) -> Iterator[Example]:
    """The examples of a document, in order."""
    blocks = list(_FENCE.finditer(text))
    for number, block in enumerate(blocks):
        info = block.group(1).split()
        if info[:1] == ["console"]:
            yield from _console(text, block, slow="slow" in info)
        elif info[:1] == ["python"] and number + 1 < len(blocks):
            output = blocks[number + 1]
            if output.group(1).strip() == "text" and not text[block.end() : output.start()].strip():
                line = text.count("\n", 0, block.start()) + 1
                yield Example(line, block.group(2), output.group(2), output.start(2), output.end(2), python=True)


def _console(text: str, block: re.Match[str], *, slow: bool) -> Iterator[Example]:
    at = block.start(2)
    command, begin = "", at
    for line in block.group(2).splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield _example(text, command, begin, at, slow=slow)
            command, begin = line[2:].rstrip("\n"), at + len(line)
        elif command.endswith("\\") and begin == at:
            command, begin = f"{command}\n{line.rstrip()}", at + len(line)
        at += len(line)
    if command:
        yield _example(text, command, begin, at, slow=slow)


def _example(text: str, command: str, start: int, end: int, *, slow: bool) -> Example:
    return Example(text.count("\n", 0, start), command, text[start:end], start, end, slow=slow)


def matches(shown: str, printed: str) -> bool:
    """Whether ``printed`` is what the document shows; ``...`` in ``shown`` stands for anything."""
    pattern = ""
    for line in shown.splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n"
    return re.fullmatch(pattern, printed) is not None


def run(example: Example, folder: Path) -> str:
    """What ``example`` prints to both outputs, and its status where that is not 0."""
    environment = {name: value for name, value in os.environ.items() if name in ("LD_LIBRARY_PATH", "TXOP_CAPTURES")}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8",
        "TZ": "UTC", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": str(COLUMNS),
    }  # fmt: skip
    if example.slow:  # a guest's image is made once
        environment["XDG_CACHE_HOME"] = str(default_cache().parent.parent)
    done = subprocess.run(
        [sys.executable, "-"] if example.python else ["sh"], input=example.command, cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=600, check=False,
    )  # fmt: skip
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def prepare(text: str, folder: Path) -> None:
    """Put what documents may use into ``folder``, as far as ``text`` names it."""
    (folder / "examples").symlink_to(ROOT / "examples")
    for name, content in _FILE.findall(text):
        (folder / name).write_text(content, encoding="utf-8")
    if re.search(r"\bcampaign\b", text):
        shutil.copytree(ROOT / "tests/data/archive-v1", folder / "campaign")
    if "capture.pcapng" in text:
        from txop import _native

        _native.write_specimen(str(folder / "capture.pcapng"), seed=1, seconds=2.0, scene="late-block-ack")


def wrong(document: Path, *, slow: bool, write: bool = False) -> list[str]:
    """Where the examples of ``document`` print something else than it shows, as readable differences.

    With ``write`` the document is changed to show what was printed.
    """
    text = document.read_text(encoding="utf-8")
    found = [example for example in examples(text) if slow or not example.slow]
    if not found:
        return []
    differences, changes = [], []
    with tempfile.TemporaryDirectory(prefix="txop-examples-") as name:
        prepare(text, Path(name))
        for example in found:
            printed = run(example, Path(name))
            if not matches(example.shown, printed):
                changes.append((example, printed))
                differences.append(
                    f"{document.name}:{example.line}: {example.command.strip()}\n"
                    + "\n".join(
                        difflib.unified_diff(
                            example.shown.splitlines(), printed.splitlines(), "shown", "printed", lineterm=""
                        )
                    )
                )
    if write:
        for example, printed in reversed(changes):
            text = text[: example.start] + printed + text[example.end :]
        document.write_text(text, encoding="utf-8")
    return differences


def documents() -> list[Path]:
    """Every document that may have examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> int:
    """Check the documents that are named, or all; 1 when something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("documents", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="put what was printed into the documents")
    parser.add_argument("--slow", action="store_true", help="run the blocks of `console slow`, too")
    options = parser.parse_args()
    status = 0
    for document in options.documents or documents():
        for difference in wrong(document, slow=options.slow, write=options.write):
            print(difference)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
