"""The programs that a plan needs on its targets: what is missing is known when they are connected."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from txop.measure.traffic.flows import flows_of
from txop.plan.model import Plan
from txop.targets.contract import TargetError, Targets

DHCP_CLIENTS = ("udhcpc", "dhclient", "dhcpcd")
_PACKAGES = {
    "iperf3": "iperf3",
    "irtt": "irtt",
    "ping": "iputils-ping",
    "tc": "iproute2",
    "iw": "iw",
    "ethtool": "ethtool",
    "tcpdump": "tcpdump",
    "wpa_supplicant": "wpasupplicant",
    "udhcpc": "udhcpc",
    "modprobe": "kmod",
    "insmod": "kmod",
}
"""Debian's packages."""


@dataclass(frozen=True)
class Need:
    """A program that something in a plan needs on a target."""

    target: str
    programs: tuple[str, ...]
    """Any of them will do."""
    what_for: str
    """As in "the test tx"."""
    essential: bool
    """Whether runs are void without it; else figures or captures are not available."""

    @property
    def shown(self) -> str:
        """The program, or the choice."""
        return " or ".join(self.programs)

    @property
    def what_to_do(self) -> str:
        """How to get it on Debian."""
        package = _PACKAGES.get(self.programs[0], self.programs[0])
        return f"install it there (on Debian: apt-get install {package})"


def needs(plan: Plan) -> list[Need]:
    """Everything, the same program on the same target once."""
    merged: dict[tuple[str, tuple[str, ...]], Need] = {}
    for need in _needs(plan):
        known = merged.get((need.target, need.programs))
        if known is not None:
            reasons = known.what_for if need.what_for in known.what_for else f"{known.what_for}, {need.what_for}"
            need = Need(need.target, need.programs, reasons, known.essential or need.essential)
        merged[need.target, need.programs] = need
    return list(merged.values())


def _needs(plan: Plan) -> Iterator[Need]:
    for test in plan.test:
        words = f"the test {test.name}"
        flows = flows_of(test, plan.warm_up_s(test))
        if flows or test.module_cycles is not None:
            for name in dict.fromkeys([*(flow.station for flow in flows), test.station, "peer"]):
                yield Need(name, ("iperf3",), words, essential=True)
        if test.latency == "ping":
            for name in test.stations_measured or ["peer" if test.probed_from_peer else test.station]:
                yield Need(name, ("ping",), words, essential=test.kind == "latency")
        elif test.latency == "irtt":
            for name in (test.station, "peer"):
                yield Need(name, ("irtt",), words, essential=test.kind == "latency")
    for arm in plan.arm:
        words = f"the arm {arm.name}"
        if arm.qdisc is not None:
            yield Need(arm.qdisc.target, ("tc",), words, essential=True)
        if arm.remove or any(spec.name is not None for spec in arm.loads):
            yield Need("dut", ("modprobe",), words, essential=True)
        if arm.build is not None or any(spec.file is not None for spec in arm.loads):
            yield Need("dut", ("insmod",), words, essential=True)
    if plan.bring_up.wpa_supplicant is not None:
        yield Need("dut", ("wpa_supplicant",), "[bring_up]", essential=True)
    if plan.bring_up.dhcp:
        yield Need("dut", DHCP_CLIENTS, "[bring_up]", essential=True)
    if plan.target["dut"].interface is not None:
        yield Need("dut", ("iw",), "the state of the link", essential=False)
        yield Need("dut", ("ethtool",), "firmware version and driver statistics", essential=False)
    if plan.collect.air and "sniffer" in plan.target:
        yield Need("sniffer", ("tcpdump", "dumpcap"), "collect.air", essential=False)
        yield Need("sniffer", ("iw",), "monitor mode and channel", essential=False)


async def ensure_programs(targets: Targets, plan: Plan) -> None:
    """Raise :class:`~txop.targets.contract.TargetError` when a target lacks a program without which runs are void."""
    essential = [need for need in needs(plan) if need.essential and need.target in targets.by_name]

    async def there(need: Need) -> bool:
        target = targets.by_name[need.target]
        return any([await target.find(program) is not None for program in need.programs])

    found = await asyncio.gather(*(there(need) for need in essential))
    missing = [need for need, is_there in zip(essential, found, strict=True) if not is_there]
    if not missing:
        return
    said = "; ".join(
        f"{'it' if need.target == missing[0].target else need.target} has no {need.shown}, which is needed for "
        f"{need.what_for}: {need.what_to_do}"
        for need in missing
    )
    raise TargetError(missing[0].target, said)
