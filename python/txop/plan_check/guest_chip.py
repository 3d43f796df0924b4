"""The virtual chip of a plan's guest: one place for whoever checks a plan and whoever carries it out."""

from __future__ import annotations

from txop.guest.chips import Chip
from txop.plan.guest_function import ModemSpec, NcmSpec
from txop.plan.model import GuestSpec


def chip_of(spec: GuestSpec) -> Chip:
    """The chip, without captures and fault script. Raises :class:`txop.guest_image.error.GuestError`."""
    modem = spec.modem or ModemSpec()
    aggregation = modem.tx_aggregation if spec.device == "qmi-modem" else None
    words = {"qmi-modem": modem.words(), "ncm": (spec.ncm or NcmSpec()).words()}
    values = {name: int(value) if isinstance(value, bool) else value for name, value in spec.parameters.items()}
    return Chip(
        device=spec.device,
        driver=spec.driver,
        parameters=tuple(f"{name}={value}" for name, value in values.items()),
        security=spec.security,
        channel=spec.channel,
        width_mhz=spec.width_mhz,
        ap=spec.ap,
        bus_first=spec.bus_first,
        options=words.get(spec.device, ()),
        tx_aggregation=None if aggregation is None else (aggregation.datagrams, aggregation.bytes, aggregation.hold_us),
        ack_every_segment=spec.device == "qmi-modem" and modem.ack_every_segment,
    )
