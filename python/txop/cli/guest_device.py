"""Options of ``txop guest`` for the virtual device in the guest, and the device that they make."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli.guest_completion import devices, drivers
from txop.cli.guest_options import told
from txop.core.errors import UserError

if TYPE_CHECKING:
    from txop.guest.chips import Chip

Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="DEVICE",
        help="Plug a virtual chip in and associate it (rtl8188cus, rtl8723au), or a network function (ncm, qmi-modem).",
        autocompletion=devices,
    ),
]
DriverOption = Annotated[
    str | None,
    typer.Option(
        "--driver",
        metavar="NAME",
        help="Its driver; default: the stock one that knows it.",
        autocompletion=drivers,
    ),
]
Parameter = Annotated[
    list[str] | None, typer.Option("--parameter", metavar="NAME=VALUE", help="Of the driver; may be given again.")
]
DeviceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--device-option",
        metavar="WORDS",
        help='More options of txop-vusb, as in "--signal -70"; `txop-vusb attach --help` has them; may be given again.',
    ),
]
Faults = Annotated[
    Path | None,
    typer.Option("--faults", metavar="FILE|NAME", help="With --device: its fault script, a file or a shipped one."),
]
Security = Annotated[
    str | None,
    typer.Option(
        "--security",
        metavar="NAME",
        help="Of the access point: open, wep, wpa, wpa2-tkip, mixed, wpa2 or wpa3; default: wpa2, of the built-in one "
        "open.",
    ),
]
AccessPoint = Annotated[
    str,
    typer.Option("--ap", metavar="hostapd|builtin", help="With --device: the access point; builtin: one for scripts."),
]
Width = Annotated[int, typer.Option("--width", metavar="20|40", help="Of the access point's channel, in MHz.")]
AirFlag = Annotated[bool, typer.Option("--air", help="With --device: capture its air; air.pcapng in --output.")]
UsbFlag = Annotated[bool, typer.Option("--usb", help="With --device: capture its bus; usb.pcapng in --output.")]
TraceFlag = Annotated[
    bool,
    typer.Option("--trace", help="With --device: write down what the driver does; trace.jsonl in --output."),
]
PlugOnly = Annotated[bool, typer.Option("--plug-only", help="With --device: do not associate.")]


def chip_of(
    device: str | None,
    driver: str | None,
    parameter: list[str] | None,
    device_option: list[str] | None,
    faults: Path | None,
    security: str | None,
    ap: str,
    width: int,
    *,
    plug_only: bool = False,
    air: bool = False,
    usb: bool = False,
    trace: bool = False,
) -> Chip | None:
    """The device that the options ask for; ``None`` without ``--device``. Raises :class:`UserError`."""
    from txop.guest.chips import DRIVERS, Chip
    from txop.guest.fault_check import check_options
    from txop.measure.probes.air_analysis import CAPTURE_FILE
    from txop.measure.probes.bus_capture import MADE_FILE

    if device is None:
        if driver is not None or parameter or faults is not None or device_option or air or usb or trace:
            raise UserError(
                "--driver, --parameter, --faults, --device-option, --air, --usb and --trace go with --device"
            )
        return None
    with told():
        options = tuple(word for words in device_option or () for word in _split(words))
        check_options(device, ap, options)
        return Chip(
            device,
            driver or DRIVERS.get(device, ""),
            tuple(parameter or ()),
            security or ("open" if ap == "builtin" else "wpa2"),
            width,
            options=options,
            ap=ap,
            air=CAPTURE_FILE if air else None,
            usb=MADE_FILE if usb else None,
            trace="trace.jsonl" if trace else None,
            faults=None if faults is None else _checked(faults, ap),
            plug_only=plug_only,
        )


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
