"""What a seed changes in a guest.

Two guests with equal inputs are the same run. Figures of a campaign need samples, so a seed moves what real life moves
and a driver can do nothing about: where in the timer's period and in the beacon interval things begin, and how good the
air is. The spread of figures over seeds is therefore a modelled one; its magnitudes are assumptions of txop's, stated
here, and no measurement of a place.

The arrangement of memory is left alone: a translated processor has no caches, so it costs nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

PERIOD_US = 102_400
"""A beacon interval (100 TU); with Debian's HZ=250 also 25.6 periods of the timer."""

MAX_LOSS = 0.02
"""The largest residual loss of a run. A link that is good loses an MPDU in a hundred to what is not modelled: bursts
of Bluetooth, microwave ovens, people who walk by (assumed)."""

_LOSS_STEPS = 10_000


@dataclass(frozen=True)
class Perturbation:
    """What differs between samples, beside the draws of the air (backoffs, which MPDU is lost)."""

    phase_us: int = 0
    """Wait at the end of the boot, before anything."""
    start_us: int = 0
    """Wait between the association and the command."""
    loss: float = 0.0
    """Probability that an MPDU is lost, on top of the noise; from 0 to :data:`MAX_LOSS`."""

    def settings(self) -> Mapping[str, object]:
        """As ``init`` reads it from the kernel's command line."""
        return {"phase_us": self.phase_us, "start_us": self.start_us, "loss": f"{self.loss:.6f}"}


def perturbation(seed: int) -> Perturbation:
    """That of a seed: each value drawn by itself, all in the range as likely. Seed 0 changes nothing.

    >>> perturbation(0)
    Perturbation(phase_us=0, start_us=0, loss=0.0)
    >>> perturbation(1) == perturbation(1), perturbation(1) == perturbation(2)
    (True, False)
    """
    if seed == 0:
        return Perturbation()
    return Perturbation(
        phase_us=_drawn(seed, "phase", PERIOD_US),
        start_us=_drawn(seed, "start", PERIOD_US),
        loss=MAX_LOSS * _drawn(seed, "loss", _LOSS_STEPS) / _LOSS_STEPS,
    )


def _drawn(seed: int, what: str, below: int) -> int:
    digest = hashlib.sha256(f"txop-perturbation:1:{seed}:{what}".encode()).digest()
    return int.from_bytes(digest[:8]) % below
