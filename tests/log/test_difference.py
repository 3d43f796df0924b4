"""What a run added to the kernel log."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from txop.log import difference


def log(*numbers: int, start: float = 0.0) -> str:
    return "".join(f"[{start + number:12.6f}] message {number % 3}\n" for number in numbers)


def test_lines_that_are_new():
    assert difference(log(1, 2, 3), log(1, 2, 3, 4, 5)) == log(4, 5).splitlines()
    assert difference(log(1, 2), log(1, 2)) == []
    assert difference("", log(1, 2)) == log(1, 2).splitlines()
    assert difference(log(1, 2), "") == []


def test_the_ring_buffer_wrapped():
    assert difference(log(*range(1, 50)), log(*range(30, 60))) == log(*range(50, 60)).splitlines()
    assert difference(log(*range(1, 50)), log(*range(70, 90))) == log(*range(70, 90)).splitlines()


def test_the_machine_was_rebooted():
    first = "[    0.000000] Linux version 6.1\n[    0.000000] Command line: quiet\n"
    before = first + log(*range(1, 50), start=0.5)
    after = first + log(*range(1, 10), start=0.7)
    assert difference(before, after) == after.splitlines()


def test_the_reboot_printed_the_same_lines_at_the_same_times():
    before = log(*range(1, 50))
    after = log(*range(1, 10))
    assert difference(before, after) == after.splitlines(), "the buffer never goes back"


def test_the_buffer_was_cleared():
    assert difference(log(1, 2, 3), log(4)) == log(4).splitlines()


def test_a_copy_that_was_cut_inside_a_line():
    torn = log(1, 2, 3, 4)[:-9]
    assert difference(torn, log(1, 2, 3, 4, 5)) == log(4, 5).splitlines()
    assert difference(log(1, 2, 3, 4), log(1, 2, 3, 4, 5)[7:]) == log(5).splitlines()


def test_kmsg_records_are_known_by_their_numbers():
    before = "6,1,100,-;a\n SUBSYSTEM=usb\n6,2,200,-;a\n"
    after = "6,2,200,-;a\n6,3,200,-;a\n SUBSYSTEM=usb\n"
    assert difference(before, after) == ["6,3,200,-;a", " SUBSYSTEM=usb"]


def test_wall_clock_that_was_set_meanwhile():
    before = "[Sat Nov 21 10:00:00 2026] a\n[Sat Nov 21 10:00:01 2026] b\n"
    after = "[Sat Nov 21 10:00:01 2026] a\n[Sat Nov 21 10:00:02 2026] b\n[Sat Nov 21 10:00:09 2026] c\n"
    assert difference(before, after) == ["[Sat Nov 21 10:00:09 2026] c"]


def test_headings_of_journalctl_are_no_messages():
    before = "-- Journal begins at Fri, ends at Sat 10:00 --\nNov 21 10:00:00 h kernel: a\n"
    after = "-- Journal begins at Fri, ends at Sat 10:05 --\nNov 21 10:00:00 h kernel: a\nNov 21 10:03:00 h kernel: b\n"
    assert difference(before, after) == ["Nov 21 10:03:00 h kernel: b"]


def test_repeated_lines_without_time_take_the_longest_match():
    assert difference("a\nb\nb\n", "b\nb\nb\n") == ["b"]
    assert difference("a\na\na\n", "a\na\na\na\na\n") == ["a", "a"]


@given(
    total=st.integers(0, 60),
    seen=st.integers(0, 60),
    lost=st.integers(0, 60),
    clock=st.booleans(),
)
def test_any_window_of_one_log(total, seen, lost, clock):
    """Two windows of one log: what is in the second and not in the first, whatever was overwritten in between."""
    lines = [f"[{number:6}.000000] m" if clock else f"6,{number},{number}000000,-;m" for number in range(1, total + 1)]
    before, after = lines[:seen], lines[lost:]
    assert difference("\n".join(before), "\n".join(after)) == lines[max(min(seen, total), lost) :]


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_compared(before, after):
    new = difference(before, after)
    lines = [line.removesuffix("\r") for line in after.split("\n")]
    assert all(line in lines for line in new)
