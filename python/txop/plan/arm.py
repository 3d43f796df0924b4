"""The arms of a plan: the drivers and settings that are compared."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints, field_validator, model_validator

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
    module: Module | None = None
    """In a guest: the module that it is for, where that is not the driver: ``"rmnet"`` on top of a modem's qmi_wwan."""


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
    module: str | None = None
    """The ``.ko`` that the build makes, relative to the tree."""
    modules: Annotated[list[str], Field(max_length=32)] = []
    """In place of ``module``: several ``.ko`` of one build, in the order they are loaded; they are removed in reverse.
    The last one is the driver: ``parameters`` are its own."""
    command: Argv | None = None
    """Run in the copy, with ``{tree}`` and ``{kernel}`` filled in. Default: ``make -C KERNEL M=TREE modules``; M is
    the folder of the module (of several: the one that they share) when the tree is a whole kernel."""
    kernel: str | None = None
    """Kernel build folder; default ``/lib/modules/RELEASE/build`` of the device under test's release."""
    parameters: dict[Module, str | int | bool] = {}
    """Module parameters; true and false become 1 and 0."""
    depends: list[Module] = []
    """Modules to load first (``modprobe``), besides those that the module itself names."""
    timeout_s: Seconds = 3600.0
    """How long the build may take."""

    @property
    def files(self) -> tuple[str, ...]:
        """The modules that the build makes, in the order they are loaded."""
        return tuple(self.modules) if self.module is None else (self.module,)

    @model_validator(mode="after")
    def _one_or_several(self) -> BuildSpec:
        if (self.module is None) == (not self.modules):
            raise ValueError("give either module or modules")
        names = [name.rpartition("/")[2] for name in self.files]
        if len(set(names)) < len(names):
            raise ValueError("two of the modules have the same name")
        return self


class BootSpec(Strict):
    """A kernel of the arm's own, booted before everything else unless it runs already. The restart is not a fault."""

    release: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+~-]*$", max_length=64)]
    """Its ``uname -r``. Another kernel that comes up voids the run."""
    build_id: Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f]{8,64}$")] | None = None
    """Its GNU build-id in hexadecimal (``/sys/kernel/notes``), for kernels of the same release."""
    commands: list[Argv] = []
    """Run on the device under test; the last one restarts it, unless there is a ``hook``."""
    hook: list[Argv] = []
    """Run on the machine txop runs on, after ``commands``: of a boot server, of a relay."""
    timeout_s: Seconds = 300.0
    """How long it may take to answer with the kernel."""

    @model_validator(mode="after")
    def _any(self) -> BootSpec:
        if not self.commands and not self.hook:
            raise ValueError("give commands or hook, which boot it")
        return self


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
    """Module of the driver bound to the interface under test; the name that it has on its bus only where it is in no
    module."""
    parameters: dict[Module, str] = {}
    """Parameters that the loaded module must show in sysfs, besides those that the arm sets."""
    commands: list[Argv] = []
    """Each must exit with 0 on the device under test."""


class OnTarget(Strict):
    """Commands of an arm on another target than the device under test: of an access point, of an attenuator."""

    load: list[Argv] = []
    """Run there after the commands of the arm itself, before the link is brought up."""
    unload: list[Argv] = []
    """Run there first of all, when the arm is unloaded."""


class Published(Strict):
    """What others published of the same arm: reports show it beside the figures of the campaign, with the
    difference, and draw no conclusion from it."""

    test: Name
    """Name of the test that it is of."""
    throughput_mbit_s: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
    """Throughput."""
    retries_percent: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    """Retries."""
    about: Text = ""
    """Of which device, from where."""


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
    optional: bool = False
    """Left out of the campaign, which says why, where the ``module_file`` or ``source`` of its guest is not there."""
    published: Annotated[list[Published], Field(max_length=64)] = []
    """Figures of others, to show beside."""
    patches: list[Patch] = []
    """In the order they are applied."""
    module: ModuleSpec | None = None
    """The module to load."""
    modules: Annotated[list[ModuleSpec], Field(max_length=32)] = []
    """In place of ``module``: a driver that is several modules, in the order they are loaded; they are removed in
    reverse, also before the load. The last one is the driver itself: it is the one that ``verify`` and tests of kind
    ``module-cycle`` mean, and the others are verified, too."""
    build: BuildSpec | None = None
    """The module to build and load."""
    boot: BootSpec | None = None
    """The kernel to boot first of all."""
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
    on: dict[Name, OnTarget] = {}
    """Commands on other targets, by the name of the target: ``[arm.on.peer]``."""
    verify: VerifySpec = VerifySpec()
    """What must be true once it is loaded."""

    @property
    def shown(self) -> str:
        """Title, or else the name."""
        return self.title or self.name

    def patches_of(self, module: str, driver: str) -> tuple[Patch, ...]:
        """Those for a module that a guest builds; those that name none are for its driver."""
        return tuple(patch for patch in self.patches if (patch.module or driver) == module)

    @property
    def loads(self) -> tuple[ModuleSpec, ...]:
        """The modules that are loaded as they are, in their order."""
        return tuple(self.modules) if self.module is None else (self.module,)

    @property
    def has_module(self) -> bool:
        """Whether it loads a module."""
        return bool(self.loads) or self.build is not None

    @model_validator(mode="after")
    def _one_driver(self) -> Arm:
        if sum((self.module is not None, bool(self.modules), self.build is not None)) > 1:
            raise ValueError("give one of module, modules and build")
        return self
