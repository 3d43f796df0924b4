"""A plan from its file. Everything that is wrong with it is found in one go, with line and key."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from txop.plan.explain import explain
from txop.plan.locate import MAX_DEPTH, NestingError, Path, Place, nearest, places, shown
from txop.plan.model import Plan
from txop.plan.named_file import named_file
from txop.plan.problem import PlanError, Problem

MAX_BYTES = 1 << 20
"""Larger plans are refused."""

MAX_LINE = 10_000
"""Characters of a line."""

MAX_PROBLEMS = 100
"""How many problems of one plan are reported."""


@dataclass(frozen=True)
class LoadedPlan:
    """A plan and the file it came from."""

    plan: Plan
    text: str
    path: FilePath
    """The file; what the plan names is relative to its folder."""
    sha256: str
    """Hash of the file's bytes, in hexadecimal."""
    places: dict[Path, Place] = field(default_factory=dict, repr=False)
    """Where each key stands in the text."""

    @property
    def folder(self) -> FilePath:
        """What relative file names in the plan are relative to."""
        return self.path.absolute().parent

    def file(self, name: str) -> FilePath:
        """A file the plan names, as an absolute path; ``~`` is the home of the user who runs txop."""
        return named_file(self.folder, name)

    def problem(self, path: Path, message: str, what_to_do: str | None = None) -> Problem:
        """A problem with the key at ``path``."""
        return _problem(self.places, path, message, what_to_do)


def load_plan(path: str | FilePath) -> LoadedPlan:
    """Read and validate a plan; what only its meaning shows is left to :func:`txop.plan_check.check.check`.

    Raises:
        PlanError: it is not a plan; with every problem that was found.
        OSError: the file cannot be read.
    """
    file = FilePath(path)
    with file.open("rb") as source:
        data = source.read(MAX_BYTES + 1)
    return parse_plan(data, file)


def parse_plan(data: bytes, path: FilePath) -> LoadedPlan:
    """A plan from the bytes of its file; see :func:`load_plan`."""
    name = str(path)
    text = _decoded(data, name)
    raw = _toml(text, name)
    try:
        found = places(text)
    except (NestingError, RecursionError) as error:
        raise PlanError(
            name, [Problem(None, None, None, str(error) or "tables are too deep within each other")]
        ) from None
    try:
        # strict: "10" is not a number and true is not 1, which would hide mistakes
        plan = Plan.model_validate(raw, strict=True)
    except ValidationError as error:
        wrong = explain(error.errors(include_url=False), raw)
        problems = [_problem(found, *entry) for entry in wrong[:MAX_PROBLEMS]]
        if len(wrong) > MAX_PROBLEMS:
            problems.append(Problem(None, None, None, f"and {len(wrong) - MAX_PROBLEMS} more problems"))
        raise PlanError(name, sorted(problems, key=lambda problem: problem.line or 1 << 30)) from None
    return LoadedPlan(plan, text, path, hashlib.sha256(data).hexdigest(), found)


def _decoded(data: bytes, name: str) -> str:
    if len(data) > MAX_BYTES:
        raise PlanError(name, [Problem(None, None, None, f"it is larger than {MAX_BYTES:,} bytes", "is it a plan?")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PlanError(name, [Problem(line, None, None, "it is not UTF-8", "save it as UTF-8")]) from None
    for number, line_text in enumerate(text.split("\n"), 1):
        if len(line_text) > MAX_LINE:
            raise PlanError(name, [Problem(number, None, None, f"the line has more than {MAX_LINE:,} characters")])
        if line_text.count(".") > MAX_DEPTH and _has_long_key(line_text):
            raise PlanError(name, [Problem(number, None, None, f"a key has more than {MAX_DEPTH} parts")])
    return text


def _has_long_key(line: str) -> bool:
    """Whether a line holds more words with dots between them than a key may have: parsing takes the square of it."""
    words = 0
    for piece in line.split("."):
        word = piece.strip(" \t")
        words = words + 1 if word and (not re.search(r"\s", word) or (word[0] == word[-1] and word[0] in "\"'")) else 0
        if words > MAX_DEPTH:
            return True
    return False


_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        problem = Problem(None, None, None, "arrays or tables are too deep within each other")
    except ValueError as error:  # TOMLDecodeError, and a number of too many digits
        message = str(error)
        match = _PLACE.search(message)
        line, column = (int(match[1]), int(match[2])) if match and match[1] else (None, None)
        if match and line is None:
            line = text.count("\n") + 1
        said = message[: match.start()] if match else message
        problem = Problem(line, column, None, f"it is not TOML: {said[:1].lower()}{said[1:]}"[:500])
    raise PlanError(name, [problem])


def _problem(found: dict[Path, Place], path: Path, message: str, what_to_do: str | None = None) -> Problem:
    place = nearest(found, path)
    return Problem(
        place.line if place else None, place.column if place else None, shown(path) or None, message, what_to_do
    )
