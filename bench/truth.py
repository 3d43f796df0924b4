"""`make truth`: what is publicly known of a real chip beside what the virtual one does.

Boots guests (exact, stock and patched drivers, WPA2 with hostapd) for the runs of bench/truth/rtl8188cus.toml, and
writes bench/truth/measured.json and from it docs/truth-rtl8188cus.md. A run whose result is there (--results) is not
done again as long as chips, driver, kernel image and settings are the same.

Examples:
  bench/truth.py                         all runs, two seeds; writes the page
  bench/truth.py --only lossy --seeds 1     one run, one seed; writes no page
  bench/truth.py --page                  the page from measured.json and wiki.json, no guest
  bench/truth.py --wiki fast=ARCHIVE gateway=ARCHIVE    the page with campaigns of guest-gardena-wiki*.toml
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import shutil
import statistics
import sys
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from txop import air, bus
from txop.archive.reader import read_archive
from txop.arms.build import Built
from txop.guest.chips import IN_GUEST, Chip, find_chips
from txop.guest.driver import DriverBuild, build_driver
from txop.guest.qemu import Computer, Mode, qemu_version
from txop.guest.running import run_guest
from txop.guest_image.image import Image, build_image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.plan.named_file import named_file

ROOT = Path(__file__).resolve().parent.parent
FACTS = Path(__file__).parent / "truth" / "rtl8188cus.toml"
MEASURED = Path(__file__).parent / "truth" / "measured.json"
WIKI = Path(__file__).parent / "truth" / "wiki.json"
PAGE = ROOT / "docs" / "truth-rtl8188cus.md"
AP = "02:00:00:00:00:00"
"""The first radio of mac80211_hwsim."""
SERIES, SHIFT, SECONDS = "6.12", 0, 3
"""Kernel; 1,000 million instructions a second; seconds of TCP in each direction."""
SCRIPT = """
txop-lab up || exit
dut timeout 20 ping -c 20 -i 0.1 10.80.210.1 >/txop/out/ping
peer iperf3 -s -D; sleep 0.5
dut timeout 60 iperf3 -c 10.80.210.1 -t {seconds} {reverse} -J >/txop/out/iperf3.json || exit
dmesg >/txop/out/kernel-log
txop-lab down
"""
FAULT = re.compile(r"Failed to write block|IQK failed|failed with error|Polling FW|WARNING:|BUG:")


@dataclass(frozen=True)
class Measured:
    """Figures of one guest in one direction. ``None``: not available."""

    mbit_s: float | None
    """TCP payload, by the receiver."""
    retry_percent: float | None
    """Data MPDUs for one receiver with the retry bit, of the sender (the chip's own counters)."""
    mpdus_per_ppdu: float | None
    retries_at_top_percent: float | None
    """Retries of the sender's data at the rate of most first attempts."""
    retry_rates: dict[str, int]
    """Retries by rate."""
    top_rate_mbit_s: float | None
    unanswered_percent: float | None
    """PPDUs that solicit a response and got none, of those sent."""
    answer_gap_us: float | None
    urb_in_bytes: float | None
    urb_in_offered_bytes: float | None
    urb_in_turnaround_us: float | None
    urb_out_bytes: float | None
    urb_out_turnaround_us: float | None
    interrupts_per_s: float | None
    ping_ms: float | None
    driver_faults: int
    """Lines of the kernel log that say so."""


@dataclass(frozen=True)
class Run:
    """A driver and its surroundings."""

    key: str
    title: str
    driver: str
    patches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    directions: tuple[str, ...] = ("up", "down")


@dataclass
class Facts:
    """The file of public figures."""

    sources: dict[str, dict[str, str]]
    figures: list[dict[str, Any]]
    runs: dict[str, Run]
    results: dict[str, dict[str, list[Measured]]] = field(default_factory=dict)
    """By run and direction: one for each seed."""
    wiki: dict[str, dict[str, dict[str, dict[str, list[float]]]]] = field(default_factory=dict)
    """Figures of the campaigns of the wiki's rows, by computer, arm, test and figure: one for each block."""


def read_facts(path: Path = FACTS) -> Facts:
    """Raises :class:`ValueError` for a figure that names what is not there."""
    text = tomllib.loads(path.read_text(encoding="utf-8"))
    tuples = ("patches", "options", "directions")
    listed: list[dict[str, Any]] = text["run"]
    runs = [Run(**{**run, **{key: tuple(run[key]) for key in tuples if key in run}}) for run in listed]
    facts = Facts({each["key"]: each for each in text["source"]}, text["figure"], {run.key: run for run in runs})
    known = set(Measured.__dataclass_fields__)
    for figure in facts.figures:
        direction, _, measure = figure.get("measure", "up.mbit_s").partition(".")
        run = facts.runs.get(figure["run"]) if "run" in figure else None
        wrong = (
            figure["source"] not in facts.sources
            or ("run" in figure) != ("measure" in figure)
            or ("run" in figure and (run is None or direction not in run.directions or measure not in known))
            or figure["status"] not in ("agrees", "explained", "open", "no-figure", "no-run")
            or ("low" not in figure and "text" not in figure)
            or len({"computer", "arm", "test"} & set(figure)) not in (0, 3)
            or ("arm" in figure and ("run" in figure or "low" not in figure or figure["test"] not in ("tx", "rx")))
            or ("arm" in figure and figure.get("figure", "mbit_s") not in WIKI_FIGURES)
        )
        if wrong:
            raise ValueError(f"{path}: {figure['what']!r} names a source, run or measure that is not there")
    return facts


def side(counters: dict[str, Any], *, up: bool) -> dict[str, Any]:
    """What the sender's side counted."""
    found: dict[str, Any] = counters["device"]["air"]["chip" if up else "ap"]
    return found


def ratio(part: float, whole: float, scale: float = 1.0) -> float | None:
    """``scale`` times the part of the whole; ``None`` of nothing."""
    return scale * part / whole if whole else None


def measured(files: Path, *, up: bool) -> Measured:
    """The figures of the files that a guest left."""
    iperf3 = json.loads((files / "iperf3.json").read_text())
    counters = json.loads((files / "chip.json").read_text())
    sent = side(counters, up=up)
    report = air.analyze(files / "air.pcapng")
    sender = [station for station in report.stations if (station.address == AP) != up and station.data_frames_sent]
    rates = [rate for station in sender[:1] for rate in station.rates]
    retry_rates = {rate.label: rate.retries for rate in rates if rate.retries}
    first = max(rates, key=lambda rate: rate.frames - rate.retries, default=None)
    exchanges = [row for row in report.exchanges if (row.ta == AP) != up]
    asked = sum(row.ppdus for row in exchanges)
    answered = sum(row.acked + row.block_acked for row in exchanges)
    gaps = [row.gap_us for row in exchanges if row.gap_us is not None]
    gap = max(gaps, key=lambda spread: spread.n, default=None)
    ends = bus.analyze(files / "usb.pcapng").endpoints
    busiest = {
        way: max(
            (end for end in ends if end.transfer == "bulk" and end.direction == way),
            key=lambda end: end.bytes or 0,
            default=None,
        )
        for way in ("in", "out")
    }

    def median(way: str, what: str) -> float | None:
        spread = getattr(busiest[way], what, None)
        return None if spread is None else float(spread.median)

    pings = [float(ms) for ms in re.findall(r"time=([\d.]+) ms", (files / "ping").read_text())]
    interrupts = [end.per_s for end in ends if end.transfer == "interrupt" and end.per_s is not None]
    offered = getattr(busiest["in"], "requested_size_bytes", None)
    return Measured(
        mbit_s=iperf3["end"]["sum_received"]["bits_per_second"] / 1e6,
        retry_percent=ratio(sent["data_retries"], sent["unicast_data"], 100),
        mpdus_per_ppdu=ratio(sent["unicast_data"], sent["data_ppdus"]),
        retries_at_top_percent=ratio(retry_rates.get(first.label, 0), sum(retry_rates.values()), 100)
        if first
        else None,
        retry_rates=retry_rates,
        top_rate_mbit_s=max((rate.mbit_s for rate in rates if rate.mbit_s is not None), default=None),
        unanswered_percent=ratio(asked - answered, asked, 100),
        answer_gap_us=None if gap is None else float(gap.median),
        urb_in_bytes=median("in", "size_bytes"),
        urb_in_offered_bytes=None if offered is None else float(offered.max),
        urb_in_turnaround_us=median("in", "turnaround_us"),
        urb_out_bytes=median("out", "size_bytes"),
        urb_out_turnaround_us=median("out", "turnaround_us"),
        interrupts_per_s=max(interrupts, default=0.0),
        ping_ms=statistics.median(pings) if pings else None,
        driver_faults=len(FAULT.findall((files / "kernel-log").read_text(errors="replace"))),
    )


@dataclass(frozen=True)
class Guest:
    """One that is to be booted."""

    run: Run
    direction: str
    seed: int
    module: Path | None


async def boot(guest: Guest, image: Image, program: Path, results: Path, limit: asyncio.Semaphore) -> Measured:
    """The guest's figures; from ``results``, if the same guest has left them there."""
    run = guest.run
    chip = Chip(driver=run.driver, options=run.options, air="air.pcapng", usb="usb.pcapng", usb_snap_bytes=200)
    script = SCRIPT.format(seconds=SECONDS, reverse="" if guest.direction == "up" else "-R")
    said = [script, repr(chip), str(SHIFT), str(guest.seed), image.release, qemu_version()]
    inputs = [path for path in (program, guest.module) if path is not None]
    digest = hashlib.sha256("\n".join(said).encode())
    for path in inputs:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    name = f"{run.key}-{guest.direction}-{guest.seed}"
    kept = results / f"{name}.json"
    if kept.is_file():
        found = json.loads(kept.read_text())
        if found["inputs"] == digest.hexdigest():
            return Measured(**found["measured"])
    async with limit:
        print(f"{name}: a guest boots", file=sys.stderr)
        folder = results / name
        shutil.rmtree(folder, ignore_errors=True)
        overlay = Overlay(
            script=script,
            environment=chip.variables(),
            files={IN_GUEST: program},
            modules=() if guest.module is None else (guest.module,),
        )
        computer = Computer(mode=Mode.EXACT, shift=SHIFT, seed=guest.seed, limit_s=200)
        ended = await run_guest(image, overlay, computer, results=folder, wall_limit_s=2400)
        if ended.status != 0:
            raise SystemExit(f"{name} ended with {ended.status}: {(folder / 'stderr').read_text()[-500:]}")
        found = measured(folder / "files", up=guest.direction == "up")
        kept.write_text(json.dumps({"inputs": digest.hexdigest(), "measured": asdict(found)}, indent=1) + "\n")
        for capture in ("air.pcapng", "usb.pcapng"):
            (folder / "files" / capture).unlink()
        return found


async def measure(facts: Facts, seeds: int, jobs: int, results: Path) -> None:
    """All guests."""
    image, program = build_image(find_lock(SERIES)), find_chips()
    results.mkdir(parents=True, exist_ok=True)
    modules: dict[str, Path | None] = {}
    for run in facts.runs.values():
        modules[run.key] = None
        if run.driver == "rtl8xxxu":
            scripts = tuple(named_file(Path(), f"txop:rtl8xxxu/{name}.toml") for name in run.patches)
            built: Built = await build_driver(DriverBuild(run.driver, scripts), find_lock(SERIES))
            modules[run.key] = built.module
    limit = asyncio.Semaphore(jobs)
    guests = [
        Guest(run, direction, seed, modules[run.key])
        for seed in range(1, seeds + 1)
        for run in facts.runs.values()
        for direction in run.directions
    ]
    found = await asyncio.gather(*(boot(guest, image, program, results, limit) for guest in guests))
    for guest, one in zip(guests, found, strict=True):
        facts.results.setdefault(guest.run.key, {}).setdefault(guest.direction, []).append(one)


def write_measured(facts: Facts, note: str, path: Path = MEASURED) -> None:
    """What the page is made of, beside the public figures."""
    results = {
        run: {direction: [asdict(one) for one in found] for direction, found in directions.items()}
        for run, directions in facts.results.items()
    }
    path.write_text(json.dumps({"note": note, "results": results}, indent=1) + "\n", encoding="utf-8")


def read_measured(facts: Facts, path: Path = MEASURED) -> str:
    """Fills in the results; gives what they were measured with."""
    text = json.loads(path.read_text(encoding="utf-8"))
    for run, directions in text["results"].items():
        for direction, found in directions.items():
            facts.results.setdefault(run, {})[direction] = [Measured(**one) for one in found]
    return str(text["note"])


WIKI_FIGURES = {
    "mbit_s": "throughput_mbit_s",
    "retry_percent": "air_bss_retry_percent",
    "mpdu_retry_percent": "air_retry_percent",
    "ghosts": "air_ghost_addresses",
}
"""What is kept of a campaign: names here, metrics there. The second is as the wiki counts: WLAN Traffic's network."""


def write_wiki(named: list[str], path: Path = WIKI) -> None:
    """The figures of campaigns, run by run; each is ``COMPUTER=ARCHIVE``."""
    computers: dict[str, dict[str, dict[str, dict[str, list[float]]]]] = {}
    for one in named:
        computer, _, root = one.partition("=")
        archive = read_archive(Path(root))
        found = computers.setdefault(computer, {})
        for run in archive.runs:
            if run.state != "valid":
                continue
            of_test = found.setdefault(run.arm, {}).setdefault(run.test, {})
            for name, metric in WIKI_FIGURES.items():
                value = run.metrics.get(metric)
                if value is not None and value.value is not None and value.bound is None:
                    of_test.setdefault(name, []).append(round(float(value.value), 3))
    path.write_text(json.dumps({"computers": computers}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_wiki(facts: Facts, path: Path = WIKI) -> None:
    """Fills in the campaign."""
    facts.wiki = json.loads(path.read_text(encoding="utf-8"))["computers"]


def of_campaign(facts: Facts, figure: dict[str, Any], name: str) -> list[float]:
    """Values of the campaign for a row of the wiki, one for each block."""
    of_arm = facts.wiki.get(figure.get("computer", ""), {}).get(figure.get("arm", ""), {})
    return of_arm.get(figure.get("test", ""), {}).get(name, [])


def virtual(facts: Facts, figure: dict[str, Any]) -> list[float]:
    """The virtual values, one for each seed or block."""
    if "arm" in figure:
        return of_campaign(facts, figure, figure.get("figure", "mbit_s"))
    direction, _, measure = figure.get("measure", "").partition(".")
    found = facts.results.get(figure.get("run", ""), {}).get(direction, [])
    values = [getattr(one, measure) for one in found]
    return [float(value) for value in values if value is not None]


def number(value: float) -> str:
    """With three digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def public(figure: dict[str, Any]) -> str:
    """The public value in words."""
    if "low" not in figure:
        return str(figure["text"])
    spread = number(figure["low"]) + (f" to {number(figure['high'])}" if "high" in figure else "")
    return str(figure.get("text", f"{spread} {figure['unit']}"))


def residual(figure: dict[str, Any], values: list[float]) -> str:
    """How far the virtual mean is from the public value or its range."""
    if not values or "low" not in figure:
        return "can't be determined"
    mean, low = statistics.mean(values), figure["low"]
    high = figure.get("high", low)
    off = mean - high if mean > high else mean - low if mean < low else 0.0
    nearest = high if mean > high else low
    share = f" ({100 * off / nearest:+.0f} %)" if nearest and off else ""
    return f"{'+' if off > 0 else ''}{number(off)}{share}" if off else "within"


def rates_of_retries(facts: Facts) -> str:
    """Every run's retries by rate, all seeds together."""
    out = ["\n## Retries by rate, virtual\n\n| run | direction | retries | at which rates |\n|---|---|---|---|\n"]
    for key, directions in facts.results.items():
        for direction, found in directions.items():
            total: dict[str, int] = {}
            for one in found:
                for label, count in one.retry_rates.items():
                    total[label] = total.get(label, 0) + count
            whole = sum(total.values())
            listed = sorted(total.items(), key=lambda item: -item[1])
            shares = ", ".join(f"{label} {100 * count / whole:.1f} %" for label, count in listed)
            out.append(f"| {facts.runs[key].title} | {direction} | {whole} | {shares or 'none'} |\n")
    return "".join(out)


def page(facts: Facts, note: str) -> str:
    """docs/truth-rtl8188cus.md."""
    out = [HEAD, note]
    for section in dict.fromkeys(figure["section"] for figure in facts.figures):
        out.append(f"\n## {section}\n\n| what | real chip | virtual chip | residual | |\n|---|---|---|---|---|\n")
        notes = []
        for figure in (each for each in facts.figures if each["section"] == section):
            values = virtual(facts, figure)
            shown = "not available"
            if values:
                spread = f"; {number(min(values))} to {number(max(values))}" if len(values) > 1 else ""
                shown = f"{number(statistics.mean(values))} {figure['unit']} (n = {len(values)}{spread})"
            off = residual(figure, values)
            if "retries" in figure and (mine := of_campaign(facts, figure, "retry_percent")):
                mean = statistics.mean(mine)
                shown += f"; {number(mean)} %"
                off += f"; retries {mean - figure['retries']:+.1f}"
            notes.append(figure["why"])
            source = list(facts.sources).index(figure["source"]) + 1
            out.append(f"| {figure['what']} | {public(figure)} [{source}] | {shown} | {off} | {figure['status']} |\n")
        out.append("\n")
        for figure, why in zip((f for f in facts.figures if f["section"] == section), notes, strict=True):
            if why:
                out.append(f"- *{figure['what']}*: {why}\n")
    unexplained = [figure["what"] for figure in facts.figures if figure["status"] == "open"]
    out.append(rates_of_retries(facts))
    out.append(f"\n## Not explained\n\n{len(unexplained)} of {len(facts.figures)} rows:\n\n")
    out.extend(f"- {what}\n" for what in unexplained)
    out.append("\n## Sources\n\n")
    for count, cited in enumerate(facts.sources.values(), 1):
        out.append(f"{count}. {cited['title']}, {cited['date']}: <{cited['url']}>. {cited['note']}.\n")
    return "".join(out)


HEAD = """# RTL8188CUS: the real chip beside the virtual one

What is publicly known of a real RTL8188CUS, and what the [virtual one](virtual-chips.md) does with drivers of the same
name; made by `make truth` from `bench/truth/rtl8188cus.toml`. The hardware was not available: every figure of a real
chip is from the source in brackets, of one run where that does not say more. *Residual* is the virtual mean less the
nearest public value. *agrees*: no difference that would mean something. *explained*: a register or the medium explains
the public value, and the chip does the same for that reason. *open*: not explained; the virtual figure must not
be taken for a real one. *no-figure*: no public figure was found. *no-run*: no run of the virtual chip answers it.
Virtual figures of the wiki's rows are from campaigns with Linux 5.10 ([record](results/gardena-wiki.md)): the fast
computer has 500, the gateway 125 million instructions a second; retries are the network's in Wireshark's WLAN Traffic.

"""


def main() -> int:
    """Measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seeds", type=int, default=2, metavar="N", help="guests of each run, seeds 1 to N (%(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="guests at once (%(default)s)")
    parser.add_argument("--only", metavar="KEY", help="only this run; writes no page")
    parser.add_argument(
        "--results", type=Path, default=ROOT / "target" / "truth", metavar="DIR", help="what was measured"
    )
    parser.add_argument("--page", action="store_true", help="no guests: the page of what is there")
    parser.add_argument("--wiki", nargs="+", metavar="COMPUTER=ARCHIVE", help="campaigns of the wiki's plans")
    args = parser.parse_args()
    facts = read_facts()
    if args.wiki is not None:
        write_wiki(args.wiki)
        args.page = True
    read_wiki(facts)
    if args.only is not None:
        if args.only not in facts.runs:
            parser.error(f"--only: there is no {args.only}: {', '.join(facts.runs)}")
        facts.runs = {args.only: facts.runs[args.only]}
    if args.page and args.only is not None:
        parser.error("--page is of all runs: leave out --only")
    if args.page:
        note = read_measured(facts)
    else:
        asyncio.run(measure(facts, args.seeds, args.jobs, args.results))
        note = (
            f"The virtual figures: exact guests, Debian's {SERIES}, {1_000 >> SHIFT} million instructions a second, "
            f"WPA2 with hostapd, 20 MHz, channel 6, {SECONDS} s of TCP, with captures of air and bus, chip and bus "
            f"before everything else; seeds 1 to {args.seeds}, which draw a residual loss of 0 to 2 %; "
            f"{qemu_version()}.\n"
        )
    if args.only is not None:
        for direction, found in facts.results.get(args.only, {}).items():
            print(direction, json.dumps([asdict(one) for one in found], indent=1))
        return 0
    if not args.page:
        write_measured(facts, note)
    PAGE.write_text(page(facts, note), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
