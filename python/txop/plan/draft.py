"""A first plan from a few answers, as commented TOML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from txop.plan.schema import HINT


@dataclass(frozen=True)
class Machine:
    """Where a target is."""

    host: str | None = None
    """``None``: the machine txop runs on."""
    user: str | None = None
    interface: str | None = None
    address: str | None = None


@dataclass(frozen=True)
class DraftArm:
    """An arm: modules by name or as files, or built; or none."""

    name: str
    modules: Sequence[str] = ()
    """Names, or ``.ko`` files, in the order of loading."""
    parameters: dict[str, str] = field(default_factory=dict)
    source: str | None = None
    """Source tree of one that is built."""
    built: Sequence[str] = ()
    """What that makes, in the order of loading."""
    patches: Sequence[str] = ()
    remove: Sequence[str] = ()
    """Other modules to remove first."""


@dataclass(frozen=True)
class Answers:
    """The answers for a new plan."""

    title: str
    dut: Machine
    peer: Machine
    arms: Sequence[DraftArm]
    tests: Sequence[str]
    """Kinds: ``tcp-tx``, ``tcp-rx``, ``tcp-both``, ``latency``."""
    blocks: int = 10
    wpa_config: str | None = None
    dhcp: bool = False
    sniffer: Machine | None = None
    access_point: bool = False
    """The device under test is the access point, and the peer one of its stations."""
    network_up: str = ""
    """Command that brings its network up after a load."""
    network_down: str = ""
    """Command that takes it down before an unload."""


TEST_NAMES = {"tcp-tx": "tx", "tcp-rx": "rx", "tcp-both": "both", "latency": "idle"}
"""Kinds that can be asked for, and what the tests are called."""


def draft(answers: Answers) -> str:
    """The text of a plan."""
    parts = [
        f"{HINT}\n# The line above gives completion in editors that know taplo; the file comes from\n"
        "#   txop plan schema > txop-plan.schema.json\n# Every key: docs/plan.md. Next: txop plan check THIS-FILE\n\n"
        f"title = {quoted(answers.title)}\n\n"
        "[environment]                       # kept for the report; what stands here is part of the testbed\n"
        '# hardware = ""\n# ap = ""\n# distance = ""\n# channel = 1\n',
        _target(
            "dut",
            answers.dut,
            "the access point: the device under test" if answers.access_point else "the device under test",
        ),
        _target("peer", answers.peer, "a station of it" if answers.access_point else "the other end of the traffic"),
        _target("sniffer", answers.sniffer, "what captures the air") if answers.sniffer is not None else "",
        *(_arm(arm, answers, first=index == 0) for index, arm in enumerate(answers.arms)),
        _bring_up(answers),
        *(_test(kind) for kind in answers.tests),
        f"[design]\nblocks = {answers.blocks}                         # every arm once per block, in random order\n"
        "warm_up_s = 5\n# primary = []                      # default: the throughput of every test\n"
        "# [design.margins]                  # smallest effect that matters\n",
        f"[collect]\nair = {'true ' if answers.sniffer else 'false'}                         # needs [target.sniffer]\n"
        "usbmon = false\n",
    ]
    return "\n".join(part for part in parts if part)


def quoted(text: str) -> str:
    r"""A TOML basic string.

    >>> print(quoted('a "b" \x7f'))
    "a \"b\" \u007F"
    """
    shown = json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return shown.replace("\x7f", "\\u007F")


def _target(name: str, machine: Machine, comment: str) -> str:
    rows = [f"[target.{name}]".ljust(36) + f"# {comment}"]
    if machine.host is None:
        rows.append('kind = "local"                      # the machine txop runs on')
        rows.append("# sudo = true                       # run what needs root with sudo -n")
    else:
        rows += ['kind = "ssh"', f"host = {quoted(machine.host)}"]
        if machine.user is not None:
            rows.append(f"user = {quoted(machine.user)}")
    if machine.interface is not None:
        rows.append(f"interface = {quoted(machine.interface)}")
    if machine.address is not None:
        rows.append(f"address = {quoted(machine.address)}".ljust(36) + "# on the link under test")
    return "\n".join(rows) + "\n"


def _arm(arm: DraftArm, answers: Answers, *, first: bool) -> str:
    rows = [
        "[[arm]]" + "                             # the baseline: the first arm" * first,
        f"name = {quoted(arm.name)}",
    ]
    rows.append('# title = ""                        # as reports show it')
    if arm.remove:
        rows.append(f"remove = [{', '.join(map(quoted, arm.remove))}]".ljust(36) + "# what uses the modules")
    else:
        rows.append("# remove = []                       # modules that must not be loaded beside it")
    if answers.network_up:
        rows.append(f"load = [{quoted(answers.network_up)}]".ljust(36) + "# the interface may exist only then")
    if answers.network_down:
        rows.append(f"unload = [{quoted(answers.network_down)}]")
    if arm.source is not None:
        if arm.patches:
            numbered = enumerate(arm.patches, start=1)
            shown = ", ".join(f"{{ number = {number}, file = {quoted(file)} }}" for number, file in numbered)
            rows.append(f"patches = [{shown}]")
        one = len(arm.built) == 1
        files = quoted(arm.built[0]) if one else f"[{', '.join(map(quoted, arm.built))}]"
        rows += ["[arm.build]", f"source = {quoted(arm.source)}", f"{'module' if one else 'modules'} = {files}"]
    elif not arm.modules and not answers.network_up:
        rows.append("# load = []                         # commands that make it what it is, unload = [] to undo them")
    for module in arm.modules:
        key = "file" if module.endswith(".ko") else "name"
        rows += ["[arm.module]" if len(arm.modules) == 1 else "[[arm.modules]]", f"{key} = {quoted(module)}"]
    if arm.parameters:
        values = ", ".join(f"{key} = {quoted(value)}" for key, value in arm.parameters.items())
        rows.append(f"parameters = {{ {values} }}")
    return "\n".join(rows) + "\n"


def _bring_up(answers: Answers) -> str:
    rows = ["[bring_up]                          # how the link comes up after an arm was loaded"]
    rows.append(f"dhcp = {'true' if answers.dhcp else 'false'}")
    if answers.access_point:
        rows.append("timeout_s = 120                     # the station has to join again; ready is a ping to it")
    rows.append("# commands = []                     # or whatever else it takes")
    if answers.wpa_config is not None:
        rows += ["[bring_up.wpa_supplicant]", f"config = {quoted(answers.wpa_config)}".ljust(36) + "# never stored"]
    return "\n".join(rows) + "\n"


def _test(kind: str) -> str:
    rows = ["[[test]]", f"name = {quoted(TEST_NAMES[kind])}", f"kind = {quoted(kind)}", "duration_s = 30"]
    if kind != "latency":
        rows.append('latency = "ping"                    # round trips beside the load')
    return "\n".join(rows) + "\n"
