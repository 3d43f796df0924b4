"""How much of a driver is reached from a probe's seeds, and how much from the descriptors alone.

For each driver a guest records what a virtual device answers (`txop guest probe`, docs/guest-faults.md). Then N tries
of each kind plug a device with its descriptors and other replies in, against the driver with counters in its blocks:

* descriptors alone: zeros for whatever is asked in the first try, random bytes in the others;
* from the seeds: the recorded replies in the first try, with some bytes changed in the others.

Beside them one try has the model itself, from which the replies were recorded.

In each the interface comes up if the driver makes one, and the device is unplugged. A guest makes some tries one after
the other, as a fuzzer does. `bench/probe_coverage.py FOLDER` writes a row for each try to FOLDER/tries.jsonl and
continues where it stopped; the table has the blocks reached by the first try, and by all of them together.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from txop.guest.chips import IN_GUEST, Chip, find_chips
from txop.guest.coverage.counts import COUNTS, MOST_BYTES, reached, read_counts
from txop.guest.coverage.instrument import Covered, instrument, kernel_build
from txop.guest.qemu import Computer, Mode, shift_of
from txop.guest.rebuilt import modules_for
from txop.guest.running import FILES, GuestFailedError, run_guest
from txop.guest_image.image import Image, build_image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.guest_image.packages.lock import Lock
from txop.guest_probe.document import document, read_probe
from txop.guest_probe.export import DOCUMENT, export
from txop.guest_probe.in_guest import probe_in_guest, probed_chip
from txop.guest_probe.probe import Endpoint, Probe, Reply, Request

CASES = {"rtl8188cus": "rtl8192cu", "mt7610u": "mt76x0u", "ncm": "cdc_ncm"}
ALONE, SEEDS, MODEL = "descriptors alone", "from the seeds", "the model itself"
SCRIPT = Path(__file__).parent / "probe" / "coverage.sh"
REPLIES = "/txop/replies.json"
MIPS = 250
UP_S = 1
WAIT_S = 15
"""What a driver may take to make an interface, by the guest's clock."""
EACH = 5
"""Tries of a guest."""
CHANGED = (1, 2, 4, 8, 16)
"""Bytes that a mutation changes."""


@dataclass(frozen=True)
class Subject:
    """A driver with counters, and the probe of its device."""

    device: str
    driver: str
    image: Image
    modules: tuple[Path, ...]
    covered: Covered
    probe: Probe


def replies_of(probe: Probe, kind: str, number: int, seed: int) -> dict[str, Any]:
    """The document from which the device of a try answers."""
    if kind == ALONE:
        bare = replace(probe, requests=(), endpoints=(), order=())
        return document(bare, {} if number == 0 else {"seed": seed * 1_000 + number})
    changed = probe if number == 0 else mutated(probe, f"{seed} {number}")
    return document(replace(changed, order=()), {})


def mutated(probe: Probe, seed: str) -> Probe:
    """The probe with other bytes in some replies with data."""
    rng = random.Random(seed)  # noqa: S311
    rows: list[Request | Endpoint] = [*probe.requests, *probe.endpoints]
    places = [(at, number) for at, one in enumerate(rows) for number, reply in enumerate(one.replies) if reply.data]
    for _ in range(rng.choice(CHANGED) if places else 0):
        at, number = rng.choice(places)
        replies = list(rows[at].replies)
        replies[number] = _changed(replies[number], rng)
        rows[at] = replace(rows[at], replies=tuple(replies))
    requests = tuple(row for row in rows if isinstance(row, Request))
    return replace(probe, requests=requests, endpoints=tuple(row for row in rows if isinstance(row, Endpoint)))


def _changed(reply: Reply, rng: random.Random) -> Reply:
    data = bytearray(reply.data)
    at = rng.randrange(len(data))
    data[at] = rng.choice((data[at] ^ 1 << rng.randrange(8), rng.randrange(256), 0, 0xFF))
    return replace(reply, data=bytes(data))


async def prepared(device: str, driver: str, lock: Lock, image: Image, folder: Path) -> Subject:
    """Record the probe, and build the driver with counters."""
    modules = await modules_for(device, driver, (), image, lock, print)
    if not (folder / "probe" / DOCUMENT).is_file():
        computer = Computer(mode=Mode.EXACT, shift=shift_of(MIPS))
        chip = probed_chip(device, driver)
        results = folder / "probe-guest"
        export(await probe_in_guest(chip, image, computer, results, up_s=UP_S, modules=modules), folder / "probe")
        shutil.rmtree(results)
    probe = read_probe((folder / "probe" / DOCUMENT).read_bytes())
    covered = await instrument(driver, image, kernel_build(lock, None, None, progress=print), print)
    return Subject(device, driver, image, covered.in_place_of(modules), covered, probe)


async def tried(subject: Subject, kind: str, numbers: range, seed: int, results: Path) -> list[dict[str, Any]]:
    """Run one guest: what each of its tries has reached, together with those before it."""
    chip = Chip(subject.device, subject.driver)
    texts = {
        f"/txop/replies.{number}.json": json.dumps(replies_of(subject.probe, kind, number, seed)).encode()
        for number in numbers
        if kind != MODEL
    }
    overlay = Overlay(
        script="exec dash /txop/coverage.sh",
        environment={
            **chip.variables(),
            "WAIT_S": str(WAIT_S),
            "UP_S": str(UP_S),
            "NUMBERS": " ".join(map(str, numbers)),
            "MODEL": "yes" if kind == MODEL else "no",
        },
        files={IN_GUEST: find_chips()},
        texts={"/txop/coverage.sh": SCRIPT.read_bytes(), **texts},
        modules=subject.modules,
    )
    computer = Computer(mode=Mode.EXACT, shift=shift_of(MIPS), limit_s=120 * len(numbers))
    failed, seconds = None, None
    try:
        seconds = (await run_guest(subject.image, overlay, computer, results=results, wall_limit_s=1800)).seconds
    except GuestFailedError as error:
        failed = error.what
    files = results / FILES
    facts = (files / "facts").read_text(errors="replace").splitlines() if (files / "facts").is_file() else []
    rows = []
    for number in numbers:
        rows.append(
            {
                "device": subject.device,
                "driver": subject.driver,
                "kind": kind,
                "number": number,
                "guest": numbers[0],
                "failed": failed,
                "seconds": seconds,
                "facts": [fact for fact in facts if fact.split(" ")[1:2] == [str(number)]],
                "blocks": _blocks(subject, files / f"{COUNTS}.{number}"),
            }
        )
    return rows


def _blocks(subject: Subject, counted: Path) -> list[str] | None:
    """The blocks that were reached; ``None``: there are no counts."""
    counts = read_counts(counted.read_bytes()[:MOST_BYTES]) if counted.is_file() else None
    return None if counts is None else sorted(block.name for block in reached(subject.covered.blocks, counts))


def summary(rows: list[dict[str, Any]], total: dict[str, int]) -> str:
    """A table of the drivers."""
    head = ("driver", "blocks", "replies", "tries", "interface", "first", "all", "not by the other")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for driver in dict.fromkeys(row["driver"] for row in rows):
        reached_by = {}
        for kind in (ALONE, SEEDS, MODEL):
            mine = [row for row in rows if (row["driver"], row["kind"]) == (driver, kind)]
            reached_by[kind] = (mine, {name for row in mine for name in row["blocks"] or ()})
        for kind, other in ((ALONE, SEEDS), (SEEDS, ALONE), (MODEL, SEEDS)):
            mine, names = reached_by[kind]
            counted = [row for row in mine if row["blocks"] is not None]
            first = next((len(row["blocks"]) for row in counted if row["number"] == 0), None)
            made = sum(any(" interface " in fact for fact in row["facts"]) for row in mine)
            cells = (driver, total.get(driver), kind, f"{len(counted)} of {len(mine)}", made, first, len(names))
            lines.append(f"| {' | '.join(map(str, (*cells, len(names - reached_by[other][1]))))} |")
    return "\n".join(lines)


async def measure(folder: Path, devices: list[str], tries: int, seed: int, kernel: str) -> None:
    """Do what is not in the folder yet."""
    journal = folder / "tries.jsonl"
    rows = [json.loads(line) for line in journal.read_text().splitlines()] if journal.is_file() else []
    lock = find_lock(kernel, None)
    image = build_image(lock, progress=print)
    total = {}
    for device in devices:
        driver = CASES[device]
        subject = await prepared(device, driver, lock, image, folder / device)
        total[driver] = subject.covered.total
        for begin in range(0, tries, EACH):
            for kind in (ALONE, SEEDS, MODEL):
                if (kind == MODEL and begin) or any(
                    (row["driver"], row["kind"], row["guest"]) == (driver, kind, begin) for row in rows
                ):
                    continue
                results = folder / device / "guest"
                shutil.rmtree(results, ignore_errors=True)
                end = begin + 1 if kind == MODEL else min(begin + EACH, tries)
                made = await tried(subject, kind, range(begin, end), seed, results)
                rows += made
                with journal.open("a", encoding="utf-8") as out:
                    out.writelines(json.dumps(row) + "\n" for row in made)
                blocks = ", ".join("-" if row["blocks"] is None else str(len(row["blocks"])) for row in made)
                print(f"{driver}, {kind}, from {begin}: {blocks} blocks; {made[0]['seconds']} s", flush=True)
        print(summary(rows, total), flush=True)


def main() -> None:
    """Measure, or go on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="for probes, and what each guest reached")
    parser.add_argument("--device", action="append", choices=list(CASES), help="default: all")
    parser.add_argument("--tries", type=int, default=10, help="tries of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel", default="6.12")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(measure(given.folder, given.device or list(CASES), given.tries, given.seed, given.kernel))


if __name__ == "__main__":
    main()
