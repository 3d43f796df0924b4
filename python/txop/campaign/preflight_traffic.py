"""Preflight check of iperf3 from the device under test to the peer: firewalls, routes, addresses."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from txop.campaign.preflight_row import Row, not_checked
from txop.measure.traffic.iperf3 import FIRST_PORT
from txop.plan.model import Plan
from txop.targets.contract import TargetError, Targets

WHAT = "iperf3 traffic"
ENDS = "dut and peer"
LONGEST_S = 15.0
LISTENS_S = 1.0
"""The server is given this time to listen."""


async def traffic(targets: Targets, plan: Plan) -> Row:
    """A second of TCP through the first port that runs take; both targets are connected."""
    address = targets.peer.address
    if address is None:
        return not_checked(ENDS, WHAT, "the plan names no address of the peer")
    brings = any(arm.has_module or arm.load or arm.boot for arm in plan.arm)
    if plan.bring_up.wpa_supplicant is not None or plan.bring_up.dhcp or plan.bring_up.commands:
        brings = True
    try:
        if brings and not (await targets.dut.run(["ping", "-c", "1", "-W", "2", address], timeout_s=10.0)).ok:
            return not_checked(ENDS, WHAT, "the link comes up with an arm, and the peer does not answer before")
        return await _second(targets, address)
    except TargetError as error:
        return not_checked(ENDS, WHAT, str(error))


async def _second(targets: Targets, address: str) -> Row:
    port = str(FIRST_PORT)
    with tempfile.TemporaryDirectory(prefix="txop-") as folder:
        server = await targets.peer.start(
            ["iperf3", "-s", "-1", "-p", port],
            stdout=Path(folder) / "server",
            stderr=Path(folder) / "errors",
            max_seconds=LONGEST_S,
        )
        try:
            await asyncio.sleep(LISTENS_S)
            client = ["iperf3", "-c", address, "-p", port, "-t", "1", "-J"]
            ran = await targets.dut.run(client, timeout_s=LONGEST_S)
        finally:
            await server.stop(grace_s=1.0)
    try:
        document = json.loads(ran.stdout)
        if ran.ok:
            rate = float(document["end"]["sum_received"]["bits_per_second"]) / 1e6
            return Row(ENDS, WHAT, "ok", f"{rate:,.1f} Mbit/s to {address}, port {port}, in one second")
        said = str(document.get("error", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        said = (ran.stderr or ran.stdout).strip()[:200]
    to_do = f"let TCP in at the peer, on {port} and the ports after it, and check its address"
    return Row(ENDS, WHAT, "fails", f"nothing gets to {address}, port {port}: {said or f'status {ran.status}'}", to_do)
