"""The guest of a plan, and the variant of it that an arm sets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from txop.plan.device_table import DeviceName, SecurityName
from txop.plan.devices import DRIVERS, LAST_CHANNEL_2_GHZ
from txop.plan.fields import Module
from txop.plan.guest_access_point import GuestStation, QueueSpec, Topology
from txop.plan.guest_air import AirSpec
from txop.plan.guest_card import SdioSpec
from txop.plan.guest_function import CHIP_INTERFACE, FUNCTION_INTERFACES, MbimSpec, ModemSpec, NcmSpec
from txop.plan.make_variables import MAKE_NAME, MAKE_VALUE, TAKEN
from txop.plan.strict import Strict

KERNEL_WORDS_TAKEN = ("txop.", "console=", "init=", "rdinit=")
"""Beginnings of words on a guest's kernel command line that no user may give."""

_Switch = Annotated[str, StringConstraints(pattern=r"^CONFIG_[A-Z0-9_]{1,80}$")]
_MakeName = Annotated[str, StringConstraints(pattern=MAKE_NAME, max_length=80)]
_MakeValue = Annotated[str, StringConstraints(pattern=MAKE_VALUE, max_length=1000)]
_Assumption = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
_Assumed = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,39}$")]


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
    """Further arguments of the kernel's command line: ``"kfence.sample_interval=1 slub_debug=FZP"``. What the kernel
    then reports is a fault of the run."""
    device: DeviceName = "rtl8188cus"
    """The virtual chip, or a network function without a radio that a driver could see (docs/virtual-chips.md lists
    them)."""
    driver: Module = DRIVERS["rtl8188cus"]
    """Module of the driver under test; default: the first one that docs/virtual-chips.md lists for the device."""
    module: Module | None = None
    """Module that is built with the arm's patches, from ``source`` where that is set: ``mac80211``, say; default: the
    driver."""
    stations: Annotated[list[GuestStation], Field(min_length=1, max_length=16)] | None = None
    """The device (one that docs/virtual-chips.md lists as an access point) is that of these, with hostapd; default: it
    is the station of one."""
    station_chips: bool = False
    """The stations are chips of the same kind as the device, each with its driver in a namespace of its own, not
    simulated radios: of an AR9280, AR9220 or AR9287, 7 at most."""
    topology: Topology = "router"
    """Where the traffic of ``stations`` comes from: ``router`` a host behind the access point, which forwards it;
    ``server`` programs on the access point, with sockets that hold back what they send."""
    queues: QueueSpec | None = None
    """The queues of mac80211 above the device, an access point of ``stations`` or a station. Those of an arm are laid
    over those of the plan, key by key."""
    air: AirSpec | None = None
    """Signal, noise, loss and another network on the air of a device that is a station. That of an arm is laid over
    that of the plan, key by key."""
    modem: ModemSpec | None = None
    """Settings of the QMI modem. Those of an arm are laid over those of the plan, key by key."""
    ncm: NcmSpec | None = None
    """Settings of the NCM function, laid over in the same way."""
    mbim: MbimSpec | None = None
    """Settings of the MBIM function, laid over in the same way."""
    sdio: SdioSpec | None = None
    """The bus of an SDIO card, laid over in the same way."""
    parameters: dict[Module, str | int | bool] = {}
    """Module parameters; true and false become 1 and 0."""
    module_file: str | None = None
    """The driver as a module file (``.ko``) that was built for this kernel already; its name is ``driver``."""
    source: str | None = None
    """Source folder of the driver; default: the kernel's own source, when it has to be built."""
    make: Annotated[dict[_MakeName, _MakeValue], Field(max_length=64)] = {}
    """Variables that the Makefile of ``source`` takes, as in ``{ CONFIG_PLATFORM_X = "y" }``."""
    switches: list[_Switch] = []
    """Configuration symbols to turn on in its code, beside those that txop turns on by itself
    (``CONFIG_RTL8XXXU_UNTESTED`` in rtl8xxxu)."""
    reverse: bool = False
    """Take the arm's patches back instead of applying them; not possible with edit scripts."""
    security: SecurityName = "wpa2"
    """Security of the access point; with the built-in one the default is open."""
    channel: Annotated[int, Field(ge=1, le=161)] = 6
    """Channel of the access point: 1 to 13; of an MT7610U also 36 to 48 and 149 to 161, which are in 5 GHz."""
    width_mhz: Literal[20, 40, 80] = 20
    """Width of the access point's channel; rtl8xxxu follows with its parameter ``ht40_2g``. 80 MHz only in 5 GHz."""
    ap: Literal["hostapd", "builtin"] = "hostapd"
    """The access point; the built-in one is open, for faults and exact control."""
    faults: str | None = None
    """Fault script of the virtual chip (TOML; ``txop:faults/NAME.toml`` for one that comes with txop); see
    docs/virtual-chips.md."""
    assume: dict[_Assumption, Annotated[int, Field(ge=0, le=1_000_000)] | _Assumed] = {}
    """What is assumed of the virtual chip where nothing says what it does, by name, as in
    ``{ tx-queue-frames = 8 }``; each chip has its own (docs/virtual-chips.md)."""
    power_save: bool | None = None
    """Whether the station under test saves power (``iw set power_save``); default: as the kernel and the driver have
    it."""

    @field_validator("append")
    @classmethod
    def _free(cls, value: str) -> str:
        for word in value.split():
            if word.startswith(KERNEL_WORDS_TAKEN):
                raise ValueError(f"{word} is txop's own: it is how txop and the guest talk")
        return value

    @field_validator("make")
    @classmethod
    def _own_variables(cls, value: dict[str, str]) -> dict[str, str]:
        if taken := sorted({*TAKEN} & {*value}):
            raise ValueError(f"{' and '.join(taken)}: txop sets it itself")
        return value

    @model_validator(mode="after")
    def _kernel_and_modules(self) -> GuestVariant:
        if (self.kernel_file is None) != (self.modules_dir is None):
            raise ValueError("kernel_file and modules_dir go together")
        if self.module_file is not None and self.of_a_build:
            raise ValueError(f"module_file is built already: take {' and '.join(self.of_a_build)} out")
        return self

    @property
    def of_a_build(self) -> list[str]:
        """Keys that are set, and say how a module is built."""
        return [key for key in ("source", "make", "switches", "module", "reverse") if getattr(self, key)]

    @property
    def builds(self) -> str:
        """Name of the module that is built with an arm's patches."""
        return self.module or self.driver

    @property
    def asks_for_a_build(self) -> bool:
        """Whether a module is built even for an arm without patches."""
        return bool(self.source or self.module or self.switches or self.make)

    @property
    def is_in_5_ghz(self) -> bool:
        """Whether the channel is in that band."""
        return self.channel > LAST_CHANNEL_2_GHZ

    @property
    def is_function(self) -> bool:
        """Whether the device is a network function: no air, no access point, no association."""
        return self.device in FUNCTION_INTERFACES

    @property
    def built_beside(self) -> str | None:
        """A module that is built and loaded on top of the driver."""
        return self.modem.module if self.modem is not None and self.device == "qmi-modem" else None

    @property
    def needs_debugfs(self) -> bool:
        """Whether the wireless stack is rebuilt with debugfs for it."""
        limits = any(station.aql_limit_us is not None for station in self.stations or ())
        return limits or (self.queues is not None and self.queues.needs_debugfs)

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
    start: Literal["boot", "associated"] = "boot"
    """Where runs begin: each guest boots, plugs the device in and associates; or that is done once for a build, saved,
    and restored for each run with its own seed (exact mode only). Figures of both are not compared with each other."""
    check_exact: Literal["none", "first", "all"] = "first"
    """In exact mode: runs that are done twice with the same seed, and are void when the second leaves other bytes:
    none, one of every arm (the first test that is not a trial, in the first block and in repeats of void ones), all."""
    parallel: Annotated[int, Field(ge=1, le=256)] | None = None
    """Guests at once; default: as many as there are processors in exact mode, where they do not disturb each other's
    figures, and one in fast mode, where they do. ``txop run --jobs`` goes before it."""

    @model_validator(mode="after")
    def _saved_is_exact(self) -> GuestSpec:
        if self.start == "associated" and self.mode != "exact":
            raise ValueError(
                'start = "associated" takes mode = "exact": a fast guest is not the same when it is restored'
            )
        return self

    def varied(self, variant: GuestVariant | None) -> GuestSpec:
        """This guest with what a variant sets."""
        given = {} if variant is None else {key: getattr(variant, key) for key in variant.model_fields_set}
        for key in ("air", "modem", "ncm", "mbim", "sdio", "queues"):
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
