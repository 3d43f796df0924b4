"""Guests that really boot."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from guests_here import rebuilt_driver
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.results import Event
from txop.guest.running import Cause, Ended, GuestFailedError, run_guest
from txop.guest_image.cache import default_cache
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay

WALL_S = 900
"""For a busy machine; nothing is timed."""

PROGRAM = """
import asyncio, sys
from collections.abc import Callable
from pathlib import Path
from txop.guest_image.image import build_image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
asyncio.run(run_guest(build_image(find_lock("6.12")), Overlay(("sleep", "1000")), Computer(), results=Path(sys.argv[1]),
                      wall_limit_s=1000))
"""


class Heard:
    """A listener that keeps everything."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.streams = {"stdout": b"", "stderr": b""}

    def event(self, event: Event) -> None:
        self.events.append(event)

    def output(self, stream: str, data: bytes) -> None:
        self.streams[stream] += data


def run(
    image: Image,
    overlay: Overlay,
    results: Path,
    computer: Computer | None = None,
    wall_limit_s: float = WALL_S,
    heard: Heard | None = None,
) -> Ended:
    return asyncio.run(
        run_guest(image, overlay, computer or Computer(), results=results, wall_limit_s=wall_limit_s, listener=heard)
    )


def test_a_command_runs_in_a_guest_and_what_it_leaves_comes_back(image: Image, tmp_path: Path) -> None:
    script = """
echo "$(uname -r) $GREETING"; echo wrong >&2
head -c 3000000 /dev/zero >/txop/out/zeros; mkdir /txop/out/deep; echo text >/txop/out/deep/file
modprobe mac80211_hwsim radios=1 && iw dev | grep -c Interface >/txop/out/radios
modprobe xhci_pci && modprobe rtl8192cu && modprobe rtl8xxxu dma_aggregation=1 && lsmod >/txop/out/modules
timeout 20 tcpdump -i lo -c 1 -w /txop/out/lo.pcap 2>/txop/out/tcpdump & until [ -s /txop/out/lo.pcap ]; do
    [ -e /proc/$! ] || break; ping -c 1 127.0.0.1 >/dev/null; done; wait $!; echo $? >/txop/out/tcpdump-status
{ echo mem >/sys/power/state; } 2>/txop/out/suspend && echo slept >/txop/out/slept
ls -l /root/here /usr/bin/timeout >/dev/null && ip netns add x && ip netns exec x ip -br link | grep -q lo && exit 3
"""
    here = tmp_path / "here"
    here.write_text("x")
    heard = Heard()
    overlay = Overlay(script=script, environment={"GREETING": 'it\'s "me"'}, files={"/root/here": here})
    ended = run(image, overlay, tmp_path / "out", heard=heard)
    assert ended.status == 3
    assert heard.streams == {"stdout": f'{image.release} it\'s "me"\n'.encode(), "stderr": b"wrong\n"}
    assert next(event.words for event in heard.events if event.kind == "stage").startswith("booted ")
    files = tmp_path / "out" / "files"
    assert (files / "zeros").read_bytes() == bytes(3_000_000)
    assert (files / "deep/file").read_text() == "text\n"
    assert (files / "radios").read_text() == "1\n"
    assert (files / "tcpdump-status").read_text() == "0\n", (files / "tcpdump").read_text()
    assert not (files / "slept").exists()
    assert "Read-only" in (files / "suspend").read_text(), (
        "a suspend must fail at once: nothing would wake the guest up"
    )
    loaded = (files / "modules").read_text()
    assert all(name in loaded for name in ("rtl8xxxu", "rtl8192cu", "xhci_pci", "mac80211_hwsim"))
    assert "Linux version" in (files / "kernel.log").read_text()


def processes_with(text: str) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_nothing_of_a_guest_outlives_the_program_that_started_it(image: Image, tmp_path: Path) -> None:
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)])
    marker = f"{default_cache()}/runs/{program.pid}-"
    try:
        until = time.monotonic() + WALL_S
        while not processes_with(marker) and time.monotonic() < until:
            time.sleep(0.1)
        assert processes_with(marker)
    finally:
        os.kill(program.pid, signal.SIGKILL)
        program.wait()
    until = time.monotonic() + 60
    while processes_with(marker) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes_with(marker) == []
    with pytest.raises(GuestFailedError):  # the next guest sweeps what the killed one left
        run(image, Overlay(("true",)), tmp_path / "next", wall_limit_s=0.2)
    assert not list((default_cache() / "runs").glob(f"{program.pid}-*"))


def test_a_guest_that_takes_too_long_is_ended_and_says_so(image: Image, tmp_path: Path) -> None:
    with pytest.raises(GuestFailedError, match=r"did not end within 1 s") as failed:
        run(image, Overlay(("sleep", "1000")), tmp_path / "out", wall_limit_s=1)
    assert failed.value.cause is Cause.HOST


@pytest.mark.slow
def test_a_guest_that_panics_says_why(image: Image, tmp_path: Path) -> None:
    with pytest.raises(GuestFailedError) as failed:
        run(image, Overlay(script="echo c >/proc/sysrq-trigger; sleep 100"), tmp_path / "out")
    assert failed.value.cause is Cause.OFF
    assert "sysrq triggered crash" in failed.value.console


@pytest.mark.slow
def test_a_command_is_ended_at_its_limit_and_results_still_come(image: Image, tmp_path: Path) -> None:
    ended = run(image, Overlay(script="echo x >/txop/out/x; sleep 1000"), tmp_path / "out", Computer(limit_s=2))
    assert ended.status == 124
    assert "x" in ended.files


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


EXACT = """
modprobe mac80211_hwsim radios=2
head -c 200000 /dev/urandom >/txop/out/random
iperf3 -s -D; sleep 0.2; iperf3 -c 127.0.0.1 -t 1 -J
cat /proc/interrupts /proc/stat; date; dmesg
"""


@pytest.mark.slow
def test_two_exact_guests_are_identical_and_another_seed_is_not(image: Image, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(image, Overlay(script=EXACT), tmp_path / name, Computer(mode=Mode.EXACT, seed=seed), wall_limit_s=300)
    one, same, other = (everything(tmp_path / name) for name in "abc")
    assert len(one["stdout"]) > 1000
    assert one == same
    assert one["stdout"] != other["stdout"]


@pytest.mark.slow
def test_a_rebuilt_driver_carries_traffic_through_a_virtual_chip(image: Image, chips: Path, tmp_path: Path) -> None:
    built = rebuilt_driver("rtl8xxxu")
    assert built.info.kernel_release == image.release
    script = "txop-lab up || exit\ndut ping -c 3 -W 2 10.80.210.1"
    overlay = Overlay(
        script=script,
        environment=Chip(driver="rtl8xxxu").variables(),
        files={IN_GUEST: chips},
        modules=(built.module,),
    )
    for name in "ab":
        ended = run(image, overlay, tmp_path / name, Computer(mode=Mode.EXACT), wall_limit_s=400)
        assert ended.status == 0, (tmp_path / name / "stderr").read_text()
    assert " 0% packet loss" in (tmp_path / "a" / "stdout").read_text()
    assert "RTL8188CU" in (tmp_path / "a/files/kernel.log").read_text()
    assert everything(tmp_path / "a") == everything(tmp_path / "b")


@pytest.mark.slow
def test_a_chip_that_ends_under_a_command_is_the_cause(image: Image, chips: Path, tmp_path: Path) -> None:
    del chips
    chip = Chip(ap="builtin", security="open")
    script = "txop-lab up || exit\ntxop-vusb control detach\nsleep 1\n"
    overlay = Overlay(script=script, environment=chip.variables(), files=chip.files())
    ended = run(image, overlay, tmp_path)
    assert ended.status == 72
    said = "the virtual device ended before the command did: it was detached"
    assert said in (tmp_path / "stderr").read_text()
    assert any(event.words.startswith(said) for event in ended.events)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_every_kernel_encrypts_with_the_processors_own_instructions(
    image_of: Callable[[str], Image], tmp_path: Path, kernel: str
) -> None:
    """Kernel 6.1 has an AES in C built in, with which the access point alone keeps half of the processor busy."""
    script = "grep -B1 '^driver.*aesni' /proc/crypto >/txop/out/aes"
    ended = run(image_of(kernel), Overlay(script=script), tmp_path / "out", Computer(mode=Mode.EXACT))
    assert ended.status == 0
    assert "name         : aes\n" in (tmp_path / "out/files/aes").read_text()
