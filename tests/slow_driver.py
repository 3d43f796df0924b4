"""A driver that exists only in tests: what makes it slow is known."""

from __future__ import annotations

from txop.guest.shipped_faults import FaultScript
from txop.guest_exploration.cost import Cost
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.slow.entry import read_input

REST = Cost(seconds=3.0, busy_s=0.3, packets=300, bytes=30_000, air_busy_ns=10_000_000, echoes=150, answered=150)
USUAL = Cost(
    seconds=3.0, busy_s=0.9, packets=3_000, bytes=3_000_000, air_busy_ns=310_000_000, echoes=150, answered=150,
    rtt_p99_ms=2.0,
)  # fmt: skip


class SlowDriver:
    """Small datagrams cost it time on the air; a stalled endpoint 1 instructions; two faults at once delay."""

    def __init__(self, *, unsteady: bool = False) -> None:
        self.unsteady = unsteady
        self.trials = 0

    async def run(self, text: str, repeat: int) -> Outcome:
        self.trials += 1
        tried = read_input(FaultScript("x", text))
        actions = {(fault.action, fault.endpoint) for fault in tried.faults}
        busy_s = 0.9 + 3.0 * (("stall", 1) in actions) + 0.001 * self.trials * self.unsteady
        air = 10_000_000 + 300_000_000 * (5 if tried.load.length_bytes < 200 else 1)
        late_ms = 2.0 + 1.5 * (("noise", None) in actions)
        if {("noise", None), ("lost_c2h", None)} <= actions:
            late_ms = 40.0
        packets = 10 if ("disconnect", None) in actions else 3_000
        cost = USUAL.model_copy(
            update={"busy_s": busy_s, "air_busy_ns": air, "rtt_p99_ms": late_ms, "packets": packets}
        )
        if ("firmware_hang", None) in actions:
            return Outcome(verdict="hangs", why="for a test")
        return Outcome(verdict="unaffected", why="measured", cost=cost, log_sha256="same", seconds=1.0)
