"""Which interrupt lines are those of a network device: its own, or of the USB or SDIO host it hangs on."""

from __future__ import annotations

import re

from txop.targets.contract import Target

_HOST = re.compile(r"^(?P<host>/sys/devices/.+?)/(?:usb\d+|mmc_host)(?:/|$)")
MAX_LINES = 256


async def lines_of_device(target: Target, interface: str) -> set[str]:
    """Labels in /proc/interrupts; empty when the target does not report them.

    From sysfs: ``msi_irqs/`` and ``irq`` of the PCI device; for USB and SDIO those of the host controller. A platform
    device has neither, and its line is found by the controller's name.
    """
    resolved = await target.run(["readlink", "-f", f"/sys/class/net/{interface}/device"], timeout_s=10)
    device = resolved.stdout.strip()
    if not resolved.ok or not device.startswith("/sys/devices/") or "/virtual/" in device:
        return set()
    owner = host_of(device)
    lines: set[str] = set()
    listed = await target.run(["ls", f"{owner}/msi_irqs"], timeout_s=10)
    if listed.ok:
        lines.update(name for name in listed.stdout.split()[:MAX_LINES] if name.isdecimal())
    irq = (await target.read(f"{owner}/irq", limit_bytes=32) or b"").strip()
    if not lines and irq.isdigit() and irq != b"0":
        lines.add(irq.decode())
    return lines or await _by_name(target, owner.rpartition("/")[2])


def host_of(device: str) -> str:
    """The device with interrupts that serve ``device`` (a path in /sys/devices).

    >>> host_of("/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1:1.0")
    '/sys/devices/pci0000:00/0000:00:14.0'
    >>> host_of("/sys/devices/pci0000:00/0000:00:1c.0/0000:02:00.0")
    '/sys/devices/pci0000:00/0000:00:1c.0/0000:02:00.0'
    """
    match = _HOST.match(device)
    return match.group("host") if match else device


async def _by_name(target: Target, name: str) -> set[str]:
    from txop.formats import proc_interrupts
    from txop.formats.error import FormatError

    try:
        table = proc_interrupts.parse(await target.read("/proc/interrupts", limit_bytes=1 << 20) or b"")
    except FormatError:
        return set()
    return {row.label for row in table.rows.values() if name and name in row.description}
