"""USB devices that came back slower than they were."""

from __future__ import annotations

import re
from collections import OrderedDict

_NEW = re.compile(
    r"usb (?P<port>\d{1,3}-[\d.]{1,30}): new (?P<speed>low-speed|full-speed|high-speed|"
    r"(?:low|full|high) speed|SuperSpeed(?: Plus)?(?: Gen \dx?\d?)?|super-speed\+?) USB device"
)
_FOUND = re.compile(
    r"usb (?P<port>\d{1,3}-[\d.]{1,30}): New USB device found, "
    r"idVendor=(?P<vendor>[0-9a-f]{4}), idProduct=(?P<product>[0-9a-f]{4})"
)
_RANK = {"low": 1, "full": 2, "high": 3, "super": 5}
_KEPT = 512


class SpeedWatch:
    """Remembers the highest speed of each device (port, vendor and product) of one boot.

    The same device on the same port is the same link: what is plugged in instead has other numbers.
    """

    def __init__(self) -> None:
        self._speed: OrderedDict[str, str] = OrderedDict()
        self._best: OrderedDict[tuple[str, str], str] = OrderedDict()

    def feed(self, message: str) -> str | None:
        """The speed the device had before, when ``message`` announces it slower than that; None otherwise."""
        if "USB device" not in message:
            return None
        if new := _NEW.match(message):
            self._speed[new["port"]] = new["speed"]
            if len(self._speed) > _KEPT:
                self._speed.popitem(last=False)
            return None
        if not (found := _FOUND.match(message)) or (speed := self._speed.get(found["port"])) is None:
            return None
        device = (found["port"], f"{found['vendor']}:{found['product']}")
        best = self._best.get(device)
        if best is None or rank(speed) > rank(best):
            self._best[device] = speed
            if len(self._best) > _KEPT:
                self._best.popitem(last=False)
            return None
        return best if rank(speed) < rank(best) else None

    def speed_of(self, port: str) -> str | None:
        """The speed last announced on ``port``."""
        return self._speed.get(port)


def rank(speed: str) -> int:
    """Order of speeds as the kernel writes them (drivers/usb/core/hub.c).

    >>> rank("full-speed") < rank("high-speed") < rank("SuperSpeed") < rank("SuperSpeed Plus Gen 2x1")
    True
    """
    slow = re.split(r"[- ]", speed.lower())[0].removesuffix("speed")
    return _RANK.get(slow, 4) + ("plus" in speed.lower() or "+" in speed)
