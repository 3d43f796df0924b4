"""Typed objects for everything in a ``txop-air`` JSON document (``docs/air-json.md``).

Null in the document is ``None`` here and means *not available*, never zero.
"""

from __future__ import annotations

from txop.air.model.capability import CapabilityAudit, CapabilityRow
from txop.air.model.exchange import (
    AckVerdict,
    Aggregation,
    BlockAckExample,
    BlockAckFlow,
    Exchange,
    ExchangeRate,
    PositionRow,
)
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
from txop.air.model.report import AirReport, Outline
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
from txop.air.model.summary import Channel, DamageNote, FcsState, Limit, LinkTypeCount, Summary
from txop.air.model.timing import StampHypothesis, Timing
from txop.report.document import FormatError, Model

__all__ = [
    "AckVerdict",
    "Aggregation",
    "AirReport",
    "Airtime",
    "AirtimeKinds",
    "Bar",
    "BlockAckExample",
    "BlockAckFlow",
    "Bss",
    "BssMember",
    "BusyBin",
    "CapabilityAudit",
    "CapabilityRow",
    "Channel",
    "DamageNote",
    "Exchange",
    "ExchangeRate",
    "FcsState",
    "FlowBin",
    "FormatError",
    "Ghost",
    "GhostEffect",
    "Limit",
    "Link",
    "LinkTypeCount",
    "Model",
    "Outline",
    "PhyAirtime",
    "PositionRow",
    "RateRow",
    "RetryCount",
    "Spread",
    "StampHypothesis",
    "Station",
    "Steadiness",
    "SteadinessEvent",
    "Summary",
    "Timing",
    "Waterfall",
    "WaterfallStep",
    "WiresharkStation",
]
