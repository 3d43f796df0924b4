"""Where in a replay to stop: at a message of the kernel's log, at a time, or at a packet of the run's timeline."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field

from txop.guest.debugging.kernel_symbols import KernelSymbols
from txop.guest.debugging.loaded import LoadedModule, loaded_modules
from txop.guest.debugging.remote import Remote, RemoteError
from txop.guest.debugging.symbol_file import Symbol
from txop.guest.qmp import Qmp, QmpClosedError
from txop.guest.recorded import Place, Record, control_path, place_of
from txop.guest.replayed import Replay
from txop.guest_image.error import GuestError

FORMATTER = "printk_sprint"
"""The kernel's function that makes the text of a message (Linux kernel/printk/printk.c)."""
_PAGE_FAULT = "asm_exc_page_fault"
_MODULES = "modules"
_IDT = re.compile(r"^IDT=\s+([0-9a-f]{1,16}) ", re.MULTILINE)
_VECTOR = 14
_FAULT = re.compile(r"WARNING: |BUG: |Oops|general protection fault|kernel BUG at|UBSAN: |KASAN: ")
_RIP = re.compile(r"RIP: 0010:(?P<name>[\w.]+)\+(?P<at>0x[0-9a-f]+)/(?P<size>0x[0-9a-f]+)(?: \[(?P<module>\w+)\])?")
_AFTER = 60
"""Messages after that of a fault, among which the instruction is named."""
MAX_MESSAGE = 1024
"""Bytes of a message that are read."""
SEEKS = 4
"""Back from behind a time, and forward again where the guest was idle before it."""


class NoPlaceError(GuestError):
    """A place that the run does not come to."""


@dataclass
class Symbols:
    """Symbols of the kernel and the modules of a replay, at their addresses in it."""

    kernel: list[Symbol]
    modules: list[LoadedModule] = field(default_factory=list)

    def address(self, name: str, module: str | None = None, size: int | None = None) -> int | None:
        """Address of a symbol of a module, or of any. ``size``: selects one of several with the same name."""
        of = [each for each in self.modules if module in (None, each.name)]
        places = [*(self.kernel if module is None else ()), *(symbol for each in of for symbol in each.symbols)]
        found = [each for each in places if each.name == name]
        best = next((each for each in found if each.size == size), found[0] if found else None)
        return None if best is None else best.address

    @property
    def all(self) -> list[Symbol]:
        """The kernel's and those of the modules."""
        return [*self.kernel, *(symbol for module in self.modules for symbol in module.symbols)]


@dataclass(frozen=True)
class Found:
    """A place that was found."""

    what: str
    """In words."""
    message: str | None = None
    """The line of the kernel's log."""
    function: str | None = None
    """Function of the instruction that a fault names, where the replay is stopped."""


def where(replay: Replay) -> Place:
    """Where a replay is. Raises :class:`GuestError`."""

    async def ask() -> Place:
        async with Qmp(replay.monitor) as qmp:
            return await place_of(qmp)

    return asyncio.run(ask())


def kernel_in(replay: Replay, known: KernelSymbols, remote: Remote) -> Symbols:
    """The kernel's symbols where this guest's kernel is. Raises :class:`GuestError`."""

    async def ask() -> str:
        async with Qmp(replay.monitor) as qmp:
            return str(await qmp.execute("human-monitor-command", **{"command-line": "info registers"}))

    linked = {each.name: each.address for each in known.moved(0)}
    match = _IDT.search(asyncio.run(ask()))
    if match is None or _PAGE_FAULT not in linked:
        raise NoPlaceError("QEMU does not say where the kernel is")
    entry = remote.memory(int(match[1], 16) + 16 * _VECTOR, 16)
    handler = int.from_bytes(entry[0:2] + entry[6:12], "little")
    return Symbols(known.moved(handler - linked[_PAGE_FAULT]))


def add_modules(symbols: Symbols, known: KernelSymbols, remote: Remote) -> None:
    """Those that are loaded where the replay is."""
    head = symbols.address(_MODULES)
    if head is not None:
        symbols.modules = loaded_modules(remote.memory, known.places, head)


def go_to_message(pattern: str, symbols: Symbols, known: KernelSymbols, remote: Remote) -> Found:
    """Continue to the first message with a text in it; of a fault, back to the instruction that it names.

    Raises:
        NoPlaceError: The run has no such message.
        RemoteError: QEMU does not come to it in its time.
    """
    formatter = symbols.address(FORMATTER)
    if formatter is None:
        raise NoPlaceError(f"the kernel has no function {FORMATTER}", what_to_do="give --at a time")
    message = _next_message(remote, formatter, pattern)
    if message is None:
        raise NoPlaceError(
            f"no message of the kernel has {pattern!r} in it, from where the record begins",
            what_to_do="`grep` in results/console and results/files/kernel.log of the record",
        )
    if not _FAULT.search(message):
        return Found("the message is made", message)
    for _ in range(_AFTER):
        line = _next_message(remote, formatter, "")
        if line is None:
            break
        if (named := _RIP.search(line)) is None:
            continue
        add_modules(symbols, known, remote)
        begin = symbols.address(named["name"], named["module"], int(named["size"], 16))
        if begin is None:
            return Found("the message is made", message)
        at = begin + int(named["at"], 16)
        go_back_to(remote, at)
        return Found("the instruction that it names", message, f"{named['name']}+{named['at']}")
    raise NoPlaceError(f"the message does not say in which instruction: {message}")


def go_back_to(remote: Remote, address: int) -> None:
    """Back to when an instruction was executed last. Raises :class:`RemoteError`."""
    remote.break_at(address)
    try:
        remote.ask("bc")
    finally:
        remote.break_at(address, on=False)
    if remote.registers()["rip"] != address:
        # An instruction that faults is not counted, so QEMU may be behind it, where the handler begins.
        remote.ask("bs")
        remote.ask("s")
    if remote.registers()["rip"] != address:
        raise RemoteError(f"the replay did not come back to {address:#x}")


def _next_message(remote: Remote, formatter: int, pattern: str) -> str | None:
    """The next message with a text in it; ``None``: the record has ended."""
    while True:
        remote.break_at(formatter)
        if not remote.resume():
            return None
        remote.break_at(formatter, on=False)
        registers = remote.registers()
        if registers["rip"] != formatter:
            continue
        back = int.from_bytes(remote.memory(registers["rsp"], 8), "little")
        remote.break_at(back)
        ended = not remote.resume()
        if ended:
            return None
        remote.break_at(back, on=False)
        length = remote.registers()["rax"] & 0xFFFF
        text = remote.memory(registers["rdi"], min(length, MAX_MESSAGE)).decode("utf-8", "replace").rstrip("\n")
        if pattern in text:
            return text


def go_to_time(replay: Replay, record: Record, guest_s: float, limit_s: float) -> None:
    """Continue to a time by the guest's CLOCK_MONOTONIC, within ``limit_s`` by this machine's. Raises
    :class:`NoPlaceError`."""
    begin = record.places[0]
    if guest_s * 1e9 < begin.guest_ns:
        raise NoPlaceError(f"the record begins at {begin.guest_ns / 1e9:.6f} s")
    wanted = round(guest_s * 1e9)
    try:
        asyncio.run(
            asyncio.wait_for(_to_time(replay, wanted, begin.virtual_ns - begin.guest_ns, record.shift), limit_s)
        )
    except TimeoutError:
        raise NoPlaceError(
            "the replay did not come to the time within its limit", what_to_do="give more with --wall-limit"
        ) from None
    except QmpClosedError:
        raise NoPlaceError(f"the record has ended before {guest_s:.6f} s") from None


async def _to_time(replay: Replay, wanted_ns: int, offset_ns: int, shift: int) -> None:
    """To the instruction at a time of the guest's clock, or the first one after the idle time that it lies in.

    An instruction takes a fixed time. So from a place behind the time, back by as many instructions as lie between:
    there it is, or earlier where the guest was idle between, and from there forward in the same way.

    ``offset_ns``: approximate offset of QEMU's clock to the guest's; the guest reports it from time to time.
    """
    async with Qmp(replay.monitor) as qmp:
        control = await control_path(qmp)
        await qmp.execute("qom-set", path=control, property="stop-at", value=str(wanted_ns + offset_ns))
        await qmp.execute("cont")
        await qmp.event("STOP")
        for _ in range(SEEKS):
            there = await place_of(qmp)
            ahead = (wanted_ns - there.guest_ns) >> shift
            if not ahead:
                return
            await qmp.execute("replay-seek", icount=there.instructions + ahead)
            await qmp.event("STOP")
