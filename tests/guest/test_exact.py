"""Exactness: guests with the same inputs leave the same bytes, whatever goes on around them."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from txop.guest_image.cache import default_cache
from txop.guest_image.image import Image
from txop.plan.devices import ROWS, SDIO_CARDS

PROGRAM = """
import asyncio, sys
from pathlib import Path
from txop.guest.chips import IN_GUEST, Chip, find_chips
from txop.guest_image.image import build_image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
results, series, seed, seconds = sys.argv[1:]
script = f'''
txop-lab up || exit
peer iperf3 -s -D; sleep 0.3
dut iperf3 -c 10.80.210.1 -t {seconds} -J >/txop/out/iperf3.json || exit
dut ping -c 3 -i 0.2 10.80.210.1 || exit
cat /proc/interrupts /proc/stat; date; head -c 100 /dev/urandom | sha256sum
'''
chip = Chip(options=("--air", "/txop/out/air.pcapng", "--usb", "/txop/out/usb.pcapng"))
overlay = Overlay(script=script, environment=chip.variables(), files={IN_GUEST: find_chips()})
computer = Computer(mode=Mode.EXACT, seed=int(seed))
ended = asyncio.run(
    run_guest(build_image(find_lock(series)), overlay, computer, results=Path(results), wall_limit_s=1500)
)
sys.exit(ended.status)
"""

REPEATS = "TXOP_EXACT_REPEATS"
"""Environment variable: how many repeats under load the slow tier makes; default 200, some 40 minutes on two cores."""
EACH_REPEATS = "TXOP_EXACT_REPEATS_EACH"
"""Environment variable: the same for each device on each of its buses; default 3, 200 for what a release says."""
EACH = (
    ("rtl8188cus", "rtl8192cu", "ushc"),
    *((device, row.drivers[0].name, "ushc") for device, row in ROWS.items() if device != "rtl8188cus"),
    *((device, ROWS[device].drivers[0].name, "virtual") for device in SDIO_CARDS),
)
"""Device, driver, host controller of an SDIO card: on USB, or with a driver of its own."""
HARNESS = Path(__file__).resolve().parents[2] / "bench" / "exact.py"

LEFT = ("console", "stdout", "events", "files/kernel.log", "files/chip.json", "files/iperf3.json",
        "files/air.pcapng", "files/usb.pcapng", "files/hostapd.log", "files/wpa_supplicant.log")  # fmt: skip


def start(
    results: Path, series: str = "6.12", seed: int = 1, seconds: int = 1, **differently: object
) -> subprocess.Popen[bytes]:
    """A process that runs a guest with a virtual chip, rtl8192cu, WPA2 and iperf3, and captures all of it."""
    argv = [sys.executable, "-c", PROGRAM, str(results), series, str(seed), str(seconds)]
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **differently)  # type: ignore[call-overload, no-any-return]


def other_surroundings(home: Path) -> dict[str, object]:
    """Another folder, user's home, language, time zone, file mode, number of files and priority."""

    def limits() -> None:
        os.umask(0o077)
        os.nice(3)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    home.mkdir()
    environment: Mapping[str, str] = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LC_")},
        "HOME": str(home),
        "LANG": "de_DE.UTF-8",
        "TZ": "Asia/Kathmandu",
        "XDG_CACHE_HOME": str(default_cache().parent.parent),
        "SOMETHING": "x" * 10_000,
    }
    return {"cwd": home, "env": environment, "preexec_fn": limits}


def finish(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate()
    assert process.returncode == 0, said.decode("utf-8", "replace")[-2000:]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def differing(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@pytest.mark.slow
def test_two_exact_guests_are_identical_to_the_byte_in_different_surroundings(
    image: Image, chips: Path, tmp_path: Path
) -> None:
    del image, chips
    processes = [start(tmp_path / "a"), start(tmp_path / "b", **other_surroundings(tmp_path / "home"))]
    for process in processes:
        finish(process)
    one, other = (everything(tmp_path / name) for name in "ab")
    assert set(LEFT) <= one.keys()
    # an empty file is identical too: all of this has to be there
    assert all(len(one[name]) > 100_000 for name in ("files/air.pcapng", "files/usb.pcapng"))
    assert b"associated" in one["events"]
    assert b" 0% packet loss" in one["stdout"]
    sent = json.loads(one["files/iperf3.json"])["end"]["sum_received"]["bytes"]
    assert sent > 100_000
    assert json.loads(one["files/chip.json"])["device"]["air"]["chip"]["bytes"] > sent
    assert differing(one, other) == []


@pytest.mark.slow
@pytest.mark.parametrize("series", ["6.12", "6.1"])
def test_every_run_is_identical_and_another_seed_is_not(
    image_of: Callable[[str], Image], chips: Path, tmp_path: Path, series: str
) -> None:
    image_of(series)
    del chips
    for pair in range(2):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * pair)]
        try:
            names = [f"{pair}-{letter}" for letter in "ab"]
            for process in [start(tmp_path / name, series) for name in names]:
                finish(process)
        finally:
            for process in busy:
                process.kill()
                process.wait()
    finish(start(tmp_path / "other", series, seed=2))
    first = everything(tmp_path / "0-a")
    for name in ("0-b", "1-a", "1-b"):
        assert differing(first, everything(tmp_path / name)) == []
    other = everything(tmp_path / "other")
    assert {"files/air.pcapng", "files/usb.pcapng", "files/iperf3.json", "stdout"} <= set(differing(first, other))


def repeated(*options: str) -> tuple[int, str]:
    """Exit code and output of the harness: repeats of one guest under load, compared with one without."""
    ran = subprocess.run([sys.executable, HARNESS, *options], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.slow
def test_pauses_between_the_threads_of_qemu_change_nothing_and_without_the_record_they_do(
    image: Image, chips: Path, tmp_path: Path
) -> None:
    """The second half shows that the first can fail: QEMU's clock runs ahead where its threads overtake each other."""
    del image, chips
    options = ("-n", "2", "-j", "2", "--scenario", "sleep", "--only", "pause")
    status, said = repeated(*options, "--keep", str(tmp_path / "with"))
    assert status == 0, said
    paused = [int(path.read_text().split()[0]) for path in (tmp_path / "with").glob("*.pauses")]
    assert len(paused) == 2
    assert all(paused), "no pause fell where the race was"
    status, said = repeated(*options, "--without-record", "--keep", str(tmp_path / "without"))
    assert status == 1, said
    assert "2 different" in said


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "share"), [("sleep", 0.8), ("chip", 0.2)])
def test_repeats_under_load_are_identical(
    image: Image, chips: Path, tmp_path: Path, scenario: str, share: float
) -> None:
    del image, chips
    count = max(1, round(int(os.environ.get(REPEATS, "200")) * share))
    status, said = repeated("-n", str(count), "--scenario", scenario, "--keep", str(tmp_path))
    assert status == 0, said
    assert f"{count} identical" in said


@pytest.mark.slow
@pytest.mark.parametrize(("device", "driver", "host"), EACH)
def test_repeats_of_each_device_on_each_bus_are_identical_under_load(
    image: Image, chips: Path, tmp_path: Path, device: str, driver: str, host: str
) -> None:
    del image, chips
    count = int(os.environ.get(EACH_REPEATS, "3"))
    options = ("--device", device, "--driver", driver, "--host", host)
    status, said = repeated("-n", str(count), *options, "--keep", str(tmp_path))
    assert status == 0, said
    assert f"{count} identical" in said
