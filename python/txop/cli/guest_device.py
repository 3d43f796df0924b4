"""Options of ``txop guest`` for the virtual device in the guest, and the device that they make."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli.guest_completion import devices, drivers, fault_scripts
from txop.cli.guest_options import errors_reported
from txop.core.errors import UserError
from txop.plan.device_table import SECURITIES
from txop.plan.devices import ACCESS_POINT_DEVICES, CHIPS, FUNCTIONS, IN_5_GHZ, SDIO_CARDS

if TYPE_CHECKING:
    from txop.guest.chips import Chip


@dataclass(frozen=True)
class CaptureOptions:
    """What the device is to write down."""

    air: Annotated[bool, typer.Option("--air", help="With --device: capture its air; air.pcapng in --output.")] = False
    usb: Annotated[bool, typer.Option("--usb", help="With --device: capture its bus; usb.pcapng in --output.")] = False
    command_log: Annotated[
        bool,
        typer.Option(
            "--command-log", help="With --device of an SDIO card: log every command; sdio.pcapng in --output."
        ),
    ] = False
    trace: Annotated[
        bool,
        typer.Option("--trace", help="With --device: write down what the driver does; trace.jsonl in --output."),
    ] = False

    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            metavar="FILE",
            help="With --device and --mode exact: kernel, device and air of the command on one clock, for trace "
            "viewers and `txop why`.",
        ),
    ] = None

    @property
    def any(self) -> bool:
        """Whether anything is."""
        return self.to_keep or self.timeline is not None

    @property
    def to_keep(self) -> bool:
        """Whether anything goes to the folder of results."""
        return self.air or self.usb or self.trace or self.command_log


NOTHING = CaptureOptions()
TRACE_FILE = "trace.jsonl"
"""What the driver does, in the folder of results."""


@dataclass(frozen=True)
class DeviceOptions:
    """Which device, with which driver, at which access point."""

    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="DEVICE",
            help=f"Plug a virtual chip in and associate it ({', '.join(CHIPS)}), or a network function "
            f"({', '.join(FUNCTIONS)}).",
            autocompletion=devices,
        ),
    ] = None
    driver: Annotated[
        str | None,
        typer.Option(
            "--driver",
            metavar="NAME",
            help="Its driver; default: the stock one that knows it.",
            autocompletion=drivers,
        ),
    ] = None
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", metavar="NAME=VALUE", help="Parameter of the driver; may be repeated."),
    ] = None
    security: Annotated[
        str | None,
        typer.Option(
            "--security",
            metavar="NAME",
            help=f"Security of the access point: {', '.join(SECURITIES[:-1])} or {SECURITIES[-1]}; default: wpa2, "
            "with --ap builtin open.",
        ),
    ] = None
    ap: Annotated[
        str,
        typer.Option(
            "--ap", metavar="hostapd|builtin", help="With --device: the access point; builtin: one for scripts."
        ),
    ] = "hostapd"
    access_points: Annotated[
        str | None,
        typer.Option(
            "--access-points",
            metavar="DBM,...",
            help="With --device: several access points of one network, each a hostapd, on one channel; the signal on "
            "the link to each. `txop-lab roam` goes from one to the next.",
        ),
    ] = None
    stations: Annotated[
        str | None,
        typer.Option(
            "--stations",
            metavar="DBM,...",
            help=f"With --device {' or '.join(ACCESS_POINT_DEVICES)}: it is the access point, with hostapd, of this "
            "many stations; the signal on the link to each.",
        ),
    ] = None
    station_chips: Annotated[
        bool,
        typer.Option(
            "--station-chips",
            help="With --stations: they are chips of the same kind as the device, with its driver, not simulated "
            "radios.",
        ),
    ] = False
    width: Annotated[
        int | None,
        typer.Option(
            "--width",
            metavar="20|40|80",
            help="With --device: width of the access point's channel, in MHz; 80 only in 5 GHz. Default: 20.",
        ),
    ] = None
    channel: Annotated[
        int | None,
        typer.Option(
            "--channel",
            metavar="NUMBER",
            help=f"With --device: channel of the access point, 1 to 13; of an {' or '.join(IN_5_GHZ)} also 36 to 48 "
            "and 149 to 161, in 5 GHz. Default: 6.",
        ),
    ] = None
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ushc|virtual",
            help="With --device of an SDIO card: its host controller; virtual: a kernel module of txop's own.",
        ),
    ] = "ushc"
    host_parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--host-parameter",
            metavar="NAME=VALUE",
            help="Parameter of the virtual host controller, as in interrupts=poll; may be repeated.",
        ),
    ] = None
    power_save: Annotated[
        bool | None,
        typer.Option(
            "--power-save/--no-power-save",
            help="With --device: power save of the station under test; default: as the kernel has it.",
        ),
    ] = None
    plug_only: Annotated[bool, typer.Option("--plug-only", help="With --device: do not associate.")] = False
    faults: Annotated[
        Path | None,
        typer.Option(
            "--faults",
            metavar="FILE|NAME",
            help="With --device: its fault script, a file or a shipped one.",
            autocompletion=fault_scripts,
        ),
    ] = None
    device_option: Annotated[
        list[str] | None,
        typer.Option(
            "--device-option",
            metavar="WORDS",
            help='More options of txop-vusb, as in "--signal -70"; `txop-vusb attach --help` has them; may be given '
            "again.",
        ),
    ] = None

    def chip(self, captures: CaptureOptions = NOTHING) -> Chip | None:
        """The device that they ask for; ``None`` without ``--device``. Raises :class:`UserError`."""
        from txop.guest.chips import COMMAND_LOG, Chip
        from txop.guest.fault_check import check_options
        from txop.measure.probes.air_analysis import CAPTURE_FILE
        from txop.measure.probes.bus_capture import MADE_FILE
        from txop.plan.devices import DRIVERS

        if self.device is None:
            peers = (self.stations, self.access_points)
            given = (self.parameter, self.device_option, *peers, self.host_parameter, captures.any)
            set_here = (self.driver, self.faults, self.power_save, self.width, self.channel)
            if any(given) or any(value is not None for value in set_here):
                raise UserError(
                    "--driver, --parameter, --access-points, --stations, --width, --channel, --host-parameter, "
                    "--power-save, --faults, --device-option, --air, --usb, --command-log, --trace and --timeline go "
                    "with --device"
                )
            return None
        with errors_reported():
            options = tuple(word for words in self.device_option or () for word in _split(words))
            stations = _signals("--stations", self.stations)
            access_points = _signals("--access-points", self.access_points)
            timeline, on_card = captures.timeline is not None, self.device in SDIO_CARDS
            at_host = () if self.host == "ushc" else ("--host", self.host)
            check_options(self.device, self.ap, (*at_host, *options), stations, access_points)
            return Chip(
                self.device,
                self.driver or DRIVERS.get(self.device, ""),
                tuple(self.parameter or ()),
                self.security or ("open" if self.ap == "builtin" else "wpa2"),
                Chip.width_mhz if self.width is None else self.width,
                Chip.channel if self.channel is None else self.channel,
                options=options,
                ap=self.ap,
                access_points=access_points,
                stations=stations,
                station_chips=self.station_chips,
                air=CAPTURE_FILE if captures.air or timeline else None,
                usb=MADE_FILE if captures.usb else None,
                command_log=COMMAND_LOG if captures.command_log or (timeline and on_card) else None,
                trace=TRACE_FILE if captures.trace or (timeline and not on_card) else None,
                faults=None if self.faults is None else _checked(self.faults, self.ap),
                power_save=self.power_save,
                plug_only=self.plug_only,
                sdio_host=self.host,
                host_parameters=tuple(self.host_parameter or ()),
            )


def _signals(option: str, words: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in (words or "").split(",") if words is not None)
    except ValueError:
        raise UserError(
            f"{words!r} is not a list of signals", where=option, what_to_do="dBm with commas, as in -45,-88"
        ) from None


def _split(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError as error:
        raise UserError(f"{words!r} is not words as a shell reads them: {error}", where="--device-option") from None


def _checked(faults: Path, ap: str) -> Path:
    """The file of a fault script that the device can carry out. Raises :class:`GuestError`."""
    from txop.guest.fault_check import check_faults
    from txop.guest.shipped_faults import faults_file, find_faults

    check_faults([find_faults(str(faults))], ap)
    return faults_file(str(faults))
