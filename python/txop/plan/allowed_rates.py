"""Rates that a device in a guest may send at: a mask of cfg80211, which stock modules take."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from txop.plan.strict import Strict

_LegacyRate = Literal[1, 2, 11, 6, 9, 12, 18, 24, 36, 48, 54]
_Mcs = Annotated[int, Field(ge=0, le=15)]


class AllowedRates(Strict):
    """Rates of what the device sends (``iw dev set bitrates``); retries stay among them. Drivers with rate control in
    their firmware ignore it."""

    mcs: Annotated[list[_Mcs], Field(default_factory=list, max_length=16)]
    """MCS of 802.11n; 8 and above have two streams. Empty: legacy rates only."""
    legacy_mbit_s: Annotated[list[_LegacyRate], Field(default_factory=lambda: [6], min_length=1, max_length=11)]
    """Rates of 802.11b, g and a, Mbit/s; an access point needs one of its basic rates among them: 6, 12 or 24."""

    def words(self, *, in_5_ghz: bool) -> tuple[str, ...]:
        """Words of ``iw dev NAME set bitrates``."""
        band = "5" if in_5_ghz else "2.4"
        return (f"legacy-{band}", *map(str, self.legacy_mbit_s), f"ht-mcs-{band}", *map(str, self.mcs))
