"""The virtual chip's own counters in a guest: what the driver asked of it and what went over its air, as figures; and
whether the test's traffic is in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.core.metrics import METRICS, station_key
from txop.formats.proc_stat import increase
from txop.guest.device_statistics.layout import FORMAT
from txop.measure.instrument import GateFinding, PostRunInstrument, Reading, RunFacts
from txop.measure.probes.air_analysis import main_direction
from txop.measure.probes.windowed import bounded_json
from txop.measure.traffic.iperf3_reading import jain
from txop.plan.devices import ON_PCI, ROWS, SDIO_CARDS
from txop.plan.guest import GuestSpec
from txop.plan.guest_function import ModemSpec

WINDOW_FILE, END_FILE = "chip-window.json", "chip-end.json"
"""Counters at the start and at the end of the measured window."""
STATIONS_FILE = "stations.txt"
"""Name and address of each station of the chip, a line each."""
TOTAL_FILE = "chip.json"
"""Counters of the whole run, when the chip was turned off."""
SOURCE = "counters of the virtual chip"

LOOKS = {
    "iw-phy.txt": ("iw", "phy"),
    "iw-link.txt": ("iw", "dev", "wlan0", "link"),
    "iw-station.txt": ("iw", "dev", "wlan0", "station", "dump"),
    "iw-info.txt": ("iw", "dev", "wlan0", "info"),
}
"""What iw says after the window, by file."""
FUNCTION_LOOKS = {"qdisc.txt": ("tc", "-s", "-d", "qdisc", "show")}
"""What is asked after the window of a network function, by file."""

FORMAT_FILE = "qmi-format.txt"
"""What qmicli reported of the data path that it negotiated."""

FILES = {
    FORMAT_FILE: "output of qmicli: the data path negotiated with the modem",
    TOTAL_FILE: "counters of the virtual chip, of the whole run",
    WINDOW_FILE: "counters of the virtual chip at the start of the window",
    END_FILE: "counters of the virtual chip at the end of the window",
    **{name: f"output of `{' '.join(argv)}` after the window" for name, argv in (LOOKS | FUNCTION_LOOKS).items()},
    "vusb.log": "log of the virtual chip",
    "hostapd.log": "log of the access point",
    STATIONS_FILE: "stations of the access point: name and address",
    "wpa_supplicant.log": "log of wpa_supplicant",
    "kernel.log": "the kernel log, from the boot on",
}
"""What a run in a guest may leave, and what each is."""

LEGACY_MBIT_S = (1.0, 2.0, 5.5, 11.0, 6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
"""Rates of the descriptors' first twelve codes (Linux rtl8xxxu.h, DESC_RATE_1M to DESC_RATE_54M)."""
FASTEST_MBIT_S = {20: 72.2, 40: 150.0}
"""By width in MHz: the fastest rate of one spatial stream, MCS 7 with short guard interval (IEEE 802.11-2020, tables
19-27 and 19-31)."""
FASTEST_VHT_MBIT_S = {20: 86.7, 40: 200.0, 80: 433.3}
"""The same of VHT, which is in 5 GHz: MCS 8 in 20 MHz, else 9 (21.5)."""
LITTLE_BYTES = 100_000
"""Less payload than this is not judged."""
FULL = 1.01
"""Share of the time that the air may be used: an exchange that begins within the window may end behind it."""

_ENGINE = "chip_engine_percent"
_CARD = ("chip_cmd52_per_s", "chip_cmd53_per_s", "chip_cmd53_bytes", "chip_sdio_interrupts_per_s")
_OF_STATIONS = "chip_airtime_jain_index"
_KEYS = tuple(key for key in METRICS if key.startswith("chip_") and key != _OF_STATIONS)


@dataclass(frozen=True)
class Growth:
    """What the counters grew by within the window, or in the whole run."""

    seconds: float
    counters: Mapping[str, int]
    """By path, as in ``device.air.chip.mpdus``; those that went back, because the chip was plugged in again, are not
    there."""

    def get(self, path: str) -> int | None:
        """One of them; ``None`` when it is not known."""
        return self.counters.get(path)


class ChipCounters(PostRunInstrument):
    """Reads the counters that the guest's script asked the chip for; records nothing itself."""

    name = "virtual chip"

    def read(self, facts: RunFacts) -> Reading:
        """Figures over the window; the gates are judged in :func:`judge`, which needs the payload."""
        reading = Reading()
        reading.files.update({name: what for name, what in FILES.items() if (facts.folder / name).is_file()})
        grown = growth(facts.folder)
        if grown is None:
            for key in _KEYS:
                reading.put(key, None, SOURCE, "the chip's counters of this window are not there")
            return reading
        guest = facts.plan.guest_of(facts.arm)
        sides = sides_of(guest)
        side = sides.get(main_direction(facts.test, facts.plan.warm_up_s(facts.test)) or "", "chip")
        why = "nothing was counted within the window"
        on_no_usb = _why_no_usb(guest)
        if guest is not None and guest.is_function:
            why = f"a network function ({guest.device}) has no such figure"
        for key, value in _figures(grown, side).items():
            reason = "only a virtual modem has one" if key == _ENGINE and guest and not guest.is_function else why
            if key in _CARD and guest is not None and guest.device not in SDIO_CARDS:
                reason = f"the {guest.device} is not an SDIO card"
            if key == "chip_urbs_per_s" and on_no_usb is not None:
                value, reason = None, on_no_usb
            reading.put(key, value, SOURCE, None if value is not None else reason)
        if guest is not None and guest.stations is not None:
            _stations(reading, grown, [station.name for station in guest.stations], side)
        return reading


def _why_no_usb(guest: GuestSpec | None) -> str | None:
    """Why the device has no URBs; ``None``: it has."""
    if guest is not None and guest.device in ON_PCI:
        return f"the {guest.device} is on PCI"
    if guest is not None and guest.sdio is not None and guest.sdio.host == "virtual":
        return "a card in the slot of the virtual host is on no USB"
    return None


def sides_of(guest: GuestSpec | None) -> dict[str, str]:
    """By direction as seen from a station: who sends on the air, by the counters' names."""
    if guest is not None and guest.stations is not None:
        return {"uplink": PEERS, "downlink": "chip"}
    return {"uplink": "chip", "downlink": "ap"}


PEERS = "peers"
"""Name for the sum of all stations' counters, where the chip is their access point."""
_STATION = re.compile(r"device\.air\.stations\.(?P<number>[0-9]{1,3})\.(?P<way>up|down)\.(?P<what>[a-z_]{1,40})")


def _stations(reading: Reading, grown: Growth, names: Sequence[str], side: str) -> None:
    """Figures of each station by the air's own count, and how evenly they share its time."""
    way = "up" if side == PEERS else "down"
    why = "nothing was counted within the window"
    airtimes: list[int] = []
    for number, name in enumerate(names):

        def count(what: str, *ways: str, at: str = f"device.air.stations.{number}") -> int | None:
            found = [grown.get(f"{at}.{each}.{what}") for each in ways]
            known = [value for value in found if value is not None]
            return sum(known) if len(known) == len(found) else None

        airtime_ns = count("airtime_ns", "up", "down")
        airtimes += [] if airtime_ns is None else [airtime_ns]
        mpdus = count("mpdus", way)
        figures = {
            "chip_airtime_percent": _ratio(airtime_ns, grown.seconds * 1e9, 100),
            "chip_ppdu_mpdus": _ratio(mpdus, count("ppdus", way)),
            "chip_retry_percent": _ratio(count("retries", way), mpdus, 100),
        }
        for key, value in figures.items():
            reading.put(station_key(name, key), value, SOURCE, None if value is not None else why)
    index = jain(airtimes) if len(airtimes) == len(names) else None
    if len(names) > 1:
        reading.put("chip_airtime_jain_index", index, SOURCE, None if index is not None else why)


def growth(folder: Path) -> Growth | None:
    """What the counters of a run's folder grew by within the window; ``None`` when they were not recorded."""
    before, after = _counters(folder / WINDOW_FILE), _counters(folder / END_FILE)
    if before is None or after is None:
        return None
    clock = increase(before.get("monotonic_ns"), after.get("monotonic_ns"))
    if not clock:
        return None
    grown = {path: increase(value, after.get(path)) for path, value in before.items()}
    known = {path: value for path, value in grown.items() if value is not None}
    return Growth(clock / 1e9, known | _of_peers(known))


def _total(folder: Path) -> Growth | None:
    """What a run's counters grew by from the moment when the chip was plugged in to the end of the run; ``None`` when
    that was not recorded, or one of them was lower at the end than within the run: it was plugged in again."""
    start, ends, last = (_counters(folder / name) for name in (WINDOW_FILE, END_FILE, TOTAL_FILE))
    if start is None or ends is None or last is None:
        return None
    moments = [[each.get(path, 0) for each in (start, ends, last)] for path in last if path.endswith("bytes")]
    if any(counts != sorted(counts) for counts in moments):
        return None
    return Growth(last.get("monotonic_ns", 0) / 1e9, last | _of_peers(last))


def _of_peers(counters: Mapping[str, int]) -> dict[str, int]:
    """The sums over all stations of an access point."""
    sums: dict[str, int] = {}
    for path, value in counters.items():
        if (found := _STATION.fullmatch(path)) is not None and found["way"] == "up":
            key = f"device.air.{PEERS}.{found['what']}"
            sums[key] = sums.get(key, 0) + value
    return sums


def judge(
    facts: RunFacts, payload: Mapping[str, float] | None, in_all: Mapping[str, float], width_mhz: float | None
) -> list[GateFinding]:
    """Whether the chip carried the traffic, and whether its air could have.

    Args:
        facts: Of the run.
        payload: Bytes that the traffic moved within the window: ``uplink``, ``downlink``; ``None`` without a window.
        in_all: Bytes that it moved in the whole run, warm-up included, or the part of them that is known.
        width_mhz: Of the channel; ``None``: not known, the widest counts.
    """
    gates = ("chip-traffic", "above-phy")
    if payload is None:
        return [GateFinding(gate, "not available", "the run has no measured window", "dut") for gate in gates]
    moved = sum(payload.values())
    if moved < LITTLE_BYTES:
        return []
    grown = growth(facts.folder)
    if grown is None:
        words = "the chip's counters of this window are not there"
        return [GateFinding(gate, "not available", words, "dut") for gate in gates]
    seconds = facts.marks.window_s or grown.seconds
    guest = facts.plan.guest_of(facts.arm)
    if guest is not None and guest.is_function:
        rates = {direction: count * 8 / 1e6 / seconds for direction, count in payload.items()}
        return [_passed(_total(facts.folder), in_all, guest, air=False), _within_radio(guest, rates)]
    streams = 1 if guest is None else ROWS[guest.device].streams or 1
    fastest = streams * _fastest(width_mhz, in_5_ghz=guest is not None and guest.is_in_5_ghz)
    return [_passed(_total(facts.folder), in_all, guest), _possible(grown, moved / seconds, fastest)]


def _within_radio(guest: GuestSpec, rates: Mapping[str, float]) -> GateFinding:
    """The gate ``above-phy`` of a network function: a modem's radio has a rate each way."""
    if guest.device != "qmi-modem":
        return GateFinding("above-phy", "not available", f"{guest.device} has no modelled rate", "dut")
    modem = guest.modem or ModemSpec()
    for direction, most in (("uplink", modem.uplink_mbit_s), ("downlink", modem.downlink_mbit_s)):
        if rates.get(direction, 0.0) > FULL * most:
            words = f"{rates[direction]:.1f} Mbit/s of payload {direction}, more than the {most:g} Mbit/s of the radio"
            return GateFinding("above-phy", "void", words, "dut")
    return GateFinding("above-phy", "ok", target="dut")


def _passed(
    total: Growth | None, payload: Mapping[str, float], guest: GuestSpec | None, *, air: bool = True
) -> GateFinding:
    """The gate ``chip-traffic``: every byte of payload is in an MPDU that was acknowledged, and in a transfer.

    That is asked of the whole run. iperf3's window begins when its own connection is up, the chip's by the script's
    clock: the windows may lie half a second beside each other, and while a download ramps up that is a third of it.
    ``air``: there is one.
    """
    if total is None:
        words = "the chip's counters of the whole run are not there, or it was plugged in again"
        return GateFinding("chip-traffic", "not available", words, "dut")
    for direction, side in sides_of(guest).items():
        transfers = "out" if side == "chip" else "in"
        bytes_moved = payload.get(direction, 0.0)
        on_air, on_bus = total.get(f"device.air.{side}.bytes"), _bus_bytes(total, transfers, guest)
        looked_at = [(on_air, f"on the air ({direction})")] if air else []
        for counted, where in (*looked_at, (on_bus, f"on the bus ({transfers})")):
            if counted is None:
                return GateFinding("chip-traffic", "not available", f"the chip did not count bytes {where}", "dut")
            if counted < bytes_moved:
                words = (
                    f"{bytes_moved / 1e6:.2f} MB of payload moved {direction}, and in the whole run the chip counted "
                    f"{counted / 1e6:.2f} MB {where}: the traffic took another way"
                )
                return GateFinding("chip-traffic", "void", words, "dut")
    return GateFinding("chip-traffic", "ok", target="dut")


def _bus_bytes(grown: Growth, transfers: str, guest: GuestSpec | None) -> int | None:
    """Bytes over the device's bus: the SDIO bus of a card, whatever host it is in, frames to and from memory on PCI,
    else USB."""
    if guest is not None and guest.device in ON_PCI:
        return grown.get(f"device.{'tx' if transfers == 'out' else 'rx'}.bytes")
    of_card = grown.get(f"device.sdio.card.cmd53_{'written' if transfers == 'out' else 'read'}_bytes")
    return grown.get(f"urbs.{transfers}_bytes") if of_card is None else of_card


def _fastest(width_mhz: float | None, *, in_5_ghz: bool) -> float:
    """The fastest rate of one stream in a channel of this width, Mbit/s."""
    rates = FASTEST_VHT_MBIT_S if in_5_ghz else FASTEST_MBIT_S
    return next(
        (rate for width, rate in rates.items() if width_mhz is not None and width_mhz <= width), rates[max(rates)]
    )


def _possible(grown: Growth, bytes_per_s: float, fastest: float) -> GateFinding:
    """The gate ``above-phy``: both directions share one air, and no rate on it is faster than the fastest."""
    rate = bytes_per_s * 8 / 1e6
    used = _airtime_share(grown)
    if rate > fastest:
        words = f"{rate:.1f} Mbit/s of payload, more than the {fastest:g} Mbit/s of the fastest modelled rate"
    elif used is not None and used > FULL:
        words = f"exchanges took {100 * used:.1f} % of the time on the modelled air"
    else:
        return GateFinding("above-phy", "ok", target="dut")
    return GateFinding("above-phy", "void", words, "dut")


def _airtime_share(grown: Growth) -> float | None:
    """Share of the time that was busy; a collision counts once."""
    busy_ns = grown.get("device.air.busy_ns")
    return None if busy_ns is None else busy_ns / 1e9 / grown.seconds


def _figures(grown: Growth, side: str) -> dict[str, float | None]:
    frames = grown.get("device.tx.frames")
    used = _airtime_share(grown)
    accesses = [grown.get(f"device.chip.{kind}") for kind in ("reads", "writes")]
    known = [count for count in accesses if count is not None]
    retries, mpdus, ppdus = (grown.get(f"device.air.{side}.{what}") for what in ("retries", "mpdus", "ppdus"))
    return {
        "chip_urbs_per_s": _ratio(grown.get("urbs.succeeded"), grown.seconds),
        "chip_interrupts_per_s": _ratio(grown.get("device.chip.interrupts"), grown.seconds),
        "chip_register_accesses_per_s": _ratio(sum(known) if len(known) == 2 else None, grown.seconds),
        "chip_retry_percent": _ratio(retries, mpdus, 100),
        "chip_ppdu_mpdus": _ratio(mpdus, ppdus),
        "chip_airtime_percent": None if used is None else 100 * used,
        "chip_rx_frames_per_urb": _ratio(grown.get("device.rx.delivered"), grown.get("device.rx.transfers")),
        "chip_rx_overflows_per_s": _ratio(grown.get("device.rx.overflows"), grown.seconds),
        "chip_aggregate_percent": _ratio(grown.get("device.tx.aggregate"), frames, 100),
        "chip_rts_percent": _ratio(grown.get("device.tx.rts"), frames, 100),
        "chip_hardware_rts_percent": _ratio(grown.get("device.tx.hardware_rts"), frames, 100),
        "chip_rts_rate_mbit_s": _rts_rate(grown),
        **_card_figures(grown),
        _ENGINE: _ratio(grown.get("device.qmi_modem.engine_busy_ns"), grown.seconds * 1e9, 100),
    }


def _card_figures(grown: Growth) -> dict[str, float | None]:
    """Those of an SDIO card."""

    def both(*names: str) -> int | None:
        counts = [grown.get(f"device.sdio.card.{name}") for name in names]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(names) else None

    commands = both("cmd53_reads", "cmd53_writes")
    return {
        "chip_cmd52_per_s": _ratio(both("cmd52_reads", "cmd52_writes"), grown.seconds),
        "chip_cmd53_per_s": _ratio(commands, grown.seconds),
        "chip_cmd53_bytes": _ratio(both("cmd53_read_bytes", "cmd53_written_bytes"), commands),
        "chip_sdio_interrupts_per_s": _ratio(both("interrupts"), grown.seconds),
    }


def _rts_rate(grown: Growth) -> float | None:
    counts = [grown.get(f"device.tx.rts_rates.{code}") or 0 for code in range(len(LEGACY_MBIT_S))]
    weighted = sum(count * rate for count, rate in zip(counts, LEGACY_MBIT_S, strict=True))
    return weighted / sum(counts) if any(counts) else None


def _ratio(part: float | None, whole: float | None, scale: float = 1) -> float | None:
    return None if part is None or not whole else scale * part / whole


def _counters(path: Path) -> dict[str, int] | None:
    """Whole numbers of a file by path; ``None`` for a file that is missing, damaged or something else."""
    try:
        document = bounded_json(path)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    found: dict[str, int] = {}
    _flatten(document, "", found)
    return found


def _flatten(value: object, path: str, into: dict[str, int], depth: int = 0) -> None:
    pairs: list[tuple[object, object]] = []
    if isinstance(value, dict):
        pairs = [*value.items()]
    elif isinstance(value, list):
        pairs = [*enumerate(value)]
    elif isinstance(value, int) and not isinstance(value, bool):
        into[path] = value
    if depth < MAX_DEPTH:
        for key, inner in pairs:
            _flatten(inner, f"{path}.{key}" if path else str(key), into, depth + 1)


MAX_DEPTH = 8
"""Deepest nesting of the counters' document."""
