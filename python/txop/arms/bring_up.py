"""The link of the device under test: association, address, readiness; and taking it down again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from txop.arms.arm_loader import tag_of
from txop.arms.steps import (
    COMMAND_TIMEOUT_S,
    Session,
    StepError,
    ended,
    how_it_ended,
    line,
    need,
    put,
    said,
    wait_for_interface,
)
from txop.plan.model import Plan
from txop.targets.contract import CommandTimeoutError, Running, TargetError, TargetLostError, Targets, failures_to

DUT = "dut"
CONFIG_BYTES = 1 << 20
LOG_BYTES = 64 << 20
LONGEST_S = 8 * 86400.0
"""wpa_supplicant ends by itself after this, should the way to the target be lost for good."""


@dataclass(frozen=True)
class UpRecord:
    """How the link came up."""

    seconds: float
    associated_s: float | None = None
    """From the start of wpa_supplicant until the link had a carrier."""
    dhcp_s: float | None = None
    ready_s: float = 0.0
    """What the ready check took."""


@dataclass
class LinkUp:
    """The link of the device under test, from :meth:`up` to :meth:`down`. An object serves for one time.

    Call ``down`` after ``up`` in any case. It may be called again after a ``TargetLostError``.
    """

    folder: Path
    """File names in the plan are relative to it."""
    logs: Path
    """Where the log of wpa_supplicant goes."""
    _session: Session | None = field(default=None, init=False)
    _supplicant: Running | None = field(default=None, init=False)
    _after: list[list[str]] = field(default_factory=list, init=False)
    """Commands that undo what was done, last first."""
    _down: list[list[str]] = field(default_factory=list, init=False)

    async def up(self, targets: Targets, plan: Plan, peer_address: str | None = None) -> UpRecord:
        """Bring the link up.

        Args:
            targets: Connected, the arm loaded.
            plan: Its ``bring_up``.
            peer_address: For the default ready check; default: the plan's.

        Raises:
            StepError: it did not come up; nothing has been undone yet.
            TargetError: the target did not answer.
        """
        self._session = session = Session(targets, self.folder, tag=tag_of(plan))
        how, dut = plan.bring_up, targets.dut
        session.interface_timeout_s = max(how.timeout_s, 1.0)
        begun = time.monotonic()
        associated_s = dhcp_s = None
        self._down = [list(argv) for argv in reversed(how.down)]
        emulated = plan.target[DUT].kind == "emulated"
        interface = dut.interface
        if interface is not None and not emulated:
            await self._interface_up(session, interface)
        if how.wpa_supplicant is not None:
            associated_s = await self._associate(session, plan, _interface(interface))
        if how.dhcp:
            started = time.monotonic()
            await self._dhcp(session, _interface(interface), how.timeout_s)
            dhcp_s = time.monotonic() - started
        for argv in how.commands:
            await need(dut, argv, f"run {argv[0]}", timeout_s=max(COMMAND_TIMEOUT_S, how.timeout_s))
        started = time.monotonic()
        check = list(how.ready) if how.ready is not None else _ping(plan, peer_address, None if emulated else interface)
        if check is not None:
            await self._ready(session, check, how.timeout_s)
        return UpRecord(time.monotonic() - begun, associated_s, dhcp_s, time.monotonic() - started)

    async def down(self) -> list[str]:
        """Take the link down; what could not be done, in words. Raises
        :class:`~txop.targets.contract.TargetLostError`."""
        session = self._session
        if session is None:
            return []
        dut = session.targets.dut
        problems: list[str] = []
        for commands in (self._down, self._after):
            while commands:
                argv = commands[-1]
                with failures_to(problems):
                    ran = await dut.run(argv, root=True, timeout_s=COMMAND_TIMEOUT_S)
                    if not ran.ok and commands is self._down:
                        problems.append(f"{DUT}: `{line(argv)}` {await how_it_ended(dut, argv, ran)}")
                commands.pop()
            if commands is self._down:
                await self._stop_supplicant(problems)
        with failures_to(problems):
            problems += await session.discard()
        return problems

    async def _stop_supplicant(self, problems: list[str]) -> None:
        if self._supplicant is not None:
            try:
                await self._supplicant.stop()
            except TargetLostError:
                pass  # it ended with its connection; the next step shows whether that is back
            except TargetError as error:
                problems.append(str(error))
        self._supplicant = None

    async def _interface_up(self, session: Session, interface: str) -> None:
        dut = session.targets.dut
        await wait_for_interface(session, DUT, interface)
        flags = await dut.read(f"/sys/class/net/{interface}/flags", limit_bytes=64)
        with suppress(ValueError):
            if flags is not None and not int(flags.strip(), 16) & 1:  # IFF_UP, include/uapi/linux/if.h
                self._after.append(["ip", "link", "set", "dev", interface, "down"])
        await need(dut, ["ip", "link", "set", "dev", interface, "up"], f"set {interface} up")

    async def _associate(self, session: Session, plan: Plan, interface: str) -> float:
        how, dut = plan.bring_up.wpa_supplicant, session.targets.dut
        assert how is not None
        if await dut.find("wpa_supplicant") is None:
            raise StepError(DUT, "it has no wpa_supplicant")
        file = f"{await session.temporary(DUT)}/wpa_supplicant.conf"
        await put(dut, file, session.read_file(how.config, CONFIG_BYTES), "copy the configuration of wpa_supplicant")
        await need(dut, ["chmod", "600", file], "keep the configuration of wpa_supplicant from others")
        log = self.logs / "wpa_supplicant.log"
        argv = ["wpa_supplicant", "-i", interface, "-D", how.driver, "-c", file]
        started = time.monotonic()
        self._supplicant = await dut.start(argv, stdout=log, limit_bytes=LOG_BYTES, root=True, max_seconds=LONGEST_S)
        deadline = started + plan.bring_up.timeout_s
        while True:
            if self._supplicant.done:
                raise StepError(DUT, f"wpa_supplicant ended by itself{await self._last_words(log)}")
            if await _has_carrier(session, interface):
                return time.monotonic() - started
            if time.monotonic() >= deadline:
                waited = f"{plan.bring_up.timeout_s:g} s"
                raise StepError(DUT, f"{interface} did not associate within {waited}{await self._last_words(log)}")
            await asyncio.sleep(0.5)

    async def _last_words(self, log: Path) -> str:
        if self._supplicant is not None and self._supplicant.done:
            await self._supplicant.wait(1.0)
        try:
            with log.open("rb") as source:
                source.seek(max(0, log.stat().st_size - 4096))
                rows = source.read(4096).decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        rows = [row.strip() for row in rows if row.strip()]
        return f": {' / '.join(rows[-2:])[:500]}" if rows else ""

    async def _dhcp(self, session: Session, interface: str, timeout_s: float) -> None:
        dut = session.targets.dut
        folder = await session.temporary(DUT)
        files = ["-pf", f"{folder}/dhclient.pid", "-lf", f"{folder}/dhclient.leases"]
        clients = {
            "udhcpc": ["udhcpc", "-i", interface, "-f", "-n", "-q", "-t", "10"],
            "dhclient": ["dhclient", "-4", "-1", *files, interface],
            "dhcpcd": ["dhcpcd", "-4", "-1", "-w", interface],
        }
        for program, argv in clients.items():
            if await dut.find(program) is None:
                continue
            self._after.append(["ip", "-4", "addr", "flush", "dev", interface])
            if program == "dhclient":  # it stays in the background
                self._after.append(["dhclient", "-4", "-r", *files, interface])
            ran = await dut.run(argv, root=True, timeout_s=max(timeout_s, 1.0))
            if not ran.ok:
                raise StepError(DUT, f"no address for {interface}: `{line(argv)}` {ended(ran)}")
            shown = await dut.run(["ip", "-4", "addr", "show", "dev", interface])
            if "inet " not in shown.stdout:
                raise StepError(DUT, f"{program} succeeded, but {interface} has no address")
            return
        raise StepError(DUT, f"it has none of {', '.join(clients)}")

    async def _ready(self, session: Session, argv: Sequence[str], timeout_s: float) -> None:
        dut = session.targets.dut
        deadline = time.monotonic() + timeout_s
        while True:
            began = time.monotonic()
            try:
                ran = await dut.run(argv, root=True, timeout_s=max(1.0, min(10.0, deadline - began)))
                words = said(ran)
                if ran.ok:
                    return
                if ran.status == 127:
                    how = await how_it_ended(dut, argv, ran)
                    raise StepError(DUT, f"the ready check cannot be run: `{line(argv)}` {how}")
            except CommandTimeoutError:
                words = "it did not end"
            if time.monotonic() >= deadline:
                tail = f": {words}" if words else ""
                raise StepError(DUT, f"it was not ready within {timeout_s:g} s: `{line(argv)}`{tail}")
            await asyncio.sleep(max(0.0, min(1.0, began + 1.0 - time.monotonic())))


def shown_bring_up(plan: Plan) -> list[tuple[str, str]]:
    """What :meth:`LinkUp.up` and :meth:`LinkUp.down` would do: phase and command."""
    how = plan.bring_up
    dut = plan.target.get(DUT)
    interface = (dut.interface if dut is not None else None) or "INTERFACE"
    emulated = dut is not None and dut.kind == "emulated"
    rows: list[tuple[str, str]] = []
    if dut is not None and dut.interface is not None and not emulated:
        rows.append(("up", line(["ip", "link", "set", "dev", interface, "up"])))
    if how.wpa_supplicant is not None:
        argv = ["wpa_supplicant", "-i", interface, "-D", how.wpa_supplicant.driver, "-c", "TEMPORARY"]
        rows.append(("up", f"copy {how.wpa_supplicant.config} to TEMPORARY; {line(argv)}"))
    if how.dhcp:
        rows.append(("up", f"udhcpc, dhclient or dhcpcd on {interface}"))
    rows += [("up", line(argv)) for argv in how.commands]
    check = list(how.ready) if how.ready is not None else _ping(plan, None, None if emulated else interface)
    if check is not None:
        rows.append(("ready", line(check)))
    rows += [("down", line(argv)) for argv in how.down]
    if how.wpa_supplicant is not None:
        rows.append(("down", "end wpa_supplicant, remove TEMPORARY"))
    return rows


def _ping(plan: Plan, peer_address: str | None, interface: str | None) -> list[str] | None:
    peer = plan.target.get("peer")
    address = peer_address or (peer.address if peer is not None else None)
    if address is None:
        return None
    # bound to the interface: an answer that came by another way says nothing
    return ["ping", "-c", "1", "-W", "2", *(["-I", interface] if interface else []), address]


def _interface(name: str | None) -> str:
    if name is None:
        raise StepError(DUT, "it has no interface under test")
    return name


async def _has_carrier(session: Session, interface: str) -> bool:
    """Operationally up (RFC 2863), or a carrier where the driver does not say."""
    dut = session.targets.dut
    state = (await dut.read(f"/sys/class/net/{interface}/operstate", limit_bytes=64) or b"").strip()
    if state == b"unknown":
        return (await dut.read(f"/sys/class/net/{interface}/carrier", limit_bytes=64) or b"").strip() == b"1"
    return state == b"up"
