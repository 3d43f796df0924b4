"""Making the edits of a script: all of them, or none."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from txop.arms.edits.places import PlaceError, Span, definitions, statement
from txop.arms.edits.script import Edit, EditScript
from txop.arms.edits.tokens import Token, TokenError, find, line_of, partners, tokens_of
from txop.core.errors import TxopError
from txop.core.visible import visible

MAX_SOURCE_BYTES = 4 << 20
"""Larger source files are refused."""

_SHOWN_LINES = 3


class EditError(TxopError):
    """An edit that cannot be made: which, file, definition, and what is there."""


@dataclass(frozen=True)
class Edited:
    """What a script did to a tree."""

    changes: str
    """As a unified diff, for the log."""
    lines: tuple[str, ...]
    """Each edit with its place, as ``core.c:5301``."""


def apply_script(tree: Path, script: EditScript) -> Edited:
    """Make the edits in a tree. Files are written when every edit could be made.

    Raises:
        EditError: An edit does not fit; the tree is as it was.
        OSError: A file cannot be read or written.
    """
    before: dict[Path, str] = {}
    after: dict[Path, str] = {}
    lines = []
    for number, edit in enumerate(script.edit, 1):
        which = f"edit {number} of {len(script.edit)}"
        path = _file(tree, script.folder, edit, which)
        if path not in before:
            before[path] = after[path] = _read(path, which)
        after[path], at = edited(after[path], edit, f"{which}: {path.name}")
        lines += [f"{path.name}:{line}" for line in at]
    for path, text in after.items():
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    return Edited("".join(_diff(tree, path, before[path], after[path]) for path in after), tuple(lines))


def edited(source: str, edit: Edit, where: str) -> tuple[str, list[int]]:
    """A source with an edit made, and the lines at which it was. ``where`` begins the message when it fails.

    Raises :class:`EditError`.
    """
    try:
        tokens = tokens_of(source)
    except TokenError as error:
        raise EditError(f"{where}, line {line_of(source, error.offset)}: {error}") from None
    partner = partners(tokens)
    scope, name = _scope(tokens, partner, edit, where)
    here = f"{where}{f', in {name}' if name else ''}"
    wanted = [token.text for token in tokens_of(edit.wanted)]
    found = find(tokens, wanted, scope.start, scope.end)
    if len(found) != edit.count:
        often = f"is there {_times(len(found))}, not {_times(edit.count)}" if found else "is not there"
        there = _what_stands_there(source, tokens, scope, wanted, found)
        raise EditError(f"{here}: `{_short(edit.wanted)}` {often}; {there}")
    chosen = found if edit.only is None else [found[edit.only - 1]]
    spans: list[Span] = []
    for at in chosen:
        match = Span(at, at + len(wanted))
        try:
            span = scope if edit.whole == "definition" else match
            span = statement(tokens, partner, match, scope) if edit.whole == "statement" else span
        except PlaceError as error:
            line = line_of(source, tokens[at].start)
            raise EditError(f"{here}, line {line}: `{_short(edit.wanted)}`: {error}") from None
        if not spans or span.start >= spans[-1].end:  # two matches in one statement are one edit of it
            spans.append(span)
    lines = [line_of(source, tokens[span.start].start) for span in spans]
    for span in reversed(spans):
        source = _changed(source, tokens[span.start].start, tokens[span.end - 1].end, edit)
    return source, lines


def _changed(source: str, start: int, end: int, edit: Edit) -> str:
    there, new = source[start:end], (edit.text or "").strip()
    if edit.whole == "words":
        put = {"insert_before": _together(new, there), "insert_after": _together(there, new)}.get(edit.operation, new)
        return _together(_together(source[:start], put), source[end:])
    line = source.rfind("\n", 0, start) + 1
    indent = source[line:start] if source[line:start].isspace() else ""
    new = new.replace("\n", f"\n{indent}").replace(f"\n{indent}\n", "\n\n")
    put = {"insert_before": f"{new}\n{indent}{there}", "insert_after": f"{there}\n{indent}{new}"}.get(
        edit.operation, new
    )
    if not put and source[end : end + 1] == "\n" and line + len(indent) == start:
        return source[:line] + source[end + 1 :]  # nothing else was in these lines
    return f"{source[:start]}{put}{source[end:]}"


def _together(left: str, right: str) -> str:
    """Two pieces of code next to each other, with a space where they could grow into one word or mark.

    >>> _together("if (a", "b)"), _together("(", "a"), _together("-", "-1")
    ('if (a b)', '(a', '- -1')
    """
    if not left or not right or left[-1].isspace() or right[0].isspace():
        return left + right
    arrow = left[-1] == ">" and (right[0].isalpha() or right[0] == "_")
    apart = left[-1] not in "([{" and right[0] not in ")]};," and not arrow
    return f"{left} {right}" if apart else left + right


def _scope(tokens: list[Token], partner: list[int], edit: Edit, where: str) -> tuple[Span, str | None]:
    if not edit.names:
        return Span(0, len(tokens)), None
    found = [(span, name) for name in edit.names for span in definitions(tokens, partner, name)]
    if len(found) != 1:
        names = " or ".join(edit.names)
        what = "does not define" if not found else f"defines {_times(len(found))}"
        raise EditError(f"{where} {what} {names}")
    return found[0]


def _what_stands_there(source: str, tokens: list[Token], scope: Span, wanted: list[str], found: list[int]) -> str:
    """The lines where it was found; else those that have the longest of its words, or that there is none."""
    if scope.start >= scope.end:
        return "the file is empty"
    words = sorted((text for text in wanted if text[0].isalpha() or text[0] == "_"), key=len, reverse=True)
    places = [tokens[at] for at in found]
    for word in words:
        places = places or [token for token in tokens[scope.start : scope.end] if token.text == word]
    if not places:
        first, last = line_of(source, tokens[scope.start].start), line_of(source, tokens[scope.end - 1].start)
        return f"lines {first} to {last} have no part of it"
    lines = [*dict.fromkeys(line_of(source, token.start) for token in places)]
    rows = source.split("\n")
    shown = [f"line {line} has `{visible(rows[line - 1].strip())[:120]}`" for line in lines[:_SHOWN_LINES]]
    return "; ".join(shown) + (f"; and {len(lines) - _SHOWN_LINES} more" if len(lines) > _SHOWN_LINES else "")


def _file(tree: Path, folder: str | None, edit: Edit, which: str) -> Path:
    base = tree / folder if folder else tree
    there = [base / name for name in edit.files if (base / name).is_file()]
    if len(there) != 1:
        names = " or ".join(f"{folder}/{name}" if folder else name for name in edit.files)
        raise EditError(f"{which}: there is {'no' if not there else 'more than one of'} {names}")
    if not there[0].resolve().is_relative_to(tree.resolve()):
        raise EditError(f"{which}: {edit.files[0]} is a link out of the source")
    return there[0].resolve()


def _read(path: Path, which: str) -> str:
    with path.open("rb") as source:
        data = source.read(MAX_SOURCE_BYTES + 1)
    if len(data) > MAX_SOURCE_BYTES:
        raise EditError(f"{which}: {path.name} is larger than {MAX_SOURCE_BYTES >> 20} MB")
    return data.decode("utf-8", "surrogateescape")


def _diff(tree: Path, path: Path, before: str, after: str) -> str:
    name = path.relative_to(tree.resolve()).as_posix()
    rows = difflib.unified_diff(before.split("\n"), after.split("\n"), f"a/{name}", f"b/{name}", n=0, lineterm="")
    return "".join(f"{row}\n" for row in rows)


def _short(text: str) -> str:
    return visible(" ".join(text.split()))[:120]


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
