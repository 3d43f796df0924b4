"""Which device and driver a kernel message is about, out of what ``dev_printk`` and its kin put in front of it.

``dev_err`` prints "driver device: text" (drivers/base/core.c), ``netdev_err`` "driver device interface: text"
(net/core/dev.c), ``wiphy_err`` "ieee80211 phy0: text", mac80211 "wlan0: text".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Origin:
    """Device and driver of a message; None where it does not say."""

    device: str | None = None
    driver: str | None = None


_USB = re.compile(r"(?P<bus>\d{1,3})-(?P<port>\d{1,3}(?:\.\d{1,3}){0,7})(?::\d{1,3}\.\d{1,3}|-port\d{1,3})?")
_USB_ROOT = re.compile(r"usb(?P<bus>\d{1,3})(?:-port(?P<port>\d{1,3}))?")
_PCI = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_MMC = re.compile(r"(?P<host>mmc\d{1,3})(?::[0-9a-f]{4}(?::\d)?)?")
_PHY = re.compile(r"phy\d{1,5}")
_PLATFORM = re.compile(r"[0-9a-f]{4,16}\.[a-z][\w-]{0,63}|[a-z][\w-]{0,40}\.\d{1,3}\.auto")
_OWN_NAME = re.compile(r"(?:remoteproc|mhi|hci|cdc-wdm)\d{1,3}|ttyUSB\d{1,3}")
_INTERFACE = re.compile(
    r"(?:wlan|wwan|usb|eth|ath|ra|mon|ap|mesh|p2p-\w{1,8}-|rmnet\w{0,8}|br|lan|wan)\d[\d.]{0,5}"
    r"|phy\d{1,3}(?:\.\d)?-(?:ap|sta|mesh|mon|adhoc|p2p)\d{1,3}|wl\d{1,2}-(?:ap|sta|mesh)\d{1,3}|wlan\d{1,3}[-_]\d{1,3}"
    r"|(?:wl|ww|en)[psoxu][\da-f][\da-z.]{0,12}|br-[a-z]{1,8}"
)
"""Network interfaces by the names of the kernel, of systemd (man systemd.net-naming-scheme) and of OpenWrt."""

_FRONT = re.compile(
    r"(?:ath(?:5k)?: (?=phy))?(?P<first>[\w.-]{1,64})(?: (?P<second>[\w.:-]{1,64}?))?"
    r"(?: [\w.-]{1,20}(?: \(\w{1,20}\))?)?: "
)

_NO_DRIVER = frozenset(
    {"usb", "hub", "ieee80211", "ath", "pci", "pcieport", "mmc", "platform", "port", "usbcore", "net", "sdio"}
)
"""Names in front of a message that are a bus or a layer, not a driver."""


@lru_cache(maxsize=2048)
def normal_device(name: str) -> str | None:
    """How a device is called here: interfaces of one USB device are that device.

    >>> normal_device("1-1.5.4:1.0"), normal_device("mmc1:0001:1"), normal_device("0000:03:00.0")
    ('usb 1-1.5.4', 'mmc1', 'pci 0000:03:00.0')
    >>> normal_device("usb1-port3")
    'usb 1-3'
    """
    if found := _USB.fullmatch(name):
        port = re.search(r"-port(\d+)$", name)
        return f"usb {found['bus']}-{found['port']}" + (f".{port[1]}" if port else "")
    if found := _USB_ROOT.fullmatch(name):
        return f"usb {found['bus']}-{found['port']}" if found["port"] else f"usb bus {found['bus']}"
    if _PCI.fullmatch(name):
        return f"pci {'' if name.count(':') > 1 else '0000:'}{name.lower()}"
    if found := _MMC.fullmatch(name):
        return found["host"]
    if _PHY.fullmatch(name) or _OWN_NAME.fullmatch(name) or _INTERFACE.fullmatch(name):
        return name
    if _PLATFORM.fullmatch(name):
        return f"platform {name}"
    return None


def origin(message: str) -> Origin:
    """Device and driver that stand in front of ``message``.

    >>> origin("rtl8xxxu 1-1:1.0: probe with driver rtl8xxxu failed with error -11")
    Origin(device='usb 1-1', driver='rtl8xxxu')
    >>> origin("mmc0: error -110 whilst initialising SDIO card")
    Origin(device='mmc0', driver=None)
    """
    found = _FRONT.match(message)
    if found is None:
        return Origin()
    first, second = found["first"], found["second"]
    if second is not None and (device := normal_device(second)) is not None:
        return Origin(device, None if first in _NO_DRIVER else first)
    return Origin(normal_device(first))


def without_origin(message: str) -> str:
    """``message`` without the driver and the device in front.

    >>> without_origin("r8152 2-1:1.0 eth0: Tx status -71"), without_origin("failed")
    ('Tx status -71', 'failed')
    """
    found = _FRONT.match(message)
    return message if found is None or origin(message).device is None else message[found.end() :]


def from_journal(hint: str) -> str | None:
    """The device out of the journal's ``_KERNEL_DEVICE`` (man systemd.journal-fields).

    >>> from_journal("+usb:1-1.5"), from_journal("+pci:0000:00:14.0"), from_journal("n3")
    ('usb 1-1.5', 'pci 0000:00:14.0', None)
    """
    if not hint.startswith("+"):
        return None
    return normal_device(hint.partition(":")[2])
