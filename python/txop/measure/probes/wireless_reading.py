"""Figures and gates from what ``iw`` printed during a run. Pure: files in, a :class:`Reading` out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from txop.archive.window import counted
from txop.core.visible import visible
from txop.formats.iw_station import LinkFigures
from txop.formats.iw_survey import channel_use
from txop.formats.proc_stat import increase
from txop.measure.instrument import GateFinding, Points, Reading, RunFacts
from txop.measure.probes import sampler
from txop.measure.probes.sent_account import (
    RATES,
    counted_retry_percent,
    put_access_point,
    put_no_access_point,
    put_success,
    retry_percent,
    value_of,
)
from txop.measure.probes.station_account import named_stations, put_fairness, put_stations
from txop.measure.probes.wireless_snapshot import IW, WirelessSnapshot, snapshot_of

SAMPLES = "wireless-{}.txt"
ABOUT = "wireless-{}.json"
AFTER = "debugfs-{}.txt"

FIGURES = ("retry_percent", "signal_dbm", "tx_bitrate_mbit_s", "rx_bitrate_mbit_s", "channel_busy_percent")
_NO_DEVICE = "No such device"
"""What iw says of an interface that is not there (ENODEV)."""
STATIONS = frozenset({"managed", "P2P-client"})
ACCESS_POINTS = frozenset({"AP", "P2P-GO"})

TRAFFIC_SHARE = 0.1
"""A station of an access point with this share of the bytes takes part in the test."""


def read_wireless(facts: RunFacts, target: str, *, gated: bool = True) -> Reading:
    """Everything that the samples of ``target`` show; ``gated``: also what the gates find."""
    reading = Reading()
    snapshots, reason = _snapshots(facts, target)
    after = AFTER.format(target)
    if (facts.folder / after).is_file():
        reading.files[after] = f"airtime, queues and rate control of {target} (mac80211 debugfs)"
    window_s = facts.marks.window_s
    known = [snapshot for snapshot in snapshots if snapshot.interface is not None]
    if not reason and window_s is None:
        reason = "the run did not reach the end of its window"
    if not reason and len(known) < 2:
        reason = next((snapshot.problem for snapshot in snapshots if snapshot.problem), "fewer than two answers of iw")
    if snapshots:
        reading.files[SAMPLES.format(target)] = f"output of iw on {target}"
    if reason or window_s is None:
        return _nothing(facts, reading, target, reason, gated=gated)
    marks = facts.marks
    loaded_s = (marks.load or 0.0) - (marks.window or 0.0)
    inside = counted(((snapshot.at_s, snapshot) for snapshot in snapshots), window_s)
    loaded = [snapshot for snapshot in snapshots if loaded_s <= snapshot.at_s < 0] + inside
    if gated:
        _gates(facts, reading, target, loaded)
    modes = {snapshot.interface.mode for snapshot in known if snapshot.interface is not None}
    if target == "dut":
        _figures(reading, snapshots, inside)
    if target == "peer":
        address = next(_addresses(facts, "dut"), None)
        put_access_point(reading, snapshots, inside, address, is_access_point=bool(modes & ACCESS_POINTS))
    of_stations = target == "dut" or bool(facts.test.stations_measured)
    if modes & ACCESS_POINTS and of_stations:  # others at the access point have no part in other tests
        put_fairness(reading, inside, of_test=bool(facts.test.stations_measured))
        put_stations(reading, inside, named_stations(facts.folder) or _own_addresses(facts))
    elif target == "dut" and facts.test.stations_measured:
        reading.put("airtime_jain_index", None, IW, "only an access point or a capture shows the stations' airtime")
    reading.provenance[target] = {"wireless": _identity(known[-1])}
    return reading


def _snapshots(facts: RunFacts, target: str) -> tuple[list[WirelessSnapshot], str]:
    missing = _missing(facts, target)
    if missing:
        return [], missing
    try:
        path = facts.folder / SAMPLES.format(target)
        return [snapshot_of(at_s, sample) for at_s, sample in sampler.timed(facts, target, path)], ""
    except OSError:
        return [], "nothing was recorded"


def _missing(facts: RunFacts, target: str) -> str:
    """Why nothing was recorded; empty where it was."""
    try:
        missing = json.loads((facts.folder / ABOUT.format(target)).read_bytes()).get("missing")
    except (OSError, ValueError, AttributeError):
        return "nothing was recorded"
    return visible(str(missing)[:200]) if missing else ""


def _addresses(facts: RunFacts, target: str) -> Iterator[str]:
    """The own address of a target at each of its snapshots."""
    if _missing(facts, target):
        return
    with suppress(OSError):
        for at_s, sample in sampler.timed(facts, target, facts.folder / SAMPLES.format(target)):
            about = snapshot_of(at_s, sample).interface
            if about is not None and about.address is not None:
                yield about.address


def _own_addresses(facts: RunFacts) -> dict[str, str]:
    """Addresses of the stations of a test of several, as each of them shows its own."""
    found: dict[str, str] = {}
    for name in facts.test.stations_measured:
        for address in _addresses(facts, name):
            found[name] = address
    return found


def _identity(snapshot: WirelessSnapshot) -> dict[str, object]:
    """Link and channel, for the run's record."""
    about, link, channel = snapshot.interface, snapshot.link, snapshot.channel
    ssid = link.ssid if link is not None else about.ssid if about is not None else None
    found: dict[str, object] = {
        "mode": about.mode if about is not None else None,
        "address": about.address if about is not None else None,
        "tx_power_dbm": about.tx_power_dbm if about is not None else None,
        "bssid": link.bssid if link is not None else None,
        "ssid": visible(ssid.decode("utf-8", "replace")) if ssid is not None else None,
        "stations": len(snapshot.peers) if about is not None and about.mode in ACCESS_POINTS else None,
    }
    if channel is not None:
        found |= {"channel": channel[0], "frequency_mhz": channel[1], "width_mhz": channel[2]}
    return {key: value for key, value in found.items() if value is not None}


# Figures -------------------------------------------------------------------------------------------------------------


def _figures(reading: Reading, snapshots: Sequence[WirelessSnapshot], inside: Sequence[WirelessSnapshot]) -> None:
    with_peers = [snapshot for snapshot in inside if snapshot.peers]
    if len(with_peers) < 2:
        why = "fewer than two looks within the window" if len(inside) < 2 else "iw named no peer within the window"
        for key in FIGURES[:4]:
            reading.put(key, None, IW, why)
    else:
        percent, problem = counted_retry_percent(with_peers[0].peers, with_peers[-1].peers)
        reading.put("retry_percent", percent, IW, problem)
        _of_peer(reading, snapshots, inside)
    series = [
        (after.at_s, percent)
        for before, after in pairwise(snapshots)
        if (percent := retry_percent(before.peers, after.peers)[0]) is not None
    ]
    if any(percent for _, percent in series) or reading.metrics["retry_percent"].value is not None:
        reading.series["retry_percent"] = [(round(t, 3), round(percent, 3)) for t, percent in series]
    put_success(reading, "rate_success_percent", snapshots, inside, None)
    _busy(reading, snapshots, inside)


def _of_peer(reading: Reading, snapshots: Sequence[WirelessSnapshot], inside: Sequence[WirelessSnapshot]) -> None:
    """Signal and rates: of the access point, or of the only peer."""
    for key in ("signal_dbm", "tx_bitrate_mbit_s", "rx_bitrate_mbit_s"):
        points: Points = [
            (round(snapshot.at_s, 3), value)
            for snapshot in snapshots
            if (peer := _peer(snapshot)) is not None and (value := value_of(key, peer)) is not None
        ]
        if points:
            reading.series[key] = points
        values = [
            value for snapshot in inside if (peer := _peer(snapshot)) is not None for value in [value_of(key, peer)]
        ]
        known = [value for value in values if value is not None]
        why = "the driver does not report it" if values else "there are several peers"
        reading.put(key, sum(known) / len(known) if known else None, IW, None if known else why)


def _peer(snapshot: WirelessSnapshot) -> LinkFigures | None:
    if snapshot.link is not None and snapshot.link.bssid in snapshot.peers:
        return snapshot.peers[snapshot.link.bssid]
    return next(iter(snapshot.peers.values())) if len(snapshot.peers) == 1 else None


def _busy(reading: Reading, snapshots: Sequence[WirelessSnapshot], inside: Sequence[WirelessSnapshot]) -> None:
    source = "iw survey dump"
    points: Points = []
    surveyed = [snapshot for snapshot in snapshots if snapshot.surveyed is not None]
    for before, after in pairwise(surveyed):
        use = _use(before, after)
        if use is not None:
            points.append((round((before.at_s + after.at_s) / 2, 3), round(use, 2)))
    if points:
        reading.series["channel_busy_percent"] = points
    within = [snapshot for snapshot in inside if snapshot.surveyed is not None]
    if not surveyed:
        reading.put("channel_busy_percent", None, source, "the driver has no survey of the channel in use")
    elif len(within) < 2:
        reading.put("channel_busy_percent", None, source, "fewer than two surveys within the window")
    else:
        percent = _use(within[0], within[-1])
        why = None if percent is not None else "the driver does not count busy time, or its counters went back"
        reading.put("channel_busy_percent", percent, source, why)


def _use(before: WirelessSnapshot, after: WirelessSnapshot) -> float | None:
    if before.surveyed is None or after.surveyed is None:
        return None
    use = channel_use(before.surveyed, after.surveyed)
    return None if use is None or use.busy_share is None else 100 * use.busy_share


# Gates ---------------------------------------------------------------------------------------------------------------


def _gates(facts: RunFacts, reading: Reading, target: str, all_snapshots: Sequence[WirelessSnapshot]) -> None:
    snapshots = [snapshot for snapshot in all_snapshots if snapshot.interface is not None]
    if facts.plan.gates.association and not facts.test.reconnects:
        gone = _gone(all_snapshots)
        finding = GateFinding("association-lost", "void", gone, target) if gone else _association(snapshots, target)
        if finding.state == "void" and facts.test.outlasts_association:
            reading.warnings.append(f"{target}: {finding.words}")
            finding = GateFinding("association-lost", "not available", "a soak goes on without it", target)
        reading.gates.append(finding)
    if facts.plan.gates.channel:
        reading.gates.append(_channel(snapshots, target))


def _gone(snapshots: Sequence[WirelessSnapshot]) -> str | None:
    """Whether the interface vanished: a dongle was pulled out, a driver let go of it."""
    name: str | None = None
    for snapshot in snapshots:
        if snapshot.interface is not None:
            name = snapshot.interface.name
        elif name is not None and _NO_DEVICE in (snapshot.problem or ""):
            return f"{name} was gone {snapshot.at_s:+.0f} s from the start of the window"
    return None


def _association(snapshots: Sequence[WirelessSnapshot], target: str) -> GateFinding:
    gate = "association-lost"
    modes = {snapshot.interface.mode for snapshot in snapshots if snapshot.interface is not None}
    if len(snapshots) < 2:
        return GateFinding(gate, "not available", "fewer than two looks at the link", target)
    words: str | None
    if modes <= STATIONS:
        words = _station_lost(snapshots)
    elif modes <= ACCESS_POINTS:
        words = _peer_lost(snapshots)
    elif any(snapshot.connected for snapshot in snapshots):
        words = _station_lost(snapshots)
    else:
        shown = ", ".join(sorted(visible(str(mode)) for mode in modes))
        return GateFinding(gate, "not available", f"an interface of type {shown} has no association", target)
    return GateFinding(gate, "ok", target=target) if words is None else GateFinding(gate, "void", words, target)


def _station_lost(snapshots: Sequence[WirelessSnapshot]) -> str | None:
    first: str | None = None
    since: int | None = None
    for snapshot in snapshots:
        if snapshot.connected is None:
            continue
        if snapshot.link is None:
            return f"not associated {snapshot.at_s:+.0f} s from the start of the window"
        if first is not None and snapshot.link.bssid != first:
            return f"it moved from {first} to {snapshot.link.bssid} {snapshot.at_s:+.0f} s from the start of the window"
        first = snapshot.link.bssid
        peer = snapshot.peers.get(first)
        connected_s = peer.connected_s if peer is not None else None
        if connected_s is not None:
            if since is not None and connected_s < since:
                return f"it associated again {snapshot.at_s:+.0f} s from the start of the window"
            since = connected_s
    return None


def _peer_lost(snapshots: Sequence[WirelessSnapshot]) -> str | None:
    """At an access point: whether a station with part of the traffic left or came back."""
    moved: dict[str, int] = {}
    for before, after in pairwise(snapshots):
        for address, peer in after.peers.items():
            was = before.peers.get(address)
            for key in ("tx_bytes", "rx_bytes"):
                grown = increase(getattr(was, key, None), getattr(peer, key))
                moved[address] = moved.get(address, 0) + (grown or 0)
    total = sum(moved.values())
    takes_part = {address for address, count in moved.items() if total and count >= TRAFFIC_SHARE * total}
    for before, after in pairwise(snapshots):
        for address in sorted(takes_part & before.peers.keys()):
            now = after.peers.get(address)
            if now is None:
                return f"station {address} was gone {after.at_s:+.0f} s from the start of the window"
            was_s, now_s = before.peers[address].connected_s, now.connected_s
            if was_s is not None and now_s is not None and now_s < was_s:
                return f"station {address} associated again {after.at_s:+.0f} s from the start of the window"
    return None


def _channel(snapshots: Sequence[WirelessSnapshot], target: str) -> GateFinding:
    gate = "channel-changed"
    known = [(snapshot.at_s, channel) for snapshot in snapshots if (channel := snapshot.channel) is not None]
    if not known:
        return GateFinding(gate, "not available", "iw does not report the channel", target)
    first = known[0][1]
    for at_s, channel in known[1:]:
        if channel != first:
            words = f"from {_shown(first)} to {_shown(channel)} {at_s:+.0f} s from the start of the window"
            return GateFinding(gate, "void", words, target)
    return GateFinding(gate, "ok", target=target)


def _shown(channel: tuple[int, float, int | None, float | None]) -> str:
    number, mhz, width_mhz, center_mhz = channel
    width = f", {width_mhz} MHz wide" if width_mhz is not None else ""
    center = f" around {center_mhz:g} MHz" if center_mhz is not None else ""
    return f"channel {number} ({mhz:g} MHz{width}{center})"


def _nothing(facts: RunFacts, reading: Reading, target: str, reason: str, *, gated: bool) -> Reading:
    if target == "dut":
        for key in FIGURES:
            reading.put(key, None, IW, reason)
        reading.put("rate_success_percent", None, RATES, reason)
        if facts.test.stations_measured:
            reading.put("airtime_jain_index", None, IW, reason)
    if target == "peer":
        put_no_access_point(reading, reason)
    if gated and facts.plan.gates.association and not facts.test.reconnects:
        reading.gates.append(GateFinding("association-lost", "not available", reason, target))
    if gated and facts.plan.gates.channel:
        reading.gates.append(GateFinding("channel-changed", "not available", reason, target))
    return reading
