"""The tables of a capture report; :mod:`txop.present.tables` says what a table is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from txop.air import model
from txop.air.model import Report
from txop.present import tables
from txop.present.tables import Table, columns, nested, plain, rows

if TYPE_CHECKING:
    import polars

__all__ = ["TABLES", "columns", "frame", "rows", "write_csv"]

_FLOW = ("ta", "ra", "direction")
_BLOCK_ACK = ("originator", "recipient", "tid")

AirTable = Table[Report]

TABLES: dict[str, AirTable] = {
    table.name: table
    for table in (
        AirTable("channels", "channels captured", (), model.Channel, plain(lambda r: r.summary.channels)),
        AirTable("limits", "what the capture does not show", (), model.Limit, plain(lambda r: r.summary.limits)),
        AirTable("timing", "meanings of the time stamp tried", (), model.StampHypothesis,
              plain(lambda r: r.timing.hypotheses)),
        AirTable("beacons", "beacons captured and due, per access point", (), model.BeaconRaster,
              plain(lambda r: r.hearing.beacons)),
        AirTable("floods", "frames of one kind that come in floods", (), model.Flood, plain(lambda r: r.floods)),
        AirTable("event_frames", "frames of each kind of event", (), model.EventFrames,
              plain(lambda r: r.events.frames)),
        AirTable("events", "what happened when", (), model.Event, plain(lambda r: r.events.rows)),
        AirTable("rate_timeline", "which station sent at which rate when", (), model.RateCell,
              plain(lambda r: r.rate_timeline.rows)),
        AirTable("block_ack_log", "every Block Ack, with --block-acks", (), model.BlockAckRow,
              plain(lambda r: [] if r.block_ack_log is None else r.block_ack_log.rows)),
        AirTable("stations", "one row per address", (), model.Station, plain(lambda r: r.stations)),
        AirTable("station_rates", "rates of each station", ("address",), model.RateRow,
              nested(lambda r: r.stations, ("address",), "rates")),
        AirTable("bss", "one row per network", (), model.Bss, plain(lambda r: r.bss)),
        AirTable("bss_members", "the station rows of each network", ("bssid", "ssid"), model.BssMember,
              nested(lambda r: r.bss, ("bssid", "ssid"), "members")),
        AirTable("access_points", "one row per access point, with its security", (), model.AccessPoint,
              plain(lambda r: r.access_points)),
        AirTable("links", "one row per transmitter and receiver", (), model.Link, plain(lambda r: r.links)),
        AirTable("link_rates", "rates of each link", ("ta", "ra"), model.RateRow,
              nested(lambda r: r.links, ("ta", "ra"), "rates")),
        AirTable("ghosts", "addresses that exist only because of damage", (), model.Ghost, plain(lambda r: r.ghosts)),
        AirTable("exchanges", "PPDUs and their responses", (), model.Exchange, plain(lambda r: r.exchanges)),
        AirTable("exchange_rates", "the same by rate and kind of frame", ("ta", "ra"), model.ExchangeRate,
              nested(lambda r: r.exchanges, ("ta", "ra"), "by_rate")),
        AirTable("response_gaps", "histogram of the response delay", ("ta", "ra"), model.Bar,
              nested(lambda r: r.exchanges, ("ta", "ra"), "gap_histogram")),
        AirTable("block_acks", "Block Ack accounting", (), model.BlockAckFlow, plain(lambda r: r.block_acks)),
        AirTable("block_ack_positions", "left-out MPDUs by position", _BLOCK_ACK, model.PositionRow,
              nested(lambda r: r.block_acks, _BLOCK_ACK, "by_position_from_end")),
        AirTable("block_ack_examples", "Block Acks that leave MPDUs out", _BLOCK_ACK, model.BlockAckExample,
              nested(lambda r: r.block_acks, _BLOCK_ACK, "examples")),
        AirTable("ack_verdicts", "not received, or too slow to acknowledge", (), model.AckVerdict,
              plain(lambda r: r.ack_verdicts)),
        AirTable("multi_link_devices", "stations that are links of one device", (), model.MultiLinkDevice,
              plain(lambda r: r.multi_link_devices)),
        AirTable("device_links", "the links of each", ("mld",), model.DeviceLink,
              nested(lambda r: r.multi_link_devices, ("mld",), "links")),
        AirTable("aggregation","A-MPDU sizes", (), model.Aggregation, plain(lambda r: r.aggregation)),
        AirTable("aggregation_sizes", "histogram of MPDUs per PPDU", ("ta", "ra", "tid"), model.Bar,
              nested(lambda r: r.aggregation, ("ta", "ra", "tid"), "histogram")),
        AirTable("multi_user", "HE and EHT data frames by PPDU format", (), model.MultiUser,
              plain(lambda r: r.multi_user)),
        AirTable("resource_units", "the same by size of the resource unit", ("ta", "ra"), model.ResourceUnit,
              nested(lambda r: r.multi_user, ("ta", "ra"), "resource_units")),
        AirTable("multi_user_ppdus", "PPDUs to several users: users captured and not", (), model.MultiUserPpdus,
              plain(lambda r: r.multi_user_ppdus)),
        AirTable("allocations", "the same by how they share the channel out", ("ta",), model.AllocationCount,
              nested(lambda r: r.multi_user_ppdus, ("ta",), "allocations")),
        AirTable("airtime_phy", "airtime by PHY", (), model.PhyAirtime, plain(lambda r: r.airtime.by_phy)),
        AirTable("airtime_series", "busy share over time", (), model.BusyBin, plain(lambda r: r.airtime.series)),
        AirTable("waterfall", "where the time went, every direction", _FLOW, model.WaterfallStep,
              nested(lambda r: r.waterfalls, _FLOW, "steps")),
        AirTable("capabilities", "claimed and seen used", ("address", "role", "ssid"), model.CapabilityRow,
              nested(lambda r: r.capabilities, ("address", "role", "ssid"), "rows")),
        AirTable("steadiness_series", "throughput and retries over time", _FLOW, model.FlowBin,
              nested(lambda r: r.steadiness, _FLOW, "series")),
        AirTable("steadiness_events", "remarkable moments", _FLOW, model.SteadinessEvent,
              nested(lambda r: r.steadiness, _FLOW, "events")),
        AirTable("decrypted_pairs", "how far the keys given went, per pair of stations", (), model.DecryptedPair,
              plain(lambda r: r.decryption.pairs if r.decryption else [])),
        AirTable("decrypted_groups", "the same for group-addressed frames, per sender", (), model.DecryptedGroup,
              plain(lambda r: r.decryption.groups if r.decryption else [])),
        AirTable("packet_flows", "packets joined with the MPDUs that carried them", (), model.PacketFlow,
              plain(lambda r: r.traffic.flows if r.traffic else [])),
        AirTable("tcp_sent_again", "TCP retransmissions, and the copy before", (), model.TcpSentAgain,
              plain(lambda r: r.traffic.tcp_sent_again if r.traffic else [])),
        AirTable("dhcp", "DHCP messages and how they fared on the air", (), model.DhcpMessage,
              plain(lambda r: r.traffic.dhcp if r.traffic else [])),
    )
}  # fmt: skip
"""Every table, in the order of the report."""


def frame(report: Report, name: str) -> polars.DataFrame:
    """The table ``name`` as a polars frame."""
    return tables.frame(report, TABLES[name])


def write_csv(reports: Iterable[Report], name: str, out: IO[str]) -> None:
    """The table ``name`` of all ``reports`` as CSV; see :func:`txop.present.tables.write_csv`."""
    tables.write_csv(reports, TABLES[name], out)
