"""The live view of a campaign, as a terminal shows it."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

COLUMNS, ROWS = 70, 24
PLAN = Path(__file__).parents[1] / "data/archive-v1/plan.toml"

CAMPAIGN = """
import sys, time
from txop.archive.run_file import RunFile, Value
from txop.campaign.schedule import Block
from txop.cli import console
from txop.cli.campaign_live import LiveReporter
from txop.plan.load import load_plan

def value(number):
    return Value(value=number, unit="Mbit/s", source="iperf3")

plan = load_plan(sys.argv[1]).plan
with LiveReporter(console.stdout(), plan, quiet=False) as live:
    live.campaign("A title", 14, 60.0)
    live.block(Block(1, ("old",), ("tx",)), 7)
    for n in range(7):
        live.run_started(f"00{n}-old-tx", "old", "tx", 14 - n, 30.0)
        live.phase("measuring", 3.0)
        time.sleep(0.3)
        if n == 2:
            print("a warning of a library", file=sys.stderr)
            live.notice("a notice that is longer than the terminal is wide, " + "x" * 60)
        live.run_ended(
            RunFile(run=f"00{n}-old-tx", block=1, position=1, arm="old", test="tx", origin="emulated", state="valid",
                    started_at="", seconds=1.0, metrics={"throughput_mbit_s": value(10.0 + n)}), 13 - n, 30.0)
    time.sleep(0.4)
"""


def screens(data: str) -> tuple[list[str], list[str]]:
    """The rows of a terminal just before the live view ends, and at the end."""
    rows: list[list[str]] = [[]]
    y = x = 0
    before: list[str] = []
    for part in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|.", data, re.DOTALL):
        if part == "\r":
            x = 0
        elif part == "\n":
            y += 1
        elif part.startswith("\x1b["):
            count = int(part[2:-1] or "1") if part[2:-1].isdigit() or part == "\x1b[A" else 0
            if part.endswith("A"):
                y = max(0, y - count)
            elif part == "\x1b[2K":
                rows[y] = []
            elif part == "\x1b[?25h":
                before = before or shown(rows)
            else:
                assert part[-1] in "mlh", part
        else:
            if x == COLUMNS:
                y, x = y + 1, 0
            while len(rows) <= y:
                rows.append([])
            rows[y] += [" "] * (x + 1 - len(rows[y]))
            rows[y][x] = part
            x += 1
        while len(rows) <= y:
            rows.append([])
    return before, shown(rows)


def shown(rows: list[list[str]]) -> list[str]:
    return ["".join(row).rstrip() for row in rows]


def on_a_terminal(plan: Path) -> str:
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    child = subprocess.Popen(
        [sys.executable, "-c", CAMPAIGN, str(plan)], stdin=theirs, stdout=theirs, stderr=theirs,
        env=environment | {"TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    data = b""
    try:
        while part := os.read(ours, 65536):
            data += part
    except OSError:  # the terminal's other end is closed
        pass
    finally:
        os.close(ours)
    assert child.wait(30) == 0, data.decode()
    return data.decode()


def test_lines_above_the_live_view_are_whole_and_it_leaves_nothing():
    live, end = screens(on_a_terminal(PLAN))
    results = [f"block 1 of 7: old, tx: throughput {10 + n}.00 Mbit/s" for n in range(7)]
    notice = "a notice that is longer than the terminal is wide, " + "x" * 60
    said = [
        "14 runs, about 60 s",
        *results[:2],
        "a warning of a library",
        notice[:COLUMNS],
        notice[COLUMNS:],
        *results[2:],
    ]
    assert [line for line in end if line] == said
    assert [line for line in live if line][: len(said)] == said
    view = [line for line in live if line][len(said) :]
    assert view[0] == "A title"
    assert view[1].startswith("block 1 of 7: measuring   7 runs left")
    # The number of runs is of all, not of the last few.
    assert re.fullmatch(r"old +tx +throughput 16\.00 Mbit/s +7", view[-1]), view
