"""The network or channel that a report is of, in words."""

from __future__ import annotations

from txop.air.model import Selection
from txop.air.report import AirReport
from txop.present import format as fmt


def chosen(report: AirReport) -> str | None:
    """What was chosen, how much of the capture it is, and which figures cover all of it; ``None``: nothing was."""
    selection = report.summary.selection
    if selection is None:
        return None
    return "; ".join(part for part in (_interface(selection), _channel(selection), _network(report, selection)) if part)


def network(selection: Selection) -> str:
    """The chosen network with its name."""
    return f'{selection.bssid} "{selection.ssid}"' if selection.ssid else str(selection.bssid)


def _interface(selection: Selection) -> str:
    if selection.interface is None:
        return ""
    name = "" if selection.interface_name is None else f' "{selection.interface_name}"'
    left_out = selection.records_on_other_interfaces
    outside = f" ({fmt.plural(left_out, 'record')} of other interfaces left out)" if left_out else ""
    return f"interface {selection.interface}{name} of the capture{outside}"


def _channel(selection: Selection) -> str:
    if selection.frequency_mhz is None:
        return ""
    number = "" if selection.channel is None else f"channel {selection.channel}, "
    read = selection.frames + selection.frames_elsewhere + selection.frames_without_channel
    left_out = [
        f"{fmt.count(frames)} {where}"
        for frames, where in (
            (selection.frames_elsewhere, "on other channels"),
            (selection.frames_without_channel, "without a channel"),
        )
        if frames
    ]
    outside = f" ({' and '.join(left_out)} left out)" if left_out else ""
    share = f"{fmt.count(selection.frames)} of {fmt.count(read)} frames"
    return f"{number}{selection.frequency_mhz} MHz: {share}{outside}"


def _network(report: AirReport, selection: Selection) -> str:
    if selection.bssid is None or selection.bss_frames is None:
        return ""
    air = report.airtime
    frames = selection.frames - (report.summary.unreadable if selection.channel is None else 0)
    counted = f"{fmt.count(selection.bss_frames)} of {fmt.count(frames)} frames"
    named = f"network {network(selection)}: named as the BSSID of {counted}"
    if air.bss_share is None:
        return f"{named}. Its share of the time is not available"
    least = "" if report.hearing.silence_is_evidence else "at least "
    return (
        f"{named}. It has {least}{fmt.share(air.bss_share)} of the time observed; busy ({least}"
        f"{fmt.share(air.busy_share)}) and the"
        " counts of the summary are of all frames on the channel"
    )
