"""The air between a virtual chip that is a station and its access point."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from txop.plan.strict import Strict

_Dbm = Annotated[int, Field(ge=-100, le=-10)]


class AirSpec(Strict):
    """What a real place would have of its own: distance, noise, other networks."""

    signal_dbm: _Dbm | None = None
    """Signal at both receivers; default: -45."""
    noise_dbm: _Dbm | None = None
    """Noise at both receivers; default: -95."""
    loss_percent: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    """MPDUs and responses that are lost beside those that the noise costs; default: a residual loss that the seed of
    the block draws."""
    neighbour_mbit_s: Annotated[float, Field(gt=0, le=50, allow_inf_nan=False)] | None = None
    """What another network on the channel sends; default: there is none."""

    def words(self) -> tuple[str, ...]:
        """Options of txop-vusb."""
        values = {
            "--signal": self.signal_dbm,
            "--noise": self.noise_dbm,
            "--loss": None if self.loss_percent is None else f"{self.loss_percent / 100:.6f}",
            "--neighbour": None if self.neighbour_mbit_s is None else f"{self.neighbour_mbit_s:g}",
        }
        return tuple(f"{option}={value}" for option, value in values.items() if value is not None)
