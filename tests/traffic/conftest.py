"""Two hosts with an emulated link between them, for real tools."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from txop.emulate import EmulatedNetwork, MissingEmulationToolError, link_scenario
from txop.targets.prefix import PrefixTarget


class Hosts:
    """Both ends, and more stations on the device's side."""

    def __init__(self, network: EmulatedNetwork) -> None:
        server, station = network.hosts
        self.interface = station.interface
        self.dut_address = station.address
        self.peer_address = server.address
        at = {host: {"prefix": network.prefix(host), "interface": host.interface} for host in network.hosts}
        self.dut = PrefixTarget("dut", address=station.address, **at[station])
        self.peer = PrefixTarget("peer", address=server.address, **at[server])
        self.sta2 = PrefixTarget("sta2", **at[station])

    @property
    def by_name(self) -> dict[str, PrefixTarget]:
        return {"dut": self.dut, "peer": self.peer, "sta2": self.sta2}


@contextlib.asynccontextmanager
async def two_hosts() -> AsyncIterator[Hosts]:
    async with EmulatedNetwork(link_scenario({"wlan": {}})) as network:
        hosts = Hosts(network)
        try:
            for target in hosts.by_name.values():
                await target.connect()
            yield hosts
        finally:
            for target in hosts.by_name.values():
                await target.close()


@pytest.fixture(scope="session")
def hosts():
    """:func:`two_hosts`; skipped, with the reason, where links cannot be emulated."""

    async def possible() -> None:
        async with EmulatedNetwork(link_scenario({"wlan": {}})):
            pass

    try:
        asyncio.run(possible())
    except MissingEmulationToolError as error:
        pytest.skip(f"this machine cannot emulate links: {error}")
    return two_hosts


MARK = "TXOP_TESTS_OF"
"""Environment variable with the number of the process that runs the tests; programs inherit it."""
os.environ[MARK] = str(os.getpid())


def running_here(word: str) -> list[str]:
    """Command lines of processes that these tests started, with ``word`` among their arguments. Other campaigns may run
    on this machine."""
    mine = b"%s=%d" % (MARK.encode(), os.getpid())
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
                if word in words and mine in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(" ".join(words))
    return found


@pytest.fixture
def find_running():
    """:func:`running_here`."""
    return running_here
