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

BACK, HELP = "<", "?"
"""What is answered to go back to the question before, and to learn what is asked for."""


class _Back(Exception):  # noqa: N818 - control flow, not an error
    """The question before is to be asked again."""


class Interview:
    """Questions, one after the other. After :data:`BACK` they are gone through again with the answers that were given,
    without the last one."""

    def __init__(self) -> None:
        self._given: list[str] = []
        self._next = 0

    def go(self, questions: Callable[[Interview], str]) -> str:
        """Ask until the questions make a text."""
        while True:
            self._next = 0
            try:
                return questions(self)
            except _Back:
                self._given = self._given[:-1]

    def ask(self, question: str, default: str, convert: Callable[[str], Any], explained: str) -> Any:
        """The answer to a question. ``explained``: what is printed for :data:`HELP`."""
        if self._next < len(self._given):
            self._next += 1
            return convert(self._given[self._next - 1])
        while True:
            given = str(typer.prompt(question, default=default, err=True, show_default=bool(default))).strip()
            if given == BACK:
                if not self._given:
                    typer.echo("  this is the first question", err=True)
                    continue
                raise _Back
            if given == HELP:
                typer.echo(f"  {explained}", err=True)
                continue
            try:
                found = convert(given)
            except ValueError as error:
                typer.echo(f"  {error}", err=True)
                continue
            self._given.append(given)
            self._next += 1
            return found


def ask() -> str:
    """Ask on the terminal; the text of the plan. Raises :class:`UserError` when there is no terminal."""
    if not sys.stdin.isatty() and not _piped_answers():
        raise UserError(
            "there is no terminal to ask on", what_to_do="choose a template: txop plan new --list-templates"
        )
    typer.echo(f"{HELP} explains a question, {BACK} goes back to the one before.", err=True)
    return Interview().go(_questions)


def _questions(to: Interview) -> str:
    title = to.ask("What is compared, in one line", "two driver builds", str, "The heading of the report.")
    where = "local: the machine txop runs on; else a host of ~/.ssh/config, a name or an address, reached over SSH."
    dut = to.ask("Device under test: local, or [user@]host", "local", _machine, where)
    said = "yes: a router or hostapd, as on OpenWrt; the other end is one of its stations. no: it is a station."
    access_point = to.ask("Is the device under test the access point", "no", _yes_or_no, said)
    default = "phy0-ap0" if access_point else "wlan0"
    said = "As `ip link` names it there. Of an access point it may appear only when its network is up."
    interface = to.ask("Its interface under test", default, _checked(Interface), said)
    own_address = None
    network_up = network_down = ""
    if access_point:
        said = "Where its stations reach it. On OpenWrt it is that of br-lan, not of the radio's interface."
        own_address = to.ask("Its address in its network", "192.168.1.1", _checked(Host), said)
        said = "Run there after an arm was loaded; netifd makes the interface and starts hostapd."
        network_up = to.ask("Command that brings its network up (empty: none)", "wifi up", str, said)
        if network_up:
            said = "Run there before an arm is unloaded: it stops hostapd."
            network_down = to.ask("Command that takes it down (empty: none)", "wifi down", str, said)
    peer = to.ask("Other end of the traffic: local, or [user@]host", "local", _machine, where)
    address = to.ask(
        "Its address on the link under test",
        "192.168.1.2" if access_point else "192.168.1.1",
        _checked(Host),
        "Where the traffic goes. It has to pass the interface under test, not the way by which SSH comes.",
    )
    sniffer = to.ask(
        "Sniffer, which captures the air: none, local, or [user@]host",
        "none",
        _sniffer,
        "A machine with another radio near by. Without one, retries and aggregation are those that the driver reports.",
    )
    monitor = None
    if sniffer is not None:
        said = "One that does nothing else; every run makes it a monitor on the right channel."
        monitor = to.ask("  its interface", "mon0", _checked(Interface), said)
    config, dhcp = "", False
    if not access_point:
        config = to.ask(
            "wpa_supplicant.conf to associate with (empty: none)",
            "",
            str,
            "A file of this machine. txop associates with it once an arm is loaded; empty where something else does.",
        )
        said = "yes: udhcpc, dhclient or dhcpcd gets an address after the association. no: it has one."
        dhcp = to.ask("Get an address by DHCP", "yes" if config else "no", _yes_or_no, said)
    arms = _arms(to, access_point=access_point)
    kinds = ", ".join(TEST_NAMES)
    said = "tcp-tx is sent by the device under test, tcp-rx received; docs/plan.md has every kind."
    tests = to.ask(f"Tests, of {kinds}", "tcp-tx, tcp-rx", _tests, said)
    said = "Every arm runs once in each block. Verdicts take six; txop plan check says what a number can see."
    blocks = to.ask("Blocks (6 for a quick look, 10, 20 to publish)", "10", _blocks, said)
    text = draft(
        Answers(
            title,
            Machine(dut[1], dut[0], interface, own_address),
            Machine(peer[1], peer[0], None, address),
            arms,
            tests,
            blocks,
            config or None,
            dhcp,
            None if sniffer is None else Machine(sniffer[1], sniffer[0], monitor, None),
            access_point,
            network_up,
            network_down,
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


def _checked(kind: Any) -> Callable[[str], str]:
    adapter = TypeAdapter(kind)

    def convert(text: str) -> str:
        try:
            return str(adapter.validate_python(text, strict=True))
        except ValidationError as error:
            raise ValueError(explain(error.errors(include_url=False), text)[0][1]) from None

    return convert


def _machine(text: str) -> tuple[str | None, str | None]:
    """User and host; no host: this machine."""
    if text == "local":
        return None, None
    user, at, host = text.rpartition("@")
    if at and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", user):
        raise ValueError("must be local, or [user@]host")
    return user or None, _checked(Host)(host)


def _sniffer(text: str) -> tuple[str | None, str | None] | None:
    return None if text == "none" else _machine(text)


def _yes_or_no(text: str) -> bool:
    if text.lower() not in ("y", "yes", "n", "no"):
        raise ValueError("must be yes or no")
    return text.lower().startswith("y")


LEAST_ARMS = 2


def _arms(to: Interview, *, access_point: bool) -> list[DraftArm]:
    arms: list[DraftArm] = []
    while True:
        number = len(arms) + 1
        more = " (empty: no more)" if number > LEAST_ARMS else ""
        said = "What is compared: a driver build, a setting. The first one is the baseline."
        name = to.ask(f"Arm {number}: name{more}", "", _arm_name(arms), said)
        if not name:
            return arms
        arms.append(_arm(to, name, access_point=access_point))


def _arm(to: Interview, name: str, *, access_point: bool) -> DraftArm:
    said = (
        "A name is loaded by modprobe there; a .ko of this machine is copied and loaded by insmod; a folder, with / at "
        "its end, is a source tree that is built here, with patches. "
        "A driver of several modules: all of them, with blanks between, in the order of loading "
        "(mt76.ko mt76-connac-lib.ko mt7915e.ko)."
    )
    question = "  its module or modules: names, .ko files, or a source folder/ to build (empty: none)"
    modules = to.ask(question, "", _modules, said)
    if not modules:
        return DraftArm(name)
    remove: list[str] = []
    if access_point or len(modules) > 1:
        said = "Modules that use them, most dependent first: the drivers of other radios that share mt76.ko, say."
        remove = to.ask("  other modules to remove first (empty: none)", "", _names, said)
    module = modules[-1]
    files: list[str] = []
    patches: list[str] = []
    if module.endswith("/"):
        said = "Relative to the folder, as drivers/net/x/x.ko; several are loaded in this order."
        files = to.ask("  the .ko that the build makes, or several in the order of loading", "", _files, said)
        said = "Files of this machine, separated by blanks, applied in this order with git apply."
        patches = to.ask("  patches, in their order (empty: none)", "", str.split, said)
    said = "Parameters of the module, or of the last one: NAME=VALUE, separated by blanks."
    given = to.ask("  parameters, as in debug=1 ht40=0 (empty: none)", "", _parameters, said)
    if files:
        return DraftArm(name, [], given, module, files, patches, remove)
    return DraftArm(name, modules, given, remove=remove)


def _files(text: str) -> list[str]:
    names = text.split()
    if not names or any(not name.endswith(".ko") for name in names):
        raise ValueError("name at least one file that ends with .ko")
    return names


def _arm_name(arms: list[DraftArm]) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if not text and len(arms) >= LEAST_ARMS:
            return ""
        if not text and arms:
            raise ValueError("a comparison needs two arms")
        if text in {arm.name for arm in arms}:
            raise ValueError("there is such an arm already")
        return _checked(Name)(text)

    return convert


def _modules(text: str) -> list[str]:
    words = [text] if text.endswith("/") else text.split()
    if len(words) > 1 and any(word.endswith("/") for word in words):
        raise ValueError("a source folder stands alone; what it builds is asked next")
    return [word if word.endswith((".ko", "/")) else _checked(Module)(word) for word in words]


def _names(text: str) -> list[str]:
    return [_checked(Module)(word) for word in text.split()]


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
