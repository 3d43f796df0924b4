"""ping: four programs through one link that loses, delays, duplicates and corrupts by rule, against their summaries.

The link answered sequence 2 twice, never 3 and 4 (14 numbers in a circle), delayed 5 to 9 by 12, 46, 123, 512 and 2 ms,
changed data in 10, broke the ICMP checksum of 11 and answered 12 from another address.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.formats import ping
from txop.formats.error import FormatError
from txop.formats.ping import PingResult

FOLDER = Path(__file__).with_name("captured") / "ping"
FAILURES = {
    "iputils-20221126-noname.txt": "Temporary failure in name resolution",
    "iputils-20221126-unreachable.txt": "Network is unreachable",
    "fping-5.1-usage.txt": "specify only one of",
    "fping-5.1-loop-two.txt": "several hosts",
}
READABLE = sorted(path.name for path in FOLDER.iterdir() if path.name not in FAILURES)

Read = Callable[[str], str]


@pytest.fixture
def parsed(captured: Read) -> Callable[[str], PingResult]:
    return lambda name: ping.parse(captured(f"ping/{name}"))


@pytest.mark.parametrize("name", READABLE)
def test_the_replies_say_what_the_summary_says(name: str, parsed: Callable[[str], PingResult]) -> None:
    result = parsed(name)
    summary = result.summary
    if summary is None or (not result.replies and summary.received):
        assert result.notes
        return
    valid = [reply for reply in result.replies if not reply.duplicate and not reply.corrupted]
    assert len(valid) == summary.received
    assert result.lost_count == summary.transmitted - summary.received
    assert sum(reply.duplicate for reply in result.replies) == summary.duplicates
    assert sum(reply.corrupted for reply in result.replies) == summary.corrupted
    assert len(result.errors) == summary.errors
    times = [reply.rtt_ms for reply in result.replies if not reply.corrupted and reply.rtt_ms is not None]
    if times:
        resolution = result.resolution_ms
        assert resolution is not None
        assert summary.rtt_min_ms == pytest.approx(min(times), abs=0.006)
        assert summary.rtt_max_ms == pytest.approx(max(times), abs=resolution)
        assert summary.rtt_mean_ms == pytest.approx(sum(times) / len(times), abs=resolution + 0.1)
    else:
        assert summary.rtt_mean_ms is None


@pytest.mark.parametrize(
    "name", ["iputils-20221126-lossy-D.txt", "iputils-20221126-lossy-D-O.txt", "busybox-1.35-lossy.txt"]
)
def test_what_was_lost(name: str, parsed: Callable[[str], PingResult]) -> None:
    result = parsed(name)
    assert list(result.lost_sequences()) == [3, 4]
    assert result.first_sequence == (0 if result.program == "busybox" else 1)
    (other,) = [reply for reply in result.replies if reply.sequence == 12]
    assert other.from_other_address == (result.program == "iputils")
    (late,) = [reply for reply in result.replies if reply.sequence == 8]
    assert late.rtt_ms == pytest.approx(512, abs=1)


def test_an_answer_after_no_answer_yet_is_late_and_not_lost(parsed: Callable[[str], PingResult]) -> None:
    result = parsed("iputils-20221126-lossy-D-O.txt")
    assert result.unanswered_in_time == (3, 4, 8)
    assert list(result.lost_sequences()) == [3, 4]


def test_a_wrong_checksum_is_a_loss(parsed: Callable[[str], PingResult]) -> None:
    for name in ("iputils-20250605-lossy-D-O.txt", "iputils-20250605-lossy-j.txt"):
        result = parsed(name)
        assert list(result.lost_sequences()) == [3, 4, 11]
        assert [reply.sequence for reply in result.replies if reply.corrupted] == [11]
        assert 11 not in [reply.sequence for reply in result.replies if not reply.corrupted]


def test_rounding_is_noted(parsed: Callable[[str], PingResult]) -> None:
    by_size = parsed("iputils-20221126-lossy-D-O.txt")
    assert {reply.resolution_ms for reply in by_size.replies} == {0.001, 0.01, 0.1, 1.0}
    assert by_size.resolution_ms == 1.0
    assert parsed("iputils-20250605-lossy-D-O-3.txt").resolution_ms == 0.001
    assert parsed("busybox-1.35-lossy.txt").resolution_ms == 0.001


def test_times_of_arrival(parsed: Callable[[str], PingResult]) -> None:
    for name in ("iputils-20221126-D-O.txt", "iputils-20250605-lossy-j.txt", "fping-5.1-both-D.txt"):
        stamps = [reply.time_unix_s for reply in parsed(name).replies]
        assert all(stamp is not None and 1.79e9 < stamp < 1.8e9 for stamp in stamps)
        assert stamps == sorted(stamps, key=lambda stamp: stamp or 0)
    assert all(reply.time_unix_s is None for reply in parsed("busybox-1.35-plain.txt").replies)


def test_the_sequence_number_is_counted_on(parsed: Callable[[str], PingResult]) -> None:
    result = parsed("iputils-20250605-wrap-part.txt")
    numbers = [reply.sequence for reply in result.replies]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert numbers[0] < 65_536 < numbers[-1]


def test_a_number_from_before_the_wrap_stays_there() -> None:
    rows = [65_533, 65_535, 0, 65_534, 2, 1]
    text = "".join(f"64 bytes from 10.0.0.2: icmp_seq={number} ttl=64 time=0.9 ms\n" for number in rows)
    result = ping.parse("PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n" + text)
    assert [reply.sequence for reply in result.replies] == [65_533, 65_535, 65_536, 65_534, 65_538, 65_537]
    assert list(result.lost) == [range(1, 65_533)]


def test_icmp_errors(parsed: Callable[[str], PingResult]) -> None:
    result = parsed("iputils-20221126-icmp-error.txt")
    assert [error.sequence for error in result.errors] == [1, 2, 3, 4]
    assert result.errors[0].what == "Destination Host Unreachable"
    assert result.errors[0].reporter == "10.66.0.254"
    assert result.lost == (range(1, 5),)
    assert len(parsed("iputils-20250605-icmp-error-j.txt").errors) == 4


def test_fping(parsed: Callable[[str], PingResult], captured: Read) -> None:
    result = parsed("fping-5.1-both-D.txt")
    assert (result.program, result.host) == ("fping", "10.66.0.2")
    assert list(result.lost_sequences()) == [3, 4, 8]
    assert [reply.sequence for reply in result.replies if reply.from_other_address] == [12]
    two = ping.parse(captured("ping/fping-5.1-loop-two.txt"), host="10.66.0.3")
    assert two.summary is not None
    assert two.summary.transmitted == 15


def test_a_run_that_was_killed_has_no_summary(parsed: Callable[[str], PingResult]) -> None:
    result = parsed("iputils-20221126-killed.txt")
    assert result.summary is None
    assert result.lost == (range(3, 5),)
    assert any("stopped before its end" in note for note in result.notes)


@pytest.mark.parametrize(("name", "message"), FAILURES.items())
def test_failures_are_reported(name: str, message: str, captured: Read) -> None:
    with pytest.raises(FormatError, match=message):
        ping.parse(captured(f"ping/{name}"))


def test_another_language_is_reported() -> None:
    german = (
        "PING 10.0.0.2 (10.0.0.2) 56(84) Bytes an Daten.\n"
        "64 Bytes von 10.0.0.2: icmp_seq=1 ttl=64 Zeit=0,938 ms\n"
        "1 Pakete übertragen, 1 empfangen, 0% packet loss, time 0ms\n"
    )
    with pytest.raises(FormatError, match="LC_ALL=C"):
        ping.parse(german)
    with pytest.raises(FormatError, match="ping output expected"):
        ping.parse("hello")


def test_a_summary_of_billions_is_not_counted_out() -> None:
    text = (
        "--- 10.0.0.2 ping statistics ---\n999999999999 packets transmitted, 0 received, 100% packet loss, time 5ms\n"
    )
    result = ping.parse(text)
    assert result.lost == (range(1, 1_000_000_000_000),)
