"""The questions of ``txop plan new``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from pydantic import TypeAdapter, ValidationError

from txop.core.errors import UserError
from txop.core.nearest import did_you_mean
from txop.plan.draft import TEST_NAMES, Answers, DraftArm, Machine, draft
from txop.plan.explain import explain
from txop.plan.fields import Host, Interface, Module, Name
from txop.plan.load import parse_plan


def ask() -> str:
    """Ask on the terminal; the text of the plan. Raises :class:`UserError` when there is no terminal."""
    if not sys.stdin.isatty() and not _piped_answers():
        raise UserError(
            "there is no terminal to ask on", what_to_do="choose a template: txop plan new --list-templates"
        )
    title = _ask("What is compared, in one line", "two driver builds", str)
    dut = _machine("Device under test: local, or [user@]host")
    interface = _ask("Its interface under test", "wlan0", _checked(Interface))
    peer = _machine("Other end of the traffic: local, or [user@]host")
    address = _ask("Its address on the link under test", "192.168.1.1", _checked(Host))
    config = _ask("wpa_supplicant.conf to associate with (empty: none)", "", str)
    dhcp = typer.confirm("Get an address by DHCP", default=bool(config), err=True)
    arms = _arms()
    tests = _ask(f"Tests, of {', '.join(TEST_NAMES)}", "tcp-tx, tcp-rx", _tests)
    blocks = _ask("Blocks (6 for a quick look, 10, 20 to publish)", "10", _blocks)
    text = draft(
        Answers(
            title,
            Machine(dut[1], dut[0], interface, None),
            Machine(peer[1], peer[0], None, address),
            arms,
            tests,
            blocks,
            config or None,
            dhcp,
        )
    )
    parse_plan(text.encode(), Path("the new plan"))
    return text


def _piped_answers() -> bool:
    """Whether stdin is a pipe or file with something in it, for answers prepared beforehand."""
    import select

    try:
        return bool(select.select([sys.stdin], [], [], 0)[0]) and sys.stdin.readable() and not _at_end()
    except (OSError, ValueError):
        return False


def _at_end() -> bool:
    peek = getattr(sys.stdin.buffer, "peek", None)
    return peek is not None and not peek(1)


def _ask(question: str, default: str, convert: Callable[[str], Any]) -> Any:
    while True:
        given = str(typer.prompt(question, default=default, err=True, show_default=bool(default)))
        try:
            return convert(given.strip())
        except ValueError as error:
            typer.echo(f"  {error}", err=True)


def _checked(kind: Any) -> Callable[[str], str]:
    adapter = TypeAdapter(kind)

    def convert(text: str) -> str:
        try:
            return str(adapter.validate_python(text, strict=True))
        except ValidationError as error:
            raise ValueError(explain(error.errors(include_url=False), text)[0][1]) from None

    return convert


def _machine(question: str) -> tuple[str | None, str | None]:
    """User and host; no host: this machine."""

    def convert(text: str) -> tuple[str | None, str | None]:
        if text == "local":
            return None, None
        user, at, host = text.rpartition("@")
        if at and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", user):
            raise ValueError("must be local, or [user@]host")
        return user or None, _checked(Host)(host)

    found: tuple[str | None, str | None] = _ask(question, "local", convert)
    return found


def _arms() -> list[DraftArm]:
    arms: list[DraftArm] = []
    while True:
        number = len(arms) + 1
        name = _ask(f"Arm {number}: name" + (" (empty: no more)" if number > 1 else ""), "", _arm_name(arms))
        if not name:
            return arms
        module = _ask("  its module: a name, or a .ko file (empty: none)", "", _module)
        given = _ask("  parameters, as in debug=1 ht40=0 (empty: none)", "", _parameters) if module else {}
        is_file = module.endswith(".ko")
        arms.append(DraftArm(name, None if is_file else module or None, module if is_file else None, given))


def _arm_name(arms: list[DraftArm]) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if not text and arms:
            return ""
        if text in {arm.name for arm in arms}:
            raise ValueError("there is such an arm already")
        return _checked(Name)(text)

    return convert


def _module(text: str) -> str:
    return text if not text or text.endswith(".ko") else _checked(Module)(text)


def _parameters(text: str) -> dict[str, str]:
    found = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{word} must be NAME=VALUE")
        found[_checked(Module)(key)] = value
    return found


def _tests(text: str) -> list[str]:
    kinds = list(dict.fromkeys(word for word in re.split(r"[,\s]+", text) if word))
    for kind in kinds:
        if kind not in TEST_NAMES:
            raise ValueError(f'there is no "{kind}" here: {did_you_mean(kind, list(TEST_NAMES))}')
    if not kinds:
        raise ValueError("name at least one")
    return kinds


def _blocks(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:5]) <= 1000:
        raise ValueError("must be a whole number from 1 to 1000")
    return int(text)
