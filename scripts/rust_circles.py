"""Lists files and modules of a crate that import each other in a circle, and fails if there are any.

`python scripts/rust_circles.py [FOLDER]` reads every crate of FOLDER (`crates`). An import is any path outside
`#[cfg(test)]` that leads from one file to an item of another: in `use`, in code, in an attribute. A path through a
re-export leads to the file that defines the item, so that declaring modules and re-exporting what they define joins
nothing. Methods have no path and are not seen, nor are paths that a macro puts together.

Modules are compared with those that have the same parent, so also those at the root of a crate with each other: an
import from anywhere inside the module `a` to anywhere inside the module `b` counts as one from `a` to `b`. Two modules
can be in a circle although no two of their files are.

cargo-modules 0.26 (`--acyclic`) was weighed: its graph is of items and has declarations as edges, too, it names one
circle and stops, and lint would have to build rust-analyzer's crates first."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[1]

TOKEN = re.compile(
    r"""
      (?P<skip> \s+ | //[^\n]* | /\*(?:[^*]|\*(?!/))*\*/ )
    | (?P<text> [bc]?r(?P<hash>\#*)".*?"(?P=hash) | [bc]?"(?:[^"\\]|\\.)*" | b?'(?:[^'\\]|\\[^u]|\\u\{[^}]*\}|\\x..)' )
    | (?P<lifetime> '\w+ )
    | (?P<word> (?:r\#)?[A-Za-z_]\w* | \$crate )
    | (?P<sign> :: | => | . )
    """,
    re.VERBOSE | re.DOTALL,
)
DEFINES = {"fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"}
ITEMS = DEFINES | {"use", "impl", "unsafe", "async", "extern", "macro_rules"}
OPENING = {"{": "}", "(": ")", "[": "]"}

Node = TypeVar("Node", Path, str)
"""A file, or the name of a module."""

Name = tuple[str, ...]
"""A path in segments; that of a module starts at the root of its crate, which is the empty one."""


@dataclass(frozen=True)
class Use:
    """A name that a module has from elsewhere."""

    path: Name
    public: bool
    line: int


@dataclass
class Module:
    """A module with what its names mean."""

    name: Name
    file: Path
    children: set[str] = field(default_factory=set)
    defines: set[str] = field(default_factory=set)
    uses: dict[str, Use] = field(default_factory=dict)
    globs: list[Use] = field(default_factory=list)
    paths: list[tuple[Name, int]] = field(default_factory=list)
    """Paths of several segments in its code."""
    words: set[str] = field(default_factory=set)
    """Every word of its code, for globs."""

    def names(self) -> set[str]:
        """What a glob of it brings."""
        return self.defines | self.children | set(self.uses)


@dataclass(frozen=True)
class Target:
    """A module, or the module that defines an item."""

    module: Module
    is_module: bool


@dataclass(frozen=True)
class Import:
    """A path in one module to an item of another, and the line where it is."""

    source: Module
    target: Module
    line: int
    path: str

    def siblings(self) -> tuple[Name, str, str] | None:
        """The module that holds both, and the two modules below it that they are in; `None`: one of them holds the
        other."""
        source, target = self.source.name, self.target.name
        pairs = zip(source, target, strict=False)
        shared = next((index for index, (a, b) in enumerate(pairs) if a != b), None)
        return None if shared is None else (source[:shared], source[shared], target[shared])


def tokens(text: str) -> list[tuple[str, int]]:
    """Words and signs with their lines; no comments, no literals."""
    found, line = [], 1
    for match in TOKEN.finditer(text):
        if match.lastgroup not in ("skip", "text", "hash"):
            found.append((match.group(), line))
        line += match.group().count("\n")
    return found


def closing(source: list[tuple[str, int]], start: int) -> int:
    """The index of what closes the bracket at `start`."""
    depth = 0
    for index in range(start, len(source)):
        sign = source[index][0]
        depth += (sign in "{([") - (sign in "})]")
        if depth == 0:
            return index
    return len(source) - 1


def without_tests(source: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """What is compiled without `test`."""
    kept: list[tuple[str, int]] = []
    index = 0
    while index < len(source):
        if source[index][0] == "#" and index + 1 < len(source) and source[index + 1][0] == "[":
            end = closing(source, index + 1)
            words = [word for word, _ in source[index + 2 : end]]
            if words[:3] == ["cfg", "(", "test"] or (words[:4] == ["cfg", "(", "all", "("] and "test" in words):
                index = _after_item(source, end + 1)
                continue
        kept.append(source[index])
        index += 1
    return kept


def _after_item(source: list[tuple[str, int]], index: int) -> int:
    """What comes after the item, field or arm at `index`."""
    is_item = False
    while index < len(source):
        sign = source[index][0]
        is_item |= sign in ITEMS
        if sign in OPENING:
            index = closing(source, index)
            if sign == "{":
                return index + 1
        elif sign == ";" or (sign == "," and not is_item):
            return index + 1
        elif sign == "}":
            return index
        index += 1
    return index


class Crate:
    """The modules of one crate, from its root file."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[Name, Module] = {}
        self._read(root, (), root.parent)

    def _read(self, file: Path, name: Name, folder: Path) -> None:
        module = self.modules[name] = Module(name, file)
        self._walk(without_tests(tokens(file.read_text(encoding="utf-8"))), module, folder)

    def _walk(self, source: list[tuple[str, int]], module: Module, folder: Path) -> None:
        index = depth = 0
        while index < len(source):
            word, line = source[index]
            follows = source[index + 1][0] if index + 1 < len(source) else ""
            if word == "use" and _is_word(follows, "{", "::"):
                end = next(i for i in range(index, len(source)) if source[i][0] == ";")
                public = index > 0 and source[index - 1][0] in ("pub", ")")
                for path, alias in _tree(source[index + 1 : end], ()):
                    used = Use(path, public, line)
                    if alias == "*":
                        module.globs.append(used)
                    else:
                        module.uses[alias] = used
                index = end + 1
                continue
            if word == "mod" and _is_word(follows) and depth == 0:
                index = self._child(source, index, module, folder)
                continue
            depth += (word in OPENING) - (word in OPENING.values())
            if depth == 0 and word in DEFINES and _is_word(follows):
                module.defines.add(source[index + 2][0] if follows == "mut" else follows)
            if word == "macro_rules" and follows == "!":
                module.defines.add(source[index + 2][0])
            if _is_word(word):
                module.words.add(word)
                segments = [word]
                while index + 2 < len(source) and source[index + 1][0] == "::" and _is_word(source[index + 2][0]):
                    segments.append(source[index + 2][0])
                    index += 2
                if len(segments) > 1:
                    module.paths.append((tuple(segments), line))
            index += 1

    def _child(self, source: list[tuple[str, int]], index: int, module: Module, folder: Path) -> int:
        """Reads the module declared at `index`; where to go on."""
        word = source[index + 1][0]
        name = (*module.name, word)
        module.children.add(word)
        below = folder / word
        if source[index + 2][0] == "{":
            end = closing(source, index + 2)
            self.modules[name] = Module(name, module.file)
            self._walk(source[index + 3 : end], self.modules[name], below)
            return end + 1
        file = next((file for file in (folder / f"{word}.rs", below / "mod.rs") if file.exists()), None)
        if file is None:
            raise SystemExit(f"{module.file}:{source[index][1]}: there is no file of the module {word}")
        self._read(file, name, below)
        return index + 3

    def target(self, module: Module, path: Name, seen: frozenset[tuple[Name, Name]] = frozenset()) -> Target | None:
        """What `path` names in `module`; `None` for what is not of this crate."""
        if (module.name, path) in seen:
            return None
        seen |= {(module.name, path)}
        first, rest = path[0], path[1:]
        if first in ("crate", "$crate"):
            return self._within(self.modules[()], rest, seen)
        if first == "self":
            return self._within(module, rest, seen)
        if first == "super":
            return self._within(self.modules[module.name[:-1]], rest, seen)
        return self._within(module, path, seen)

    def _within(self, module: Module, path: Name, seen: frozenset[tuple[Name, Name]]) -> Target | None:
        if not path:
            return Target(module, is_module=True)
        first, rest = path[0], path[1:]
        if first == "super":
            return self._within(self.modules[module.name[:-1]], rest, seen)
        if first in module.children:
            return self._within(self.modules[(*module.name, first)], rest, seen)
        if first in module.defines:
            return Target(module, is_module=False)
        if (used := module.uses.get(first)) and used.path[0] != first:  # `use a::a` is of the crate `a`
            return self.target(module, (*used.path, *rest), seen)
        for glob in module.globs:
            origin = self.target(module, glob.path, seen)
            if origin and (found := self._within(origin.module, path, seen | {(module.name, path)})):
                return found
        return None

    def imports(self) -> Iterator[Import]:
        """What imports what."""
        for module in self.modules.values():
            named = [
                (use.path, use.line) for alias, use in module.uses.items() if not use.public or alias in module.words
            ]
            for glob in module.globs:
                origin = self.target(module, glob.path)
                if origin and not glob.public:
                    names = sorted(module.words & origin.module.names())
                    named += [((*glob.path, name), glob.line) for name in names]
            for path, line in named + module.paths:
                found = self.target(module, path)
                # What is used of a module has paths of its own.
                if found and not found.is_module and found.module is not module:
                    yield Import(module, found.module, line, "::".join(path))


def _is_word(text: str, *others: str) -> bool:
    return text in others or text[:1].isalpha() or text[:1] in ("_", "$")


def _tree(source: list[tuple[str, int]], before: Name) -> Iterator[tuple[Name, str]]:
    """The paths of a `use`, each with the name that it gets."""
    path: list[str] = []
    index = 0
    while index < len(source):
        word = source[index][0]
        if word == "{":
            end = closing(source, index)
            part: list[tuple[str, int]] = []
            depth = 0
            for token in source[index + 1 : end]:
                depth += (token[0] == "{") - (token[0] == "}")
                if token[0] == "," and depth == 0:
                    yield from _tree(part, (*before, *path))
                    part = []
                else:
                    part.append(token)
            if part:
                yield from _tree(part, (*before, *path))
            return
        if word == "*":
            yield (*before, *path), "*"
            return
        if word == "as":
            yield (*before, *path), source[index + 1][0]
            return
        if word == "self" and before and not path:
            alias = source[index + 2][0] if len(source) > 2 else before[-1]
            yield before, alias
            return
        if word != "::":
            path.append(word)
        index += 1
    if path:
        yield (*before, *path), path[-1]


def circles(edges: dict[Node, set[Node]]) -> list[list[Node]]:
    """Nodes that can be reached from each other: the strongly connected parts of more than one (Tarjan's algorithm)."""
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    found: list[list[Node]] = []

    def visit(node: Node) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(edges):
        if node not in order:
            visit(node)
    return found


def of_files(imports: list[Import]) -> Iterator[tuple[str, list[Import]]]:
    """The circles of files, each in words and with the imports that make it."""
    between = [found for found in imports if found.source.file != found.target.file]
    edges: dict[Path, set[Path]] = {}
    for found in between:
        edges.setdefault(found.source.file, set()).add(found.target.file)
    for part in circles(edges):
        yield (
            f"a circle of {len(part)} files",
            [found for found in between if found.source.file in part and found.target.file in part],
        )


def of_modules(imports: list[Import]) -> Iterator[tuple[str, list[Import]]]:
    """The circles of modules with one parent, likewise."""
    groups: dict[Name, list[tuple[str, str, Import]]] = {}
    for found in imports:
        if siblings := found.siblings():
            parent, source, target = siblings
            groups.setdefault(parent, []).append((source, target, found))
    for parent, group in sorted(groups.items()):
        edges: dict[str, set[str]] = {}
        for source, target, _ in group:
            edges.setdefault(source, set()).add(target)
        for part in circles(edges):
            names = ", ".join("::".join((*parent, name)) for name in part)
            within = [found for source, target, found in group if source in part and target in part]
            yield f"a circle of {len(part)} modules: {names}", within


def report(folder: Path) -> tuple[list[str], int]:
    """The circles of all crates of `folder`, in lines; and how many files were read."""
    lines: list[str] = []
    files: set[Path] = set()
    roots = [*folder.glob("*/src/lib.rs"), *folder.glob("*/src/main.rs"), *folder.glob("*/src/bin/*.rs")]
    for root in sorted(roots):
        crate = Crate(root)
        files |= {module.file for module in crate.modules.values()}
        imports = list(crate.imports())
        for words, within in [*of_files(imports), *of_modules(imports)]:
            lines.append(f"{root.relative_to(folder)}: {words}")
            made_by = {(found.source.file, found.line, found.path, found.target.file) for found in within}
            lines += [
                f"  {source.relative_to(folder)}:{line} uses {path} of {target.relative_to(folder)}"
                for source, line, path, target in sorted(made_by)
            ]
    return lines, len(files)


def main() -> int:
    """0 where there is no circle."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "crates"
    lines, files = report(folder)
    if not files:
        print(f"{folder}: no crates", file=sys.stderr)
        return 2
    print("\n".join(lines) or f"{files} Rust files, no circles")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
