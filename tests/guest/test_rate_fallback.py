"""The fallback registers of real drivers at work: retries keep the first rate, and fall, as DARFRC says.

tshark reads the rates from the capture of the air.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from guests_here import built_chips, built_image, rebuilt_driver
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.overlay import Overlay

AP = "02:00:00:00:00:00"
SCRIPT = """
txop-lab up || exit
peer iperf3 -s -D; sleep 3
dut timeout 60 iperf3 -c 10.80.210.1 -t 3 -J >/txop/out/up.json || exit
txop-lab down
"""
DARFRC, RARFRC = 0x430, 0x438
WORDS = (bytes((0, 0, 0, 0, 4, 4, 8, 16)), bytes((1, 2, 3, 4, 5, 6, 7, 8)))
TABLE = (bytes((0, 0, 0, 1, 4, 5, 6, 7)),) * 2
"""Both drivers write both: rtl8xxxu the table of its MAC first and then the words, rtl8192cu the other way round."""
EXPECTED = {
    "rtl8xxxu": (WORDS, [{7}, {7}, {7}, {7}, {7}, {4, 3}]),
    "rtl8192cu": (TABLE, [{7}, {7}, {7}, {7}, {6}, {4, 3}]),
}
"""What is left in DARFRC and RARFRC, and the MCS of the first try, of the first retry, and so on. Four rates below
MCS 7 is MCS 3, but MCS 4 is the lowest of the mask near the access point."""


def written(trace: Path, place: int, count: int) -> bytes:
    """What is in registers after all writes, which come as words and as bytes."""
    memory = bytearray(count)
    for line in trace.read_text().splitlines():
        entry = json.loads(line)
        if entry["event"] != "write" or not entry.get("register"):
            continue
        at, size = int(entry["register"], 16), entry["bytes"]
        for offset, byte in enumerate(int(entry["value"], 16).to_bytes(size, "little") if size <= 4 else b""):
            if place <= at + offset < place + count:
                memory[at + offset - place] = byte
    return bytes(memory)


def rates_of_tries(capture: Path) -> dict[int, Counter[int]]:
    """How often the n-th retry of a PPDU's first MPDU, which decides for all, had which MCS; 0 is its first try."""
    fields = ("frame.time_epoch", "wlan.seq", "wlan.qos.tid", "wlan.fc.retry", "radiotap.mcs.index")
    wanted = f"wlan.fc.type_subtype == 0x28 && wlan.ta != {AP} && radiotap.mcs.index"
    argv = ["tshark", "-r", str(capture), "-Y", wanted, "-T", "fields", *(word for f in fields for word in ("-e", f))]
    tries: dict[tuple[str, str], int] = {}
    found: dict[int, Counter[int]] = defaultdict(Counter)
    last = ""
    for line in subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines():
        time, sequence, tid, retry, mcs = line.split("\t")
        key = (sequence, tid)
        tries[key] = tries.get(key, 0) + 1 if retry == "1" else 0
        if time != last:
            found[tries[key]][int(mcs)] += 1
        last = time
    return found


@pytest.mark.slow
@pytest.mark.parametrize("driver", EXPECTED)
def test_retries_have_the_rates_of_the_registers(tmp_path: Path, driver: str) -> None:
    image, chips = built_image("6.12"), built_chips()
    modules = (rebuilt_driver("rtl8xxxu").module,) if driver == "rtl8xxxu" else ()
    # So few are lost that the adaptation of first rates has no reason to step down.
    chip = Chip(driver=driver, air="air.pcapng", trace="trace.jsonl", options=("--loss", "0.12"))
    overlay = Overlay(script=SCRIPT, environment=chip.variables(), files={IN_GUEST: chips}, modules=modules)
    computer = Computer(mode=Mode.EXACT, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=tmp_path, wall_limit_s=1_800))
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    registers, rates = EXPECTED[driver]
    files = tmp_path / "files"
    assert tuple(written(files / "trace.jsonl", place, 8) for place in (DARFRC, RARFRC)) == registers
    found = rates_of_tries(files / "air.pcapng")
    assert sum(found[1].values()) > 200
    for number, allowed in enumerate(rates):
        assert found[number], f"no PPDU was sent again {number} times"
        # A try that collided with the access point cannot be read in the capture: the next seems to be in its place.
        later = set().union(*rates[number:])
        right = sum(n for mcs, n in found[number].items() if mcs in allowed)
        assert set(found[number]) <= later, f"retry {number}: {found[number]}"
        assert right >= 0.9 * sum(found[number].values()), f"retry {number}: {found[number]}"
