"""Measures opening, comparing, reporting and watching large archives: `.venv/bin/python bench/archive.py --help`.

An archive of N runs is made by rule: five arms and two tests in blocks, thirty figures and two series a run, as a
campaign leaves them. Each command runs `--repeats` times; printed are wall time, processor time and the largest
resident size, as median, lowest and highest. On a machine that is not idle, processor time is the fairer figure.
"""

import argparse
import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from txop.archive.layout import Layout
from txop.archive.reader import ArchiveReader
from txop.campaign.progress import read_progress
from txop.core.metrics import METRICS

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(sys.executable).with_name("txop")
ARMS = {"vanilla": 20.0, "patched": 24.0, "both": 25.0, "other": 20.1, "vendor": 31.0}
TESTS = {"tx": "tcp-tx", "rx": "tcp-rx"}
FIGURES = [key for key in METRICS if key not in ("throughput_up_mbit_s", "throughput_down_mbit_s")][:30]
WINDOW_S = 30


@dataclass
class Sample:
    """One run of a command."""

    wall_s: float
    cpu_s: float
    rss_mb: float


def plan(blocks: int) -> str:
    """The plan of such a campaign."""
    parts = ["version = 1", 'title = "many runs"', "[design]", f"blocks = {blocks}", "warm_up_s = 5", "[target.dut]"]
    parts += ['kind = "emulated"', "[target.peer]", 'kind = "emulated"']
    parts += [f'[[arm]]\nname = "{arm}"' for arm in ARMS]
    parts += [
        f'[[test]]\nname = "{name}"\nkind = "{kind}"\nduration_s = {WINDOW_S}\nlatency = "ping"'
        for name, kind in TESTS.items()
    ]
    return "\n".join(parts) + "\n"


def make(root: Path, runs: int) -> int:
    """Write an archive of about ``runs`` runs into the new folder ``root``; returns how many."""
    blocks = max(1, runs // (len(ARMS) * len(TESTS)))
    layout = Layout(root)
    layout.create(plan(blocks), root)
    dice = random.Random(runs)  # noqa: S311 - figures of a bench
    made = 0
    with layout.journal.open("w") as journal:

        def event(name: str, **fields: object) -> None:
            record = {"event": name, "at": "2026-01-01T00:00:00.000Z", "monotonic_s": made, "boot": "b", **fields}
            journal.write(json.dumps(record) + "\n")

        event("campaign-started", seed=1)
        for block in range(1, blocks + 1):
            event("block-started", block=block, arms=list(ARMS), tests=list(TESTS), replaces=None)
            for position, (arm, level) in enumerate(ARMS.items(), start=1):
                for test in TESTS:
                    made += 1
                    _run(layout, dice, block, position, arm, test, level)
                    event("run-finished", run=layout.run_name(block, arm, test), block=block, arm=arm, test=test)
            event("block-finished", block=block)
        event("campaign-finished", reason="")
    return made


def _run(layout: Layout, dice: random.Random, block: int, position: int, arm: str, test: str, level: float) -> None:
    name = layout.run_name(block, arm, test)
    folder = layout.run(name)
    folder.mkdir()
    figures = {}
    for key in FIGURES:
        mean = level if key == "throughput_mbit_s" else 10.0
        figures[key] = {"value": mean * dice.lognormvariate(0, 0.03), "unit": METRICS[key].unit, "source": "bench"}
    document = {
        "format": "txop-run",
        "version": 1,
        "run": name,
        "block": block,
        "position": position,
        "arm": arm,
        "test": test,
        "origin": "emulated",
        "state": "valid",
        "started_at": "2026-01-01T00:00:00Z",
        "seconds": 40.0,
        "window_s": WINDOW_S,
        "metrics": figures,
        "gates": {f"gate-{n}": "ok" for n in range(10)},
        "verified": {"driver": "rtl8xxxu", "srcversion": "5B1F2D0C9A7E44D1B0C3F11"},
        "provenance": {"dut": {"interface": {"driver": "rtl8xxxu", "address": "02:00:00:00:00:01"}}},
        "files": {"iperf3.json": "iperf3", "ping.txt": "ping"},
    }
    (folder / "run.json").write_text(json.dumps(document))
    series = {
        "throughput_mbit_s": [[t + 0.5, level * dice.lognormvariate(0, 0.08)] for t in range(-5, WINDOW_S)],
        "rtt_ms": [[t / 2, 10 * dice.lognormvariate(0, 0.3)] for t in range(-10, 2 * WINDOW_S)],
    }
    (folder / "series.json").write_text(json.dumps({"format": "txop-series", "version": 1, "series": series}))


def measured(command: list[str]) -> Sample:
    """Run a command to its end."""
    begun = time.monotonic()
    with open(os.devnull, "w") as nothing:  # noqa: PTH123 - a device
        child = os.posix_spawn(
            command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, nothing.fileno(), 1)]
        )
        _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return Sample(time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def looks(root: Path, repeats: int) -> list[Sample]:
    """Looks of `txop watch`, each after one more run has ended; made in this process, as its polls are."""
    layout = Layout(root)
    lines = layout.journal.read_text().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if "run-finished" in line][-repeats:]
    aside = root.with_name(f"{root.name}-aside")
    aside.mkdir()
    names = [json.loads(lines[number])["run"] for number in ends]
    for name in names:
        layout.run(name).rename(aside / name)
    layout.journal.write_text("".join(lines[: ends[0]]))
    reader, samples = ArchiveReader(root), []
    read_progress(reader)
    for number, name, after in zip(ends, names, [*ends[1:], len(lines)], strict=True):
        (aside / name).rename(layout.run(name))
        with layout.journal.open("a") as journal:
            journal.writelines(lines[number:after])
        begun, spent = time.monotonic(), time.process_time()
        read_progress(reader)
        rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        samples.append(Sample(time.monotonic() - begun, time.process_time() - spent, rss_mb))
    aside.rmdir()
    return samples


def main() -> None:
    """Make the archives, run the commands, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--runs", type=int, nargs="+", default=[600, 10_000], help="sizes of archives; a plan has at most 10,000"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the txop to measure")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="txop-bench-") as folder:
        for wanted in options.runs:
            root = Path(folder) / str(wanted)
            runs = make(root, wanted)
            page = str(Path(folder) / "page.html")
            for name, arguments in (("compare", ["compare", str(root)]), ("report", ["report", str(root), "-o", page])):
                samples = [measured([str(options.program), *arguments]) for _ in range(options.repeats)]
                rows.append((runs, name, samples))
                _print(rows[-1], as_json=options.json)
            rows.append((runs, "watch", looks(root, options.repeats)))
            _print(rows[-1], as_json=options.json)


def _print(row: tuple[int, str, list[Sample]], *, as_json: bool) -> None:
    runs, name, samples = row
    columns = {key: [getattr(sample, key) for sample in samples] for key in ("wall_s", "cpu_s", "rss_mb")}
    if as_json:
        print(json.dumps({"runs": runs, "command": name, **columns}))
        return
    shown = "  ".join(
        f"{key} {statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"
        for key, values in columns.items()
    )
    print(f"{runs:6d} runs, {name:8s} {shown}  n = {len(samples)}", flush=True)


if __name__ == "__main__":
    main()
