"""The virtual chip of a plan's guest: one place for checking a plan and for carrying it out."""

from __future__ import annotations

from txop.guest.chips import Chip, Queues
from txop.guest.function_host import FunctionHost
from txop.guest_image.error import GuestError
from txop.plan.allowed_rates import AllowedRates
from txop.plan.devices import ROWS, SDIO_CARDS
from txop.plan.guest import GuestSpec
from txop.plan.guest_access_point import QueueSpec
from txop.plan.guest_air import AirSpec
from txop.plan.guest_card import SdioSpec
from txop.plan.guest_function import MbimSpec, ModemSpec, NcmSpec

DSSS_MBIT_S = (1, 2, 11)
"""Rates of 802.11b, which are in 2.4 GHz only."""
BASIC_MBIT_S = (6, 12, 24)
"""Basic rates of an access point in a guest (``lab.sh``, tuned_rates)."""


def chip_of(spec: GuestSpec) -> Chip:
    """The chip, without captures and fault script. Raises :class:`txop.guest_image.error.GuestError`."""
    words = {
        "qmi-modem": (spec.modem or ModemSpec()).words(),
        "ncm": (spec.ncm or NcmSpec()).words(),
        "mbim": (spec.mbim or MbimSpec()).words(),
        **{card: (spec.sdio or SdioSpec()).words(card) for card in SDIO_CARDS},
    }
    values = {name: int(value) if isinstance(value, bool) else value for name, value in spec.parameters.items()}
    sdio = (spec.sdio if spec.device in SDIO_CARDS else None) or SdioSpec()
    return Chip(
        device=spec.device,
        driver=spec.driver,
        parameters=tuple(f"{name}={value}" for name, value in values.items()),
        security=spec.security,
        channel=spec.channel,
        width_mhz=spec.width_mhz,
        ap=spec.ap,
        stations=tuple(station.signal_dbm for station in spec.stations or ()),
        stations_up=_up(spec),
        station_chips=spec.station_chips,
        queues=_queues(spec),
        power_save=spec.power_save,
        sdio_host=sdio.host,
        host_parameters=sdio.host_parameters(),
        options=(*words.get(spec.device, ()), *(spec.air or AirSpec()).words(), *assumed_words(spec)),
        host=_host(spec),
    )


def assumed_words(spec: GuestSpec) -> tuple[str, ...]:
    """Options of the chips' program for what is assumed of the device."""
    return tuple(word for name, value in spec.assume.items() for word in ("--assume", f"{name}={value}"))


def _up(spec: GuestSpec) -> tuple[int, ...]:
    """Signals of what stations send, where one differs from the other way."""
    stations = spec.stations or ()
    if all(station.signal_up_dbm is None for station in stations):
        return ()
    return tuple(station.signal_dbm if station.signal_up_dbm is None else station.signal_up_dbm for station in stations)


def _queues(spec: GuestSpec) -> Queues:
    stations = spec.stations or ()
    weights = tuple(station.airtime_weight for station in stations)
    limits = tuple(tuple(station.aql_limit_us or ()) for station in stations)
    queues = spec.queues or QueueSpec()
    return Queues(
        queues.debugfs_words(spec.width_mhz, in_5_ghz=spec.is_in_5_ghz),
        queues.txq_words,
        weights,
        limits,
        rate_words(spec, queues.rates),
        queues.burst_ms,
    )


def rate_words(spec: GuestSpec, rates: AllowedRates | None) -> tuple[str, ...]:
    """Words of ``iw dev NAME set bitrates`` for these rates. Raises :class:`GuestError` where the device has none."""
    if rates is None:
        return ()
    streams = ROWS[spec.device].streams
    if streams is None:
        raise GuestError(f"the {spec.device} has no rates on the air", what_to_do="take rates out")
    if odd := [mcs for mcs in rates.mcs if mcs >= 8 * streams]:
        raise GuestError(
            f"MCS {odd[0]} is of more streams than the {spec.device} has",
            what_to_do=f"0 to {8 * streams - 1} are there",
        )
    if spec.is_in_5_ghz and (odd := [rate for rate in rates.legacy_mbit_s if rate in DSSS_MBIT_S]):
        raise GuestError(f"there is no {odd[0]} Mbit/s in 5 GHz", what_to_do="6 to 54 are there")
    if spec.stations and not set(rates.legacy_mbit_s) & set(BASIC_MBIT_S):
        basic = ", ".join(map(str, BASIC_MBIT_S))
        raise GuestError(
            "an access point needs one of its basic rates", what_to_do=f"add one of {basic} to legacy_mbit_s"
        )
    return rates.words(in_5_ghz=spec.is_in_5_ghz)


def _host(spec: GuestSpec) -> FunctionHost:
    if spec.device == "qmi-modem":
        return _modem_host(spec.modem or ModemSpec())
    blocks = {"ncm": spec.ncm, "mbim": spec.mbim}.get(spec.device)
    return FunctionHost(sysfs=blocks.sysfs() if blocks is not None else {})


def _modem_host(modem: ModemSpec) -> FunctionHost:
    """What the host makes of a modem. qmi_wwan takes the limits of aggregation in sysfs where it has it, rmnet over
    netlink."""
    limits = modem.tx_aggregation
    sysfs: dict[str, int] = {}
    if limits is not None and modem.mux == "qmimux":
        sysfs = {"qmi/tx_max_datagrams_mux": limits.datagrams, "qmi/tx_max_size_mux": limits.bytes}
    return FunctionHost(
        tx_aggregation=(limits.datagrams, limits.bytes, limits.hold_us) if limits and modem.mux == "rmnet" else None,
        negotiates=(modem.aggregate_datagrams, modem.aggregate_bytes) if modem.is_negotiated else None,
        ack_every_segment=modem.ack_every_segment,
        lan_client=modem.traffic == "lan",
        sysfs=sysfs,
        queue_discipline=modem.queue_discipline,
        queue_packets=modem.queue_packets,
    )
