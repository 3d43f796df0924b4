#!/usr/bin/env python3
"""Changes a sample of places of Python files, one at a time, and lists the changes that no test notices:
scripts/mutation_sample.py --sites 80 --seed 1 python/txop/stats -- tests/stats

The files are changed in a copy of the package; what stands behind `--` goes to pytest.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 900

_COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", " is not ": " is ", " is ": " is not ",
             " not in ": " in ", " in ": " not in "}  # fmt: skip
_COMPUTED = {"+": "-", "-": "+", "//": "*", "/": "*", "**": "*", "*": "+", "%": "*"}
_JOINED = {" and ": " or ", " or ": " and "}


@dataclass(frozen=True)
class Mutation:
    """One change of a file: ``old`` at ``offset`` becomes ``new``."""

    path: Path
    line: int
    offset: int
    old: str
    new: str

    @property
    def text(self) -> str:
        """Where it is and what it changes, in its line."""
        before = self.path.read_bytes()[: self.offset].decode().rpartition("\n")[2].lstrip()
        return f"{self.path.relative_to(ROOT)}:{self.line}: after `{before}`: {self.old.strip()} -> {self.new.strip()}"


def mutations_of(path: Path) -> Iterator[Mutation]:
    """Every change that this program knows for a file."""
    source = path.read_text(encoding="utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = source.encode()

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    def between(before: ast.expr, after: ast.expr, choices: dict[str, str]) -> Iterator[Mutation]:
        begin = at(before.end_lineno or 0, before.end_col_offset or 0)
        gap = data[begin : at(after.lineno, after.col_offset)].decode()
        for old in sorted(choices, key=len, reverse=True):
            if (found := gap.find(old)) >= 0:
                yield Mutation(path, before.end_lineno or 0, begin + len(gap[:found].encode()), old, choices[old])
                return

    for node in _code(ast.parse(source)):
        match node:
            case ast.Compare():
                for before, after in zip([node.left, *node.comparators], node.comparators, strict=False):
                    yield from between(before, after, _COMPARED)
            case ast.BinOp():
                yield from between(node.left, node.right, _COMPUTED)
            case ast.BoolOp():
                for before, after in zip(node.values, node.values[1:], strict=False):
                    yield from between(before, after, _JOINED)
            case ast.Constant(value=bool() as value):
                yield Mutation(path, node.lineno, at(node.lineno, node.col_offset), str(value), str(not value))
            case ast.Constant(value=int() | float()):
                begin = at(node.lineno, node.col_offset)
                old = data[begin : at(node.end_lineno or 0, node.end_col_offset or 0)].decode()
                yield Mutation(path, node.lineno, begin, old, f"({old} + 1)")
            case ast.UnaryOp(op=ast.Not()):
                yield Mutation(path, node.lineno, at(node.lineno, node.col_offset), "not ", "")


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that do something: not annotations, and not the texts of what is raised."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from _code(child)


def survives(mutation: Mutation, package: Path, tests: list[str]) -> bool:
    """Whether the tests pass with a change. ``package``: the copy that is changed."""
    changed = package / mutation.path.relative_to(ROOT / "python")
    whole = changed.read_bytes()
    end = mutation.offset + len(mutation.old.encode())
    changed.write_bytes(whole[: mutation.offset] + mutation.new.encode() + whole[end:])
    env = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    try:
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return False
    finally:
        changed.write_bytes(whole)
    return done.returncode == 0


def main() -> None:
    """Try a sample of the changes of some folders or files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("sources", nargs="+", type=Path)
    own, tests = sys.argv[1:], []
    if "--" in own:
        own, tests = own[: own.index("--")], own[own.index("--") + 1 :]
    arguments = parser.parse_args(own)
    files = [path for each in arguments.sources for path in (sorted(each.rglob("*.py")) if each.is_dir() else [each])]
    known = [mutation for path in files for mutation in mutations_of(path.resolve())]
    chosen = random.Random(arguments.seed).sample(known, min(arguments.sites, len(known)))  # noqa: S311
    with tempfile.TemporaryDirectory() as scratch:
        package = Path(scratch) / "python"
        shutil.copytree(ROOT / "python", package, ignore=shutil.ignore_patterns("__pycache__"))
        left = []
        for number, mutation in enumerate(chosen, start=1):
            if survives(mutation, package, tests):
                left.append(mutation)
            state = "NOT NOTICED" if left[-1:] == [mutation] else "noticed"
            print(f"{number} of {len(chosen)}: {state}: {mutation.text}", flush=True)
    print(f"{len(chosen)} of {len(known)} changes were tried: {len(chosen) - len(left)} noticed, {len(left)} not")


if __name__ == "__main__":
    main()
