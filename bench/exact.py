"""Called by bench/exact: repeats of one exact guest under load, compared byte by byte with one that ran without.

Every repeat draws its own load: busy processes beside it, one processor for all, QEMU at the end of the queue, QEMU or
the program that watches it stopped for moments, and (where there is a C compiler) threads of QEMU that pause where
another may overtake them (pauses.c). Exit code 1 when a repeat differs; its folder is kept, and where it differs first
is said.

    bench/exact                       200 repeats
    bench/exact -n 20 --minutes 10    as many as go into ten minutes, at most 20
    bench/exact --only pause          with one kind of load only
    bench/exact --device ncm          another device with its first driver (--driver, --host), ping and TCP
    bench/exact --restored            repeats continue from a guest saved after the association: a third of the time
    bench/exact --without-record      the control: what QEMU does without its record; repeats have to differ
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from txop.guest import outside, qemu
from txop.guest.checkpoint import restore, save
from txop.guest.chips import COMMAND_LOG, IN_GUEST, SDIO_HOSTS, VARIABLE, Chip, find_chips
from txop.guest.exactness import difference
from txop.guest.rebuilt import modules_for
from txop.guest.running import run_guest
from txop.guest_image.image import build_image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.plan.devices import FUNCTIONS, ON_PCI, ROWS, SDIO_CARDS
from txop.process.held import DIES_WITH_PARENT

CLOCKS = "cat /proc/interrupts /proc/stat; grep '^now at' /proc/timer_list; head -c 100 /dev/urandom | sha256sum\n"
"""What tells of a difference of a nanosecond in the guest's time."""
CHECKPOINT = "txop-vusb control checkpoint || exit\n"
SCENARIOS = {
    "chip": """
txop-lab up || exit
"""
    + CHECKPOINT
    + """
peer iperf3 -s -D; sleep 0.3
dut iperf3 -c 10.80.210.1 -t 1 -J >/txop/out/iperf3.json || exit
dut ping -c 10 -i 0.05 10.80.210.1 || exit
"""
    + CLOCKS,
    "sleep": "n=0; while [ $n -lt 200 ]; do sleep 0.011; n=$((n + 1)); done\n" + CLOCKS,
}
"""rtl8192cu on the virtual chip (or another device and driver) with WPA2, TCP and ping, captured on air and bus; or a
boot and 200 short sleeps, which costs a third of that."""

KINDS = ("hogs", "pin", "nice", "stop", "watcher", "pause")
HERE = Path(__file__).resolve().parent
SAVED = "saved"
WALL_S = 3600.0


@dataclass(frozen=True)
class Load:
    """What a repeat has to bear."""

    hogs: int = 0
    """Busy processes."""
    pin: bool = False
    """One processor for QEMU and the busy processes."""
    nice: int = 0
    stop: bool = False
    """QEMU is stopped for up to 300 ms, again and again."""
    watcher: bool = False
    """So is the program that watches it."""
    pauses: dict[str, int] = field(default_factory=dict)
    """Settings of pauses.c."""

    def __str__(self) -> str:
        said = [f"{self.hogs} hogs"] if self.hogs else []
        said += ["one processor"] if self.pin else []
        said += [f"nice {self.nice}"] if self.nice else []
        said += ["QEMU stopped"] if self.stop else []
        said += ["watcher stopped"] if self.watcher else []
        said += (
            ["pauses " + " ".join(f"{key.lower()}={value}" for key, value in self.pauses.items())]
            if self.pauses
            else []
        )
        return ", ".join(said) or "none"


def drawn(chance: random.Random, only: str | None, *, pauses: bool) -> Load:
    """A load; each kind in every second repeat, or the one asked for in all."""

    def has(kind: str) -> bool:
        return kind == only if only else chance.random() < 0.5

    settings = {
        "HALT": chance.choice((1, 5, 20)),
        "POLL": chance.choice((0, 10, 50)),
        "WAIT": chance.choice((0, 10, 50)),
        "WAKE_US": chance.choice((50, 200, 1000)),
        "US": chance.choice((50, 200, 1000)),
    }
    return Load(
        hogs=chance.randint(1, 4) if has("hogs") else 0,
        pin=has("pin"),
        nice=chance.choice((5, 19)) if has("nice") else 0,
        stop=has("stop"),
        watcher=has("watcher"),
        pauses=settings if has("pause") and pauses else {},
    )


def chip(device: str, driver: str, host: str) -> Chip:
    """A device with all that can be written down of it."""
    card, radio = device in SDIO_CARDS, device not in FUNCTIONS
    return Chip(
        device,
        driver,
        sdio_host=host,
        air="air.pcapng" if radio else None,
        usb="usb.pcapng" if host == "ushc" and device not in ON_PCI else None,
        command_log=COMMAND_LOG if card else None,
    )


async def one(options: argparse.Namespace) -> int:
    """The guest itself, in a process of its own."""
    if options.without_record:
        qemu.RECORD = "align=off"  # what is so anyway
    made, lock = chip(options.device, options.driver, options.host), find_lock("6.12")
    image = build_image(lock)
    modules = await modules_for(options.device, options.driver, (), image, lock, print, host=options.host)
    files = {**made.files(), IN_GUEST: find_chips()}
    script = SCENARIOS[options.scenario]
    if options.saved is None:
        script = script.replace(CHECKPOINT, "")
    overlay = Overlay(script=script, environment=made.variables(), files=files, modules=modules)
    computer = qemu.Computer(mode=qemu.Mode.EXACT, seed=options.seed)
    if options.saved is None:
        ended = await run_guest(image, overlay, computer, results=options.one, wall_limit_s=WALL_S)
    elif options.saved.is_dir():
        ended = await restore(image, overlay, computer, options.saved, results=options.one, wall_limit_s=WALL_S)
    else:
        saved = await save(
            image, overlay, computer, options.saved, results=options.one, wall_limit_s=WALL_S, then_continue=True
        )
        if saved is None:
            raise AssertionError("it continues after it was saved")
        ended = saved
    return ended.status


def children(pid: int) -> list[int]:
    """The children of a process."""
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def stop_for_a_moment(pid: int, chance: random.Random) -> None:
    """A process stands still, shortly or longer."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    time.sleep(chance.choice((0.0005, 0.003, 0.02, 0.3)))
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def repeat(folder: Path, load: Load, chance: random.Random, options: argparse.Namespace, preload: Path | None) -> str:
    """One guest under a load; what it ended with in words, "" when it ended well."""
    environment = dict(os.environ)
    if load.pauses and preload is not None:
        place = folder.with_suffix(".bin")
        place.mkdir()
        program = place / "qemu"
        settings = [f"PAUSES_{key}={value}" for key, value in load.pauses.items()]
        settings += [f"PAUSES_REPORT={folder}.pauses", f"LD_PRELOAD={preload}"]
        command = shlex.join(outside.qemu_command())
        program.write_text(f'#!/bin/sh\nexport {shlex.join(settings)}\nexec {command} "$@"\n')
        program.chmod(0o755)
        environment[outside.VARIABLE] = str(program)
    argv = [*DIES_WITH_PARENT, sys.executable, __file__, "--one", str(folder), "--scenario", options.scenario]
    argv += ["--seed", str(options.seed), "--device", options.device, "--driver", options.driver]
    argv += ["--host", options.host]
    argv += ["--without-record"] if options.without_record else []
    argv += ["--saved", str(folder.parent / SAVED)] if options.restored else []

    def bear() -> None:
        os.nice(load.nice)
        if load.pin:
            os.sched_setaffinity(0, {chance.choice(sorted(os.sched_getaffinity(0)))})

    def busy() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*DIES_WITH_PARENT, sys.executable, "-c", "while True: pass"], preexec_fn=bear if load.pin else None
        )

    process = subprocess.Popen(argv, env=environment, preexec_fn=bear, stderr=subprocess.PIPE)
    beside = [busy() for _ in range(load.hogs)]
    try:
        while process.poll() is None:
            time.sleep(chance.choice((0.001, 0.01, 0.1, 0.5)))
            targets = children(process.pid) if load.stop else []
            targets += [process.pid] if load.watcher else []
            for pid in targets:
                stop_for_a_moment(pid, chance)
        said = process.stderr.read().decode("utf-8", "replace") if process.stderr else ""
        return "" if process.returncode == 0 else f"it ended with {process.returncode}: {said.strip()[-500:]}"
    finally:
        process.kill()
        process.wait()
        for each in beside:
            each.kill()
            each.wait()


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, help="repeats (200)")
    parser.add_argument(
        "-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="at once; default: one a processor"
    )
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no repeat after that long (600)")
    parser.add_argument("--seed", type=int, default=1, help="of the guest (1)")
    parser.add_argument("--draw", type=int, default=1, help="of the loads (1)")
    parser.add_argument("--scenario", choices=SCENARIOS, default="chip", help="what the guest does (chip)")
    parser.add_argument("--device", choices=ROWS, default="rtl8188cus", help="the virtual device (rtl8188cus)")
    parser.add_argument("--driver", help="its driver (rtl8192cu; of another device the first)")
    parser.add_argument("--host", choices=SDIO_HOSTS, default="ushc", help="host controller of an SDIO card (ushc)")
    parser.add_argument("--only", choices=KINDS, help="one kind of load")
    parser.add_argument("--keep", type=Path, help="folder for everything; default: only repeats that differ are kept")
    parser.add_argument("--without-record", action="store_true", help="the control")
    parser.add_argument("--restored", action="store_true", help="repeats continue from a saved guest (chip only)")
    parser.add_argument("--saved", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    first = "rtl8192cu" if options.device == "rtl8188cus" else ROWS[options.device].drivers[0].name
    options.driver = options.driver or first
    if options.restored and options.scenario != "chip":
        parser.error("--restored: only the scenario chip has a place to continue from")
    if options.one:
        return asyncio.run(one(options))
    folder = options.keep or Path(tempfile.mkdtemp(prefix="txop-exact-"))
    folder.mkdir(parents=True, exist_ok=True)
    # Copies: a build that ends meanwhile would be another guest.
    os.environ[VARIABLE] = str(shutil.copy2(find_chips(), folder / "txop-vusb"))
    os.environ[outside.LIBRARY_VARIABLE] = str(shutil.copy2(outside.find_library(), folder / outside.LIBRARY))
    preload = built(folder)
    print(qemu.qemu_version(), "" if preload else "(no C compiler: no pauses within QEMU)")
    doubt = qemu.untested_qemu(qemu.qemu_version())
    if doubt:
        print(doubt)
    begun = time.monotonic()
    reference = folder / "reference"
    trouble = repeat(reference, Load(), random.Random(0), options, None)  # noqa: S311 - loads
    if trouble:
        print(f"the reference: {trouble}")
        return 1
    print(f"reference: {time.monotonic() - begun:.0f} s", flush=True)
    tally: Counter[str] = Counter()

    def work(number: int) -> None:
        if time.monotonic() - begun > options.minutes * 60:
            return
        chance = random.Random(f"{options.draw} {number}")  # noqa: S311 - loads
        load = drawn(chance, options.only, pauses=preload is not None)
        place, since = folder / f"{number:03}", time.monotonic()
        trouble = repeat(place, load, chance, options, preload)
        different = None if trouble else difference(reference, place)
        state = "failed" if trouble else "different" if different else "identical"
        tally[state] += 1
        pauses = Path(f"{place}.pauses")
        halts = f"; paused at {pauses.read_text().split()[0]} halts" if pauses.is_file() else ""
        print(f"{number:4} {state:9} {time.monotonic() - since:5.0f} s  {load}{halts}", flush=True)
        if trouble or different:
            print(f"     {trouble or different}\n     kept: {place}", flush=True)
        elif options.keep is None:
            shutil.rmtree(place)

    with ThreadPoolExecutor(options.jobs) as workers:
        for result in [workers.submit(work, number) for number in range(1, options.n + 1)]:
            result.result()
    spent = time.monotonic() - begun
    print(
        f"{sum(tally.values())} repeats in {spent / 60:.0f} min: "
        + ", ".join(f"{n} {state}" for state, n in sorted(tally.items()))
    )
    good = tally["identical"] == sum(tally.values()) > 0
    if good and options.keep is None:
        shutil.rmtree(folder)
    return 0 if good else 1


def built(folder: Path) -> Path | None:
    """The library that pauses threads of QEMU; ``None``: there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "pauses.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, HERE / "pauses.c", "-ldl"], check=True)
    return library


if __name__ == "__main__":
    sys.exit(main())
