"""ss: the same connections in all layouts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from txop.formats import ss
from txop.formats.error import FormatError

Read = Callable[[str], str]


@pytest.mark.parametrize("name", ["tinm", "tinmH", "tin", "O", "tinmp"])
def test_every_layout_gives_six_connections(name: str, captured: Read) -> None:
    sockets = ss.parse(captured(f"ss/ss-6.1-{name}.txt"))
    assert len(sockets) == 6
    for socket in sockets:
        assert socket.state == "ESTAB"
        assert 5300 in (socket.local_port, socket.peer_port)
        assert socket.congestion_control == "bbr"
        assert socket.rtt_ms is not None
        assert socket.rttvar_ms is not None
        assert socket.cwnd_segments is not None
        assert socket.pacing_rate_bit_s is not None
        assert bool(socket.memory) == (name != "tin")
    sender = next(socket for socket in sockets if (socket.bytes_sent or 0) > 1_000_000)
    assert sender.delivery_rate_bit_s is not None
    assert sender.bytes_acked is not None
    assert sender.bytes_sent is not None
    # bytes_acked counts the SYN too (RFC 4898), bytes_sent does not.
    assert 0 <= sender.bytes_sent - sender.bytes_acked + 1 <= sender.send_queue_bytes + sender.mss_bytes * 2  # type: ignore[operator]
    assert sender.retransmissions_total == 1
    assert sender.retransmissions_pending == 0


def test_the_one_line_layout_says_the_same(captured: Read) -> None:
    text = captured("ss/ss-6.1-tinmH.txt")
    joined = text.replace("\n\t", " ")
    assert joined != text
    assert ss.parse(joined) == ss.parse(text)


def test_details_of_one_connection(captured: Read) -> None:
    socket = ss.parse(captured("ss/ss-6.1-tinmp.txt"))[1]
    assert (socket.local_address, socket.local_port) == ("127.0.0.1", 55200)
    assert (socket.rtt_ms, socket.rttvar_ms, socket.min_rtt_ms) == (10.083, 14.512, 0.005)
    assert socket.cwnd_segments == 26
    assert socket.delivery_rate_bit_s == 1_268_435_832
    assert (socket.busy_ms, socket.receive_window_limited_ms, socket.send_buffer_limited_ms) == (556, 12, None)
    assert socket.not_sent_bytes == 106
    assert socket.memory["w"] == 200_519
    assert socket.memory["tb"] == 3_939_840
    assert socket.bbr["mrtt"] == "0.005"
    assert not socket.application_limited


def test_nothing_and_something_else(captured: Read) -> None:
    assert ss.parse("") == ()
    (listener,) = ss.parse(captured("ss/ss-6.1-listen.txt"))
    assert (listener.state, listener.local_port, listener.peer_port) == (None, 5300, None)
    with pytest.raises(FormatError, match="ss -ti expected"):
        ss.parse("ss: command not found\n")
