"""Preflight checks: what of a plan will work on its machines. They change nothing there.

A row is something that was measured. What cannot be measured without carrying out the plan is a row, too, and says so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from txop.campaign.clocks import wall_clock
from txop.campaign.preflight_files import files_of, on_this_machine
from txop.campaign.preflight_row import Row, State, not_checked
from txop.campaign.preflight_traffic import traffic
from txop.formats.error import FormatError
from txop.formats.iw_interface import Interface, parse_interfaces
from txop.measure.probes.provenance import provenance
from txop.measure.probes.questions import NOT_ASKED, Answer, ask
from txop.measure.programs import needs
from txop.plan.model import Plan
from txop.targets.contract import Target, TargetError, Targets

CLOCK_S = 1.0
"""A clock that is off by more is reported. Captures are placed all the same: txop measures every clock in every run."""
ROOM_MB = 20
"""What a module, a firmware and a log may take in a temporary folder, generously."""
KINDS = ("local", "namespace", "ssh", "labgrid")
"""Targets that are machines."""

# $1: the interface, or nothing; $2: the USB bus of usbmon; $3: releases of kernels that arms boot.
_SCRIPT = r"""
ask free df -Pk /run /tmp
for release in $3; do ask "kernel:$release" test -d "/lib/modules/$release"; done
ask usbmon test -c "/dev/usbmon$2"
ask usbmon_module modprobe -n usbmon
[ "$1" ] || exit 0
ask interface cat "/sys/class/net/$1/ifindex"
ask behind readlink -f "/sys/class/net/$1/device"
ask iw_info iw dev "$1" info
phy=$(cat "/sys/class/net/$1/phy80211/name" 2>/dev/null)
[ -z "$phy" ] || ask iw_phy iw phy "$phy" info
"""


@dataclass(frozen=True)
class _TargetAnswers:
    """What a target said."""

    facts: dict[str, Any]
    answers: dict[str, Answer]
    interface: Interface | None
    rows: list[Row]


async def check_targets(targets: Targets, plan: Plan, folder: Path, progress: Callable[[str], None]) -> list[Row]:
    """Connect every target, ask, and let go. ``folder``: of the plan; ``progress``: called with what is
    done now. Never raises for what a target lacks."""
    names = list(targets.by_name)
    try:
        seen = await asyncio.gather(*(_look_at(targets.by_name[name], plan, progress) for name in names))
        passing = await _traffic(targets, plan, dict(zip(names, seen, strict=True)), progress)
    finally:
        await asyncio.gather(*(target.close() for target in targets.by_name.values()))
    found = dict(zip(names, seen, strict=True))
    rows = [*(row for one in seen for row in one.rows), *passing]
    rows += _iperf3(plan, found)
    rows += _channels(plan, found)
    rows += files_of(plan, folder, found["dut"].facts.get("kernel"))
    rows += on_this_machine(plan)
    return rows


async def _look_at(target: Target, plan: Plan, progress: Callable[[str], None]) -> _TargetAnswers:
    rows: list[Row] = []
    progress(f"{target.name}: connecting")
    begun = time.monotonic()
    try:
        await target.connect()
        rows.append(Row(target.name, "connection", "ok", f"in {time.monotonic() - begun:.1f} s"))
        progress(f"{target.name}: asking")
        facts = await provenance(target)
        releases = " ".join(_releases(plan)) if target.name == "dut" else ""
        answers = await ask(target, _SCRIPT, [target.interface or "", str(plan.collect.usb_bus), releases])
        interface = _interface(answers.get("iw_info", NOT_ASKED))
        for part in (_system(target, facts), _about_interface(target, plan, facts, answers, interface)):
            rows += part
        rows += _room(target, answers)
        for step in (_root, _programs, _clock):
            rows += await step(target, plan)
        rows += _usbmon(target, plan, answers)
        rows += _kernels(target, plan, facts, answers)
        rows += _hooks(target, plan)
    except TargetError as error:
        what = "connection" if not rows else "answers"
        rows.append(Row(target.name, what, "fails", error.what, None))
        return _TargetAnswers({}, {}, None, rows)
    return _TargetAnswers(facts, answers, interface, rows)


def _interface(answer: Answer) -> Interface | None:
    with suppress(FormatError):
        found = parse_interfaces(answer.text) if answer.ok else ()
        return found[0] if found else None
    return None


def _system(target: Target, facts: dict[str, Any]) -> Iterator[Row]:
    words = [facts.get("distribution"), facts.get("kernel") and f"kernel {facts['kernel']}", facts.get("machine")]
    yield Row(target.name, "system", "ok", ", ".join(word for word in words if word))
    country = facts.get("regulatory_domain")
    if target.interface is not None:
        if country is None:
            why = facts.get("not_available", {}).get("regulatory_domain", "iw does not show it")
            yield not_checked(target.name, "regulatory domain", why)
        elif country == "00":
            to_do = "set your country: iw reg set CC (the world's domain allows few channels, at low power)"
            yield Row(target.name, "regulatory domain", "limited", "00, of the world", to_do)
        else:
            yield Row(target.name, "regulatory domain", "ok", country)


def _about_interface(
    target: Target, plan: Plan, facts: dict[str, Any], answers: dict[str, Answer], interface: Interface | None
) -> Iterator[Row]:
    name = target.interface
    if name is None:
        return
    if not answers.get("interface", NOT_ASKED).ok:
        loads = target.name == "dut" and any(arm.has_module or arm.load or arm.boot for arm in plan.arm)
        if loads or _comes_with_the_arm(plan, target.name):
            why = f"there is no {name} now, and an arm may bring it (if none does, compare with `ip link` there)"
            yield not_checked(target.name, "interface", why)
            if target.name == "dut":
                yield not_checked(target.name, "USB speed", f"there is no {name} now")
            elif plan.collect.air:
                yield not_checked(target.name, "monitor mode", f"there is no {name} now")
        else:
            said = f"there is no {name} now"
            yield Row(target.name, "interface", "fails", said, "name the one that `ip link` shows there")
        return
    about = facts.get("interface") or {}
    words = [name, about.get("driver"), about.get("operstate"), interface.mode if interface else None]
    yield Row(target.name, "interface", "ok", ", ".join(str(word) for word in words if word))
    usb = about.get("usb")
    if usb:
        yield _usb(target.name, usb)
    elif target.name == "dut":
        behind = answers.get("behind", NOT_ASKED)
        where = behind.first_line if behind.ok and behind.first_line else "no device"
        yield Row(target.name, "USB speed", "ok", f"{name} is not on USB: behind it is {where}")
    if target.name == "sniffer" and plan.collect.air:
        yield _monitor(target.name, name, answers, interface)


def _usb(target: str, usb: dict[str, str]) -> Row:
    speed, version = usb.get("speed", ""), usb.get("version", "").strip()
    found = f"{speed} Mbit/s ({usb.get('speed_name')}), USB {version}"
    if speed in ("1.5", "12"):
        return Row(target, "USB speed", "limited", found, "look at hub, cable and port: Wi-Fi dongles take 480 or more")
    if version.startswith("3") and speed == "480":
        return Row(target, "USB speed", "limited", found, "a USB 3 device at high speed: use another port or cable")
    return Row(target, "USB speed", "ok", found)


def _monitor(target: str, name: str, answers: dict[str, Answer], interface: Interface | None) -> Row:
    if interface is not None and interface.mode == "monitor":
        return Row(target, "monitor mode", "ok", f"{name} is a monitor")
    phy = answers.get("iw_phy", NOT_ASKED)
    if phy.ok and "* monitor" in phy.text:
        found = f"the driver of {name} offers it (iw phy); every run sets it, and undoes it"
        return Row(target, "monitor mode", "ok", found)
    if interface is None or not phy.ok:
        return not_checked(target, "monitor mode", f"iw is missing, or does not list {name}")
    return Row(target, "monitor mode", "fails", f"the driver of {name} has none", "use another radio to sniff with")


def _room(target: Target, answers: dict[str, Answer]) -> Iterator[Row]:
    rows = [line.split() for line in answers.get("free", NOT_ASKED).text.splitlines()]
    free = {row[-1]: int(row[-3]) / 1024 for row in rows if len(row) >= 6 and row[-3].isdecimal()}
    if not free:
        yield not_checked(target.name, "room", "df does not report it")
        return
    found = ", ".join(f"{mb:,.0f} MB in {place}" for place, mb in free.items())
    least = min(free.values())
    to_do = f"make room: files of an arm need some, {ROOM_MB} MB are plenty" if least < ROOM_MB else None
    yield Row(target.name, "room", "limited" if to_do else "ok", found, to_do)


async def _root(target: Target, plan: Plan) -> list[Row]:
    try:
        ran = await target.run(["id", "-u"], root=True)
    except TargetError as error:
        return [Row(target.name, "root", "fails", error.what)]
    if ran.stdout.strip() == "0":
        how = "`sudo -n id -u` gave 0" if plan.target[target.name].sudo else "`id -u` gave 0"
        return [Row(target.name, "root", "ok", f"commands run as root: {how}")]
    if not ran.ok:
        return [not_checked(target.name, "root", "`id -u` does not work there")]
    needed = target.name == "dut" or (target.name == "sniffer" and plan.collect.air)
    to_do = "log in as root, or set `sudo = true` and allow sudo without a password (NOPASSWD) there"
    return [Row(target.name, "root", "fails" if needed else "limited", "commands do not run as root", to_do)]


async def _programs(target: Target, plan: Plan) -> list[Row]:
    rows = []
    for need in needs(plan):
        if need.target != target.name:
            continue
        found = [program for program in need.programs if await target.find(program) is not None]
        if found:
            rows.append(Row(target.name, need.shown, "ok", f"for {need.what_for}"))
        else:
            state: State = "fails" if need.essential else "limited"
            rows.append(Row(target.name, need.shown, state, f"missing; for {need.what_for}", need.what_to_do))
    return rows


async def _clock(target: Target, plan: Plan) -> list[Row]:
    if plan.target[target.name].kind in ("local", "namespace"):
        return [Row(target.name, "clock", "ok", "it is this machine's own")]
    clock = await wall_clock(target)
    if clock is None:
        return [not_checked(target.name, "clock", "neither date nor adjtimex gives the time to the second")]
    off_s = clock.wall_minus_monotonic_s - (time.time() - time.monotonic())
    found = f"{off_s:+.3f} s from this machine's, ± {clock.uncertainty_s:.3f} s"
    if abs(off_s) > CLOCK_S + clock.uncertainty_s:
        return [
            Row(target.name, "clock", "limited", found, "set it (chronyd, ntpd), before the campaign, not during it")
        ]
    return [Row(target.name, "clock", "ok", found)]


def _usbmon(target: Target, plan: Plan, answers: dict[str, Answer]) -> list[Row]:
    if target.name != "dut" or not plan.collect.usbmon:
        return []
    if answers.get("usbmon", NOT_ASKED).ok:
        return [Row(target.name, "usbmon", "ok", "there")]
    if answers.get("usbmon_module", NOT_ASKED).ok:
        return [Row(target.name, "usbmon", "ok", "its module can be loaded")]
    to_do = "a kernel with CONFIG_USB_MON, or `usbmon = false` in [collect]"
    return [Row(target.name, "usbmon", "limited", "neither there nor a module", to_do)]


def _iperf3(plan: Plan, found: dict[str, _TargetAnswers]) -> Iterator[Row]:
    """The versions at all ends side by side."""
    ends = dict.fromkeys(need.target for need in needs(plan) if "iperf3" in need.programs)
    if not ends:
        return
    tools = {name: found[name].facts.get("tools", {}) for name in ends if name in found}
    known = {name: " ".join(text.split()[:2]) for name, of in tools.items() if (text := of.get("iperf3"))}
    unknown = [name for name in ends if name not in known]
    if unknown:
        yield not_checked(" and ".join(ends), "iperf3 versions", f"iperf3 does not run on {' and '.join(unknown)}")
    else:
        shown = ", ".join(f"{name}: {text}" for name, text in known.items())
        yield Row(" and ".join(known), "iperf3 versions", "ok", shown)


async def _traffic(
    targets: Targets, plan: Plan, found: dict[str, _TargetAnswers], progress: Callable[[str], None]
) -> list[Row]:
    """Whether iperf3 gets through, where there is a link without an arm."""
    ends = {need.target for need in needs(plan) if "iperf3" in need.programs}
    if not ends or "peer" not in targets.by_name:
        return []
    lost = [name for name in ("dut", "peer") if not found[name].facts]
    if lost:
        return [not_checked("dut and peer", "iperf3 traffic", f"{lost[0]} does not answer")]
    progress("dut and peer: a second of iperf3")
    return [await traffic(targets, plan)]


def _releases(plan: Plan) -> list[str]:
    return list(dict.fromkeys(arm.boot.release for arm in plan.arm if arm.boot is not None))


def _kernels(target: Target, plan: Plan, facts: dict[str, Any], answers: dict[str, Answer]) -> Iterator[Row]:
    """The kernels that arms boot: whether their modules are there, which is what can be seen without booting them."""
    for release in _releases(plan) if target.name == "dut" else []:
        what = f"kernel {release}"
        if facts.get("kernel") == release:
            yield Row(target.name, what, "ok", "it runs now")
        elif answers.get(f"kernel:{release}", NOT_ASKED).ok:
            yield Row(target.name, what, "ok", f"/lib/modules/{release} is there; it was not booted")
        else:
            to_do = "install it there, unless it is one without modules"
            yield Row(target.name, what, "limited", f"there is no /lib/modules/{release}", to_do)


def _hooks(target: Target, plan: Plan) -> Iterator[Row]:
    hooks = plan.target[target.name].hooks
    if hooks.reset or hooks.power_cycle:
        yield not_checked(target.name, "hooks", "they would reset the machine: try them by hand once")


def _comes_with_the_arm(plan: Plan, name: str) -> bool:
    """Whether a target is the machine of the device under test, where modules of the arms bring its interface, too."""
    dut, other = plan.target["dut"], plan.target[name]
    if not any(arm.has_module or arm.load for arm in plan.arm):
        return False
    if dut.kind == "ssh" and other.kind == "ssh":
        return dut.host == other.host
    return dut.kind in ("local", "namespace") and other.kind in ("local", "namespace")


def _channels(plan: Plan, found: dict[str, _TargetAnswers]) -> Iterator[Row]:
    if not plan.collect.air or "sniffer" not in found:
        return
    dut, sniffer = found["dut"].interface, found["sniffer"].interface
    if dut is None or dut.channel is None:
        why = "the channel of the device under test is not known before it is associated; every run asks and sets it"
        yield not_checked("sniffer", "channel", why)
    elif sniffer is not None and sniffer.channel is not None:
        same = sniffer.channel.frequency_mhz == dut.channel.frequency_mhz
        shown = f"{sniffer.channel.number}, the device under test: {dut.channel.number}"
        yield Row("sniffer", "channel", "ok", shown if same else f"{shown}; every run sets it")
    else:
        yield Row("sniffer", "channel", "ok", f"none yet; every run sets {dut.channel.number}")
