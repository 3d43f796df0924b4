"""Multi-link devices: the links of each, and all of them together."""

from __future__ import annotations

from collections.abc import Iterator

from txop.air.model import DeviceLink, MultiLinkDevice
from txop.air.report import AirReport
from txop.air.view.options import Options
from txop.present import cells
from txop.present.blocks import Block, Cell, Column, Grid, Lines, Rows


def devices(report: AirReport, options: Options) -> list[Block]:
    """A table of the devices with more than one known link, and what is not known of others."""
    shown = [
        device
        for device in report.multi_link_devices
        if len(device.links) > 1
        and device.links_captured
        and (options.wants(device.mld) or any(options.wants(link.address) for link in device.links))
    ]
    blocks: list[Block] = []
    if shown:
        columns = (
            Column("Device", right=False),
            Column("Role", rank=2, right=False),
            Column("Link", right=False),
            Column("Channel", rank=3),
            Column("Sent", "sent"),
            Column("Retry % MPDU", "retry_mpdu"),
            Column("n", "retry_mpdu", 2),
            Column("Airtime", "airtime"),
            Column("Said by itself", rank=3),
            Column("By another link", rank=3),
        )
        note = (
            "Addresses that are links of one device by the Multi-Link elements of frames that are not damaged: by "
            "how many of its own, and by how many of another link of the device. Its airtime is the sum of its "
            "links', which may be on several channels."
        )
        rows = [row for device in shown for row in _device(device)]
        blocks.append(Grid("Multi-link devices", columns, Rows(rows, lambda row: row), note, unit_of_rows="rows"))
    unclear = [row.text.text for row in report.unclear_links if options.wants(row.address, *row.mlds)]
    if unclear:
        blocks.append(Lines(unclear))
    return blocks


def _device(device: MultiLinkDevice) -> Iterator[tuple[Cell, ...]]:
    captured = f"{device.links_captured} of {len(device.links)} captured"
    yield (
        Cell(device.mld),
        Cell({"ap": "AP", "station": "STA"}.get(device.kind, device.kind)),
        Cell(captured),
        cells.missing(),
        cells.count(device.frames_sent),
        cells.percent(device.mpdu_retry.percent),
        cells.count(device.mpdu_retry.frames),
        cells.time_us(device.airtime_us),
        cells.missing(),
        cells.missing(),
    )
    for link in device.links:
        yield _link(device.mld, link)


def _link(mld: str, link: DeviceLink) -> tuple[Cell, ...]:
    number = "" if link.link_id is None else f"{link.link_id}: "
    return (
        Cell(mld),
        Cell("link"),
        Cell(f"{number}{link.address}"),
        cells.count(link.channel),
        cells.count(link.frames_sent),
        cells.percent(link.mpdu_retry.percent),
        cells.count(link.mpdu_retry.frames),
        cells.time_us(link.airtime_us),
        cells.count(link.own_claims),
        cells.count(link.named_by_others),
    )
