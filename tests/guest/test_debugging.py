"""Recorded runs under a debugger: a guest's memory, where a replay stops, and the real thing on three buses."""

from __future__ import annotations

import itertools
import json
import re
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from terminal import Terminal
from txop.guest.debugging.loaded import FIELDS, loaded_modules
from txop.guest.debugging.places import NoPlaceError, Symbols, go_to_message
from txop.guest.debugging.symbol_file import Symbol
from txop.guest.recorded import RecordError, check_record_folder, read_record
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image

HEAD, TEXT = 0xFFFF888000000000, 0xFFFFFFFFC0001000


class Memory:
    """Of a guest: what was put there."""

    def __init__(self) -> None:
        self.bytes: dict[int, int] = {}

    def put(self, address: int, data: bytes) -> None:
        self.bytes |= {address + n: byte for n, byte in enumerate(data)}

    def read(self, address: int, count: int) -> bytes:
        try:
            return bytes(self.bytes[address + n] for n in range(count))
        except KeyError:
            raise GuestError("no memory is there") from None


def memory_with(names: list[str]) -> tuple[Memory, dict[str, int]]:
    """A list of modules, each with a function ``work``."""
    places = dict(zip(FIELDS, (8, 24, 80, 0, 8, 16), strict=True))
    memory, at = Memory(), [HEAD + 0x1000 * (n + 1) for n in range(len(names))]
    ring = [HEAD, *(each + 8 for each in at), HEAD]
    for here, there in itertools.pairwise(ring):
        memory.put(here, struct.pack("<Q", there))
    for module, name in zip(at, names, strict=True):
        memory.put(module + 24, name.encode().ljust(56, b"\0"))
        memory.put(module + 80, struct.pack("<Q", module + 0x100))
        memory.put(module + 0x100, struct.pack("<QQQ", module + 0x200, 2, module + 0x300))
        memory.put(module + 0x200, bytes(24) + struct.pack("<IBBHQQ", 1, 2, 0, 1, TEXT, 32))
        memory.put(module + 0x300, b"\0work\0" + bytes(0xD00 - 6))
    return memory, places


def test_modules_are_read_from_the_memory_of_a_guest():
    memory, places = memory_with(["mt76", "mac80211"])
    found = loaded_modules(memory.read, places, HEAD)
    assert [module.name for module in found] == ["mt76", "mac80211"]
    assert found[0].symbols == (Symbol("work", TEXT, 32, is_code=True),)


def test_a_list_of_modules_without_an_end_is_left():
    memory, places = memory_with(["mt76"])
    memory.put(HEAD + 0x1008, struct.pack("<Q", HEAD + 0x1008))
    assert len(loaded_modules(memory.read, places, HEAD)) == 512
    memory.put(HEAD + 0x1008, struct.pack("<Q", 0x1234))
    assert len(loaded_modules(memory.read, places, HEAD)) == 1


class Log:
    """A replay in which the kernel makes messages, one after the other."""

    def __init__(self, messages: list[str]) -> None:
        self.messages, self.at, self.inside = messages, -1, False
        self.back: list[int] = []

    def break_at(self, address: int, *, on: bool = True) -> None:
        if on:
            self.back.append(address)

    def resume(self) -> bool:
        self.inside = not self.inside
        self.at += self.inside
        return self.at < len(self.messages)

    def registers(self) -> dict[str, int]:
        rip = TEXT if self.inside else self.back[-1]
        return {"rip": rip, "rsp": 1, "rdi": 2, "rax": len(self.messages[self.at])}

    def memory(self, address: int, count: int) -> bytes:
        return struct.pack("<Q", TEXT + 99) if address == 1 else self.messages[self.at].encode()[:count]

    def ask(self, packet: str) -> str:
        assert packet == "bc"
        return "T05"


def test_a_replay_stops_at_the_first_message_with_a_text():
    symbols = Symbols([Symbol("printk_sprint", TEXT, 64, is_code=True), Symbol("bad", TEXT + 4096, 64, is_code=True)])
    log = Log(["usb 1-1: new device", "cfg80211: loaded", "cfg80211: again"])
    found = go_to_message("cfg80211", symbols, None, log)  # type: ignore[arg-type]
    assert (found.message, log.at) == ("cfg80211: loaded", 1)
    with pytest.raises(NoPlaceError):
        go_to_message("no such", symbols, None, Log(["usb"]))  # type: ignore[arg-type]


def test_of_a_fault_it_goes_back_to_the_instruction():
    symbols = Symbols([Symbol("printk_sprint", TEXT, 64, is_code=True), Symbol("bad", TEXT + 4096, 64, is_code=True)])
    log = Log(["BUG: kernel NULL pointer dereference", "Oops: 0000", "RIP: 0010:bad+0x10/0x40"])
    found = go_to_message("BUG:", symbols, None, log)  # type: ignore[arg-type]
    assert found.function == "bad+0x10"
    assert log.registers()["rip"] == TEXT + 4096 + 0x10
    with pytest.raises(NoPlaceError, match="which instruction"):
        go_to_message("BUG:", symbols, None, Log(["BUG: scheduling while atomic", *["."] * 70]))  # type: ignore[arg-type]


def test_what_is_no_record_is_refused(tmp_path):
    with pytest.raises(RecordError, match="no recorded run"):
        read_record(tmp_path)
    (tmp_path / "record.json").write_text("[]")
    with pytest.raises(RecordError):
        read_record(tmp_path)
    (tmp_path / "record.json").write_text(json.dumps({"format": "txop-guest-record", "version": 99}))
    with pytest.raises(RecordError, match="of this version"):
        read_record(tmp_path)
    with pytest.raises(RecordError, match="exists"):
        check_record_folder(tmp_path)


def test_a_record_takes_an_exact_guest(txop, tmp_path):
    for options in (("--mode", "fast"), ("--mode", "exact", "--output", "elsewhere")):
        refused = txop("guest", "run", *options, "--record", str(tmp_path / "run"), "--", "true")
        assert refused.returncode == 2, refused.stderr
        assert not (tmp_path / "run").exists()
    refused = txop("guest", "debug", str(tmp_path), "--batch")
    assert refused.returncode != 0
    assert "--record" in refused.stderr


PINGS = "dut ping -c 3 -i 0.1 10.80.210.1"


def program(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "txop", "guest", *words], capture_output=True, text=True, check=False)


def counters(said: str) -> list[str]:
    """Values of ``print $pc`` and of instructions, in the order in which gdb printed them."""
    return re.findall(r"^\$\d+ = (?:\(void \(\*\)\(\)\) )?(0x[0-9a-f]+)", said, re.MULTILINE)


def plain(said: str) -> str:
    """Without what a terminal acts on."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "options", "command", "at"),
    [
        ("mt7610u", [], "cat /sys/kernel/debug/ieee80211/phy*/mt76/napi_threaded", "BUG:"),
        ("rtl8188cus", [], PINGS, "firmware"),
        ("sd8686", ["--security", "open"], PINGS, "libertas_sdio"),
        ("ar9280", [], PINGS, "packet:2/driver and bus"),
    ],
)
def test_a_recorded_run_goes_backwards(
    image: Image, tmp_path: Path, device: str, options: list[str], command: str, at: str
) -> None:
    record = tmp_path / "run"
    timeline = ["--timeline", str(tmp_path / "t.json.gz")] if at.startswith("packet") else []
    options = ["--mode", "exact", "--device", device, *options, "--record", str(record), *timeline]
    program("run", *options, "--", "sh", "-c", command)
    assert (record / "record.json").is_file()
    # an instruction that faults is not counted, so forward from it there is nothing to come back from
    steps = ["p $pc", "reverse-stepi", "p $pc", "reverse-stepi", "p $pc", "stepi", "p $pc", "stepi", "p $pc"]
    begun = time.monotonic()
    done = program("debug", str(record), "--at", at, *(word for step in steps for word in ("-c", step)), "--batch")
    assert done.returncode == 0, done.stderr
    last, before, first, *again = counters(done.stdout)
    assert again == [before, last]
    assert len({last, before, first}) == 3
    assert time.monotonic() - begun < 300
    if at == "BUG:":
        assert "mt76_napi_threaded_get ()" in done.stdout, done.stdout
    assert not [each for each in Path("/proc").iterdir() if each.name.isdecimal() and _replays(each.name, record)]


@pytest.mark.slow
def test_gdb_on_a_terminal_takes_ctrl_c_and_leaves_nothing(
    image: Image, tmp_path: Path, plain_environment: dict[str, str]
) -> None:
    record = tmp_path / "run"
    program("run", "--mode", "exact", "--device", "ncm", "--record", str(record), "--", "sh", "-c", PINGS)
    assert (record / "record.json").is_file()
    argv = [sys.executable, "-m", "txop", "guest", "debug", str(record)]
    terminal = Terminal(argv, plain_environment)
    try:
        terminal.read_until(b"(gdb) ")
        terminal.type("continue\n")
        terminal.read_until(b"Continuing.")
        time.sleep(0.5)
        terminal.type("\x03")
        terminal.read_until(b"SIGINT")
        terminal.read_until(b"(gdb) ")
        terminal.type("p $pc\nreverse-stepi\np $pc\nstepi\np $pc\np 6 * 7\n")
        last, before, again = counters(plain(terminal.read_until(b"= 42").decode()))
        assert again == last != before
        terminal.type("quit\n")
        assert terminal.process.wait(60) == 0
        assert terminal.settings_now == terminal.settings
    finally:
        terminal.close()
    assert not [each for each in Path("/proc").iterdir() if each.name.isdecimal() and _replays(each.name, record)]


def _replays(pid: str, record: Path) -> bool:
    try:
        return f"rrfile={record}".encode() in Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return False
