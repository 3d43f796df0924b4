"""``ss -tinm`` (with or without ``-O``, ``-H``, ``-p``): TCP connections and their TCP_INFO.

Facts of iproute2's ``misc/ss.c``: times in milliseconds unless they say otherwise, rates as ``1268435832bps`` (also
with a prefix, ``-h``), windows in segments where the kernel counts segments. What is 0 is often left out, so absence
is ``None``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "ss -ti"
_SOCKET = re.compile(
    r"(?:tcp +)?(?:(?P<state>ESTAB|SYN-SENT|SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|UNCONN|CLOSE-WAIT|LAST-ACK|LISTEN"
    r"|CLOSING) +)?(?P<receive>[0-9]{1,12}) +(?P<send>[0-9]{1,12}) +(?P<local>[^ ]{1,120}):(?P<local_port>[^ :]{1,40})"
    r" +(?P<peer>[^ ]{1,120}):(?P<peer_port>[^ :]{1,40})(?P<rest>.*)"
)
_HEADER = re.compile(r"(?:Netid +)?(?:State +)?Recv-Q +Send-Q ")
_MEMORY = re.compile(r"skmem:\((?P<inside>[^)]{1,200})\)")
_BBR = re.compile(r"\bbbr:\((?P<inside>[^)]{1,200})\)")
_MEMORY_CELL = re.compile(r"(?P<name>rb|tb|bl|r|t|f|w|o|d)(?P<value>[0-9]{1,12})")
_FIELD = re.compile(r"(?:^| )(?P<name>[a-z_]{2,24}):(?P<value>[^ ()]{1,64})")
_RATE = re.compile(
    r"(?:^| )(?P<name>send|pacing_rate|delivery_rate|max_pacing_rate) (?P<value>[0-9.]{1,20})(?P<prefix>[KMGT]?)bps"
)
_LIMITED = re.compile(r"\b(?P<name>busy|rwnd_limited|sndbuf_limited):(?P<ms>[0-9]{1,15})ms")
_DECIMAL = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_CONGESTION = re.compile(
    r"(?:^| )(?P<name>cubic|reno|bbr[23]?|bic|westwood|vegas|dctcp|htcp|illinois|scalable|yeah|veno|cdg|nv|lp|hybla"
    r"|highspeed|prague)(?= |$)"
)


@dataclass(frozen=True, slots=True)
class TcpSocket:
    """One connection. ``None``: not printed."""

    state: str | None
    """``ESTAB``, ``LISTEN``, ...; ``None`` when ss was asked for one state, because it then leaves the column out."""

    receive_queue_bytes: int
    send_queue_bytes: int
    local_address: str
    local_port: int | None
    peer_address: str
    peer_port: int | None
    """``None`` for ``*`` and for names (``ss`` without ``-n``)."""

    congestion_control: str | None
    rtt_ms: float | None
    rttvar_ms: float | None
    min_rtt_ms: float | None
    receiver_rtt_ms: float | None
    """``rcv_rtt``: how long the receiver takes to fill its window, an upper bound of the RTT."""

    rto_ms: float | None
    mss_bytes: int | None
    pmtu_bytes: int | None
    cwnd_segments: int | None
    ssthresh_segments: int | None
    bytes_sent: int | None
    bytes_retransmitted: int | None
    bytes_acked: int | None
    bytes_received: int | None
    segments_out: int | None
    segments_in: int | None
    data_segments_out: int | None
    data_segments_in: int | None
    retransmissions_pending: int | None
    """Of ``retrans:now/total``."""

    retransmissions_total: int | None
    unacked_segments: int | None
    lost_segments: int | None
    sacked_segments: int | None
    reordering_segments: int | None
    delivered_segments: int | None
    not_sent_bytes: int | None
    send_window_bytes: int | None
    send_bit_s: float | None
    """``ss``' own estimate: window times MSS over RTT."""

    pacing_rate_bit_s: float | None
    delivery_rate_bit_s: float | None
    application_limited: bool
    busy_ms: int | None
    receive_window_limited_ms: int | None
    send_buffer_limited_ms: int | None
    memory: Mapping[str, int]
    """``skmem`` under ss's letters: ``r``, ``rb``, ``t``, ``tb``, ``f``, ``w``, ``o``, ``bl``, ``d``, in bytes."""

    bbr: Mapping[str, str]
    """BBR's own figures as printed: ``bw``, ``mrtt``, ``pacing_gain``, ``cwnd_gain``."""

    fields: Mapping[str, str]
    """Every ``name:value``, as printed."""


def parse(data: str | bytes) -> tuple[TcpSocket, ...]:
    """Every connection; none when there is none. Raises FormatError for other text."""
    text = text_of(data, _WHAT)
    sockets: list[tuple[re.Match[str], list[str]]] = []
    headed = False
    for _, line in lines_of(text):
        cut = line[:8000]
        if (found := _SOCKET.match(cut)) is not None:
            sockets.append((found, [found["rest"]]))
        elif _HEADER.match(cut) is not None:
            headed = True
        elif sockets and cut[:1] in ("\t", " "):
            sockets[-1][1].append(cut)
    if not sockets and not headed and text.strip():
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return tuple(_socket(head, " ".join(" ".join(lines).split())) for head, lines in sockets)


def _socket(head: re.Match[str], info: str) -> TcpSocket:
    memory = _MEMORY.search(info)
    bbr = _BBR.search(info)
    plain = re.sub(r"\b[a-z]{2,12}:\([^)]{0,4000}\)", " ", info)
    fields = {found["name"]: found["value"] for found in _FIELD.finditer(plain)}
    rates = {
        found["name"]: (real(found["value"]) or 0.0) * _DECIMAL[found["prefix"]] for found in _RATE.finditer(plain)
    }
    limited = {found["name"]: whole(found["ms"]) for found in _LIMITED.finditer(plain)}
    congestion = _CONGESTION.search(plain)
    rtt, _, rttvar = fields.get("rtt", "").partition("/")
    pending, _, total = fields.get("retrans", "").partition("/")

    def number(name: str) -> int | None:
        return whole(fields.get(name))

    return TcpSocket(
        state=head["state"],
        receive_queue_bytes=int(head["receive"]),
        send_queue_bytes=int(head["send"]),
        local_address=head["local"],
        local_port=whole(head["local_port"], most=65535),
        peer_address=head["peer"],
        peer_port=whole(head["peer_port"], most=65535),
        congestion_control=congestion["name"] if congestion is not None else None,
        rtt_ms=real(rtt),
        rttvar_ms=real(rttvar),
        min_rtt_ms=real(fields.get("minrtt")),
        receiver_rtt_ms=real(fields.get("rcv_rtt")),
        rto_ms=real(fields.get("rto")),
        mss_bytes=number("mss"),
        pmtu_bytes=number("pmtu"),
        cwnd_segments=number("cwnd"),
        ssthresh_segments=number("ssthresh"),
        bytes_sent=number("bytes_sent"),
        bytes_retransmitted=number("bytes_retrans"),
        bytes_acked=number("bytes_acked"),
        bytes_received=number("bytes_received"),
        segments_out=number("segs_out"),
        segments_in=number("segs_in"),
        data_segments_out=number("data_segs_out"),
        data_segments_in=number("data_segs_in"),
        retransmissions_pending=whole(pending),
        retransmissions_total=whole(total),
        unacked_segments=number("unacked"),
        lost_segments=number("lost"),
        sacked_segments=number("sacked"),
        reordering_segments=number("reordering"),
        delivered_segments=number("delivered"),
        not_sent_bytes=number("notsent"),
        send_window_bytes=number("snd_wnd"),
        send_bit_s=rates.get("send"),
        pacing_rate_bit_s=rates.get("pacing_rate"),
        delivery_rate_bit_s=rates.get("delivery_rate"),
        application_limited=" app_limited" in f" {plain}",
        busy_ms=limited.get("busy"),
        receive_window_limited_ms=limited.get("rwnd_limited"),
        send_buffer_limited_ms=limited.get("sndbuf_limited"),
        memory={
            cell["name"]: int(cell["value"])
            for part in (memory["inside"] if memory is not None else "").split(",")
            if (cell := _MEMORY_CELL.fullmatch(part)) is not None
        },
        bbr=dict(part.split(":", 1) for part in (bbr["inside"] if bbr is not None else "").split(",") if ":" in part),
        fields=fields,
    )
