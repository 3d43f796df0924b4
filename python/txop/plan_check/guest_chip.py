"""The virtual chip of a plan's guest: one place for checking a plan and for carrying it out."""

from __future__ import annotations

from txop.guest.chips import Chip, Queues
from txop.guest.function_host import FunctionHost
from txop.plan.devices import SDIO_CARDS
from txop.plan.guest import GuestSpec
from txop.plan.guest_access_point import QueueSpec
from txop.plan.guest_card import SdioSpec
from txop.plan.guest_function import MbimSpec, ModemSpec, NcmSpec


def chip_of(spec: GuestSpec) -> Chip:
    """The chip, without captures and fault script. Raises :class:`txop.guest_image.error.GuestError`."""
    words = {
        "qmi-modem": (spec.modem or ModemSpec()).words(),
        "ncm": (spec.ncm or NcmSpec()).words(),
        "mbim": (spec.mbim or MbimSpec()).words(),
        **{card: (spec.sdio or SdioSpec()).words(card) for card in SDIO_CARDS},
    }
    assumed = [word for name, value in spec.assume.items() for word in ("--assume", f"{name}={value}")]
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
        options=(*words.get(spec.device, ()), *assumed),
        host=_host(spec),
    )


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
        queues.rates.words(in_5_ghz=spec.is_in_5_ghz) if queues.rates is not None else (),
        queues.burst_ms,
    )


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
