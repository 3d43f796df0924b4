"""Section 10: what happened when."""

from __future__ import annotations

from txop.air.model import Event
from txop.air.report import AirReport
from txop.air.view.names import called
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Lines, Rows, Section

_NAMES = {
    "authentication": "Authentication",
    "association-request": "Association request",
    "association-response": "Association response",
    "reassociation-request": "Reassociation request",
    "reassociation-response": "Reassociation response",
    "handshake-1": "Four-way handshake, 1",
    "handshake-2": "Four-way handshake, 2",
    "handshake-3": "Four-way handshake, 3",
    "handshake-4": "Four-way handshake, 4",
    "group-key-1": "Group key, 1",
    "group-key-2": "Group key, 2",
    "key-request": "Key request",
    "other-eapol": "Other EAPOL",
    "eap-start": "EAPOL start",
    "eap": "EAP request or response",
    "eap-success": "EAP success",
    "eap-failure": "EAP failure",
    "eap-logoff": "EAPOL logoff",
    "deauthentication": "Deauthentication",
    "disassociation": "Disassociation",
    "channel-switch": "Channel switch announced",
}

_CODES = {
    "deauthentication": "reason",
    "disassociation": "reason",
    "authentication": "status",
    "association-response": "status",
    "reassociation-response": "status",
}


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    events = report.events
    if not events.frames:
        return Section(
            "events",
            10,
            "Events",
            [
                Lines(
                    ("None captured: no undamaged frame that joins, leaves or exchanges keys is in what was counted.",)
                )
            ],
        )
    told = [h.text for h in report.happenings if options.wants(h.station, h.bssid)]
    blocks: list[Block] = [Lines(tuple(told), "What happened")] if told else []
    blocks.append(
        Facts([Fact(_name(row.kind), f"{fmt.count(row.frames)} {_frames(row.frames)}") for row in events.frames])
    )
    shown = [e for e in events.rows if options.wants(e.sender, e.receiver) or e.sender is None]
    note = ""
    if events.rows_left_out:
        note = (
            f"Not shown between the first rows and the latest: {fmt.count(events.rows_left_out)} rows of"
            f" {fmt.count(events.frames_left_out)} {_frames(events.frames_left_out)}; --from and --to choose a part."
        )
    columns = (
        Column("From, s"),
        Column("To, s", rank=2),
        Column("Event", right=False),
        Column("Sender", right=False),
        Column("Receiver", right=False),
        Column("Frames"),
        Column("Retries", rank=3),
        Column("Says", right=False),
    )
    rows = Rows(shown, lambda event: _row(report, event))
    blocks.append(Grid("In time order", columns, rows, note, "events", whole=options.list_events))
    return Section("events", 10, "Events", blocks, unavailable(report, "events"))


def says(event: Event) -> str:
    """What an event says beside its kind: a reason, a status, a channel, where a station comes from."""
    parts = []
    if event.text is not None:
        code = "" if event.code is None or event.kind not in _CODES else f" ({_CODES[event.kind]} {event.code})"
        parts.append(f"{event.text}{code}")
    if event.from_bssid is not None:
        parts.append(f"the station comes from {event.from_bssid}")
    if event.sender is None:
        parts.append("in the names of many stations")
    return ", ".join(parts)


def _name(kind: str) -> str:
    return _NAMES.get(kind, kind)


def _frames(count: int) -> str:
    return "frame" if count == 1 else "frames"


def _row(report: AirReport, event: Event) -> tuple[Cell, ...]:
    def who(address: str | None) -> Cell:
        return cells.text(None if address is None else called(report, address))

    return (
        Cell(f"{event.start_us / 1e6:,.6f}", event.start_us),
        Cell(f"{event.end_us / 1e6:,.6f}", event.end_us),
        Cell(_name(event.kind)),
        who(event.sender),
        who(event.receiver),
        cells.count(event.frames),
        cells.count(event.retries),
        Cell(says(event)),
    )
