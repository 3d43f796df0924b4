"""What a target is: the facts that make a figure reproducible, each with what the target can tell and nothing guessed.

Every fact that a target does not give is in ``not_available`` with the reason, so that a reader can tell "none" from
"not asked".
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from txop.targets.contract import CommandTimeout, Ran, Target

MAX_TEXT = 400
_TOOLS = (("iperf3", "--version"), ("ping", "-V"), ("irtt", "version"), ("iw", "--version"), ("tcpdump", "--version"))
_USB_ATTRIBUTES = ("idVendor", "idProduct", "bcdDevice", "speed", "version", "manufacturer", "product", "serial")
_USB_SPEED_NAMES = {"1.5": "low-speed", "12": "full-speed", "480": "high-speed", "5000": "SuperSpeed"}


async def provenance(target: Target) -> dict[str, Any]:
    """Facts of a target: kernel, distribution, machine, the interface under test with its driver and bus, regulatory
    domain, tool versions. Raises :class:`~txop.targets.contract.TargetLost` only."""
    facts = _Facts(target)
    await facts.command("kernel", ["uname", "-r"])
    await facts.command("kernel_build", ["uname", "-v"])
    await facts.command("machine", ["uname", "-m"])
    await facts.file("hardware", "/sys/firmware/devicetree/base/model", "/sys/class/dmi/id/product_name")
    await facts.distribution()
    await facts.processors()
    if target.interface is not None:
        await facts.network_interface(target.interface)
    await facts.regulatory_domain()
    await facts.tools()
    await facts.file("tcp_congestion", "/proc/sys/net/ipv4/tcp_congestion_control")
    await facts.file("default_qdisc", "/proc/sys/net/core/default_qdisc")
    await facts.file("tainted", "/proc/sys/kernel/tainted")
    if facts.missing:
        facts.found["not_available"] = facts.missing
    return facts.found


class _Facts:
    def __init__(self, target: Target) -> None:
        self._target = target
        self.found: dict[str, Any] = {}
        self.missing: dict[str, str] = {}

    async def _run(self, argv: list[str]) -> Ran:
        """A question that is given up after a while: a tool that hangs is as good as none."""
        try:
            return await self._target.run(argv, timeout_s=10)
        except CommandTimeout:
            return Ran(124)

    async def command(self, key: str, argv: list[str]) -> None:
        ran = await self._run(argv)
        text = ran.stdout.strip()
        if ran.ok and text:
            self.found[key] = text.splitlines()[0][:MAX_TEXT]
        else:
            self.missing[key] = f"{argv[0]} is not there" if ran.status == 127 else f"{argv[0]} ended with {ran.status}"

    async def file(self, key: str, *paths: str) -> None:
        for path in paths:
            text = await self._text(path)
            if text:
                self.found[key] = text
                return
        self.missing[key] = f"no {paths[-1]}"

    async def distribution(self) -> None:
        text = (await self._target.read("/etc/os-release", limit_bytes=16384) or b"").decode("utf-8", "replace")
        match = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, re.MULTILINE)
        if match:
            self.found["distribution"] = match.group(1)[:MAX_TEXT]
        else:
            self.missing["distribution"] = "no /etc/os-release"

    async def processors(self) -> None:
        text = (await self._target.read("/proc/cpuinfo", limit_bytes=1 << 18) or b"").decode("utf-8", "replace")
        count = len(re.findall(r"^processor\s*:", text, re.MULTILINE))
        model = re.search(r"^(?:model name|Processor|cpu model|Hardware)\s*:\s*(.+)$", text, re.MULTILINE)
        if count:
            self.found["processors"] = count
        if model:
            self.found["processor"] = model.group(1).strip()[:MAX_TEXT]

    async def network_interface(self, name: str) -> None:
        """Driver, module, firmware and bus of the interface under test."""
        base = f"/sys/class/net/{name}"
        about: dict[str, Any] = {"name": name}
        for key, path in (("address", "address"), ("mtu", "mtu"), ("operstate", "operstate")):
            if text := await self._text(f"{base}/{path}"):
                about[key] = text
        driver = await self._link(f"{base}/device/driver")
        module = await self._link(f"{base}/device/driver/module")
        if driver:
            about["driver"] = driver
        if module:
            about["module"] = module
            for key in ("srcversion", "version"):
                if text := await self._text(f"/sys/module/{module}/{key}"):
                    about[key] = text
            about["parameters"] = await self._parameters(module)
        await self._ethtool(name, about)
        await self._bus(f"{base}/device", about)
        for key in ("driver", "module"):
            if key not in about:
                self.missing[f"interface {key}"] = f"{name} has no {key} in sysfs"
        self.found["interface"] = about

    async def _parameters(self, module: str) -> dict[str, str]:
        folder = f"/sys/module/{module}/parameters"
        listed = await self._run(["ls", folder])
        values: dict[str, str] = {}
        for key in listed.stdout.split()[:100] if listed.ok else []:
            text = await self._text(f"{folder}/{key}")
            if text is not None:
                values[key[:64]] = text
        return values

    async def _ethtool(self, name: str, about: dict[str, Any]) -> None:
        program = await self._target.find("ethtool")
        if program is None:
            self.missing["firmware version"] = "no ethtool"
            return
        ran = await self._run([program, "-i", name])
        for line in ran.stdout.splitlines() if ran.ok else []:
            key, _, value = line.partition(":")
            if key in ("firmware-version", "bus-info", "version") and value.strip() not in ("", "N/A"):
                about[f"ethtool {key}"] = value.strip()[:MAX_TEXT]

    async def _bus(self, device: str, about: dict[str, Any]) -> None:
        """USB attributes (of the device above the interface), or the SDIO card's clock and width."""
        resolved = await self._run(["readlink", "-f", device])
        path = resolved.stdout.strip()
        if not resolved.ok or not path.startswith("/sys/"):
            return
        if "/usb" in path:
            usb = {}
            for attribute in _USB_ATTRIBUTES:
                if text := await self._text(f"{posixpath.dirname(path)}/{attribute}"):
                    usb[attribute] = text
            if usb:
                usb["speed_name"] = _USB_SPEED_NAMES.get(usb.get("speed", ""), "unknown")
                about["usb"] = usb
        elif match := re.search(r"/(mmc\d+)/", path + "/"):
            text = (
                await self._target.read(f"/sys/kernel/debug/{match.group(1)}/ios", limit_bytes=8192) or b""
            ).decode()
            about["sdio"] = {
                key.strip(): value.strip()[:80]
                for key, colon, value in (line.partition(":") for line in text.splitlines())
                if colon and key.strip() in ("clock", "actual clock", "bus width", "timing spec", "signal voltage")
            }

    async def regulatory_domain(self) -> None:
        program = await self._target.find("iw")
        if program is None:
            self.missing["regulatory_domain"] = "no iw"
            return
        ran = await self._run([program, "reg", "get"])
        match = re.search(r"^country (\S{2}):", ran.stdout, re.MULTILINE)
        if match:
            self.found["regulatory_domain"] = match.group(1)
        else:
            self.missing["regulatory_domain"] = "iw does not tell"

    async def tools(self) -> None:
        versions: dict[str, str] = {}
        for name, option in _TOOLS:
            program = await self._target.find(name)
            if program is None:
                continue
            ran = await self._run([program, option])
            line = next((line for line in (ran.stdout + ran.stderr).splitlines() if line.strip()), "")
            versions[name] = line.strip()[:80]
        self.found["tools"] = versions

    async def _text(self, path: str) -> str | None:
        data = await self._target.read(path, limit_bytes=4096)
        if data is None:
            return None
        text = data.replace(b"\0", b"").decode("utf-8", "replace").strip()
        return text[:MAX_TEXT] or None

    async def _link(self, path: str) -> str | None:
        ran = await self._run(["readlink", path])
        name = posixpath.basename(ran.stdout.strip())
        return name[:64] if ran.ok and name else None
