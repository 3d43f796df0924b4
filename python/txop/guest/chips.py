"""The program that is the virtual chips, and what a guest runs to have one with its driver."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from txop.guest.function_host import FunctionHost
from txop.guest.outside import PCI_FUNCTIONS
from txop.guest_image.elf import NotElfError, read_dynamic
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.plan.device_table import SECURITIES, STATIONS_MAX
from txop.plan.devices import (
    ACCESS_POINT_DEVICES,
    FUNCTIONS,
    IN_5_GHZ,
    LAST_CHANNEL_2_GHZ,
    ON_PCI,
    ROWS,
    SDIO_CARDS,
    SECURITIES_OF_CHIPS,
)

PROGRAM = "txop-vusb"
IN_GUEST = f"/usr/sbin/{PROGRAM}"
VARIABLE = "TXOP_VUSB"
"""Environment variable: a program in place of the one that txop has."""

SDIO_HOSTS = ("ushc", "virtual")
"""Host controllers of such a card: one on USB, with the stock driver of that name, or a kernel module of txop's own."""
CHANNELS_5_GHZ = (*range(36, 49, 4), *range(149, 162, 4))
"""Those where an access point need not look for radar first."""
SIGNALS_DBM = (-100, -10)
"""Signal on the link to a station: from below the noise to beside the antenna."""
ACCESS_POINTS = ("hostapd", "builtin")
"""The real hostapd, or the program's own: open, for faults, speed and exact control."""
STATION_CHIPS_MAX = PCI_FUNCTIONS - 1
"""Chips that are stations, beside the one under test."""
COMMAND_LOG = "sdio.pcapng"
"""What the command log of an SDIO card is called."""
OUT = "/txop/out"
"""Folder in the guest of what comes back."""
FAULTS = "/txop/faults.toml"
"""Where a fault script is in the guest."""


@dataclass(frozen=True)
class Queues:
    """Settings of mac80211 above the device; empty: as the kernel has them."""

    debugfs: tuple[str, ...] = ()
    """``FILE=WORDS`` below the radio's folder in debugfs, words with commas for spaces."""
    txq: tuple[str, ...] = ()
    """``NAME=VALUE`` of ``iw phy set txq``."""
    weights: tuple[int | None, ...] = ()
    """By station of an access point: its airtime weight; ``None``: the kernel's."""
    limits: tuple[tuple[int, ...], ...] = ()
    """By station: low and high limit of its airtime in the driver, µs; empty: those of all."""
    bitrates: tuple[str, ...] = ()
    """Words of ``iw dev NAME set bitrates``; none: all rates."""
    burst_ms: float | None = None
    """TXOP limit of best effort at the access point, ms; ``None``: none."""

    def variables(self) -> dict[str, str]:
        """What ``txop-lab`` reads."""
        weights = ",".join("" if weight is None else str(weight) for weight in self.weights)
        return {
            "LAB_DEBUGFS": " ".join(self.debugfs),
            "LAB_TXQ": " ".join(self.txq),
            "LAB_BITRATES": " ".join(self.bitrates),
            "LAB_BURST_MS": "" if self.burst_ms is None else f"{self.burst_ms:.1f}",
            "LAB_WEIGHTS": weights if any(self.weights) else "",
            "LAB_LIMITS": ",".join("/".join(map(str, limit)) for limit in self.limits) if any(self.limits) else "",
        }


@dataclass(frozen=True)
class Chip:
    """A virtual chip with its driver, associated to an access point. See ``lab.sh`` for what is made of it."""

    device: str = "rtl8188cus"
    driver: str = "rtl8192cu"
    parameters: tuple[str, ...] = ()
    """Parameters of the driver's module, as ``NAME=VALUE``."""
    security: str = "wpa2"
    width_mhz: int = 20
    """20 or 40, or 80 in 5 GHz, of the access point; the driver may use less (rtl8xxxu without ``ht40_2g=1``)."""
    channel: int = 6
    """1 to 13 of 2.4 GHz, or one of :data:`CHANNELS_5_GHZ`."""
    options: tuple[str, ...] = ()
    """More options of the program, a word each."""
    ap: str = "hostapd"
    """One of :data:`ACCESS_POINTS`."""
    access_points: tuple[int, ...] = ()
    """Several access points of one network, each a hostapd: the signal on the link to each, dBm; empty: one."""
    stations: tuple[int, ...] = ()
    """The chip is the access point, with hostapd, of this many stations: the signal on the link to each, dBm."""
    stations_up: tuple[int, ...] = ()
    """Signal of what each sends, at the chip; empty: as the other way."""
    station_chips: bool = False
    """These are chips of the same kind, not simulated radios."""
    queues: Queues = field(default_factory=Queues)
    """What is set of the queues of mac80211."""
    air: str | None = None
    """Name of the capture of the air to leave, in :data:`OUT`."""
    usb: str | None = None
    """Name of the capture of the bus to leave there."""
    usb_snap_bytes: int | None = None
    """Bytes of each URB's data that the capture keeps."""
    command_log: str | None = None
    """Name of the log of an SDIO card's commands to leave there."""
    trace: str | None = None
    """Name of the trace to leave there: what the driver does, one JSON object per line."""
    faults: Path | None = None
    """Fault script, on this machine."""
    plug_only: bool = False
    """Stop when the driver has made its interface."""
    power_save: bool | None = None
    """Power save of the station under test; ``None``: as the kernel has it."""
    sdio_host: str = "ushc"
    """One of :data:`SDIO_HOSTS`."""
    host_parameters: tuple[str, ...] = ()
    """Parameters of the module that is the virtual one, as ``NAME=VALUE``."""
    host: FunctionHost = field(default_factory=FunctionHost)
    """What is made of a network function."""

    def __post_init__(self) -> None:
        """Raise :class:`GuestError` for invalid settings."""
        if self.device not in ROWS:
            raise GuestError(f"unknown virtual device {self.device!r}: {', '.join(ROWS)}")
        if self.device in FUNCTIONS and self.air is not None:
            raise GuestError(f"{self.device} has no air that could be captured")
        if self.command_log is not None and self.device not in SDIO_CARDS:
            raise GuestError(f"{self.device} gets no SDIO commands", what_to_do=f"{', '.join(SDIO_CARDS)} does")
        if self.sdio_host not in SDIO_HOSTS:
            raise GuestError(f"unknown SD host controller {self.sdio_host!r}: {' or '.join(SDIO_HOSTS)}")
        if self.sdio_host != "ushc" and self.device not in SDIO_CARDS:
            raise GuestError(
                f"{self.device} is not in the slot of an SD host controller", what_to_do=f"{', '.join(SDIO_CARDS)} is"
            )
        if self.host_parameters and self.sdio_host != "virtual":
            raise GuestError("only the virtual SD host controller has parameters", what_to_do="--host virtual")
        if self.sdio_host == "virtual" and self.usb is not None:
            raise GuestError(
                "with the virtual SD host controller there is no USB to capture",
                what_to_do="--command-log logs its commands",
            )
        if self.station_chips and not self.stations:
            raise GuestError(
                "there are no stations that could be chips", what_to_do="set stations, or take station_chips out"
            )
        if self.queues.burst_ms is not None and not self.stations:
            raise GuestError("only an access point has burst_ms", what_to_do="set stations, or take burst_ms out")
        if self.usb is not None and self.device in ON_PCI:
            raise GuestError(f"the {self.device} is on PCI, not on USB", what_to_do="--trace records its registers")
        if self.security not in SECURITIES:
            raise GuestError(f"unknown security {self.security!r}: {', '.join(SECURITIES)}")
        if self.security not in SECURITIES_OF_CHIPS.get(self.device, SECURITIES):
            known = ", ".join(SECURITIES_OF_CHIPS[self.device])
            raise GuestError(f"the virtual {self.device} has no cipher for {self.security}", what_to_do=f"{known} work")
        if self.ap not in ACCESS_POINTS:
            raise GuestError(f"unknown access point {self.ap!r}: {', '.join(ACCESS_POINTS)}")
        if self.ap == "builtin" and self.security != "open":
            raise GuestError(f"the built-in access point is open: it has no {self.security}")
        if self.access_points:
            self._check_access_points()
        if self.stations:
            self._check_stations()
        if self.power_save is not None and (self.device in FUNCTIONS or self.stations):
            who = "an access point" if self.stations else f"{self.device}, which has no radio,"
            raise GuestError(f"{who} does not save power", what_to_do="take the setting of power save out")
        self._check_channel()
        if self.faults is not None and not self.faults.is_file():
            raise GuestError(
                f"{self.faults} is not a file", what_to_do="examples of fault scripts are in examples/faults"
            )
        for words in (self.parameters, self.host_parameters, self._words):
            if odd := [word for word in words if not word or word != shlex.quote(word)]:
                raise GuestError(f"{odd[0]!r} has a character that cannot be passed on")

    def _check_channel(self) -> None:
        if self.width_mhz not in (20, 40, 80):
            raise GuestError(f"{self.width_mhz} MHz is not a width of a channel here: 20, 40 or 80")
        if not 1 <= self.channel <= 13 and self.channel not in CHANNELS_5_GHZ:
            known = f"1 to 13, or in 5 GHz {', '.join(map(str, CHANNELS_5_GHZ))}"
            raise GuestError(f"{self.channel} is not a channel here", what_to_do=known)
        if self.is_in_5_ghz:
            if self.device not in IN_5_GHZ:
                raise GuestError(
                    f"the {self.device} is not in 5 GHz (channel {self.channel})",
                    what_to_do=f"{' and '.join(IN_5_GHZ)} is; or take a channel from 1 to 13",
                )
            if self.ap == "builtin":
                raise GuestError("the built-in access point is in 2.4 GHz", what_to_do="take a channel from 1 to 13")
        elif self.width_mhz == 80:
            said = f"a channel of 80 MHz is in 5 GHz, and {self.channel} is not"
            raise GuestError(said, what_to_do=f"take channel {CHANNELS_5_GHZ[0]}, or 40 MHz")

    @property
    def is_in_5_ghz(self) -> bool:
        """Whether the channel is in that band."""
        return self.channel > LAST_CHANNEL_2_GHZ

    def _check_access_points(self) -> None:
        if self.device in FUNCTIONS:
            raise GuestError(f"{self.device} has no radio", what_to_do="take the access points out")
        if self.ap != "hostapd" or self.stations:
            raise GuestError(
                "several access points are several hostapd",
                what_to_do="take out the stations, or the other access point",
            )
        if len(self.access_points) == 1:
            raise GuestError(
                "several access points are two or more",
                what_to_do=f'--device-option "--signal {self.access_points[0]}" sets the signal of one',
            )
        _check_signals("an access point", self.access_points)

    def _check_stations(self) -> None:
        if self.device not in ACCESS_POINT_DEVICES:
            known = " and ".join(ACCESS_POINT_DEVICES)
            raise GuestError(f"the {self.device} is not an access point", what_to_do=f"{known} can be one")
        if self.station_chips and "station-chips" not in ROWS[self.device].options:
            known = ", ".join(name for name, row in ROWS.items() if "station-chips" in row.options)
            raise GuestError(f"the stations of the {self.device} cannot be chips", what_to_do=f"those of {known} can")
        if self.station_chips and len(self.stations) > STATION_CHIPS_MAX:
            raise GuestError(
                f"{len(self.stations)} stations are more than there is room for on PCI",
                what_to_do=f"{STATION_CHIPS_MAX} chips at most; simulated radios can be more",
            )
        if self.ap != "hostapd":
            raise GuestError("with stations the chip is the access point", what_to_do="take --ap out")
        _check_signals("a station", self.stations)

    def variables(self) -> Mapping[str, str]:
        """What ``txop-lab`` reads."""
        return {
            "LAB_DEVICE": self.device,
            "LAB_KIND": ROWS[self.device].kind,
            "LAB_BUS": ROWS[self.device].bus,
            "LAB_DRIVER": self.driver,
            "LAB_PARAMETERS": " ".join(self.parameters),
            "LAB_HOST": self.sdio_host,
            "LAB_HOST_PARAMETERS": " ".join(self.host_parameters),
            "LAB_SECURITY": self.security,
            "LAB_CHANNEL": str(self.channel),
            "LAB_AP": self.ap,
            "LAB_ACCESS_POINTS": ",".join(map(str, self.access_points)),
            "LAB_STATIONS": ",".join(map(str, self.stations)),
            "LAB_OPTIONS": " ".join(self._words),
            "LAB_WIDTH": str(self.width_mhz),
            "LAB_HE": "yes" if ROWS[self.device].has_he else "",
            "LAB_ONLY": "plug" if self.plug_only or (self.is_negotiated and self.host.negotiates is None) else "",
            "LAB_POWER_SAVE": {None: "", True: "on", False: "off"}[self.power_save],
            **self.queues.variables(),
            **self.host.variables(),
        }

    def files(self) -> Mapping[str, Path]:
        """By name in the guest: the files of this machine that it takes. Raises :class:`GuestError`."""
        return {IN_GUEST: find_chips()} | ({FAULTS: self.faults} if self.faults is not None else {})

    @property
    def is_negotiated(self) -> bool:
        """Messages to the modem decide on its data path: the guest takes a program for them. Unless its host
        negotiates, the guest's command sets the path up (docs/virtual-functions.md)."""
        return self.device == "qmi-modem" and self._has_option("--framing", "negotiated")

    @property
    def modem_program(self) -> str | None:
        """The program that sets the device up by messages, which the guest takes; ``None``: it takes none."""
        if self.is_negotiated:
            return "qmicli"
        return "mbimcli" if self.device == "mbim" and self._has_option("--connect", "negotiated") else None

    def _has_option(self, name: str, value: str) -> bool:
        pairs = zip(("", *self.options), self.options, strict=False)
        return any(second == f"{name}={value}" or (first, second) == (name, value) for first, second in pairs)

    @property
    def says_loss(self) -> bool:
        """Whether its options say how many frames get lost: no seed draws that then."""
        return any(word == "--loss" or word.startswith("--loss=") for word in self.options)

    @property
    def _words(self) -> tuple[str, ...]:
        """Options of the program."""
        words: list[str] = ["--host", self.sdio_host] if self.sdio_host != "ushc" else []
        words += [f"--stations-up={','.join(map(str, self.stations_up))}"] if self.stations_up else []
        words += ["--station-chips"] if self.station_chips else []
        if self.air is not None:
            words += ["--air", f"{OUT}/{self.air}"]
        if self.usb is not None:
            words += ["--usb", f"{OUT}/{self.usb}"]
            words += [] if self.usb_snap_bytes is None else ["--usb-snap", str(self.usb_snap_bytes)]
        if self.command_log is not None:
            words += ["--command-log", f"{OUT}/{self.command_log}"]
        if self.trace is not None:
            words += ["--trace", f"{OUT}/{self.trace}"]
        if self.faults is not None:
            words += ["--faults", FAULTS]
        return (*words, *self.options)


def _check_signals(what: str, signals: tuple[int, ...]) -> None:
    if len(signals) > STATIONS_MAX:
        raise GuestError(f"there are {len(signals)} signals, each of {what}", what_to_do=f"{STATIONS_MAX} at most")
    if odd := [signal for signal in signals if not SIGNALS_DBM[0] <= signal <= SIGNALS_DBM[1]]:
        raise GuestError(
            f"{odd[0]} dBm is not a signal of {what}", what_to_do=f"{SIGNALS_DBM[0]} to {SIGNALS_DBM[1]} dBm"
        )


def find_chips() -> Path:
    """The program that is the virtual chips, for the guest.

    The one that :data:`VARIABLE` names, else the one that `make setup` puts beside this module, else one in PATH.

    Raises:
        MissingGuestToolError: There is none.
        GuestError: It needs libraries, which the guest may not have.
    """
    named = os.environ.get(VARIABLE)
    beside = Path(__file__).parent / "bin" / PROGRAM
    path = Path(named) if named else beside if beside.is_file() else Path(shutil.which(PROGRAM) or "")
    if not path.is_file():
        raise MissingGuestToolError(
            f"{named} is not a file" if named else f"there is no {PROGRAM}, which is the virtual chips",
            what_to_do=f"in a clone: make setup (on another processor than x86-64, with a Rust toolchain from "
            f"rustup); or name the program, as built on an x86-64 machine, in {VARIABLE}",
        )
    try:
        needed = read_dynamic(path.read_bytes()).needed
    except (OSError, NotElfError):
        return path  # a script, in tests
    if needed:
        raise GuestError(f"{path} needs {needed[0]}: it has to be linked statically", what_to_do="make setup")
    return path
