"""Kernel modules: removing, keeping away, loading by name or from a file, with kmod's tools or BusyBox's."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from txop.arms.module_file import MAX_BYTES, ModuleInfo, NotAModuleError, module_info, unpack
from txop.arms.steps import Session, Step, StepError, ended, line, need, put
from txop.targets.contract import CommandResult, Target

MODULE_TIMEOUT_S = 60.0
REMOVE_TRIES = 5
"""A module that is in use is tried again so often, a second apart."""

CAMPAIGN_FILE = "txop-campaign.conf"
"""Keeps modules away for a whole campaign."""
ARM_FILE = "txop-arm.conf"
"""The same while one arm is loaded."""


_LAST_ROWS = 100
"""Last rows of the kernel log that are searched when a module could not be loaded; an oops has some 60."""
_EVERY_MODULE = "Modules linked in:"
"""Begins a row of an oops that names all modules."""
_FAULT = re.compile(r"\b(?:BUG|Oops|kernel panic|Unable to handle kernel|general protection fault)\b")


def normal(name: str) -> str:
    """The name as the kernel writes it: ``-`` and ``_`` are the same to modprobe.

    >>> normal("snd-usb-audio")
    'snd_usb_audio'
    """
    return name.replace("-", "_")


def arguments(parameters: Mapping[str, str | int | bool], *, quoted: bool) -> list[str]:
    """Module parameters as arguments. ``quoted``: values with blanks get the quotes that the kernel expects; modprobe
    adds them by itself, insmod does not.

    >>> arguments({"debug": 16, "ht40": True, "name": "a b"}, quoted=True)
    ['debug=16', 'ht40=1', 'name="a b"']
    """
    shown = []
    for key, value in parameters.items():
        text = str(int(value)) if isinstance(value, bool) else str(value)
        shown.append(f'{key}="{text}"' if quoted and re.search(r"\s", text) else f"{key}={text}")
    return shown


@dataclass(frozen=True)
class LoadedModule:
    """A line of ``/proc/modules``."""

    name: str
    users: tuple[str, ...]
    """Modules that use it."""
    stuck: bool = False
    """It is half loaded, as after an oops in its initialisation: only a restart removes it."""


def parse_modules(text: str) -> dict[str, LoadedModule]:
    """``/proc/modules``; lines that make no sense are passed over.

    >>> parse_modules("cfg80211 1134592 2 mac80211,rtl8xxxu, Live 0x0")["cfg80211"].users
    ('mac80211', 'rtl8xxxu')
    """
    found = {}
    for row in text.splitlines():
        words = row.split()
        if len(words) >= 4:
            users = tuple(user for user in words[3].split(",") if user and user != "-")
            found[words[0]] = LoadedModule(words[0], users, words[4:5] == ["Loading"])
    return found


async def loaded_modules(target: Target) -> dict[str, LoadedModule]:
    """The modules that a target has loaded. Raises :class:`StepError` when it cannot say."""
    text = await target.read("/proc/modules", limit_bytes=4 << 20)
    if text is None:
        raise StepError(target.name, "/proc/modules cannot be read: its kernel may have no modules")
    return parse_modules(text.decode("utf-8", "replace"))


async def remove_module(session: Session, name: str, module: str) -> bool:
    """Remove a module, trying again while it is in use. Whether it was there; raises :class:`StepError`."""
    target = session.target(name)
    if normal(module) not in await loaded_modules(target):
        return False
    tools = await session.tools(name)
    ways = ([["modprobe", "-r", module]] if tools else []) + [["rmmod", normal(module)]]
    ran = CommandResult(0)
    users: tuple[str, ...] = ()
    for attempt in range(REMOVE_TRIES):
        if attempt:
            await asyncio.sleep(1.0)
        for argv in ways:
            ran = await target.run(argv, root=True, timeout_s=MODULE_TIMEOUT_S)
            there = await loaded_modules(target)
            if normal(module) not in there:
                return True
            users = there[normal(module)].users
        if there[normal(module)].stuck:
            said = "it is half loaded, as after an oops, and only a restart of the machine removes it"
            raise StepError(name, f"could not remove {module}: {said}")
    used = f"; it is used by {', '.join(users)}: name them before it in remove" if users else ""
    raise StepError(name, f"could not remove {module}: `{line(ways[-1])}` {ended(ran)}{used}")


@dataclass
class RemoveModule(Step):
    """Take a module away that must not be loaded beside the arm's."""

    target: str
    module: str
    restore: bool = True
    """Load it again when the step is undone, if it was there."""
    _was_there: bool = field(default=False, init=False)

    @property
    def what(self) -> str:
        """See :class:`Step`."""
        return f"remove {self.module}, if it is loaded"

    def shown(self) -> list[str]:
        """See :class:`Step`."""
        return [line(["modprobe", "-r", self.module]) + "  # rmmod, where modprobe has no -r"]

    def undo_shown(self) -> list[str]:
        """See :class:`Step`."""
        return [line(["modprobe", self.module]) + "  # if it was loaded before"] if self.restore else []

    async def do(self, session: Session) -> None:
        """See :class:`Step`."""
        self._was_there = await remove_module(session, self.target, self.module)

    async def undo(self, session: Session) -> None:
        """See :class:`Step`."""
        if self._was_there and self.restore and await session.tools(self.target):
            argv = ["modprobe", self.module]
            await need(session.target(self.target), argv, f"load {self.module} again", timeout_s=MODULE_TIMEOUT_S)
        self._was_there = False


@dataclass
class KeepAway(Step):
    """Keep modules from loading by themselves, by a file that modprobe reads and that is removed in the end.

    kmod reads ``/run/modprobe.d`` (modprobe.d(5)); BusyBox reads ``/etc/modprobe.d`` only.
    """

    target: str
    modules: tuple[str, ...]
    name: str = ARM_FILE

    @property
    def what(self) -> str:
        """See :class:`Step`."""
        return f"keep {', '.join(self.modules)} from loading by themselves"

    def shown(self) -> list[str]:
        """See :class:`Step`."""
        words = "; ".join(f"blacklist {module}" for module in self.modules)
        return [f"write /run/modprobe.d/{self.name}: {words}"]

    def undo_shown(self) -> list[str]:
        """See :class:`Step`."""
        return [f"rm -f /run/modprobe.d/{self.name}"]

    async def do(self, session: Session) -> None:
        """See :class:`Step`."""
        target = session.target(self.target)
        folder = "/run/modprobe.d" if await session.tools(self.target) == "kmod" else "/etc/modprobe.d"
        await need(target, ["mkdir", "-p", folder], "make the folder of the blacklist")
        text = "# Written by txop for as long as a campaign runs; may be deleted.\n"
        text += "".join(f"blacklist {module}\n" for module in self.modules)
        await put(target, f"{folder}/{self.name}", text.encode(), "write the blacklist")

    async def undo(self, session: Session) -> None:
        """See :class:`Step`."""
        await need(session.target(self.target), ["rm", "-f", *self.paths(self.name)], "remove the blacklist")

    @staticmethod
    def paths(*names: str) -> list[str]:
        """Where files of these names may be."""
        return [f"{folder}/{name}" for folder in ("/run/modprobe.d", "/etc/modprobe.d") for name in names]


@dataclass
class LoadModule(Step):
    """Load a module by name."""

    target: str
    module: str
    parameters: Mapping[str, str | int | bool] = field(default_factory=dict)
    depends: Sequence[str] = ()

    @property
    def what(self) -> str:
        """See :class:`Step`."""
        return f"load {self.module}"

    def _argv(self) -> list[str]:
        return ["modprobe", self.module, *arguments(self.parameters, quoted=False)]

    def shown(self) -> list[str]:
        """See :class:`Step`."""
        return [*(line(["modprobe", name]) for name in self.depends), line(self._argv())]

    def undo_shown(self) -> list[str]:
        """See :class:`Step`."""
        return [line(["modprobe", "-r", self.module])]

    async def do(self, session: Session) -> None:
        """See :class:`Step`."""
        target = session.target(self.target)
        if await session.tools(self.target) is None:
            said = f"it has no modprobe, so {self.module} has to be given as a file"
            raise StepError(self.target, said)
        await remove_module(session, self.target, self.module)
        for name in self.depends:
            await need(target, ["modprobe", name], f"load {name}", timeout_s=MODULE_TIMEOUT_S)
        ran = await target.run(self._argv(), root=True, timeout_s=MODULE_TIMEOUT_S)
        if not ran.ok:
            said = f"could not load {self.module}: `{line(self._argv())}` {ended(ran)}"
            raise StepError(self.target, said + await _kernel_says(target, self.module))
        if normal(self.module) not in await loaded_modules(target):
            if (await target.run(["test", "-d", f"/sys/module/{normal(self.module)}"])).ok:
                said = "it is built into the kernel: it cannot be loaded or given parameters"
            else:
                said = "modprobe succeeded, but no module of this name is loaded: give the module's own name"
            raise StepError(self.target, f"could not load {self.module}: {said}")

    async def undo(self, session: Session) -> None:
        """See :class:`Step`."""
        await remove_module(session, self.target, self.module)


@dataclass
class InsertModule(Step):
    """Load a module from a file of the machine txop runs on."""

    target: str
    source: Callable[[], Path]
    """Gives the file; called when the step is done, by when it has been built."""
    shown_name: str
    """The file, for those who read the steps."""
    parameters: Mapping[str, str | int | bool] = field(default_factory=dict)
    depends: Sequence[str] = ()
    info: ModuleInfo | None = field(default=None, init=False)
    """What the file says of itself; set by :meth:`do`."""
    module: str | None = field(default=None, init=False)
    """Name in the kernel; set by :meth:`do`."""

    @property
    def what(self) -> str:
        """See :class:`Step`."""
        return f"load {self.shown_name}"

    def shown(self) -> list[str]:
        """See :class:`Step`."""
        file = f"TEMPORARY/{Path(self.shown_name).name}"
        return [
            f"copy {self.shown_name} to {file}",
            *(line(["modprobe", name]) for name in self.depends),
            line(["insmod", file, *arguments(self.parameters, quoted=True)]),
        ]

    def undo_shown(self) -> list[str]:
        """See :class:`Step`."""
        return [line(["rmmod", normal(Path(self.shown_name).name.partition(".")[0])])]

    async def do(self, session: Session) -> None:
        """See :class:`Step`."""
        target = session.target(self.target)
        path = self.source()
        data, self.info, self.module = read_module(session, path)
        await remove_module(session, self.target, self.module)
        await self._load_depends(session, target)
        file = f"{await session.temporary(self.target)}/{self.module}.ko"
        await put(target, file, data, f"copy {path.name}")
        argv = ["insmod", file, *arguments(self.parameters, quoted=True)]
        ran = await target.run(argv, root=True, timeout_s=MODULE_TIMEOUT_S)
        if not ran.ok:
            said = f"could not load {path}: `{line(argv)}` {ended(ran)}"
            said += await self._other_kernel(target) + await _kernel_says(target, self.module)
            raise StepError(self.target, said)
        there = await loaded_modules(target)
        if self.module not in there:
            raise StepError(self.target, f"insmod of {path} succeeded, but no module {self.module} is loaded")

    async def undo(self, session: Session) -> None:
        """See :class:`Step`."""
        if self.module is not None:
            await remove_module(session, self.target, self.module)

    async def _load_depends(self, session: Session, target: Target) -> None:
        """Load what the plan names, which has to work, and what the file names, which insmod will complain about."""
        assert self.info is not None
        tools = await session.tools(self.target)
        for name in self.depends:
            await need(target, ["modprobe", name], f"load {name}", timeout_s=MODULE_TIMEOUT_S)
        there = await loaded_modules(target)
        for name in self.info.depends:
            if tools and normal(name) not in there and name not in self.depends:
                await target.run(["modprobe", name], root=True, timeout_s=MODULE_TIMEOUT_S)

    async def _other_kernel(self, target: Target) -> str:
        built_for = self.info.kernel_release if self.info else None
        ran = await target.run(["uname", "-r"])
        runs = ran.stdout.strip()
        return f" (built for Linux {built_for}, but {runs} runs)" if built_for and runs and built_for != runs else ""


def read_module(session: Session, path: Path) -> tuple[bytes, ModuleInfo, str]:
    """A module file, unpacked; what it says of itself; its name in the kernel. Raises :class:`StepError`."""
    try:
        data = unpack(session.read_file(str(path), MAX_BYTES), path.name)
        info = module_info(data)
    except NotAModuleError as error:
        said = str(error)
        raise StepError("this machine", said if said.startswith(path.name) else f"{path}: {said}") from None
    return data, info, normal(info.name or path.name.partition(".")[0])


async def _kernel_says(target: Target, module: str) -> str:
    """What the end of the kernel log has about a module."""
    ran = await target.run(["dmesg"], root=True)
    if not ran.ok:
        return ""
    names = {module, normal(module)}
    last = [row.strip() for row in ran.stdout.splitlines()[-_LAST_ROWS:]]
    faults = [row for row in last if _FAULT.search(row)]
    own = [row for row in last if any(name in row for name in names) and _EVERY_MODULE not in row]
    rows = [row for row in own if row not in faults]
    shown = [*faults[:1], *rows[-3 if not faults else -2 :]]
    return f"; kernel log: {' / '.join(shown)[:500]}" if shown else ""
