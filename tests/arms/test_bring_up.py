"""The link of the device under test comes up step by step and goes down again, whatever fails."""

from __future__ import annotations

import asyncio
import itertools
from types import SimpleNamespace

import pytest

from fake_kernel import FakeKernel, commands, plan_of
from fake_target import answer
from txop.arms import bring_up
from txop.arms.bring_up import LinkUp, shown_bring_up
from txop.arms.steps import StepError
from txop.targets.contract import TargetLostError, Targets

TEXT = """\
[[arm]]
name = "a"
[bring_up]
dhcp = true
timeout_s = 0.5
commands = ["iw dev wlan0 set power_save off"]
down = ["iw first", "iw second"]
[bring_up.wpa_supplicant]
config = "wpa.conf"
"""
SECRET = b'network={\n ssid="x"\n psk="secret words"\n}\n'
ADDRESS = "3: wlan0    inet 10.0.0.2/24 brd 10.0.0.255 scope global wlan0\n"


@pytest.fixture(autouse=True)
def played_clock(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time goes on by waiting only: on a busy machine nothing is late."""
    now_s = 0.0
    sleep = asyncio.sleep

    async def wait(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds
        await sleep(0)

    monkeypatch.setattr(bring_up.asyncio, "sleep", wait)
    monkeypatch.setattr(bring_up, "time", SimpleNamespace(monotonic=lambda: now_s))


def wireless(*clients: str, associates: bool = True) -> FakeKernel:
    kernel = FakeKernel()
    kernel.connected = True
    kernel.answer("wpa_supplicant", stdout="wlan0: Trying to associate\n", forever=True)
    kernel.answer("iw")
    kernel.answer("ping")
    for client in clients or ("udhcpc",):
        kernel.answer(client)
    kernel.answer("ip", "-4", "addr", "show", stdout=ADDRESS)
    kernel.files["/sys/class/net/wlan0/operstate"] = [b"dormant\n", b"up\n"] if associates else b"dormant\n"
    return kernel


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wpa.conf").write_bytes(SECRET)
    return tmp_path


def up(kernel: FakeKernel, folder, text: str = TEXT):
    link = LinkUp(folder, folder)
    targets, plan = Targets({"dut": kernel}), plan_of(text)

    async def story():
        return await link.up(targets, plan)

    return link, story


def test_association_address_commands_ready_and_back(folder):
    kernel = wireless()
    link, story = up(kernel, folder)

    async def whole() -> None:
        record = await story()
        assert record.associated_s is not None
        assert record.dhcp_s is not None
        (config,) = [path for path in kernel.written if path.endswith("wpa_supplicant.conf")]
        assert kernel.written[config] == SECRET
        assert [" ".join(argv) for argv in kernel.ran if argv[0] not in ("mkdir", "mktemp")] == [
            "ip link set dev wlan0 up",
            f"chmod 600 {config}",
            f"wpa_supplicant -i wlan0 -D nl80211 -c {config}",
            "udhcpc -i wlan0 -f -n -q -t 10",
            "ip -4 addr show dev wlan0",
            "iw dev wlan0 set power_save off",
            "ping -c 1 -W 2 -I wlan0 10.0.0.1",
        ]
        assert not any(b"secret" in " ".join(argv).encode() for argv in kernel.ran)
        (running,) = kernel.running
        assert not running.done
        kernel.ran.clear()
        assert await link.down() == []
        assert running.stopped
        assert commands(kernel, "iw", "ip", "dhclient") == [
            "iw first",
            "iw second",
            "ip -4 addr flush dev wlan0",
            "ip link set dev wlan0 down",
        ]
        assert kernel.left_behind() == []
        assert await link.down() == []

    asyncio.run(whole())


@pytest.mark.parametrize(
    ("clients", "first", "after"),
    [
        (("udhcpc", "dhclient"), "udhcpc", []),
        (("dhclient", "dhcpcd"), "dhclient", ["-r"]),
        (("dhcpcd",), "dhcpcd", []),
    ],
)
def test_whichever_dhcp_client_is_there(folder, clients, first, after):
    kernel = wireless(*clients)
    link, story = up(kernel, folder)

    async def whole() -> None:
        await story()
        (command,) = commands(kernel, "udhcpc", "dhclient", "dhcpcd")
        assert command.startswith(f"{first} ")
        await link.down()
        rest = commands(kernel, "udhcpc", "dhclient", "dhcpcd")[1:]
        assert len(rest) == len(after)
        assert all(flag in command for flag, command in zip(after, rest, strict=True))

    asyncio.run(whole())


def test_an_interface_that_was_up_stays_up(folder):
    kernel = wireless()
    kernel.files["/sys/class/net/wlan0/flags"] = b"0x1003\n"
    link, story = up(kernel, folder)

    async def whole() -> None:
        await story()
        await link.down()
        assert "ip link set dev wlan0 down" not in commands(kernel, "ip")

    asyncio.run(whole())


def script(*argv: str, **what):
    """A change: this command answers otherwise."""
    return lambda kernel: kernel._scripts.update({argv: [answer(**what)]})


def without(*argv: str):
    """A change: this command is not there."""
    return lambda kernel: kernel._scripts.pop(argv)


CHANGES = [
    (
        lambda kernel: kernel.files.update({"/sys/class/net/wlan0/operstate": b"dormant\n"}),
        "did not associate within 0.5 s: wlan0: Trying",
    ),
    (script("wpa_supplicant", stdout="bad config\n", status=255), "wpa_supplicant ended by itself: bad config"),
    (without("wpa_supplicant"), "it has no wpa_supplicant"),
    (
        script("udhcpc", status=1, stderr="no lease, failing\n"),
        "no address for wlan0: `udhcpc .* ended with 1: no lease, failing",
    ),
    (without("udhcpc"), "it has none of udhcpc, dhclient, dhcpcd"),
    (script("ip", "-4", "addr", "show"), "udhcpc succeeded, but wlan0 has no address"),
    (script("ping", status=1, stdout="100% packet loss\n"), "not ready within 0.5 s: `ping .*: 100% packet loss"),
    (without("ping"), "the ready check cannot be run: `ping .* is not there"),
    (
        script("iw", "dev", status=127, stderr="/usr/sbin/iw: 3: iwpriv: not found\n"),
        "could not run iw: `iw dev .* ended with 127, as what calls a program that is not there: .*iwpriv: not found",
    ),
    (without("iw"), "could not run iw: `iw dev .* is not there"),
    (script("iw", "dev", status=5), "could not run iw: `iw dev wlan0 set power_save off` ended with 5"),
    (
        lambda kernel: kernel.files.pop("/sys/class/net/wlan0/ifindex"),
        "interface wlan0 did not appear within 1 s",
    ),
    (
        script("ip", "link", status=2, stderr="Operation not possible due to RF-kill\n"),
        "could not set wlan0 up: .*RF-kill",
    ),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[message for _, message in CHANGES])
def test_what_does_not_come_up_says_why_and_goes_down_cleanly(folder, change, message):
    kernel = wireless()
    change(kernel)
    link, story = up(kernel, folder)

    async def whole() -> None:
        with pytest.raises(StepError, match=message):
            await story()
        await link.down()
        assert all(running.done for running in kernel.running)
        assert kernel.left_behind() == []

    asyncio.run(whole())


def test_the_configuration_is_read_before_anything_runs_on_it(tmp_path):
    kernel = wireless()
    link, story = up(kernel, tmp_path)

    async def whole() -> None:
        with pytest.raises(StepError, match=r"wpa\.conf: No such file"):
            await story()
        assert await link.down() == []
        assert commands(kernel, "wpa_supplicant") == []

    asyncio.run(whole())


def test_a_target_that_is_lost_anywhere_can_be_tidied_up_later(folder):
    lost = 0
    for number in itertools.count(1):
        kernel = wireless()
        link, story = up(kernel, folder)
        kernel.lose_at(kernel.count + number)

        async def whole(kernel=kernel, link=link, story=story) -> bool:
            try:
                await story()
                await link.down()
                return False
            except TargetLostError:
                await kernel.connect()
            assert await link.down() == []
            assert all(running.done for running in kernel.running)
            return True

        if not asyncio.run(whole()):
            break
        lost += 1
        assert kernel.left_behind() == []
    assert lost > 15


def test_the_steps_can_be_shown():
    rows = shown_bring_up(plan_of(TEXT))
    assert [phase for phase, _ in rows] == ["up", "up", "up", "up", "ready", "down", "down", "down"]
    assert rows[4] == ("ready", "ping -c 1 -W 2 -I wlan0 10.0.0.1")
