"""What a target is: the facts that make a figure reproducible, each as the target gives it and nothing guessed.

Every fact that a target does not give is in ``not_available`` with the reason, so that "none" is not taken for
"not asked".
"""

from __future__ import annotations

import re
from typing import Any

from txop.formats.qmicli import parse_data_format
from txop.measure.probes.questions import NOT_ASKED, Answer, ask
from txop.targets.contract import Target

MAX_TEXT = 400
_TOOLS = (("iperf3", "--version"), ("ping", "-V"), ("irtt", "version"), ("iw", "--version"), ("tcpdump", "--version"))
_USB_ATTRIBUTES = ("idVendor", "idProduct", "bcdDevice", "speed", "version", "manufacturer", "product", "serial")
_USB_SPEED_NAMES = {"1.5": "low-speed", "12": "full-speed", "480": "high-speed", "5000": "SuperSpeed"}
_SDIO = ("clock", "actual clock", "bus width", "timing spec", "signal voltage")
_HARDWARE = ("/sys/firmware/devicetree/base/model", "/sys/class/dmi/id/product_name")
_PARAMETER = "parameter:"

# $1: the interface under test, or nothing.
_SCRIPT = (
    """
ask kernel uname -r
ask kernel_build uname -v
ask machine uname -m
ask hardware:0 cat HARDWARE_0
ask hardware:1 cat HARDWARE_1
ask distribution cat /etc/os-release
ask processors cat /proc/cpuinfo
ask tcp_congestion cat /proc/sys/net/ipv4/tcp_congestion_control
ask default_qdisc cat /proc/sys/net/core/default_qdisc
ask tainted cat /proc/sys/kernel/tainted
ask regulatory_domain iw reg get
TOOLS
[ "$1" ] || exit 0
net=/sys/class/net/$1
for key in address mtu operstate; do ask $key cat "$net/$key"; done
ask driver readlink "$net/device/driver"
ask module readlink "$net/device/driver/module"
module=$(readlink "$net/device/driver/module" 2>/dev/null)
module=/sys/module/${module##*/}
if [ "$module" != /sys/module/ ]; then
    ask srcversion cat "$module/srcversion"
    ask version cat "$module/version"
    for file in "$module"/parameters/*; do [ ! -e "$file" ] || ask "parameter:${file##*/}" cat "$file"; done
fi
ask ethtool ethtool -i "$1"
# the interface of the modem: the one itself, or the one that a multiplexed channel (rmnet0, qmimux0) stands on
below=$net
for link in "$net"/lower_*; do [ ! -e "$link" ] || below=$link; done
case $(readlink "$below/device/driver" 2>/dev/null) in
*/qmi_wwan*)
    number=$(cat "$below/device/bInterfaceNumber" 2>/dev/null)
    for control in "$below"/device/usbmisc/cdc-wdm*; do
        ask modem_data_format qmicli -p -d "/dev/${control##*/}" \
            "--wda-get-data-format=ep-type=hsusb,ep-iface-number=$((0x${number:-0}))"
    done
    ;;
esac
path=$(readlink -f "$net/device" 2>/dev/null)
case $path in
/sys/*/usb*) for key in USB; do ask "usb:$key" cat "${path%/*}/$key"; done ;;
/sys/*/mmc*)
    IFS=/
    for part in $path; do case $part in mmc[0-9] | mmc[0-9][0-9]) host=$part ;; esac; done
    unset IFS
    ask sdio cat "/sys/kernel/debug/$host/ios"
    ;;
esac
""".replace("HARDWARE_0", _HARDWARE[0])
    .replace("HARDWARE_1", _HARDWARE[1])
    .replace("TOOLS", "\n".join(f"ask tool:{name} {name} {option}" for name, option in _TOOLS))
    .replace("USB", " ".join(_USB_ATTRIBUTES))
)


async def provenance(target: Target) -> dict[str, Any]:
    """Facts of a target: kernel, distribution, machine, the interface under test with its driver and bus, regulatory
    domain, tool versions. One command asks for all. Raises :class:`~txop.targets.contract.TargetLostError` only."""
    facts = _Facts(await ask(target, _SCRIPT, [target.interface or ""]))
    facts.command("kernel", "uname")
    facts.command("kernel_build", "uname")
    facts.command("machine", "uname")
    facts.hardware()
    facts.distribution()
    facts.processors()
    if target.interface is not None:
        facts.network_interface(target.interface)
    facts.regulatory_domain()
    facts.tools()
    facts.file("tcp_congestion", "/proc/sys/net/ipv4/tcp_congestion_control")
    facts.file("default_qdisc", "/proc/sys/net/core/default_qdisc")
    facts.file("tainted", "/proc/sys/kernel/tainted")
    if facts.missing:
        facts.found["not_available"] = facts.missing
    return facts.found


class _Facts:
    def __init__(self, answers: dict[str, Answer]) -> None:
        self._answers = answers
        self.found: dict[str, Any] = {}
        self.missing: dict[str, str] = {}

    def _get(self, name: str) -> Answer:
        return self._answers.get(name, NOT_ASKED)

    def _text(self, name: str) -> str | None:
        """The answer to a question that succeeded."""
        answer = self._get(name)
        return (answer.text.strip()[:MAX_TEXT] or None) if answer.ok else None

    def command(self, key: str, program: str) -> None:
        """The first line of what a program printed."""
        answer = self._get(key)
        if answer.ok and answer.first_line:
            self.found[key] = answer.first_line[:MAX_TEXT]
        else:
            self.missing[key] = _why_not(answer, program)

    def file(self, key: str, path: str) -> None:
        """The contents of a file."""
        if text := self._text(key):
            self.found[key] = text
        else:
            self.missing[key] = (
                f"no {path}" if self._get(key).status is not None else f"{path} cannot be read: it hangs"
            )

    def hardware(self) -> None:
        """The name of the machine, from the first that knows it: device tree or DMI."""
        if text := self._text("hardware:0") or self._text("hardware:1"):
            self.found["hardware"] = text
        else:
            self.missing["hardware"] = f"no {_HARDWARE[-1]}"

    def distribution(self) -> None:
        """Its name in words."""
        match = re.search(r'^PRETTY_NAME="?([^"\n]*)', self._get("distribution").text, re.MULTILINE)
        if match and self._get("distribution").ok:
            self.found["distribution"] = match.group(1)[:MAX_TEXT]
        else:
            self.missing["distribution"] = "no /etc/os-release"

    def processors(self) -> None:
        """How many, and of which model."""
        text = self._get("processors").text
        count = len(re.findall(r"^processor\s*:", text, re.MULTILINE))
        model = re.search(r"^(?:model name|Processor|cpu model|Hardware)\s*:\s*(.+)$", text, re.MULTILINE)
        if count:
            self.found["processors"] = count
        if model:
            self.found["processor"] = model.group(1).strip()[:MAX_TEXT]

    def network_interface(self, name: str) -> None:
        """Driver, module, firmware and bus of the interface under test."""
        about: dict[str, Any] = {"name": name}
        for key in ("address", "mtu", "operstate"):
            if text := self._text(key):
                about[key] = text
        for key in ("driver", "module"):
            if text := self._text(key):
                about[key] = text.rpartition("/")[2][:64]
            else:
                self.missing[f"interface {key}"] = f"{name} has no {key} in sysfs"
        if "module" in about:
            for key in ("srcversion", "version"):
                if text := self._text(key):
                    about[key] = text
            names = [asked for asked in self._answers if asked.startswith(_PARAMETER)][:100]
            values = {asked.removeprefix(_PARAMETER)[:64]: self._text(asked) for asked in names}
            about["parameters"] = {key: value for key, value in values.items() if value is not None}
        self._ethtool(about)
        self._bus(about)
        self._modem(about)
        self.found["interface"] = about

    def _ethtool(self, about: dict[str, Any]) -> None:
        answer = self._get("ethtool")
        if answer.status in (127, None):
            self.missing["firmware version"] = "no ethtool" if answer.status else "ethtool did not end"
            return
        for line in answer.text.splitlines() if answer.ok else []:
            key, _, value = line.partition(":")
            if key in ("firmware-version", "bus-info", "version") and value.strip() not in ("", "N/A"):
                about[f"ethtool {key}"] = value.strip()[:MAX_TEXT]

    def _bus(self, about: dict[str, Any]) -> None:
        """USB attributes (of the device above the interface), or the SDIO card's clock and width."""
        usb = {key: text for key in _USB_ATTRIBUTES if (text := self._text(f"usb:{key}"))}
        if usb:
            usb["speed_name"] = _USB_SPEED_NAMES.get(usb.get("speed", ""), "unknown")
            about["usb"] = usb
        if "sdio" in self._answers:
            answer = self._get("sdio")
            rows = (line.partition(":") for line in answer.text.splitlines()) if answer.ok else ()
            about["sdio"] = {
                key.strip(): value.strip()[:80] for key, colon, value in rows if colon and key.strip() in _SDIO
            }

    def _modem(self, about: dict[str, Any]) -> None:
        """How a QMI modem and its host agreed to fill transfers, and the modem's limits (WDA Get Data Format)."""
        if "modem_data_format" not in self._answers:
            return
        answer = self._get("modem_data_format")
        if answer.ok and (agreed := parse_data_format(answer.text)):
            about["modem_data_format"] = agreed
        else:
            self.missing["modem data format"] = (
                "qmicli does not report it" if answer.ok else _why_not(answer, "qmicli -p (libqmi-utils, libqmi-proxy)")
            )

    def regulatory_domain(self) -> None:
        """Record the regulatory domain of the machine: the first that iw names."""
        answer = self._get("regulatory_domain")
        match = re.search(r"^country (\S{2}):", answer.text, re.MULTILINE) if answer.ok else None
        if match:
            self.found["regulatory_domain"] = match.group(1)
        else:
            self.missing["regulatory_domain"] = "no iw" if answer.status == 127 else "iw does not report it"

    def tools(self) -> None:
        """The first line that each tool prints of its version."""
        answers = {name: self._get(f"tool:{name}") for name, _ in _TOOLS}
        self.found["tools"] = {
            name: answer.first_line[:80] for name, answer in answers.items() if answer.status not in (127, None)
        }


def _why_not(answer: Answer, program: str) -> str:
    if answer.status is None:
        return f"{program} did not end"
    return f"{program} is not there" if answer.status == 127 else f"{program} ended with {answer.status}"
