"""Section 11: packets joined with the MPDUs that carried them, and what decryption made of protected frames."""

from __future__ import annotations

from txop.air.model import DecryptedPair, DhcpMessage, PacketFlow, TcpSentAgain
from txop.air.report import AirReport
from txop.air.view.options import Options
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Lines, Rows, Section

_HOW = "Not available: packets are looked at with --packets, or with --key-file where frames are encrypted."


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    blocks: list[Block] = []
    if report.decryption is not None:
        blocks += _decryption(report, options)
    if report.traffic is not None:
        blocks += _traffic(report, options)
    return Section("packets", 11, "Packets", blocks or [Lines((_HOW,))])


def _decryption(report: AirReport, options: Options) -> list[Block]:
    decryption = report.decryption
    assert decryption is not None
    blocks: list[Block] = [Lines(tuple(said.text for said in decryption.sentences), "Decryption")]
    shown = [pair for pair in decryption.pairs if options.wants(pair.access_point, pair.station)]
    if shown:
        columns = (
            Column("Access point", right=False),
            Column("Station", right=False),
            Column("Network", right=False),
            Column("Key management", rank=2, right=False),
            Column("Cipher", rank=2, right=False),
            Column("Messages 1–4", rank=1),
            Column("Protected"),
            Column("Decrypted"),
            Column("State", right=False),
        )
        blocks.append(Grid("", columns, Rows(shown, _pair), unit_of_rows="pairs"))
    return blocks


def _pair(pair: DecryptedPair) -> tuple[Cell, ...]:
    return (
        Cell(pair.access_point),
        Cell(pair.station),
        cells.text(pair.ssid),
        cells.text(pair.akm),
        cells.text(pair.cipher),
        Cell(" ".join(str(n) for n in pair.messages)),
        cells.count(pair.protected),
        cells.count(pair.decrypted),
        Cell(pair.state),
    )


def _traffic(report: AirReport, options: Options) -> list[Block]:
    traffic = report.traffic
    assert traffic is not None
    facts = [Fact("Packets", f"{fmt.count(traffic.packets)} in {fmt.plural(traffic.flow_count, 'flow')}")]
    blocks: list[Block] = [Facts(facts)]
    if not traffic.packets:
        blocks.append(Lines((_no_packets(report),)))
    if traffic.sentences:
        blocks.append(Lines(tuple(said.text for said in traffic.sentences), "TCP retransmissions"))
    again = [loss for loss in traffic.tcp_sent_again if options.wants(loss.ta, loss.ra)]
    if again:
        blocks.append(_again(again))
    flows = [flow for flow in traffic.flows if options.wants(flow.ta, flow.ra)]
    if flows:
        blocks.append(_flows(flows, report.hearing.control_frames > 0))
    dhcp = [message for message in traffic.dhcp if options.wants(message.ta, message.ra)]
    if dhcp:
        blocks.append(_dhcp(dhcp))
    return blocks


def _no_packets(report: AirReport) -> str:
    if not any(link.data_frames for link in report.links):
        return "No data frame with data was captured."
    if report.decryption is None:
        return "None could be read. Where data frames are protected, --key-file decrypts them."
    return "None could be read: see above what happened to protected frames."


def _again(again: list[TcpSentAgain]) -> Grid:
    columns = (
        Column("At"),
        Column("Source", right=False),
        Column("Destination", right=False),
        Column("Bytes"),
        Column("After"),
        Column("Attempts of the copy before"),
        Column("At rates", right=False),
        Column("The copy was", right=False),
        Column("Needless", rank=2, right=False),
    )
    return Grid("Each of them", columns, Rows(again, _loss), unit_of_rows="segments")


def _loss(loss: TcpSentAgain) -> tuple[Cell, ...]:
    more = "+" if loss.attempts_missed else ""
    return (
        cells.time_us(loss.at_us),
        Cell(loss.source),
        Cell(loss.destination),
        cells.count(loss.payload_bytes),
        cells.time_us(loss.after_us),
        cells.count(None) if loss.attempts is None else Cell(f"{fmt.count(loss.attempts)}{more}"),
        Cell(", ".join(f"{rate.attempts} × {rate.label}" for rate in loss.rates)),
        Cell(loss.copy_before.replace("-", " ")),
        Cell("yes" if loss.needless else ""),
    )


def _flows(flows: list[PacketFlow], has_control: bool) -> Grid:
    """``has_control``: the capture has control frames, so that acknowledgements can be in it."""
    columns = (
        Column("Transmitter", rank=1, right=False),
        Column("Receiver", rank=1, right=False),
        Column("Flow", right=False),
        Column("Packets"),
        Column("Bytes"),
        Column("MPDUs", rank=2),
        Column("Attempts"),
        Column("Acknowledged, captured"),
        Column("Airtime"),
        Column("Retransmissions"),
    )
    return Grid("Flows", columns, Rows(flows, lambda flow: _flow(flow, has_control)), unit_of_rows="flows")


def _flow(flow: PacketFlow, has_control: bool) -> tuple[Cell, ...]:
    again = cells.count(None)
    if flow.tcp_segments is not None and flow.tcp_sent_again is not None:
        again = Cell(f"{fmt.count(flow.tcp_sent_again)} of {fmt.count(flow.tcp_segments)}")
    return (
        Cell(flow.ta),
        Cell(flow.ra),
        Cell(_ends(flow)),
        cells.count(flow.packets),
        cells.count(flow.bytes),
        cells.count(flow.mpdus),
        cells.count(flow.attempts),
        cells.count(flow.acknowledged if has_control else None),
        cells.time_us(flow.airtime_us),
        again,
    )


def _ends(flow: PacketFlow) -> str:
    """``TCP 10.0.0.1:80 → 10.0.0.2:5000``."""
    if flow.source is None or flow.destination is None:
        return flow.protocol
    return f"{flow.protocol} {_end(flow.source, flow.source_port)} → {_end(flow.destination, flow.destination_port)}"


def _end(address: str, port: int | None) -> str:
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _dhcp(messages: list[DhcpMessage]) -> Grid:
    columns = (
        Column("At"),
        Column("Message", right=False),
        Column("Client", right=False),
        Column("Address", right=False),
        Column("Transmitter", rank=1, right=False),
        Column("Receiver", rank=1, right=False),
        Column("Attempts"),
        Column("Acknowledged", right=False),
    )
    return Grid("DHCP", columns, Rows(messages, _message), unit_of_rows="messages")


def _message(message: DhcpMessage) -> tuple[Cell, ...]:
    acknowledged = "–" if message.acknowledged is None else "yes" if message.acknowledged else "not captured"
    return (
        cells.time_us(message.at_us),
        Cell(message.message),
        Cell(message.client),
        cells.text(message.address),
        Cell(message.ta),
        Cell(message.ra),
        cells.count(message.attempts),
        Cell(acknowledged),
    )
