"""What the host of a network function sets up: settings that its driver and the network stack take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class FunctionHost:
    """Settings of a guest's end of a network function. See ``lab.sh`` for what is made of them."""

    tx_aggregation: tuple[int, int, int] | None = None
    """Limits of rmnet on a modem: datagrams, bytes, and microseconds of waiting."""
    negotiates: tuple[int, int] | None = None
    """It negotiates the data path of a modem by QMI messages: the datagrams and bytes of a transfer that it asks for;
    ``None``: the path is fixed, or the command of the guest does it."""
    ack_every_segment: bool = False
    """It acknowledges every TCP segment that comes."""
    lan_client: bool = False
    """The traffic is of a host behind it, for which it forwards."""
    sysfs: Mapping[str, int] = field(default_factory=dict)
    """Settings of the function's interface, by their file below its folder of sysfs."""
    queue_discipline: str | None = None
    """Queue discipline of the function's interface; ``None``: the kernel's default."""
    queue_packets: int | None = None
    """Its length (``txqueuelen``)."""

    def variables(self) -> dict[str, str]:
        """What ``txop-lab`` reads."""
        return {
            "LAB_TX_AGGREGATION": " ".join(map(str, self.tx_aggregation or ())),
            "LAB_NEGOTIATE": " ".join(map(str, self.negotiates or ())),
            "LAB_ACK_EVERY": "yes" if self.ack_every_segment else "",
            "LAB_CLIENT": "lan" if self.lan_client else "host",
            "LAB_SYSFS": " ".join(f"{name}={value}" for name, value in self.sysfs.items()),
            "LAB_QUEUE": self.queue_discipline or "",
            "LAB_QUEUE_PACKETS": "" if self.queue_packets is None else str(self.queue_packets),
        }
