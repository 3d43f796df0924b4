"""The arms of a plan: the drivers and settings that are compared."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import StringConstraints, field_validator, model_validator

from txop.plan.fields import Argv, Interface, Module, Name, Seconds, Text
from txop.plan.guest import GuestVariant
from txop.plan.strict import Strict


class Patch(Strict):
    """One patch of a series, and what a report says of it."""

    number: int | None = None
    """Number in your own list, as in "patches 10, 8, 7"."""
    description: Text = ""
    """What it does."""
    link: str | None = None
    """Where it can be read."""
    upstream: str | None = None
    """Upstream state in words."""
    file: str | None = None
    """The patch itself, or an edit script (``.toml``; ``txop:NAME`` for one that comes with txop), for a build."""


class ModuleSpec(Strict):
    """A kernel module to load."""

    name: Module | None = None
    """Loaded with ``modprobe``."""
    file: str | None = None
    """A ``.ko`` on the machine txop runs on; copied to the target and loaded with ``insmod``."""
    parameters: dict[Module, str | int | bool] = {}
    """Module parameters; true and false become 1 and 0."""
    depends: list[Module] = []
    """Modules to load first (``modprobe``), besides those that the ``.ko`` itself names; insmod does not."""

    @model_validator(mode="after")
    def _one(self) -> ModuleSpec:
        if (self.name is None) == (self.file is None):
            raise ValueError("give either name (modprobe) or file (insmod)")
        return self


class BuildSpec(Strict):
    """A module built, on the machine txop runs on, from a source tree and the arm's patches in their order."""

    source: str
    """Source tree; it is copied, never changed. Of a git work tree what git ignores is left out."""
    module: str
    """The ``.ko`` that the build makes, relative to the tree."""
    command: Argv | None = None
    """Run in the copy, with ``{tree}`` and ``{kernel}`` filled in. Default: ``make -C KERNEL M=TREE modules``; M is
    the module's own folder when the tree is a whole kernel."""
    kernel: str | None = None
    """Kernel build folder; default ``/lib/modules/RELEASE/build`` of the device under test's release."""
    parameters: dict[Module, str | int | bool] = {}
    """Module parameters; true and false become 1 and 0."""
    depends: list[Module] = []
    """Modules to load first (``modprobe``), besides those that the module itself names."""
    timeout_s: Seconds = 3600.0
    """How long the build may take."""


class FirmwareSpec(Strict):
    """A firmware file put in place before the load, and put back as it was after the unload."""

    file: str
    """The firmware on the machine txop runs on."""
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/+-]*$", max_length=200)]
    """Name under ``/lib/firmware``, as the driver asks for it."""

    @field_validator("name")
    @classmethod
    def _inside(cls, value: str) -> str:
        if ".." in value.split("/"):
            raise ValueError("must stay inside /lib/firmware")
        return value


class QdiscSpec(Strict):
    """A queue discipline on an interface of the device under test, or of another target."""

    discipline: Argv
    """As tc takes it: ``"fq_codel limit 1000"``."""
    interface: Interface | None = None
    """Default: the target's interface under test."""
    target: Name = "dut"
    """Where."""


class VerifySpec(Strict):
    """What must be true of the loaded arm; each value that is given is compared, others are only recorded."""

    srcversion: str | None = None
    """Hash of the sources as ``modinfo`` shows it. Compared by itself when the arm has a file or a build."""
    build_id: str | None = None
    """GNU build-id in hexadecimal. Compared by itself when the arm has a file or a build."""
    version: str | None = None
    """Version of the module as ``modinfo`` shows it."""
    driver: str | None = None
    """Driver bound to the interface under test."""
    parameters: dict[Module, str] = {}
    """Parameters that the loaded module must show in sysfs, besides those that the arm sets."""
    commands: list[Argv] = []
    """Each must exit with 0 on the device under test."""


class Arm(Strict):
    """A driver build, or any other variant that is compared."""

    name: Name
    """Short name; part of the names of folders."""
    title: Text = ""
    """As reports show it; default: the name."""
    description: Text = ""
    """What is different about it."""
    link: str | None = None
    """Where it can be read about, or its source."""
    patches: list[Patch] = []
    """In the order they are applied."""
    module: ModuleSpec | None = None
    """The module to load."""
    build: BuildSpec | None = None
    """The module to build and load."""
    firmware: FirmwareSpec | None = None
    """The firmware to put in place first."""
    qdisc: QdiscSpec | None = None
    """The queue discipline to set."""
    emulated: dict[str, Any] | None = None
    """Variant of the plan's ``[link]``: tables given here are laid over it; a link of another kind takes its place."""
    guest: GuestVariant | None = None
    """Variant of the plan's ``[guest]``: keys given here take the place of those there."""
    remove: list[Module] = []
    """Modules that must not be loaded beside it (``modprobe -r``, most dependent first)."""
    blacklist: list[Module] = []
    """Modules kept from loading by themselves while the campaign runs."""
    load: list[Argv] = []
    """Free commands, run on the device under test after everything above."""
    unload: list[Argv] = []
    """Free commands, run on the device under test before anything is undone."""
    verify: VerifySpec = VerifySpec()
    """What must be true once it is loaded."""

    @property
    def shown(self) -> str:
        """Title, or else the name."""
        return self.title or self.name

    @model_validator(mode="after")
    def _one_driver(self) -> Arm:
        if self.module is not None and self.build is not None:
            raise ValueError("give module or build, not both")
        return self
