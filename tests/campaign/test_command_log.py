"""The log of commands: whole lines, bounded, and never the end of a campaign."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop.campaign.command_log import OLDER, CommandLog


def said(log: CommandLog, number: int) -> None:
    log.command_started("dut", ["ip", "link", "show", "wlan0 \x1b[1m"], number)
    log.command_ended("dut", number, None if number % 7 == 0 else 0, 0.25)


def test_two_lines_for_a_command(tmp_path):
    log = CommandLog(tmp_path / "commands.log")
    said(log, 6)
    said(log, 7)
    log.close()
    said(log, 8)
    lines = (tmp_path / "commands.log").read_text().splitlines()
    assert [line.partition("Z ")[2].split() for line in lines] == [
        ["6", "dut", "$", "ip", "link", "show", "'wlan0", "\\x1b[1m'"],
        ["6", "dut", "=", "exit", "0", "after", "0.250", "s"],
        ["7", "dut", "$", "ip", "link", "show", "'wlan0", "\\x1b[1m'"],
        ["7", "dut", "=", "given", "up", "after", "0.250", "s"],
    ]


def test_weeks_of_commands_are_bounded_and_the_newest_are_kept(tmp_path):
    """Over several processes, as after a resume."""
    size, last = 4096, 1000
    for first in range(0, last, 250):
        log = CommandLog(tmp_path / "commands.log", size)
        for number in range(first, first + 250):
            said(log, number)
        log.close()
    files = sorted(tmp_path.iterdir(), reverse=True)
    assert [file.name for file in files] == [*(f"commands.log.{n}" for n in range(OLDER, 0, -1)), "commands.log"]
    assert all(file.stat().st_size <= size for file in files)
    lines = [line for file in files for line in file.read_text().splitlines()]
    numbers = [int(line.split()[1]) for line in lines]
    assert numbers == sorted(numbers), "in order, from the oldest file to the newest"
    assert numbers[-2:] == [last - 1, last - 1]
    assert set(numbers[1:]) == set(range(numbers[1], last)), "none is missing in between"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_ends_the_log_and_nothing_else(tmp_path, capfd):
    (tmp_path / "commands.log").symlink_to("/dev/full")
    log = CommandLog(tmp_path / "commands.log")
    said(log, 1)
    said(log, 2)
    log.close()
    assert capfd.readouterr() == ("", "")
