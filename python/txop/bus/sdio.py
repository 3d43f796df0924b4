"""The section of a report that is about the commands of an SDIO card."""

from __future__ import annotations

from txop.bus.model import Sdio, SdioPackets, Spread
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Section
from txop.present.cells import count, missing, text

_UNKNOWN = "can't be determined"


def sdio_section(sdio: Sdio) -> Section:
    """Who the card is, what the commands were, how long they took, and which registers they went to."""
    facts = [
        Fact("Card", _card(sdio)),
        Fact("Bus", _bus(sdio)),
        Fact("Commands", _commands(sdio)),
        Fact("CMD52", f"{fmt.count(sdio.cmd52)}{_rate(sdio.cmd52_per_s)}: {fmt.count(sdio.cmd52_reads)} that read, "
             f"{fmt.count(sdio.cmd52_writes)} that write"),
        Fact("CMD53", f"{fmt.count(sdio.cmd53)}{_rate(sdio.cmd53_per_s)}: {fmt.count(sdio.cmd53_reads)} that read, "
             f"{fmt.count(sdio.cmd53_writes)} that write; {fmt.count(sdio.cmd53_block_mode)} in block mode"),
        *_packets(sdio.packets),
        Fact("Interrupts", f"{fmt.count(sdio.interrupts)}{_rate(sdio.interrupts_per_s)}"),
        Fact("Interrupt Pending read", f"{fmt.plural(sdio.pending_reads, 'time')}; "
             f"{fmt.count(sdio.pending_reads_idle)} found nothing"),
        Fact("Failed", _failed(sdio), tone="bad" if sdio.failed_transfers else ""),
    ]  # fmt: skip
    return Section("sdio", 7, "SDIO commands", [Facts(facts), _spreads(sdio), *_registers(sdio)])


def _card(sdio: Sdio) -> str:
    if sdio.card is None:
        return f"{_UNKNOWN}, because its enumeration is not in the log"
    return sdio.card if sdio.card_name is None else f"{sdio.card_name} ({sdio.card})"


def _bus(sdio: Sdio) -> str:
    if sdio.clock_hz is None:
        return "no clock was set"
    lines = "no width was set" if sdio.bus_width is None else fmt.plural(sdio.bus_width, "line")
    modelled = {True: "modelled", False: "not modelled", None: "modelled in part of the log"}[sdio.bus_time]
    wires = f"time on the wires is {modelled}"
    return f"{lines}, {fmt.number(sdio.clock_hz / 1e6)} MHz, as the host set them; {wires}"


def _commands(sdio: Sdio) -> str:
    share = "" if sdio.cmd52_share is None else f"; {fmt.share(sdio.cmd52_share, 0)} of CMD52 and CMD53 are CMD52"
    return f"{fmt.count(sdio.commands)}{_rate(sdio.commands_per_s)}{share}"


def _rate(per_s: float | None) -> str:
    return "" if per_s is None else f" ({fmt.number(per_s, 0 if per_s >= 10 else 1)}/s)"


def _packets(packets: SdioPackets | None) -> list[Fact]:
    if packets is None:
        return [Fact("Packets", f"{_UNKNOWN}; the reason is in section 1")]
    ways = [
        f"{fmt.plural(n, 'packet')} {word} in {fmt.plural(transfers, 'transfer')}"
        + ("" if each is None else f" ({fmt.number(each, 1)} in each)")
        for word, n, transfers, each in (
            ("to the card", packets.to_card, packets.to_card_transfers, packets.per_transfer_to_card),
            ("to the host", packets.to_host, packets.to_host_transfers, packets.per_transfer_to_host),
        )
    ]
    found = [Fact("Packets", f"{packets.protocol.upper()}: {'; '.join(ways)}")]
    if packets.commands_per_packet is not None and packets.cmd52_per_packet is not None:
        all_, cmd52 = fmt.number(packets.commands_per_packet, 2), fmt.number(packets.cmd52_per_packet, 2)
        found.append(Fact("Commands per packet", f"{all_}, {cmd52} of them CMD52"))
    return found


def _failed(sdio: Sdio) -> str:
    return (
        f"{fmt.count(sdio.failed_transfers)} of {fmt.count(sdio.cmd52 + sdio.cmd53)} CMD52 and CMD53 "
        f"({fmt.count(sdio.refused)} refused, {fmt.count(sdio.wrong_crc)} with a wrong CRC); "
        f"of all commands {fmt.count(sdio.unanswered)} without an answer, "
        f"{fmt.count(sdio.not_fetched)} with a status that was not fetched"
    )


def _spreads(sdio: Sdio) -> Block:
    columns = (
        Column("What", right=False), Column("n"), Column("Smallest", rank=2), Column("Median"), Column("95 %"),
        Column("99 %", rank=2), Column("Largest"), Column("Mean", rank=3),
    )  # fmt: skip
    rows = [
        _spread("Bytes of a CMD53 that writes", sdio.written_size_bytes),
        _spread("Bytes of a CMD53 that reads", sdio.read_size_bytes),
        _spread("Time of a CMD52, µs", sdio.cmd52_took_us),
        _spread("Time of a CMD53, µs", sdio.cmd53_took_us),
        _spread("From a status to the next command, µs", sdio.turnaround_us),
        _spread("From an interrupt to the next command, µs", sdio.interrupt_response_us),
    ]
    note = "Time of a command: until the host has its status."
    return Grid("", columns, rows, note, "figures")


def _spread(name: str, spread: Spread | None) -> tuple[Cell, ...]:
    if spread is None:
        return (Cell(name), *[missing()] * 7)
    values = (spread.min, spread.median, spread.p95, spread.p99, spread.max, spread.mean)
    cells = [Cell(fmt.number(value, 0 if value >= 100 else 1), value) for value in values]
    return (Cell(name), count(spread.n), *cells)


def _registers(sdio: Sdio) -> list[Block]:
    if not sdio.registers:
        return []
    columns = (
        Column("Command", right=False), Column("Way", right=False), Column("Function"), Column("Address", right=False),
        Column("Name", right=False), Column("Commands"), Column("Bytes", rank=2),
    )  # fmt: skip
    rows = [
        (
            Cell(row.command), Cell(row.direction), count(row.function), Cell(row.address), text(row.name),
            count(row.commands), Cell(fmt.size_bytes(row.bytes), float(row.bytes)),
        )
        for row in sdio.registers
    ]  # fmt: skip
    note = f"{fmt.plural(sdio.other_commands, 'command')} went elsewhere." if sdio.other_commands else ""
    return [Grid("Registers and mailboxes", columns, rows, note, "places")]
