"""Classifies messages about a USB port by the messages that follow them.

A reset that a driver makes in its own probe is no fault; a device that leaves and comes back as another product has
changed its mode; a driver that refuses a device leaves it to the next one. The message is held until that is known,
for a short time at most.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from txop.log.causes import when
from txop.log.record import Record
from txop.log.tally import Occurrence

_MAX_PORTS = 256
_MAX_HELD = 32

_PROBE_S, _PROBE_LINES = 5.0, 15
"""A driver that resets the port in its probe prints something within this."""

_RETURN_S, _RETURN_LINES = 15.0, 40
"""A device that changes its mode is back within this."""

_NEW = re.compile(r"usb (?P<port>\d{1,3}-[\d.]{1,30}): new .{3,40} USB device (?:number|using)")
_FOUND = re.compile(
    r"usb (?P<port>\d{1,3}-[\d.]{1,30}): New USB device found, "
    r"idVendor=(?P<vendor>[0-9a-f]{4}), idProduct=(?P<product>[0-9a-f]{4})"
)
_RT2X00 = re.compile(r"ieee80211 phy\d{1,5}: rt2x00_set_(?:rt|rf|chip): ")
_NO_DRIVER = frozenset({"usbcore", "hub", "usb", "port", "cdc_wdm", "usbfs", "usb_modeswitch"})


@dataclass
class _Port:
    product: str | None = None
    drivers: set[str] = field(default_factory=set)
    left: Occurrence | None = None
    """The disconnect that is held."""
    was: str | None = None
    """The product before it."""
    had: set[str] = field(default_factory=set)
    """The drivers before it."""
    back: bool = False
    """Whether something came up again since then."""
    rounds: int = 0
    """How often the same product came back."""
    again: bool = False
    """Whether it had come back before it left."""
    resets: list[Occurrence] = field(default_factory=list)
    refused: list[Occurrence] = field(default_factory=list)


@dataclass(frozen=True)
class SettledMessage:
    """What a held message is: the occurrence, and the detector of the rule that takes it (None: what it seemed)."""

    occurrence: Occurrence
    detector: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    in_addition: bool = False
    """Whether it counts beside what it seemed."""


_MARGIN_S = 0.01


class _Deadline:
    """Until when no held message can be late, so that they need no check at every line."""

    def __init__(self) -> None:
        self._from_s = -math.inf
        self._until_s = math.inf
        self._until_line = math.inf
        self._until_line_without_time = math.inf

    def add(self, held: Occurrence, *, leaves: bool) -> None:
        """``held`` waits, too; ``leaves``: it is a disconnect."""
        seconds, lines = (_RETURN_S, _RETURN_LINES) if leaves else (_PROBE_S, _PROBE_LINES)
        until_line = held.record.line + lines
        self._until_line = min(self._until_line, until_line)
        if (at_s := when(held.record)) is None:
            self._until_line_without_time = min(self._until_line_without_time, until_line)
            return
        self._from_s = max(self._from_s, at_s - 1 + _MARGIN_S)
        self._until_s = min(self._until_s, at_s + seconds - _MARGIN_S)

    def lasts(self, record: Record, at_s: float | None) -> bool:
        """Whether none can be late at ``record``."""
        if at_s is None:
            return record.line <= self._until_line
        return self._from_s <= at_s <= self._until_s and record.line <= self._until_line_without_time


class UsbPorts:
    """Holds the messages of one boot that later ones may explain.

    ``resetters``: drivers that reset the port in their probe.
    """

    def __init__(self, resetters: frozenset[str]) -> None:
        self._ports: OrderedDict[str, _Port] = OrderedDict()
        self._resetters = resetters
        self._held = 0
        self._patience = _Deadline()

    def hold(self, occurrence: Occurrence) -> bool:
        """Whether ``occurrence`` is held until :meth:`feed` settles it."""
        device = occurrence.device
        if device is None or not device.startswith("usb ") or self._held >= _MAX_HELD:
            return False
        port = self._port(device)
        if occurrence.rule.key == "usb-disconnect":
            if port.left is not None:
                return False
            port.left, port.was, port.had, port.back = occurrence, port.product, port.drivers, False
            port.drivers, port.product, port.again = set(), None, port.rounds > 0
        elif occurrence.rule.key == "usb-reset":
            port.resets.append(occurrence)
        elif occurrence.rule.key == "probe-failed":
            port.refused.append(occurrence)
        else:
            return False
        self._held += 1
        self._patience.add(occurrence, leaves=occurrence.rule.key == "usb-disconnect")
        return True

    def feed(self, record: Record, device: str | None, driver: str | None) -> list[SettledMessage]:
        """What is known with this message of ``device`` and ``driver``."""
        message = record.message
        if not self._held and device is None and "usb" not in message[:8]:
            return []
        settled = list(self._expired(record)) if self._held else []
        if " USB device " in message:
            if new := _NEW.match(message):
                self._port(f"usb {new['port']}").back = True
                return settled
            if found := _FOUND.match(message):
                return [*settled, *self._identified(f"usb {found['port']}", f"{found['vendor']}:{found['product']}")]
        if message.startswith("usbcore: deregistering interface driver "):
            for port in self._ports.values():
                port.drivers.discard(message.rpartition(" ")[2])
        if self._held and driver is None and _RT2X00.match(message):
            return [*settled, *self._probed(None, "rt2800usb")]
        if device is not None and driver is not None and device.startswith("usb ") and driver not in _NO_DRIVER:
            settled += self._probed(device, driver)
            port = self._port(device)
            if not message.endswith(("disconnected", "device disconnected")) and ": unregister '" not in message:
                if not (port.left is not None and not port.back):
                    port.drivers.add(driver)
                settled += self._switched(port)
        return settled

    def finish(self) -> list[SettledMessage]:
        """What is still held, as it seemed."""
        return [one for port in self._ports.values() for one in self._release(port, everything=True)]

    def _port(self, device: str) -> _Port:
        if device not in self._ports:
            self._ports[device] = _Port()
            while len(self._ports) > _MAX_PORTS:
                oldest = next((name for name, port in self._ports.items() if not _holds(port) and name != device), None)
                if oldest is None:
                    break
                del self._ports[oldest]
        return self._ports[device]

    def _expired(self, record: Record) -> Iterator[SettledMessage]:
        at_s = when(record)
        if self._patience.lasts(record, at_s):
            return
        self._patience = _Deadline()
        for port in self._ports.values():
            if _holds(port):
                yield from self._release(port, record, at_s)
                for held in (*port.resets, *port.refused):
                    self._patience.add(held, leaves=False)
                if port.left is not None:
                    self._patience.add(port.left, leaves=True)

    def _release(
        self, port: _Port, record: Record | None = None, at_s: float | None = None, *, everything: bool = False
    ) -> list[SettledMessage]:
        gone: list[SettledMessage] = []

        def late(held: Occurrence, seconds: float, lines: int) -> bool:
            if everything or record is None:
                return True
            before = when(held.record)
            if at_s is not None and before is not None:
                return not -1 <= at_s - before <= seconds
            return record.line - held.record.line > lines

        if port.left is not None and late(port.left, _RETURN_S, _RETURN_LINES):
            gone += _left(port, port.left)
            self._held += len(gone) - 1
            port.left = None
            if not port.back:
                port.rounds = 0
        for held in [one for one in port.resets if late(one, _PROBE_S, _PROBE_LINES)]:
            port.resets.remove(held)
            gone.append(SettledMessage(held))
        for held in [one for one in port.refused if late(one, _PROBE_S, _PROBE_LINES)]:
            port.refused.remove(held)
            gone.append(SettledMessage(held))
        self._held -= len(gone)
        return gone

    def _identified(self, device: str, product: str) -> list[SettledMessage]:
        port = self._port(device)
        port.product, port.back = product, True
        if port.left is None:
            return []
        left, was = port.left, port.was
        if was is None:  # the log begins when it is already there, so what it was is not known
            port.left = None
            self._held -= 1
            return [SettledMessage(left)]
        if product == was:
            port.rounds += 1
            port.left = None
            self._held -= 1
            return _left(port, left)
        port.rounds = 0
        if product[:4] != was[:4] and "usb-storage" not in port.had:
            return []
        port.left = None
        self._held -= 1
        return [SettledMessage(left, "usb-identity-changed", {"before": was, "now": product})]

    def _switched(self, port: _Port) -> list[SettledMessage]:
        """A device of which only the drivers are known, before and after."""
        if port.left is None or not port.back or port.product is not None or not port.had or port.drivers & port.had:
            return []
        left, port.left = port.left, None
        self._held -= 1
        values = {"before": ", ".join(sorted(port.had)), "now": ", ".join(sorted(port.drivers))}
        return [SettledMessage(left, "usb-identity-changed", values)]

    def _probed(self, device: str | None, driver: str) -> list[SettledMessage]:
        """``driver`` spoke about ``device`` (None: about a device of its kind, not known which)."""
        if not self._held:
            return []
        ports = [port for name, port in self._ports.items() if device in (None, name)]
        gone: list[SettledMessage] = []
        for port in ports:
            if driver in self._resetters and driver not in port.drivers and port.resets:
                gone += [SettledMessage(held, "usb-reset-in-probe", {"driver": driver}) for held in port.resets]
                port.resets = []
            others = [held for held in port.refused if device is not None and held.driver not in (None, driver)]
            for held in others:
                port.refused.remove(held)
                gone.append(SettledMessage(held, "usb-next-driver", {"taken_by": driver}))
        self._held -= len(gone)
        return gone


def _left(port: _Port, held: Occurrence) -> list[SettledMessage]:
    """A disconnect that is one, and once more when the device had come back before."""
    values = {"product": port.was} if port.was is not None else {}
    return [
        SettledMessage(held),
        *([SettledMessage(held, "usb-came-back", values, in_addition=True)] if port.again else []),
    ]


def _holds(port: _Port) -> bool:
    return port.left is not None or bool(port.resets) or bool(port.refused)
