"""gdb on a replay: the file that it begins with, and the process."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from txop.guest.debugging.places import Symbols
from txop.guest.debugging.symbol_file import symbol_file
from txop.guest.replayed import Replay
from txop.guest_image.error import MissingGuestToolError
from txop.process.held import DIES_WITH_PARENT

PROGRAM = "gdb"
SYMBOLS = "symbols.elf"
BEGIN = "begin.gdb"
ANSWER_S = 600
"""Of QEMU, to gdb: going back executes up to two times what lies between a saved place and here."""

STAGES = (
    ("socket", "tcp_sendmsg_locked"),
    ("queue discipline", "__dev_queue_xmit"),
    ("TXQ of mac80211", "ieee80211_subif_start_xmit"),
    ("driver", "ieee80211_tx_dequeue"),
    ("driver (libertas)", "lbs_hard_start_xmit"),
    ("driver (ath6kl)", "ath6kl_data_tx"),
    ("bus (USB)", "usb_submit_urb"),
    ("bus (SDIO)", "mmc_wait_for_req"),
    ("status of the air", "ieee80211_tx_status_skb"),
    ("driver to IP", "ip_local_deliver"),
    ("reader", "skb_copy_datagram_iter"),
)
"""Where a packet enters a stage of ``txop why``, and the function that is called then."""


def check_debugger() -> str:
    """The program gdb. Raises :class:`MissingGuestToolError`."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise MissingGuestToolError("there is no gdb", what_to_do="install the distribution's package gdb")
    return found


def prepare(replay: Replay, symbols: Symbols) -> Path:
    """Writes the symbols and the commands that gdb begins with."""
    (replay.work / SYMBOLS).write_bytes(symbol_file(symbols.all))
    rows = [
        "set pagination off", "set confirm off", f"set remotetimeout {ANSWER_S}", "set architecture i386:x86-64",
        "set print asm-demangle off", "set max-value-size unlimited", f"file {replay.work / SYMBOLS}",
        f"target remote {replay.debugger}", "define kstack", "x/48ga $rsp", "end",
        "document kstack", "Print the stack as addresses with their symbols; not all of them are callers.", "end",
    ]  # fmt: skip
    for _, function in STAGES:
        if (address := symbols.address(function)) is not None:
            rows += [f"break *{address:#x}", "disable $bpnum"]
    begin = replay.work / BEGIN
    begin.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return begin


def stages_of(symbols: Symbols) -> list[str]:
    """The stages of :data:`STAGES` that this guest has, in the order of their breakpoints."""
    return [f"{name} ({function})" for name, function in STAGES if symbols.address(function) is not None]


def debug(gdb: str, begin: Path, commands: Sequence[str], script: Path | None, *, batch: bool) -> int:
    """gdb on this terminal, to its end; its exit status. ``batch``: it ends after its commands."""
    argv = [*DIES_WITH_PARENT, gdb, "-q", "-nx", *(["-batch"] if batch else []), "-x", str(begin)]
    if script is not None:
        argv += ["-x", str(script)]
    for command in commands:
        argv += ["-ex", command]
    # Ctrl-C in an interactive gdb is for the guest. A handler is not inherited, a signal that is ignored is.
    before = None if batch else signal.signal(signal.SIGINT, lambda *_: None)
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL if batch else None)
    try:
        return process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        if before is not None:
            signal.signal(signal.SIGINT, before)
