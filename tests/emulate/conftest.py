"""What tests of emulated links share: the check that this machine can do them, and iperf3 through a link."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from txop.emulate import EmulatedNetwork, MissingEmulationToolError, link_scenario


async def _possible() -> None:
    async with EmulatedNetwork(link_scenario({"wlan": {}})):
        pass


@pytest.fixture(scope="session")
def can_emulate() -> None:
    """Skip, with the reason, where namespaces or TUN devices cannot be made."""
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    try:
        asyncio.run(_possible())
    except MissingEmulationToolError as error:
        pytest.skip(f"this machine cannot emulate links: {error}")


async def run(argv: Sequence[str], *, timeout_s: float = 30.0) -> str:
    """Standard output of a command that has to succeed."""
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await asyncio.wait_for(process.communicate(), timeout_s)
    assert process.returncode == 0, out.decode()
    return out.decode()


@pytest.fixture
def run_tool() -> Callable[..., Awaitable[str]]:
    """:func:`run`."""
    return run


@pytest.fixture
def tcp() -> Callable[..., Awaitable[float]]:
    """:func:`tcp_mbit_s`."""
    return tcp_mbit_s


async def tcp_mbit_s(network: EmulatedNetwork, *options: str, seconds: float = 2) -> float:
    """Goodput of TCP from the first station (``-R``: to it), as received, without the first half second."""
    server = await asyncio.create_subprocess_exec(
        *network.prefix(network.hosts[0]), "iperf3", "-s", "-1", "--forceflush",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        while b"listening" not in await asyncio.wait_for(server.stdout.readline(), 10):
            pass
        client = [
            *network.prefix(network.hosts[1]),
            "iperf3",
            "-c",
            network.hosts[0].address,
            "-t",
            str(seconds),
            "-O",
            "0.5",
            "-J",
            *options,
        ]
        report: dict[str, Any] = json.loads(await run(client))
    finally:
        if server.returncode is None:
            server.kill()
        await server.communicate()
    received: float = report["end"]["sum_received"]["bits_per_second"]
    return received / 1e6
