"""Fails where code decides by what a sentence says.

`python scripts/decided_by_text.py [FOLDER]` reads the Python files of FOLDER (`python/txop`). A sentence tells people
what a fact is; code asks for the fact, which has a type: a code with fields, a flag, an enum. What is found:
`startswith`, `endswith`, `partition`, `rpartition` and `split` with words, and words `in` a text. Words are text with a
blank between two letters, in place or in a constant of any file. `==` is left to mypy, which knows the values of a
`Literal`.

Parsers of what other tools print are no decisions by text of ours: the packages of `PARSERS`, and what `ALLOWED` has
with a reason."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARSERS = ("exchange", "formats", "log")
METHODS = ("startswith", "endswith", "partition", "rpartition", "split")
WORDS = re.compile(r"[A-Za-z]\S* +\S*[A-Za-z]")

ALLOWED: dict[tuple[str, str], str] = {
    ("archive/run_file.py", "not distinguishable from idle: "): "files written before figures had a code",
    ("arms/module.py", "Modules linked in:"): "what a kernel prints",
    ("arms/patches.py", "can't find file to patch"): "what patch prints",
    ("arms/patches.py", "previously applied"): "what patch prints",
    ("cli/air_interface.py", "Capturing on"): "what dumpcap prints",
    ("cli/air_interface.py", "Running as"): "what dumpcap prints",
    ("guest/checkpoint.py", "does not allow making snapshot right now"): "what QEMU's monitor prints",
    ("guest_image/packages/apt.py", "does not have a Release file"): "what apt prints",
    ("measure/probes/guest_trial.py", "Future hung task reports are suppressed"): "what a kernel prints",
    ("measure/probes/packet_capture.py", "find user"): "what tcpdump prints",
    ("measure/probes/questions.py", "ermission denied"): "what a shell prints",
    ("measure/probes/wireless_reading.py", "No such device"): "what iw prints",
    ("plan/explain.py", "must be "): "messages of pydantic and of validators, which are text",
    ("targets/shell.py", "ermission denied"): "what a shell prints",
}
"""By file and words: why they may be asked for."""


def words_of(node: ast.expr, constants: Mapping[str, str]) -> Iterator[str]:
    """The words that an argument may stand for."""
    match node:
        case ast.Constant(value=str(text)):
            found = text
        case ast.JoinedStr(values=values):
            found = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in values)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            found = constants.get(name, "")
        case ast.Tuple(elts=elements):
            for element in elements:
                yield from words_of(element, constants)
            return
        case _:
            return
    if WORDS.search(found):
        yield found


def constants_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Constants of a file that are words."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                    yield target.id, node.value.value


def asked(tree: ast.Module, constants: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Line and words of each place where a text is asked for words."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
                continue
            case ast.Call(func=ast.Attribute(attr=method), args=[first, *_]) if method in METHODS:
                asks = [first]
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
                asks = [] if isinstance(right, ast.Tuple | ast.List | ast.Set | ast.Dict) else [left]
            case _:
                continue
        for each in asks:
            for words in words_of(each, constants):
                yield node.lineno, words


def complaints(folder: Path) -> Iterator[str]:
    """What decides by text, and what is allowed and not there any more."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))}
    everywhere = {name: text for tree in trees.values() for name, text in constants_of(tree)}
    seen: set[tuple[str, str]] = set()
    for path, tree in trees.items():
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0] in PARSERS:
            continue
        for line, words in sorted(asked(tree, everywhere | dict(constants_of(tree)))):
            seen.add((name, words))
            if (name, words) not in ALLOWED:
                yield f"{name}:{line}: asks a text for {words!r}: give the fact a type, or say why not in ALLOWED"
    if folder == ROOT / "python" / "txop":
        for name, words in sorted(ALLOWED.keys() - seen):
            yield f"{name}: {words!r} is allowed and asked for nowhere"


def main() -> int:
    """0 where nothing decides by text."""
    found = list(complaints(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "python" / "txop"))
    for complaint in found:
        print(complaint, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
