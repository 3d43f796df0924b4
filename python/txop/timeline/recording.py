"""What of a guest's kernel is traced for a timeline, and the files with which a guest does it."""

from __future__ import annotations

from pathlib import Path

PROGRAM = "/usr/local/bin/txop-timeline"
"""In the guest: ``recorder.sh``."""
BUFFER_KB = 98_304
"""Of the trace, in the guest's memory: some million events. What comes when it is full is lost, and counted."""

RING, FORMATS, STATISTICS = "timeline.ring", "timeline.formats", "timeline.stats"
CLOCK, ADDRESS, MISSING = "timeline.clock", "timeline.address", "timeline.missing"
FILES = (RING, FORMATS, STATISTICS, CLOCK, ADDRESS, MISSING)
"""What the guest leaves, in the folder of its results."""

_SOCKET = "socket=%di address=+0(%di):x64 ports=+12(%di):x32"
"""A TCP socket: both addresses, the port of the other end, its own port (Linux include/net/sock.h, sock_common)."""
_ETHERNET = "skb=%di head=+0(+@DATA(%di)):x64[7]"
"""A packet before its device: 56 bytes hold the headers of Ethernet, IPv4 and TCP."""
_IPV4 = "head=+0(+@DATA(%di)):x64[5]"

PROBES = (
    f"p:txop/queue __dev_queue_xmit {_ETHERNET}",
    f"p:txop/start ieee80211_subif_start_xmit {_ETHERNET}",
    f"p:txop/start_lbs lbs_hard_start_xmit {_ETHERNET}",
    f"p:txop/start_ath6kl ath6kl_data_tx {_ETHERNET}",
    f"p:txop/start_wired virtio_net:start_xmit {_ETHERNET}",
    "r:txop/dequeue ieee80211_tx_dequeue skb=$retval data=+@DATA($retval):x64 head=+0(+@DATA($retval)):x64[5]",
    "p:txop/submit usb_submit_urb data=+@BUFFER(%di):x64",
    "p:txop/status ieee80211_tx_status_skb skb=%si",
    "p:txop/status_later ieee80211_tx_status_irqsafe skb=%si",
    f"p:txop/deliver ip_local_deliver skb=%di {_IPV4}",
    "p:txop/consumed skb_consume_udp skb=%si",
    "p:txop/clone raw_rcv skb=%si head=-20(+@DATA(%si)):x64[5]",
    f"p:txop/write tcp_sendmsg_locked {_SOCKET} at=+@WRITE(%di):x32",
    f"p:txop/write_on tcp_stream_alloc_skb {_SOCKET} at=+@WRITE(%di):x32",
    f"p:txop/read tcp_rcv_space_adjust {_SOCKET} at=+@COPIED(%di):x32",
    "p:txop/send_udp udp_sendmsg socket=%di",
    "p:txop/send_raw raw_sendmsg socket=%di",
    "p:txop/send_ping ping_v4_sendmsg socket=%di",
)
"""Probes of functions, by name in :mod:`~txop.timeline.kernel`. A kernel or a driver lacks some of them: a driver with
a MAC of its own has no queues of mac80211."""

EVENTS = (
    "skb/skb_copy_datagram_iovec",
    "sched/sched_switch",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "tcp/tcp_probe",
)  # fmt: skip
"""Events of the kernel itself."""


def _lines(rows: tuple[str, ...]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def recorder_files() -> dict[str, bytes]:
    """By name in the guest: the program that traces, and what."""
    return {
        PROGRAM: Path(__file__).with_name("recorder.sh").read_bytes(),
        "/txop/timeline.probes": _lines(PROBES),
        "/txop/timeline.events": _lines(EVENTS),
    }
