"""A guest's device as the access point of several stations, and the queues of its mac80211.

What stock kernels can switch goes through nl80211 (``iw phy set txq``, ``iw station set airtime_weight``), the rest
through debugfs, which takes modules that are rebuilt with it; see docs/guest.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from txop.plan.allowed_rates import AllowedRates
from txop.plan.fields import Name
from txop.plan.strict import STRICT

_Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
_Us = Annotated[int, Field(ge=0, le=1_000_000)]
_Limits = Annotated[list[_Us], Field(min_length=2, max_length=2)]
_Dbm = Annotated[int, Field(ge=-100, le=-10)]

_GROUPS = {20: 0, 40: 8}
_GROUPS_VHT = {20: 18, 40: 26, 80: 34}
"""By width in MHz: group of rates of one stream with the long guard interval. Groups are counted by streams (four),
guard interval and width; behind those of HT are one of CCK and one of OFDM, and then those of VHT
(rc80211_minstrel_ht.c, GROUP_IDX and VHT_GROUP_IDX)."""


def _check_limits(key: str, limits: list[int] | None) -> None:
    if limits is not None and limits[0] > limits[1]:
        raise ValueError(f"{key} is the low limit and then the high one")


class GuestStation(BaseModel):
    """One station of the device under test, on a radio of mac80211_hwsim."""

    model_config = STRICT

    name: Name
    """Its target is called so, too."""
    signal_dbm: _Dbm
    """Signal on the link to it, both ways, dBm. The noise is at -95 dBm unless set otherwise."""
    signal_up_dbm: _Dbm | None = None
    """Signal of what it sends, at the access point, where that is another."""
    airtime_weight: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """Weight of its airtime (``iw dev wlan0 station set MAC airtime_weight``); default: the kernel's, 256."""
    aql_limit_us: _Limits | None = None
    """Low and high limit of the airtime that may wait in the driver for this station alone, µs, of every access
    category (debugfs ``aql`` of the station)."""

    @model_validator(mode="after")
    def _ordered(self) -> GuestStation:
        _check_limits("aql_limit_us", self.aql_limit_us)
        return self


class QueueSpec(BaseModel):
    """The queues of mac80211 above the device under test. What is left out stays as the kernel has it."""

    model_config = STRICT

    debugfs: bool = False
    """Rebuild cfg80211, mac80211 and their drivers, unmodified but for the patches of the arm, with debugfs, as the
    next five need: an arm with this alone is the control for those. Queues and airtime of each station are then read
    from there."""
    aql_enable: bool | None = None
    """Airtime queue limits, of all queues together (debugfs ``aql_enable``)."""
    airtime_flags: Annotated[int, Field(ge=0, le=3)] | None = None
    """Which airtime counts for fairness: 1 what is sent, 2 what is received, 3 both, 0 none (debugfs
    ``airtime_flags``)."""
    aql_txq_limit_us: _Limits | None = None
    """Low and high limit of the airtime that may wait in the driver for a station, µs, of every access category
    (debugfs ``aql_txq_limit``); the kernel's are 5000 and 12000."""
    aql_threshold_us: _Us | None = None
    """Airtime of all stations in the driver from which on the low limit counts, and below it the high one, µs (debugfs
    ``aql_threshold``); the kernel's is 24000."""
    fixed_mcs: Annotated[int, Field(ge=0, le=9)] | None = None
    """MCS of all data that the device sends, one stream, the width of the channel, long guard interval (debugfs
    ``rc/fixed_rate_idx`` of minstrel_ht); retries still go down from it. 8 and 9 are only in 5 GHz. Default:
    minstrel_ht finds the rates of each station."""
    rates: AllowedRates | None = None
    """Rates that the device may send at, with stock modules; default: all. Those of a test go before them."""
    burst_ms: Annotated[float, Field(ge=0.1, le=10)] | None = None
    """TXOP limit of best effort at an access point of ``stations`` (hostapd's ``tx_queue_data2_burst``), ms, in tenths:
    ath9k makes its aggregates no longer than that. Default: none."""
    txq_limit_packets: _Count | None = None
    """Packets in all queues of the radio (``iw phy set txq limit``); the kernel's is 8192."""
    txq_memory_limit_bytes: _Count | None = None
    """Memory of them (``iw phy set txq memory_limit``)."""
    txq_quantum_bytes: _Count | None = None
    """Bytes of a flow's turn (``iw phy set txq quantum``); the kernel's is 300."""

    @model_validator(mode="after")
    def _limits(self) -> QueueSpec:
        _check_limits("aql_txq_limit_us", self.aql_txq_limit_us)
        return self

    @property
    def needs_debugfs(self) -> bool:
        """Whether stock modules cannot do it."""
        return self.debugfs or any(
            value is not None
            for value in (
                self.aql_enable,
                self.airtime_flags,
                self.aql_txq_limit_us,
                self.aql_threshold_us,
                self.fixed_mcs,
            )
        )

    def debugfs_words(self, width_mhz: int, *, in_5_ghz: bool) -> tuple[str, ...]:
        """``FILE=WORDS`` below the radio's folder in debugfs, for a channel of this width; commas for spaces."""
        words: list[str] = []
        if self.airtime_flags is not None:
            words.append(f"airtime_flags={self.airtime_flags}")
        if self.aql_txq_limit_us is not None:
            low, high = self.aql_txq_limit_us
            words += [f"aql_txq_limit={category},{low},{high}" for category in range(4)]
        if self.aql_threshold_us is not None:
            words.append(f"aql_threshold={self.aql_threshold_us}")
        if self.aql_enable is not None:
            words.append(f"aql_enable={int(self.aql_enable)}")
        if self.fixed_mcs is not None:
            # The group above four bits of its rate (rc80211_minstrel_ht.h, MI_RATE).
            group = (_GROUPS_VHT if in_5_ghz else _GROUPS).get(width_mhz, 0)
            words.append(f"rc/fixed_rate_idx={group << 4 | self.fixed_mcs}")
        return tuple(words)

    @property
    def txq_words(self) -> tuple[str, ...]:
        """``NAME=VALUE`` of ``iw phy set txq``."""
        given = {
            "limit": self.txq_limit_packets,
            "memory_limit": self.txq_memory_limit_bytes,
            "quantum": self.txq_quantum_bytes,
        }
        return tuple(f"{name}={value}" for name, value in given.items() if value is not None)


Topology = Literal["router", "server"]
"""Where the traffic of stations comes from: a host behind the access point, which forwards it; or programs on it."""
