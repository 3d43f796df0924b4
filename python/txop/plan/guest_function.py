"""Network functions in a guest of a plan: a QMI modem, CDC NCM, MBIM and ECM functions, with settings of their own.

Ranges are those of the program (``crates/vusb/src/functions``).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from txop.plan.devices import FUNCTIONS, ROWS
from txop.plan.strict import STRICT

FUNCTION_INTERFACES = {name: ROWS[name].interface for name in FUNCTIONS}
"""By network function: the interface that the driver makes of it. QMAP interfaces stand on top of it."""
FUNCTION_TABLES = {"ncm": "ncm", "mbim": "mbim", "qmi-modem": "modem"}
"""By network function: the table of its settings; those without one have none."""
CHIP_INTERFACE = "wlan0"
"""That of a wireless chip."""

_Rate = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]
_Datagrams = Annotated[int, Field(ge=1, le=1_000)]
_TransferBytes = Annotated[int, Field(ge=1, le=1 << 20)]
_HoldUs = Annotated[int, Field(ge=0, le=1_000_000)]
_NtbBytes = Annotated[int, Field(ge=2_048, le=1 << 20)]


class _Table(BaseModel):
    model_config = STRICT


class TxAggregation(_Table):
    """Aggregation of what the host sends: of rmnet (``tx-aggr-*`` of ethtool), or of a qmi_wwan that has it by a patch
    (``tx_max_*_mux`` in sysfs)."""

    datagrams: Annotated[int, Field(ge=1, le=1_000)] = 16
    """Datagrams of a transfer at most (``tx-aggr-max-frames``)."""
    bytes: Annotated[int, Field(ge=1_504, le=65_535)] = 16_384
    """Bytes of a transfer at most (``tx-aggr-max-bytes``)."""
    hold_us: _HoldUs = 800
    """How long the first datagram waits for more (``tx-aggr-time-usecs``); of rmnet only."""


class ModemSpec(_Table):
    """The virtual QMI modem, and what the host makes of it; see docs/virtual-functions.md."""

    mux: Literal["none", "qmimux", "rmnet"] = "none"
    """What multiplexes on top of wwan0: nothing (raw IP), QMAP by qmi_wwan itself, QMAP by rmnet."""
    framing: Literal["fixed", "negotiated"] = "fixed"
    """What transfers carry: fixed by ``mux``, without limits; or negotiated by qmicli before anything else, with the
    limits below. A transfer from the host that goes past them crashes the modem."""
    uplink_datagrams: _Datagrams = 16
    """Where it is negotiated: datagrams of a transfer from the host that the modem takes at most."""
    uplink_bytes: Annotated[int, Field(ge=1_504, le=1 << 20)] = 8_192
    """Where it is negotiated: bytes of a transfer from the host that it takes at most."""
    tx_aggregation: TxAggregation | None = None
    """Limits of rmnet, or of a patched qmi_wwan with ``qmimux``; default: none, a transfer for every datagram."""
    queue_discipline: Literal["pfifo_fast", "fq_codel"] | None = None
    """Queue discipline of wwan0, below the multiplexer; default: the kernel's (Debian's: ``fq_codel``), as
    ``qdisc.txt`` of a run says."""
    queue_packets: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Length of the queue of wwan0 (``txqueuelen``), which ``pfifo_fast`` obeys; default: 1000 packets, the kernel's
    own. A patched qmi_wwan puts aggregates there, each of which counts as one packet."""
    traffic: Literal["host", "lan"] = "host"
    """Who sends it: the modem's host itself, or that of a client on a LAN of 1 Gbit/s behind it, for which it forwards
    without GRO, as gateways do where the LAN gets frames one by one. What each acknowledges is in the bus' figures."""
    ack_every_segment: bool = False
    """The host acknowledges every TCP segment by itself (route with ``quickack``, no GRO), in place of one in about
    ten: nearer to clients behind a gateway, one in two each, and harsher."""
    transfer_cost_us: Annotated[int, Field(ge=0, le=1_000_000)] = 190
    """How long the modem works on a transfer from the host, whatever is in it."""
    uplink_mbit_s: _Rate = 50
    """Rate of its radio from the host."""
    downlink_mbit_s: _Rate = 150
    """Rate of its radio to the host; the most, where it wanders."""
    downlink_least_mbit_s: _Rate | None = None
    """The rate to the host wanders between this and ``downlink_mbit_s``, as the block's seed draws it; default: it is
    steady."""
    downlink_wander_percent: Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)] = 20
    """How far it wanders: the standard deviation of its change in a second, were there no bounds, in percent of
    ``downlink_mbit_s``."""
    delay_us: Annotated[int, Field(ge=0, le=10_000_000)] = 5_000
    """Delay of the radio link, each way."""
    downlink_queue: Annotated[int, Field(ge=1, le=100_000)] = 300
    """Datagrams for the host that wait at most."""
    aggregate_datagrams: _Datagrams = 32
    """Datagrams of a transfer to the host at most."""
    aggregate_bytes: _TransferBytes = 15_872
    """Bytes of a transfer to the host at most."""
    hold_us: _HoldUs = 1_000
    """How long the first datagram of a transfer to the host waits for more."""

    @property
    def module(self) -> str | None:
        """The module that is built for what multiplexes, where it is none of the distribution's kernel."""
        return "rmnet" if self.mux == "rmnet" else None

    @property
    def is_negotiated(self) -> bool:
        """Whether messages decide on the data path."""
        return self.framing == "negotiated"

    def _wandering(self) -> tuple[str, ...]:
        if self.downlink_least_mbit_s is None:
            return ()
        return (
            *("--downlink-least-mbit-s", f"{self.downlink_least_mbit_s:g}"),
            *("--downlink-wander-percent", f"{self.downlink_wander_percent:g}"),
        )

    def words(self) -> tuple[str, ...]:
        """As options of the program."""
        framing = "raw-ip" if self.mux == "none" else "qmap"
        limits = ("--uplink-datagrams", str(self.uplink_datagrams), "--uplink-bytes", str(self.uplink_bytes))
        return (
            *("--framing", "negotiated" if self.is_negotiated else framing),
            *(limits if self.is_negotiated else ()),
            *("--transfer-cost-us", str(self.transfer_cost_us)),
            *("--uplink-mbit-s", f"{self.uplink_mbit_s:g}", "--downlink-mbit-s", f"{self.downlink_mbit_s:g}"),
            *self._wandering(),
            *("--delay-us", str(self.delay_us), "--downlink-queue", str(self.downlink_queue)),
            *("--aggregate-datagrams", str(self.aggregate_datagrams)),
            *("--aggregate-bytes", str(self.aggregate_bytes), "--hold-us", str(self.hold_us)),
        )


class NcmSpec(_Table):
    """The virtual CDC NCM function; see docs/virtual-functions.md."""

    ntb32: bool = False
    """Offer 32-bit blocks."""
    ntb_in_max: _NtbBytes = 16_384
    """Largest block to the host (``dwNtbInMaxSize``)."""
    ntb_out_max: _NtbBytes = 16_384
    """Largest block from the host (``dwNtbOutMaxSize``)."""
    ntb_out_datagrams: Annotated[int, Field(ge=0, le=65_535)] = 0
    """Datagrams of a block from the host at most; 0: no limit."""
    aggregate_datagrams: _Datagrams = 40
    """Datagrams of a block to the host at most."""
    aggregate_bytes: _TransferBytes = 16_384
    """Bytes of a block to the host at most."""
    hold_us: _HoldUs = 0
    """How long the first datagram of a block to the host waits for more."""

    tx_timer_us: Annotated[int, Field(ge=5, le=4_294_967)] | None = None
    """Timer of cdc_ncm that ends a block from the host, which must expire three times (``tx_timer_usecs``); default:
    the driver's, 400."""
    tx_max_bytes: _NtbBytes | None = None
    """Largest block that the host makes (``tx_max``); default: the driver's, 16,384 or what the function takes, if
    that is less. The driver stops at 65,536."""
    rx_max_bytes: _NtbBytes | None = None
    """Largest block that the host asks for (``rx_max``); default: the driver's, 16,384."""
    min_tx_packet_bytes: Annotated[int, Field(ge=0, le=65_535)] | None = None
    """Blocks from the host that are larger are filled up to ``tx_max`` (``min_tx_pkt``); default: the driver's, three
    USB packets less than that."""

    def sysfs(self) -> dict[str, int]:
        """What the host sets, by file below the folder of its interface."""
        settings = {
            "rx_max": self.rx_max_bytes,
            "tx_max": self.tx_max_bytes,
            "min_tx_pkt": self.min_tx_packet_bytes,
            "tx_timer_usecs": self.tx_timer_us,
        }
        return {f"cdc_ncm/{name}": value for name, value in settings.items() if value is not None}

    def words(self) -> tuple[str, ...]:
        """As options of the program."""
        return (
            *(("--ntb32",) if self.ntb32 else ()),
            *("--ntb-in-max", str(self.ntb_in_max), "--ntb-out-max", str(self.ntb_out_max)),
            *("--ntb-out-datagrams", str(self.ntb_out_datagrams)),
            *("--aggregate-datagrams", str(self.aggregate_datagrams)),
            *("--aggregate-bytes", str(self.aggregate_bytes), "--hold-us", str(self.hold_us)),
        )


class MbimSpec(NcmSpec):
    """The virtual MBIM function, with blocks that are those of NCM; see docs/virtual-functions.md."""

    connect: Literal["fixed", "negotiated"] = "fixed"
    """How session 0 begins to carry packets: by itself, or connected by mbimcli before anything else."""

    def words(self) -> tuple[str, ...]:
        """As options of the program."""
        return (*super().words(), "--connect", self.connect)
