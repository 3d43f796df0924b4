"""Called by bench/guest: what guests cost on this machine.

* the image: made from packages that are there, unpacked again: seconds and megabytes; targets: 10 s, 30 MB
* the boot: an empty command in fast mode
* the association: chip, stock rtl8192cu, WPA2 with hostapd, in fast mode; target: 40 s by this machine's clock
* exactness: the same scenario (association, 2 s of TCP) in both modes: wall and processor time, and identical bytes
* the translator: million instructions a second that it reaches while it counts them, on a busy processor

Exit code 1 when a target is missed. Times are by this machine's clock; other load makes them longer, so the
load average is printed with them, and processor seconds beside wall seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from txop.guest.chips import IN_GUEST, Chip, find_chips
from txop.guest.qemu import Computer, Mode, kvm_works, qemu_version
from txop.guest.running import Ended, run_guest
from txop.guest_image.cache import default_cache
from txop.guest_image.image import Image, build_image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay

IMAGE_S, IMAGE_MB, ASSOCIATION_S = 10, 30, 40
BUSY_S = 4
SCENARIO = """
txop-lab up || exit
peer iperf3 -s -D; sleep 0.3
dut iperf3 -c 10.80.210.1 -t 2 -J >/txop/out/iperf3.json
"""


@dataclass(frozen=True)
class Cost:
    """The cost of one run."""

    wall_s: float
    cpu_s: float
    guest_s: float


def cpu_s() -> float:
    """Processor time of all that this process started and that has ended, and of itself."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def costs(what: Callable[[], float]) -> Cost:
    """What a call costs; it returns seconds of the guest."""
    begun, before = time.monotonic(), cpu_s()
    guest_s = what()
    return Cost(time.monotonic() - begun, cpu_s() - before, guest_s)


def guest(image: Image, script: str, mode: Mode, results: Path, *, chip: bool = False) -> Ended:
    """One guest, to its end."""
    overlay = Overlay(
        script=script,
        environment=Chip().variables() if chip else {},
        files={IN_GUEST: find_chips()} if chip else {},
    )
    computer = Computer(mode=mode, kvm=mode is Mode.FAST and kvm_works())
    ended = asyncio.run(run_guest(image, overlay, computer, results=results, wall_limit_s=1800))
    if ended.status != 0:
        raise SystemExit(f"the guest ended with {ended.status}: {(results / 'stderr').read_text()[-500:]}")
    return ended


def image_cost(folder: Path) -> tuple[Cost, float]:
    """The cost of an image made from packages that are there; and its size in MB."""
    folder.mkdir()
    (folder / "packages").symlink_to(default_cache() / "packages")
    made: list[Image] = []

    def make() -> float:
        made.append(build_image(find_lock("6.12"), cache=folder))
        return 0.0

    cost = costs(make)
    return cost, made[0].size_bytes / 1e6


def hash_of(folder: Path) -> str:
    """The hash of all files that a guest left."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def measure(runs: int, folder: Path) -> tuple[float, int, dict[str, list[Cost]]]:
    """Everything, in turn, ``runs`` times: the image's MB, how many exact results differ, what each costs."""
    image = build_image(find_lock("6.12"))
    found: dict[str, list[Cost]] = {
        name: [] for name in ("image", "boot", "association", "fast", "exact", "exact boot", "exact busy")
    }
    hashes, image_mb = set(), 0.0
    for number in range(runs):
        place = folder / str(number)
        place.mkdir()
        cost, image_mb = image_cost(place / "cache")
        found["image"].append(cost)
        for name, script, mode, chip in (
            ("boot", ":", Mode.FAST, False),
            ("association", "txop-lab up", Mode.FAST, True),
            ("fast", SCENARIO, Mode.FAST, True),
            ("exact", SCENARIO, Mode.EXACT, True),
            ("exact boot", ":", Mode.EXACT, False),
            ("exact busy", f"timeout {BUSY_S} sh -c 'while :; do :; done'; :", Mode.EXACT, False),
        ):
            results = place / name

            def run(script: str = script, mode: Mode = mode, results: Path = results, chip: bool = chip) -> float:
                return guest(image, script, mode, results, chip=chip).guest_seconds

            found[name].append(costs(run))
        hashes.add(hash_of(place / "exact"))
    return image_mb, len(hashes), found


def middle(costs_of: list[Cost], what: str) -> tuple[float, float, float]:
    """Median, smallest and largest."""
    values = [float(getattr(cost, what)) for cost in costs_of]
    return statistics.median(values), min(values), max(values)


def figures_of(runs: int, load: float, image_mb: float, different: int, found: dict[str, list[Cost]]) -> dict[str, Any]:
    """What is printed, from what was measured."""
    fast, exact, boot, busy = (found[name] for name in ("fast", "exact", "exact boot", "exact busy"))
    speed = Computer(mode=Mode.EXACT).instructions_per_second or 0
    guest_s, cpu = (middle(busy, what)[0] - middle(boot, what)[0] for what in ("guest_s", "cpu_s"))
    return {
        "qemu": qemu_version(),
        "kvm": kvm_works(),
        "processors": os.cpu_count(),
        "load_at_the_start": load,
        "runs": runs,
        "image_mb": image_mb,
        "exact_to_fast_wall": middle(exact, "wall_s")[0] / middle(fast, "wall_s")[0],
        "exact_to_fast_cpu": middle(exact, "cpu_s")[0] / middle(fast, "cpu_s")[0],
        "exact_cpu_s_per_guest_s": middle(exact, "cpu_s")[0] / middle(exact, "guest_s")[0],
        "busy_million_instructions_per_cpu_s": guest_s * speed / cpu / 1e6,
        "different_exact_results": different,
        "met": {
            "association": middle(found["association"], "wall_s")[2] < ASSOCIATION_S,
            "image_s": middle(found["image"], "wall_s")[0] < IMAGE_S,
            "image_mb": image_mb < IMAGE_MB,
            "identical": different == 1 if runs > 1 else None,
        },
        "costs": {
            name: {what: middle(each, what) for what in ("wall_s", "cpu_s", "guest_s")} for name, each in found.items()
        },
    }


def show(figures: dict[str, Any]) -> None:
    """As a table and sentences."""
    print(
        f"{figures['qemu']}; KVM: {figures['kvm']}; {figures['processors']} processors, "
        f"load {figures['load_at_the_start']:.1f}; {figures['runs']} runs"
    )
    print(f"{'median (smallest-largest)':26} {'wall s':>22} {'processor s':>22} {'guest s':>10}")
    for label, each in figures["costs"].items():
        cells = ["{:7.1f} ({:.1f}-{:.1f})".format(*each[what]) for what in ("wall_s", "cpu_s")]
        print(f"{label:26} {cells[0]:>22} {cells[1]:>22} {each['guest_s'][0]:10.1f}")
    print(f"image: {figures['image_mb']:.1f} MB (target: below {IMAGE_MB} MB, {IMAGE_S} s)")
    print(f"association in fast mode: target below {ASSOCIATION_S} s of wall time")
    print(
        f"exact beside fast: {figures['exact_to_fast_wall']:.2f} times the wall time, "
        f"{figures['exact_to_fast_cpu']:.2f} times the processor time; "
        f"{figures['exact_cpu_s_per_guest_s']:.2f} processor seconds a second of the guest"
    )
    print(f"translator, counting: {figures['busy_million_instructions_per_cpu_s']:.0f} million instructions a second")
    print(f"exact runs: {figures['runs']}, different results: {figures['different_exact_results']}")
    missed = [name for name, met in figures["met"].items() if met is False]
    open_yet = [name for name, met in figures["met"].items() if met is None]
    print(f"NOT met: {', '.join(missed)}" if missed else "all targets that were checked are met")
    if open_yet:
        print(f"not looked at with so few runs: {', '.join(open_yet)}")


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="of each (default %(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs is at least 1")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="txop-bench-guest-") as name:
        image_mb, different, found = measure(options.runs, Path(name))
    figures = figures_of(options.runs, load, image_mb, different, found)
    if options.json:
        print(json.dumps(figures, indent=1))
    else:
        show(figures)
    return 1 if False in figures["met"].values() else 0


if __name__ == "__main__":
    sys.exit(main())
