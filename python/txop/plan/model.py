"""What may stand in a plan. Unknown keys are refused, so that a misspelt one cannot be overlooked.

Commands are lists of arguments (``["iw", "dev"]``) or one string, which is split as a POSIX shell would split it but
never handed to a shell. Times are in the unit of the key's name.
"""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, field_validator, model_validator

from txop.core.origin import Origin
from txop.plan.devices import DRIVERS
from txop.plan.guest_access_point import GuestStation, QueueSpec, Topology
from txop.plan.guest_function import (
    CHIP_INTERFACE,
    FUNCTION_INTERFACES,
    MbimSpec,
    ModemSpec,
    NcmSpec,
)
from txop.plan.link_tables import varied
from txop.plan.name import Name
from txop.plan.strict import STRICT
from txop.stats.limits import MAX_BLOCKS

PLAN_VERSION = 1
"""Version of the plan format; a plan without ``version`` is of this one."""


class Strict(BaseModel):
    """A table of the plan: unknown keys are errors."""

    model_config = STRICT


def _argv(value: Any) -> Any:
    return shlex.split(value) if isinstance(value, str) else value


Argument = Annotated[str, StringConstraints(max_length=4096, pattern=r"^[^\x00]*$")]
Argv = Annotated[
    list[Argument],
    BeforeValidator(_argv, json_schema_input_type=str | list[Argument]),
    Field(min_length=1, max_length=256),
]
"""One command: a list of arguments, or a string that is split into one."""

Module = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=64)]
Interface = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][^\s/:]*$", max_length=15)]
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\[][A-Za-z0-9._:%\[\]-]*$", max_length=255)]
NamespaceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", max_length=64)]
Seconds = Annotated[float, Field(ge=0, le=7 * 86400, allow_inf_nan=False)]
MetricName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*\.[a-z0-9_]+$", max_length=100)]
"""``TEST.METRIC``, as in ``tx.throughput_mbit_s``."""

Text = Annotated[str, StringConstraints(max_length=10_000)]
Congestion = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$", max_length=16)]
"""A TCP congestion control, by the kernel's name."""


class Hooks(Strict):
    """Commands, run on the machine txop runs on, for what only the outside can do to a target."""

    reset: list[Argv] = []
    """Brings a target back that no longer answers, without cutting its power."""
    power_cycle: list[Argv] = []
    """Cuts the power: what a firmware needs that only a cold reset brings back."""
    settle_s: Seconds = 30.0
    """How long to wait at most for the target to answer: a lost one before a hook is run, and any after a hook."""


class _Target(Strict):
    interface: Interface | None = None
    """The network interface under test on this target."""
    address: Host | None = None
    """Address of this target on the link under test."""
    hooks: Hooks = Hooks()
    """What brings it back when it is lost."""
    sudo: bool = False
    """Run what needs root through ``sudo -n``."""


class LocalTarget(_Target):
    """The machine txop runs on."""

    kind: Literal["local"] = "local"
    """How the machine is reached."""


class NamespaceTarget(_Target):
    """A named network namespace of the machine txop runs on (``ip netns``)."""

    kind: Literal["namespace"]
    """How the machine is reached."""
    name: NamespaceName
    """Name of the namespace, as ``ip netns list`` shows it; it has to exist."""


class SshTarget(_Target):
    """A machine reached over SSH. A BusyBox shell there is enough; nothing is installed."""

    kind: Literal["ssh"]
    """How the machine is reached."""
    host: Host
    """Name, address, or alias of the SSH configuration."""
    port: Annotated[int, Field(ge=1, le=65535)] = 22
    """TCP port of its SSH server."""
    user: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", max_length=64)] | None = None
    """User to log in as; default: what the SSH configuration says, or else the user txop runs as."""
    key: str | None = None
    """Private key file; default: what the agent and ``~/.ssh`` offer."""
    jump: list[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\[][A-Za-z0-9._:%@\[\]-]*$")]] = []
    """Jump hosts, nearest first, each ``[user@]host[:port]``."""
    known_hosts: str | None = None
    """File of known host keys; default ``~/.ssh/known_hosts``. Unknown keys are refused."""
    config: str | None = None
    """OpenSSH client configuration to read; default ``~/.ssh/config``."""
    connect_timeout_s: Seconds = 15.0
    """How long one attempt to connect may take."""
    namespace: NamespaceName | None = None
    """A network namespace there (``ip netns list``) that every command runs in, through ``ip netns exec``: so that one
    machine can be device under test, access point and sniffer. Needs root there, or ``sudo``; it has to exist."""


class LabgridTarget(_Target):
    """A place of a labgrid device farm (needs the ``labgrid`` extra)."""

    kind: Literal["labgrid"]
    """How the machine is reached."""
    place: str
    """Name of the place; it has to be acquired already."""
    coordinator: str | None = None
    """Address of the coordinator; default: what labgrid's own environment says."""


class EmulatedTarget(_Target):
    """A host of the emulated link."""

    kind: Literal["emulated"]
    """How the machine is reached."""
    host: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """Name of the host in ``[link]``, or its number. Default: for ``peer`` the server behind the access point or modem,
    for ``dut`` the first host at the near end, for another target the host that is called as it is."""
    side: Literal["dut", "peer"] | None = None
    """As the target is called; need not be written."""


class GuestTarget(_Target):
    """One machine of a guest (real drivers on virtual chips): ``dut``, ``peer``, or a station of ``[guest]``."""

    kind: Literal["guest"]
    """How the machine is reached."""


Target = Annotated[
    LocalTarget | NamespaceTarget | SshTarget | LabgridTarget | EmulatedTarget | GuestTarget,
    Field(discriminator="kind"),
]


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


KERNEL_WORDS_TAKEN = ("txop.", "console=", "init=", "rdinit=")
"""Beginnings of words on a guest's kernel command line that no user may give."""


class GuestVariant(Strict):
    """What is in a guest: kernel, virtual chip, driver, access point; see docs/guest.md."""

    kernel: Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+$", max_length=12)] = "6.12"
    """Kernel series of the distribution."""
    lock: str | None = None
    """Lock file of its packages; default: your own for that series, else the one that txop ships."""
    kernel_file: str | None = None
    """A kernel of your own (bzImage), with ``modules_dir``: one with KASAN, say. Its drivers are taken as they are."""
    modules_dir: str | None = None
    """Its modules, as ``/lib/modules/RELEASE``."""
    append: Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]*$", max_length=1000)] = ""
    """More words of the kernel's command line: ``"kfence.sample_interval=1 slub_debug=FZP"``. What the kernel then
    reports is a fault of the run."""
    device: Literal["rtl8188cus", "rtl8723au", "mt7610u", "ar6003", "ncm", "mbim", "ecm", "qmi-modem"] = "rtl8188cus"
    """The virtual chip (``ar6003`` is an SDIO card), or a network function without a radio that a driver could see
    (``ncm``, ``mbim``, ``ecm``, ``qmi-modem``)."""
    driver: Module = DRIVERS["rtl8188cus"]
    """Module of the driver under test; default for an RTL8723AU: ``rtl8xxxu``, for an MT7610U: ``mt76x0u``, for an
    AR6003: ``ath6kl_sdio``, for network functions: ``cdc_ncm``, ``cdc_mbim``, ``cdc_ether`` or ``qmi_wwan``."""
    stations: Annotated[list[GuestStation], Field(min_length=1, max_length=16)] | None = None
    """The device (an MT7610U) is the access point of these, with hostapd; default: it is the station of one."""
    topology: Topology = "router"
    """Where the traffic of ``stations`` comes from: ``router`` a host behind the access point, which forwards it;
    ``server`` programs on the access point, whose sockets hold back what they send."""
    queues: QueueSpec | None = None
    """The queues of mac80211 on the access point of ``stations``. Those of an arm are laid over those of the plan, key
    by key."""
    modem: ModemSpec | None = None
    """Settings of the QMI modem. Those of an arm are laid over those of the plan, key by key."""
    ncm: NcmSpec | None = None
    """Settings of the NCM function, laid over in the same way."""
    mbim: MbimSpec | None = None
    """Settings of the MBIM function, laid over in the same way."""
    parameters: dict[Module, str | int | bool] = {}
    """Module parameters; true and false become 1 and 0."""
    source: str | None = None
    """Source folder of the driver; default: the kernel's own source, when it has to be built."""
    reverse: bool = False
    """Take the arm's patches back instead of applying them; not possible with edit scripts."""
    security: Literal["open", "wep", "wpa", "wpa2-tkip", "mixed", "wpa2", "wpa3"] = "wpa2"
    """Security of the access point; with the built-in one the default is open."""
    channel: Annotated[int, Field(ge=1, le=13)] = 6
    """Channel in the 2.4 GHz band."""
    width_mhz: Literal[20, 40] = 20
    """Width of the access point's channel; rtl8xxxu follows with its parameter ``ht40_2g``."""
    ap: Literal["hostapd", "builtin"] = "hostapd"
    """The access point; the built-in one is open, for faults and exact control."""
    faults: str | None = None
    """Fault script of the virtual chip (TOML; ``txop:faults/NAME.toml`` for one that comes with txop); see
    docs/virtual-chips.md."""
    bus_first: bool = False
    """The virtual chip and USB host run before every other process, as hardware and its interrupts do."""

    @field_validator("append")
    @classmethod
    def _free(cls, value: str) -> str:
        for word in value.split():
            if word.startswith(KERNEL_WORDS_TAKEN):
                raise ValueError(f"{word} is txop's own: it is how txop and the guest talk")
        return value

    @model_validator(mode="after")
    def _kernel_and_modules(self) -> GuestVariant:
        if (self.kernel_file is None) != (self.modules_dir is None):
            raise ValueError("kernel_file and modules_dir go together")
        return self

    @property
    def is_function(self) -> bool:
        """Whether the device is a network function: no air, no access point, no association."""
        return self.device in FUNCTION_INTERFACES

    @property
    def interface(self) -> str:
        """The interface that the driver makes of the device."""
        return FUNCTION_INTERFACES.get(self.device, CHIP_INTERFACE)


class GuestSpec(GuestVariant):
    """The guest of a plan: what is in it, and the virtual computer."""

    mode: Literal["fast", "exact"] = "exact"
    """Time as the host's, or by instructions: then runs with the same inputs are identical."""
    mips: Literal[1000, 500, 250, 125, 62, 31] = 500
    """In exact mode: million instructions a second."""
    memory_mb: Annotated[int, Field(ge=256, le=65_536)] = 512
    """Memory of the guest, MiB."""
    check_exact: Literal["none", "first", "all"] = "first"
    """In exact mode: runs that are done twice with the same seed, and are void when the second leaves other bytes:
    none, one of every arm (the first test that is not a trial, in the first block and in repeats of void ones), all."""
    parallel: Annotated[int, Field(ge=1, le=256)] | None = None
    """Guests at once; default: as many as there are processors in exact mode, where they do not disturb each other's
    figures, and one in fast mode, where they do. ``txop run --jobs`` goes before it."""

    def varied(self, variant: GuestVariant | None) -> GuestSpec:
        """This guest with what a variant sets."""
        given = {} if variant is None else {key: getattr(variant, key) for key in variant.model_fields_set}
        for key in ("modem", "ncm", "queues"):
            mine, over = getattr(self, key), given.get(key)
            if mine is not None and over is not None:
                own = {name: getattr(over, name) for name in over.model_fields_set}
                given[key] = mine.model_copy(update=own)
        varied = self.model_copy(update=given)
        if "driver" not in varied.model_fields_set:
            varied = varied.model_copy(update={"driver": DRIVERS[varied.device]})
        if varied.ap == "builtin" and "security" not in varied.model_fields_set:
            varied = varied.model_copy(update={"security": "open"})
        return varied


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


class WpaSupplicant(Strict):
    """Association by wpa_supplicant with a configuration file."""

    config: str
    """wpa_supplicant.conf on the machine txop runs on; passed on, never stored in the archive."""
    driver: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+(,[a-z0-9_]+)*$", max_length=64)] = "nl80211"
    """Driver interface of wpa_supplicant (``-D``)."""


class BringUp(Strict):
    """How the device under test gets its link after an arm was loaded."""

    wpa_supplicant: WpaSupplicant | None = None
    """Associate with it; it runs from the load of an arm to its unload."""
    commands: list[Argv] = []
    """Run on the device under test, after association."""
    dhcp: bool = False
    """Get an address with udhcpc, dhclient or dhcpcd, whichever the target has."""
    ready: Argv | None = None
    """Tried once a second until it exits with 0; default: one ping to the peer."""
    timeout_s: Seconds = 60.0
    """How long the interface, the association and the ready check may take, each."""
    down: list[Argv] = []
    """Run before the arm is unloaded."""


class _Test(Strict):
    name: Name
    """Short name; figures are called ``NAME.METRIC``."""
    duration_s: Annotated[float, Field(gt=0, le=7 * 86400, allow_inf_nan=False)] = 30.0
    """Length of the measured window; the warm-up comes before it."""
    warm_up_s: Seconds | None = None
    """Default: the design's."""
    latency: Literal["none", "ping", "irtt"] = "none"
    """Latency probe beside the load."""
    latency_interval_s: Annotated[float, Field(ge=0.002, le=60)] = 0.1
    """Time from one latency probe to the next."""
    station: Name = "dut"
    """Target that is this end of the flows."""

    @property
    def length(self) -> str:
        """How long it lasts, in words."""
        return f"{self.duration_s:g} s"


class TcpTest(_Test):
    """TCP from the device (``tcp-tx``), to it (``tcp-rx``), or both at once (``tcp-both``)."""

    kind: Literal["tcp-tx", "tcp-rx", "tcp-both"]
    """Direction, seen from the device under test."""
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    """Connections at once, in each direction."""
    stagger_s: Seconds = 0.0
    """Each further stream starts this much later, and ends with the first."""
    congestion: Congestion | None = None
    """TCP congestion control of the sender; default: that of its kernel."""
    dscp: Annotated[int, Field(ge=0, le=63)] | None = None
    """Differentiated Services code point of the flows (RFC 2474); decides the access category on the air."""


class UdpTest(_Test):
    """UDP at a rate, from the device or to it."""

    kind: Literal["udp-tx", "udp-rx"]
    """Direction, seen from the device under test."""
    rate_mbit_s: Annotated[float, Field(gt=0, le=100_000)]
    """Payload sent per second."""
    datagram_bytes: Annotated[int, Field(ge=16, le=65507)] = 1448
    """Payload of one datagram."""
    dscp: Annotated[int, Field(ge=0, le=63)] | None = None
    """Differentiated Services code point (RFC 2474)."""


class LatencyTest(_Test):
    """Round-trip times of an idle link."""

    kind: Literal["latency"]
    """An idle link."""
    latency: Literal["ping", "irtt"] = "ping"
    """Latency probe."""


class RrulTest(_Test):
    """Real-time response under load: TCP flows both ways in several classes, with latency beside them."""

    kind: Literal["rrul"]
    """Real-time response under load."""
    dscp: list[Annotated[int, Field(ge=0, le=63)]] = [0, 8, 40, 46]
    """One flow each way per class: CS0, CS1, CS5, EF."""
    latency: Literal["ping", "irtt"] = "ping"
    """Latency probe beside the load."""


class StationsTest(_Test):
    """Several stations at once, with fairness."""

    kind: Literal["stations"]
    """Several stations at once."""
    stations: Annotated[list[Name], Field(min_length=2, max_length=32)]
    """Targets that take part, each with one iperf3 per direction."""
    direction: Literal["tx", "rx", "both"] = "rx"
    """Direction, seen from the stations."""
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    """TCP connections of each station at once, in each direction."""
    congestion: Congestion | None = None
    """TCP congestion control of the senders; default: that of their kernels."""
    rate_mbit_s: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """UDP at this rate to or from each station, in place of TCP."""

    @model_validator(mode="after")
    def _protocol(self) -> StationsTest:
        if self.rate_mbit_s is not None and (self.streams > 1 or self.congestion is not None):
            raise ValueError("with rate_mbit_s it is UDP, which has no streams and congestion here")
        return self


class ModuleCycleTest(_Test):
    """Remove and insert the module while traffic runs."""

    kind: Literal["module-cycle"]
    """Remove and insert the arm's module."""
    take: Literal["module", "device"] = "module"
    """What is taken away: the module, or in a guest the virtual chip under it, pulled out for a second."""
    cycles: Annotated[int, Field(ge=1, le=10_000)] = 5
    """How often. In a guest the test ends with the last cycle, whatever ``duration_s`` says."""
    pause_s: Seconds = 2.0
    """Time without the module."""
    recover_s: Seconds = 30.0
    """How long traffic may take to come back; in a guest: the association."""

    @property
    def length(self) -> str:
        """How long it lasts, in words."""
        return f"{self.cycles} cycles"


class FaultTrialTest(_Test):
    """In a guest: what the driver makes of the arm's fault script (``faults``). It strikes under light traffic, and 8 s
    later the peer is asked; a driver that has lost it is reloaded, then the chip plugged in again. A trial lasts as
    long as that takes: ``duration_s`` does not count. An arm without a script is the control."""

    kind: Literal["fault-trial"]
    """What a driver makes of a fault; see docs/guest-faults.md."""

    @property
    def length(self) -> str:
        """How long it lasts, in words."""
        return "to its end"


class SoakTest(_Test):
    """Load for hours, watched for faults, drop-outs and slow change."""

    kind: Literal["soak"]
    """Load for hours."""
    duration_s: Annotated[float, Field(gt=0, le=7 * 86400, allow_inf_nan=False)] = 3600.0
    """Length of the measured window."""
    direction: Literal["tx", "rx", "both"] = "both"
    """Direction of the load, seen from the device under test."""
    latency: Literal["none", "ping", "irtt"] = "ping"
    """Latency probe beside the load."""
    latency_interval_s: Annotated[float, Field(ge=0.002, le=60)] = 1.0
    """Time from one latency probe to the next."""


class CommandTest(_Test):
    """A free command, and how its output becomes figures."""

    kind: Literal["command"]
    """Any program."""
    command: Argv
    """The program; it has to end with 0."""
    on: Name = "dut"
    """Target that it runs on."""
    parser: Literal["json", "regex"] = "json"
    """``json``: an object of numbers on stdout, taken by key. ``regex``: named groups are the metrics."""
    pattern: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """Regular expression (Python's) for ``parser = "regex"``; its first match in the output counts."""
    higher_is_better: list[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")]] = []
    """Figures of which more is better; one that is in neither list is shown and never judged."""
    lower_is_better: list[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")]] = []
    """Figures of which less is better."""

    @model_validator(mode="after")
    def _pattern(self) -> CommandTest:
        if (self.parser == "regex") != (self.pattern is not None):
            raise ValueError('pattern goes with parser = "regex", and only with it')
        return self


Test = Annotated[
    TcpTest
    | UdpTest
    | LatencyTest
    | RrulTest
    | StationsTest
    | ModuleCycleTest
    | FaultTrialTest
    | SoakTest
    | CommandTest,
    Field(discriminator="kind"),
]


class Design(Strict):
    """How often, in what order, and what counts."""

    blocks: Annotated[int, Field(ge=1, le=MAX_BLOCKS)] = 10
    """Every block holds every arm once, in random order."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Seed of the random order: the same plan with the same seed runs in the same order."""
    baseline: Name | None = None
    """Arm that the others are compared with; default: the first."""
    warm_up_s: Seconds = 5.0
    """Left out of every figure at the start of a test."""
    idle_s: Seconds = 5.0
    """Counted before the load, without traffic: what the CPU cost is measured against. 0: not measured."""
    gap_s: Seconds = 2.0
    """Pause between runs; there is none between guests, each of which is a machine of its own."""
    primary: list[MetricName] = []
    """Judged together (Holm); default: throughput of every test that has one, else the median round trip."""
    margins: dict[MetricName, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}
    """Smallest effect that matters, in percent or in the metric's unit; see docs/metrics.md for the defaults."""
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = 0.95
    """Confidence of the intervals."""
    reload: Literal["run", "arm"] = "run"
    """Load the arm afresh for every run, or once for all its tests in a block."""
    max_repeats: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Blocks repeated at most for voided runs; default: half the blocks, at least 2."""
    max_gap_s: Seconds = 600.0
    """A block interrupted for longer is begun again, but for exact guests, whose time does not go on."""
    time_budget_s: Seconds | None = None
    """The campaign stops after the block that reaches it."""


class Collect(Strict):
    """What is recorded beside the figures, when the targets can."""

    air: bool = False
    """Monitor capture on the sniffer, of the emulated link, or of the virtual chip's air."""
    usbmon: bool = False
    """The USB traffic of the device under test."""
    usb_bus: Annotated[int, Field(ge=0, le=255)] = 0
    """Bus to capture; 0: all of them."""
    max_capture_mb: Annotated[float, Field(gt=0, le=100_000)] = 200.0
    """A capture that grows beyond this many 10^6 bytes is stopped; before the window's end, it has no figures."""
    snap_bytes: Annotated[int, Field(ge=64, le=262_144)] = 256
    """Bytes of each frame that are kept."""
    kernel_log: bool = True
    """What the kernel of the device under test logs during each run."""
    counters_interval_s: Annotated[float, Field(ge=0.2, le=60)] = 1.0
    """How often the counters of the host are read."""


class Gates(Strict):
    """When a run is void. A gate that cannot be checked on a target is recorded as such."""

    max_peer_cpu_percent: Annotated[float, Field(gt=0, le=100)] = 90.0
    """A peer busier than this measures itself."""
    max_dut_cpu_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    """Off by default: a driver that needs all of a small CPU is a result. Set it when the client is not the subject."""
    association: bool = True
    """The association must have lasted."""
    channel: bool = True
    """Channel and width must not have changed."""
    usb_speed: bool = True
    """The USB device must not have fallen to a lower speed."""
    route: bool = True
    """Traffic must have gone through the interface under test."""
    capture_loss_percent: Annotated[float, Field(ge=0, le=100)] = 1.0
    """A capture that lost more frames than this voids the run."""
    probe: bool = True
    """The latency probe must have kept its pace."""


class Plan(Strict):
    """A campaign, before it starts."""

    version: Literal[1] = 1
    """Version of the plan format."""
    title: Text
    """What is compared, in one line; the heading of the report."""
    description: Text = ""
    """More words, for the report."""
    environment: dict[Annotated[str, StringConstraints(max_length=60)], str | int | float | bool] = {}
    """Notes on the place, kept for the report: hardware, ap, distance, line_of_sight, channel, remarks."""
    target: dict[Name, Target]
    """The machines by name: ``dut`` (device under test) and ``peer``, when wanted ``sniffer``, and further stations."""
    link: dict[str, Any] | None = None
    """The link between targets of kind ``emulated``: a scenario without traffic, as of docs/scenario.md; see
    docs/emulate.md."""
    guest: GuestSpec | None = None
    """The guest whose ends are the targets of kind ``guest``; see docs/guest.md."""
    arm: Annotated[list[Arm], Field(min_length=1, max_length=64)]
    """What is compared."""
    bring_up: BringUp = BringUp()
    """How the link comes up after an arm was loaded."""
    test: Annotated[list[Test], Field(min_length=1, max_length=64)]
    """What is measured."""
    design: Design = Design()
    """How often, in what order, and what counts."""
    collect: Collect = Collect()
    """What is recorded beside the figures."""
    gates: Gates = Gates()
    """When a run does not count."""

    @property
    def baseline(self) -> str:
        """Name of the arm that the others are compared with."""
        return self.design.baseline or self.arm[0].name

    @property
    def origin(self) -> Origin:
        """What the figures of this plan will be."""
        kinds = {target.kind for target in self.target.values()}
        if "guest" in kinds:
            return Origin.GUEST_FAST if self.guest is not None and self.guest.mode == "fast" else Origin.GUEST_EXACT
        return Origin.EMULATED if "emulated" in kinds else Origin.HARDWARE

    def link_of(self, arm: Arm) -> dict[str, Any] | None:
        """The emulated link of an arm; ``None`` when the plan has no link."""
        return None if self.link is None else varied(self.link, arm.emulated)

    @property
    def guest_stations(self) -> dict[str, int]:
        """Names of the stations of the guest's access point, and their numbers there, from 1."""
        names = [station.name for station in (self.guest.stations or [])] if self.guest is not None else []
        return {name: number for number, name in enumerate(names, start=1)}

    def guest_of(self, arm: Arm) -> GuestSpec | None:
        """The guest of an arm; ``None`` when the plan has no guest."""
        return None if self.guest is None else self.guest.varied(arm.guest)

    def find_arm(self, name: str) -> Arm:
        """The arm called ``name``; :class:`KeyError` when there is none."""
        return {arm.name: arm for arm in self.arm}[name]

    def find_test(self, name: str) -> Test:
        """The test called ``name``; :class:`KeyError` when there is none."""
        return {test.name: test for test in self.test}[name]

    def guest_trial(self, test: Test) -> bool:
        """Whether a run of ``test`` is a trial in a guest: it has steps of its own in place of idle phase, warm-up and
        window, and ends with the last of them."""
        in_guest = any(target.kind == "guest" for target in self.target.values())
        return isinstance(test, FaultTrialTest) or (in_guest and isinstance(test, ModuleCycleTest))

    def warm_up_s(self, test: Test) -> float:
        """Warm-up of a test: its own or the design's."""
        return self.design.warm_up_s if test.warm_up_s is None else test.warm_up_s
