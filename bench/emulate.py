"""Called by bench/emulate: a transparent link against a bare TUN forwarder and against no forwarder at all (veth).

TCP: iperf3 through each in turn, several rounds; the median counts. Delay: ping beside 100 Mbit/s of UDP; what a
forwarder adds is half of what its round trip is longer than that through veth. Exit code 1 when a target is missed.
"""

import argparse
import asyncio
import contextlib
import json
import re
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from txop.emulate import EmulatedNetwork
from txop.emulate.hosts import INTERFACE, hosts_of
from txop.emulate.namespaces import Namespaces, tool_environment
from txop.emulate.real_time import real_time_prefix
from txop.emulate.scenario import load_scenario
from txop.process.held import start

TARGET_MBIT_S = 1_000
TARGET_SHARE = 0.6
TARGET_ADDED_US = 60
SCENARIO = "[pipe]\nqueue_packets = 1000\n"

Prefixes = tuple[list[str], list[str]]
HOSTS = hosts_of(("server", "station"))


def run(argv: list[str], timeout_s: float = 60) -> str:
    """Standard output of a command that has to succeed."""
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=timeout_s).stdout


def set_up(prefix: list[str], address: str, name: str = INTERFACE) -> None:
    """Address and queue of an interface, as the emulator's have them."""
    for line in (
        f"link set dev {name} addrgenmode none txqueuelen 1000",
        f"address add {address}/20 dev {name}",
        f"link set dev {name} up",
    ):
        run([*prefix, "ip", *line.split()])


@contextlib.asynccontextmanager
async def emulator(scenario: Path) -> AsyncIterator[Prefixes]:
    """A transparent link of txop."""
    async with EmulatedNetwork(load_scenario(str(scenario))) as network:
        server, station = network.hosts
        yield network.prefix(server), network.prefix(station)
        status = await network.stop()
        late = status.timing.late_release
        print(f"    emulator: {100 * (status.timing.cpu_share or 0):.0f} % CPU, late by {late.p99_us} us (99 %)")


@contextlib.asynccontextmanager
async def namespaces() -> AsyncIterator[Namespaces]:
    """Two namespaces."""
    made = await Namespaces.make(2, tool_environment())
    try:
        yield made
    finally:
        await made.close()


@contextlib.asynccontextmanager
async def bare(program: Path) -> AsyncIterator[Prefixes]:
    """A bare forwarder, scheduled as the emulator is."""
    async with namespaces() as made:
        prefix = [*made.enter_user(), *await real_time_prefix()]
        held = await start([*prefix, str(program), INTERFACE, made.path(0), made.path(1)], tool_environment())
        try:
            if await held.line(10) != "ready":
                sys.exit(f"the bare forwarder did not start: {await held.complaint()}")
            for host in HOSTS:
                set_up(made.enter(host.number), host.address)
            yield made.enter(0), made.enter(1)
        finally:
            await held.stop()


@contextlib.asynccontextmanager
async def veth() -> AsyncIterator[Prefixes]:
    """No forwarder: a pair of virtual Ethernet interfaces."""
    async with namespaces() as made:
        pids = [str(made.pid(number)) for number in (0, 1)]
        run(
            [
                *made.enter(0),
                "ip",
                "link",
                "add",
                INTERFACE,
                "type",
                "veth",
                "peer",
                "name",
                INTERFACE,
                "netns",
                pids[1],
            ]
        )
        for host in HOSTS:
            set_up(made.enter(host.number), host.address)
        yield made.enter(0), made.enter(1)


@contextlib.contextmanager
def serving(prefix: list[str]) -> Iterator[None]:
    """An iperf3 server."""
    server = subprocess.Popen([*prefix, "iperf3", "-s", "--forceflush"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        while "listening" not in server.stdout.readline():
            pass
        yield
    finally:
        server.kill()
        server.communicate()


def tcp_mbit_s(prefixes: Prefixes, seconds: int) -> float:
    """Goodput of one TCP flow towards the server, as received."""
    with serving(prefixes[0]):
        report = json.loads(run([*prefixes[1], "iperf3", "-c", HOSTS[0].address, "-t", str(seconds), "-O", "1", "-J"]))
    return float(report["end"]["sum_received"]["bits_per_second"]) / 1e6


def round_trip_us(prefixes: Prefixes, seconds: int) -> float:
    """Median round trip of 200 pings a second beside 100 Mbit/s of UDP towards the server."""
    with serving(prefixes[0]):
        load = [
            *prefixes[1],
            "iperf3",
            "-c",
            HOSTS[0].address,
            "-u",
            "-b",
            "100M",
            "-l",
            "1400",
            "-t",
            str(seconds + 2),
        ]
        udp = subprocess.Popen(load, stdout=subprocess.DEVNULL)
        try:
            count = str(seconds * 200)
            pinged = run([*prefixes[1], "ping", "-i", "0.005", "-c", count, "-W", "1", HOSTS[0].address])
        finally:
            udp.wait()
    times = [float(found) * 1e3 for found in re.findall(r"time=([0-9.]+) ms", pinged)]
    return statistics.median(times)


async def measure(options: argparse.Namespace, scenario: Path) -> int:
    """All of it, printed."""
    ways: dict[str, Callable[[], AbstractAsyncContextManager[Prefixes]]] = {
        "veth": veth,
        "bare": lambda: bare(options.forwarder),
        "txop": lambda: emulator(scenario),
    }
    tcp: dict[str, list[float]] = {name: [] for name in ways}
    trips: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(options.rounds):
        for name in ways if turn % 2 == 0 else reversed(ways):
            async with ways[name]() as prefixes:
                tcp[name].append(await asyncio.to_thread(tcp_mbit_s, prefixes, options.seconds))
            async with ways[name]() as prefixes:
                trips[name].append(await asyncio.to_thread(round_trip_us, prefixes, options.seconds))
            print(f"  round {turn + 1}: {name}: TCP {tcp[name][-1]:,.0f} Mbit/s, round trip {trips[name][-1]:.0f} us")
    rate = {name: statistics.median(found) for name, found in tcp.items()}
    trip = {name: statistics.median(found) for name, found in trips.items()}
    added = {name: (trip[name] - trip["veth"]) / 2 for name in ("bare", "txop")}
    share = rate["txop"] / rate["bare"]
    print(f"TCP through a transparent link: {rate['txop']:,.0f} Mbit/s; bare forwarder: {rate['bare']:,.0f} Mbit/s")
    print(
        f"  {100 * share:.0f} % of the bare forwarder (target: {100 * TARGET_SHARE:.0f} %, and {TARGET_MBIT_S} Mbit/s)"
    )
    print(f"Added delay at 100 Mbit/s, median, one way: {added['txop']:.0f} us; bare forwarder: {added['bare']:.0f} us")
    print(f"  (target: {TARGET_ADDED_US} us)")
    kept = rate["txop"] >= TARGET_MBIT_S and share >= TARGET_SHARE and added["txop"] < TARGET_ADDED_US
    print("kept" if kept else "NOT KEPT")
    return 0 if kept else 1


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("forwarder", type=Path, help="the example bare_forwarder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    scenario = options.forwarder.resolve().parent / "transparent.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    return asyncio.run(measure(options, scenario))


if __name__ == "__main__":
    sys.exit(main())
