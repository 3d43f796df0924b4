"""Commands of a plan that are written for a shell, which none of them meets: each is handed over as a list of
arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.plan.model import Plan

_OF_A_SHELL = re.compile(r"\|\|?|\|&|&&?|;|[0-9]?<|[0-9&]?>>?(\S.*)?")
"""An argument that is a pipe, a list or a redirection where a shell reads it."""
_SHELLS = ("sh", "bash", "ash", "dash", "zsh", "busybox")
_TAKE_SUCH = frozenset(
    (
        *_SHELLS,
        "find",
        "expr",
        "test",
        "[",
        "tcpdump",
        "tshark",
        "dumpcap",
        "jq",
        "awk",
        "grep",
        "nft",
    )
)
"""Programs for which such an argument can have a meaning."""


def wrong_commands(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Arguments that only a shell would understand."""
    for path, argv in commands(loaded.plan):
        if _program(argv) in _TAKE_SUCH:
            continue
        for number, argument in enumerate(argv):
            if number and _OF_A_SHELL.fullmatch(argument):
                said = f'no shell runs this command, so "{argument}" is handed to {argv[0]} as an argument'
                yield path, said, 'write ["sh", "-c", "..."], with the whole command line as one argument'
                break


_IN_FRONT = frozenset(("sudo", "doas", "nice", "ionice", "timeout", "setsid", "env", "stdbuf", "taskset", "chrt", "ip"))
"""Programs that run another one, which stands behind their own options and values."""


def _program(argv: Sequence[str]) -> str:
    """The program that gets the arguments; behind ``sudo`` and its like the first that is known to take such ones."""
    names = [PurePosixPath(argument).name for argument in argv]
    if not names or names[0] not in _IN_FRONT:
        return names[0] if names else ""
    before = next((at for at, argument in enumerate(argv) if at and _OF_A_SHELL.fullmatch(argument)), len(argv))
    return next((name for name in names[1:before] if name in _TAKE_SUCH), names[0])


def commands(plan: Plan) -> Iterator[tuple[Path, Sequence[str]]]:
    """Every command of a plan, by its key."""
    for index, arm in enumerate(plan.arm):
        lists: list[tuple[Path, Sequence[Sequence[str]]]] = [
            (("load",), arm.load),
            (("unload",), arm.unload),
            (("verify", "commands"), arm.verify.commands),
        ]
        for name, other in arm.on.items():
            lists += [(("on", name, "load"), other.load), (("on", name, "unload"), other.unload)]
        if arm.boot is not None:
            lists += [(("boot", "commands"), arm.boot.commands), (("boot", "hook"), arm.boot.hook)]
        if arm.build is not None and arm.build.command is not None:
            yield ("arm", index, "build", "command"), arm.build.command
        for place, argvs in lists:
            yield from _each(("arm", index, *place), argvs)
    for index, test in enumerate(plan.test):
        if test.argv is not None:
            yield ("test", index, "command"), test.argv
    yield from _each(("bring_up", "commands"), plan.bring_up.commands)
    yield from _each(("bring_up", "down"), plan.bring_up.down)
    if plan.bring_up.ready is not None:
        yield ("bring_up", "ready"), plan.bring_up.ready
    for name, target in plan.target.items():
        yield from _each(("target", name, "hooks", "reset"), target.hooks.reset)
        yield from _each(("target", name, "hooks", "power_cycle"), target.hooks.power_cycle)


def _each(path: Path, argvs: Sequence[Sequence[str]]) -> Iterator[tuple[Path, Sequence[str]]]:
    for number, argv in enumerate(argvs):
        yield (*path, number), argv
