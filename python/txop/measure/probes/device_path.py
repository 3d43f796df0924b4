"""Where in sysfs the device of a network interface hangs: on USB, on an SDIO slot, or elsewhere."""

from __future__ import annotations

import re

from txop.targets.contract import Target

_USB = re.compile(r"^(?P<device>/sys/devices/[^\n]{1,400}/usb\d+/(?:[^/\n]+/)*(?P<name>\d+-[\d.]+))(?:/|$)")
_SDIO = re.compile(r"/mmc_host/(?P<host>mmc\d{1,3})(?:/|$)")


async def device_path(target: Target, interface: str) -> str | None:
    """The device's folder in ``/sys/devices``; ``None`` for virtual interfaces and where sysfs does not show it."""
    ran = await target.run(["readlink", "-f", f"/sys/class/net/{interface}/device"], timeout_s=10)
    path = ran.stdout.strip()
    return path if ran.ok and path.startswith("/sys/devices/") and "/virtual/" not in path else None


def usb_device(path: str) -> str | None:
    """The folder of the USB device that ``path`` belongs to.

    >>> usb_device("/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1.4/1-1.4:1.0")
    '/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1.4'
    >>> usb_device("/sys/devices/pci0000:00/0000:00:1c.0") is None
    True
    """
    found = _USB.match(path)
    return found["device"] if found is not None else None


def mmc_host(path: str) -> str | None:
    """The MMC host that ``path`` hangs on.

    >>> mmc_host("/sys/devices/platform/soc/3f300000.mmcnr/mmc_host/mmc1/mmc1:0001/mmc1:0001:1")
    'mmc1'
    """
    found = _SDIO.search(path)
    return found["host"] if found is not None else None
