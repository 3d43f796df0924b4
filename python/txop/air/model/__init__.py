"""Typed objects for everything in a ``txop-air`` JSON document (``docs/air-json.md``).

Null in the document is ``None`` here and means *not available*, never zero.
"""

from __future__ import annotations

from txop.air.model.access_point import AccessPoint
from txop.air.model.capability import CapabilityAudit, CapabilityRow
from txop.air.model.events import Event, EventFrames, Events
from txop.air.model.exchange import (
    AckVerdict,
    Aggregation,
    BlockAckExample,
    BlockAckFlow,
    Exchange,
    ExchangeKind,
    ExchangeRate,
    PositionRow,
)
from txop.air.model.hearing import BeaconRaster, Flood, Hearing
from txop.air.model.logs import BlockAckLog, BlockAckRow, RateCell, RateTimeline
from txop.air.model.medium import (
    Airtime,
    BusyBin,
    FlowBin,
    PhyAirtime,
    Steadiness,
    SteadinessEvent,
    Waterfall,
    WaterfallStep,
)
from txop.air.model.multi_user import MultiUser, ResourceUnit
from txop.air.model.report import AirReport
from txop.air.model.station import (
    AirtimeKinds,
    Bar,
    Bss,
    BssMember,
    Ghost,
    GhostEffect,
    Link,
    RateRow,
    RetryCount,
    Spread,
    Station,
    WiresharkStation,
)
from txop.air.model.summary import Channel, DamageNote, FcsState, Limit, LinkTypeCount, Selection, Summary
from txop.air.model.timing import StampHypothesis, Timing
from txop.air.model.traffic import (
    DecryptedGroup,
    DecryptedPair,
    Decryption,
    DhcpMessage,
    PacketFlow,
    RateAttempts,
    TcpSentAgain,
    Traffic,
)
from txop.formats.error import FormatError
from txop.present.document import Model
from txop.present.sentence import Figure, Sentence

__all__ = [
    "AccessPoint",
    "AckVerdict",
    "Aggregation",
    "AirReport",
    "Airtime",
    "AirtimeKinds",
    "Bar",
    "BeaconRaster",
    "BlockAckExample",
    "BlockAckFlow",
    "BlockAckLog",
    "BlockAckRow",
    "Bss",
    "BssMember",
    "BusyBin",
    "CapabilityAudit",
    "CapabilityRow",
    "Channel",
    "DamageNote",
    "DecryptedGroup",
    "DecryptedPair",
    "Decryption",
    "DhcpMessage",
    "Event",
    "EventFrames",
    "Events",
    "Exchange",
    "ExchangeKind",
    "ExchangeRate",
    "FcsState",
    "Figure",
    "Flood",
    "FlowBin",
    "FormatError",
    "Ghost",
    "GhostEffect",
    "Hearing",
    "Limit",
    "Link",
    "LinkTypeCount",
    "Model",
    "MultiUser",
    "PacketFlow",
    "PhyAirtime",
    "PositionRow",
    "RateAttempts",
    "RateCell",
    "RateRow",
    "RateTimeline",
    "ResourceUnit",
    "RetryCount",
    "Selection",
    "Sentence",
    "Spread",
    "StampHypothesis",
    "Station",
    "Steadiness",
    "SteadinessEvent",
    "Summary",
    "TcpSentAgain",
    "Timing",
    "Traffic",
    "Waterfall",
    "WaterfallStep",
    "WiresharkStation",
]
