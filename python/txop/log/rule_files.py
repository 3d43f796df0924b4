"""Rules that name faults: TOML files, shipped with txop and added by users (``docs/kernel-log.md``)."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, ValidationInfo, model_validator

from txop.core.errors import TxopError
from txop.log.literals import LiteralIndex
from txop.log.pattern_check import PatternError, check, group_names
from txop.log.report import Severity

MATCHED = 1024
"""Characters of a message that rules see: the kernel keeps no more of a record (PRINTKRB_RECORD_MAX in printk.c)."""

MAX_FILE_BYTES = 1 << 20
MAX_RULES = 2000

DETECTORS = frozenset(
    {
        "usb-speed-fallen",
        "usb-reset-in-probe",
        "usb-identity-changed",
        "usb-came-back",
        "usb-next-driver",
        "report-fragment",
    }
)
"""Rules that need other messages to decide; the code is in :mod:`txop.log.naming` and :mod:`txop.log.usb_ports`."""

ADDRESS = "%MAC%"
"""Stands in a pattern for an address, also for one that somebody masked in any way, or took out."""

_ADDRESS_PATTERN = (
    r"(?:[^\s()<>\[\]{},]{0,20}(?:<[^<>]{1,40}>|\[[^\[\]]{1,40}\]|\{[^{}]{1,40}\}|\([^()]{1,40}\))"
    r"|[^\s()<>\[\],]{1,40}(?: [^\s()<>\[\],]{1,12})?|)"
)

_Key = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
_Function = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*$", max_length=128)]
_Literal = Annotated[str, StringConstraints(min_length=3, max_length=200)]


class RuleError(TxopError, ValueError):
    """A rule file that cannot be used: where, and why."""


class Rule(BaseModel):
    """One kind of fault, and how its message is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: _Key
    """Name of the rule. A later file replaces a rule of the same key."""
    title: _Line
    """What happened, in a few words."""
    severity: Severity
    """How bad."""
    subsystem: _Line
    """Part of the kernel."""
    drivers: list[_Line] = Field(default_factory=list)
    """Drivers that print it; when there is exactly one, it is the driver of the fault."""
    contains: list[_Literal] = Field(min_length=1, max_length=16)
    """Text of which at least one piece is in every matching message, letter for letter. The pattern is tried only
    then."""
    pattern: str
    """Regular expression, searched in the message, ASCII classes. Named groups become values. ``device``,
    ``driver`` and ``function`` say what the fault is about; ``errno``, ``reason`` and ``status`` are given their
    names. Names may end in a digit where branches need different ones: ``errno2`` counts as ``errno``."""
    by: list[_Line] = Field(default_factory=list)
    """Groups that distinguish faults, beside device, driver, function, errno, reason and status."""
    usb: bool = False
    """Whether an errno is the status of a USB transfer."""
    report: bool = False
    """Whether the message begins a report of several lines, with registers and a call trace."""
    lasts: bool = False
    """Whether the kernel repeats the message as long as it is so: a task that hangs is reported again and again."""
    frames: list[_Function] = Field(default_factory=list, max_length=8)
    """Functions that must all be in the call trace of the report that the message begins, by the rule that says so:
    this distinguishes a deadlock from any task that hangs."""
    absorbs: list[_Key] = Field(default_factory=list)
    """Rules with messages that belong to this report until its call trace has begun."""
    hides: list[_Key] = Field(default_factory=list)
    """Rules that do not count on a message that this one names."""
    also: list[_Key] = Field(default_factory=list)
    """Rules that name lines of the samples as well, and are meant to."""
    otherwise: bool = False
    """Whether it counts only on messages that no other rule names."""
    programs: list[_Line] = Field(default_factory=list)
    """Programs with messages that it names; without any, those of the kernel."""
    explains: list[_Line] = Field(default_factory=list)
    """What is probably its consequence when it comes shortly after: keys of rules, where ``*`` stands for any text;
    ``device:same``, ``device:usb``, ``device:pci``, ``device:wifi`` (faults of these devices); ``all``."""
    instead_of: _Key | None = None
    """The rule with a message that this one takes over when its detector says so."""
    detector: str | None = None
    """Code that decides further, beside the pattern."""
    known: _Text
    """What is known of it."""
    do: _Text
    """What to do about it."""
    do_on: dict[Literal["usb", "pci", "mmc", "platform"], _Text] = Field(default_factory=dict)
    """What to do about it where the device is on this bus, instead of ``do``."""
    source: _Line
    """Where the message comes from."""
    samples: list[str] = Field(min_length=1)
    """Messages that the rule must name, each alone or as several lines."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(expanded(self.pattern), re.ASCII)

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """Groups that distinguish faults of this rule."""
        names = {name.rstrip("0123456789") for name in group_names(self.pattern)}
        typed = [name for name in sorted(names) if name.startswith(("errno", "reason", "status"))]
        return tuple(dict.fromkeys([*typed, *self.by]))

    @model_validator(mode="after")
    def _is_usable(self, info: ValidationInfo) -> Self:
        if info.context == _SHIPPED:
            return self
        try:
            check(expanded(self.pattern))
        except PatternError as error:
            raise ValueError(f"pattern: {error}") from error
        unknown = set(self.by) - {name.rstrip("0123456789") for name in group_names(self.pattern)}
        if unknown and self.detector is None:  # a detector adds values of its own
            raise ValueError(f"by: the pattern has no group {', '.join(sorted(unknown))}")
        if self.detector is not None and self.detector not in DETECTORS:
            raise ValueError(f"detector: there is only {', '.join(sorted(DETECTORS))}")
        if self.frames and self.report:
            raise ValueError("frames: the report is begun by another rule, so this one has report = false")
        for sample in self.samples:
            if not any(self.names(line) for line in sample.splitlines()):
                raise ValueError(f"sample: no line of {sample[:100]!r} has a text of contains and matches the pattern")
            if missing := [name for name in self.frames if f"{name}+" not in sample]:
                raise ValueError(f"sample: {sample[:100]!r} has no frame of {missing[0]}")
        return self

    def names(self, message: str) -> re.Match[str] | None:
        """The match when ``message`` is one of this rule."""
        if not any(literal in message for literal in self.contains):
            return None
        return self.regex.search(message)


def expanded(pattern: str) -> str:
    """``pattern`` as a regular expression: with what :data:`ADDRESS` stands for."""
    return pattern.replace(ADDRESS, _ADDRESS_PATTERN)


class RuleSet:
    """All rules in use."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules: dict[str, Rule] = {}
        for rule in rules:
            self.rules[rule.key] = rule
        self.programs = frozenset(program for rule in self.rules.values() for program in rule.programs)
        """Programs that rules are about."""
        self.instead = {
            (rule.instead_of, rule.detector): rule for rule in self.rules.values() if rule.instead_of and rule.detector
        }
        """Rules that take over the messages of others, by the key of the other and the detector."""
        self._literals = [(literal, rule) for rule in self.rules.values() for literal in rule.contains]
        self._index = LiteralIndex(literal for literal, _ in self._literals)

    def __len__(self) -> int:
        return len(self.rules)

    def may_name(self, message: str) -> bool:
        """Whether a text that a rule looks for is in ``message``: without any, none names it or a part of it."""
        literals = self._literals
        return any(literals[number][0] in message for number in self._index.possible(message))

    def naming(
        self, message: str, program: str | None = None, *, anyone: bool = False
    ) -> list[tuple[Rule, re.Match[str]]]:
        """The rules that name ``message`` of the kernel or of ``program``, without those that another of them hides.

        ``anyone``: it is not known who wrote it.
        """
        possible = self._index.possible(message)
        if not possible:
            return []
        candidates = [self._literals[number] for number in possible]
        tried = {rule.key: rule for literal, rule in candidates if literal in message}
        found = [
            (rule, match)
            for rule in tried.values()
            if (anyone or (program in rule.programs if rule.programs else program is None))
            and (match := rule.regex.search(message))
        ]
        if len(found) > 1:
            hidden = {key for rule, _ in found for key in rule.hides}
            if not all(rule.otherwise for rule, _ in found):
                hidden.update(rule.key for rule, _ in found if rule.otherwise)
            found = [(rule, match) for rule, match in found if rule.key not in hidden]
        return found


@cache
def shipped_rules() -> RuleSet:
    """The rules that come with txop."""
    return RuleSet(_shipped())


def load_rules(extra: Sequence[Path] = (), *, user_folder: bool = True) -> RuleSet:
    """The shipped rules, those in :func:`user_rules_folder`, and those in ``extra`` (files, or folders of ``*.toml``).

    Later rules replace earlier ones of the same key.

    Raises:
        RuleError: a file cannot be read, is not TOML, or has a rule that is not usable.
    """
    rules = list(_shipped())
    folder = user_rules_folder() if user_folder else None
    if folder is not None and any(folder.glob("*.toml")):
        rules += _from_path(folder)
    for path in extra:
        rules += _from_path(path)
    if len(rules) > MAX_RULES:
        raise RuleError(f"{len(rules)} rules are too many; at most {MAX_RULES} are taken")
    chosen = RuleSet(rules)
    for rule in chosen.rules.values():
        for key in [*rule.absorbs, *rule.hides, *rule.also, *([rule.instead_of] if rule.instead_of else [])]:
            if key not in chosen.rules:
                raise RuleError(f'rule "{rule.key}": unknown rule "{key}"')
    return chosen


def user_rules_folder() -> Path | None:
    """``$XDG_CONFIG_HOME/txop/log-rules``, by default in ``~/.config`` (XDG Base Directory Specification).

    None when the user has no home directory.
    """
    base = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        root = Path(base) if base.startswith("/") else Path("~/.config").expanduser()
    except RuntimeError:
        return None
    return root / "txop" / "log-rules"


_SHIPPED = "shipped"
"""Context of validation for txop's own files, which the tests check instead of every start of the program."""


def parse_rules(text: str, where: str, context: str | None = None) -> list[Rule]:
    """The rules in the text of one file; ``where`` names it in errors."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RuleError(f"{where}: not TOML: {error}") from error
    entries = document.get("rule")
    if set(document) - {"rule"} or not isinstance(entries, list):
        raise RuleError(f"{where}: a rule file has [[rule]] tables and nothing else")
    rules: list[Rule] = []
    for number, entry in enumerate(entries, 1):
        key = entry.get("key") if isinstance(entry, dict) else None
        place = f'{where}: rule "{key}"' if isinstance(key, str) else f"{where}: rule number {number}"
        try:
            rules.append(Rule.model_validate(entry, context=context))
        except ValidationError as error:
            raise RuleError(f"{place}: {_first_problem(error)}") from error
        if any(rule.key == rules[-1].key for rule in rules[:-1]):
            raise RuleError(f"{place}: the file has two rules of this key")
    return rules


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


@cache
def _shipped() -> tuple[Rule, ...]:
    folder = resources.files("txop.log").joinpath("rules")
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    return tuple(rule for entry in files for rule in parse_rules(entry.read_text("utf-8"), entry.name, _SHIPPED))


def _from_path(path: Path) -> list[Rule]:
    try:
        files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if path.is_dir() and not files:
            raise RuleError(f"{path}: no *.toml file in this folder")
        return [rule for file in files for rule in parse_rules(_read(file), str(file))]
    except OSError as error:
        raise RuleError(f"{error.filename or path}: {error.strerror or error}") from error


def _read(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise RuleError(f"{path}: larger than {MAX_FILE_BYTES} bytes; that is not a rule file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RuleError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from error
