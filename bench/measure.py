"""Measures `txop air` beside its peers, in one run on one machine; `bench/run --help`.

Every contender reads the same file from the page cache. Rounds go through all contenders in turn, so that whatever
else the machine does meets all of them. Printed are medians with minimum and maximum. On a machine that is not idle,
processor time (user + system, all threads) is the fairer figure; wall time is what a user waits.
"""

import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from make_capture import GLOBAL_HEADER, RECORD_HEADER

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "dist" / "examples"
TSHARK_FIELDS = ["-T", "fields", "-e", "wlan.fc.retry", "-e", "wlan_radio.duration"]
MIN_RATIO = 200
MIN_FRAMES_PER_S = 2_000_000
MAX_RSS_MB = 200


@dataclass
class Sample:
    """One run of one program."""

    wall_s: float
    cpu_s: float
    rss_mb: float
    code: int


@dataclass
class Contender:
    """One program on one file."""

    name: str
    command: list[str]
    path: Path
    frames: int
    samples: list[Sample] = field(default_factory=list)
    start_up: list[Sample] = field(default_factory=list)

    def row(self, tshark: "Contender | None") -> dict[str, object]:
        """Medians, and how many times faster than tshark, per frame."""

        def spread(values: list[float]) -> dict[str, float]:
            return {"median": statistics.median(values), "min": min(values), "max": max(values)}

        size_mb = self.path.stat().st_size / 1e6
        wall, cpu = ([s.wall_s for s in self.samples], [s.cpu_s for s in self.samples])
        row: dict[str, object] = {
            "name": self.name,
            "runs": len(self.samples),
            "frames": self.frames,
            "megabytes": round(size_mb, 1),
            "wall_s": spread(wall),
            "cpu_s": spread(cpu),
            "frames_per_s": self.frames / statistics.median(wall),
            "frames_per_cpu_s": self.frames / statistics.median(cpu),
            "megabytes_per_s": size_mb / statistics.median(wall),
            "peak_rss_mb": max(s.rss_mb for s in self.samples),
        }
        if tshark is not None and tshark is not self:
            # tshark reads few frames only: its start-up, measured on one frame, must not count against it.
            idle = tshark.start_up
            per_frame = [
                (statistics.median(s.wall_s for s in tshark.samples) - statistics.median(s.wall_s for s in idle))
                / tshark.frames,
                statistics.median(wall) / self.frames,
            ]
            per_frame_cpu = [
                (statistics.median(s.cpu_s for s in tshark.samples) - statistics.median(s.cpu_s for s in idle))
                / tshark.frames,
                statistics.median(cpu) / self.frames,
            ]
            row["times_tshark_wall"] = per_frame[0] / per_frame[1]
            row["times_tshark_cpu"] = per_frame_cpu[0] / per_frame_cpu[1]
        return row


def run(command: list[str]) -> Sample:
    """Runs a program with its output thrown away."""
    start = time.perf_counter()
    with Path(os.devnull).open("wb") as null:
        process = subprocess.Popen(command, stdout=null, stderr=null)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)


def prefix(path: Path, out: Path, frames: int) -> int:
    """Copies the first frames of a little-endian pcap file; how many there were."""
    with path.open("rb") as source, out.open("wb") as sink:
        sink.write(source.read(GLOBAL_HEADER))
        for count in range(frames):
            header = source.read(RECORD_HEADER)
            if len(header) < RECORD_HEADER:
                return count
            sink.write(header + source.read(struct.unpack_from("<I", header, 8)[0]))
    return frames


def find_captures() -> Path | None:
    """The folder of real captures, if it is there."""
    folder = Path(os.environ.get("TXOP_CAPTURES", ROOT.parent / "shared" / "captures")) / "wlan"
    return folder if folder.is_dir() else None


def make(sources: list[Path], out: Path, size: int) -> int:
    """Makes a capture in a process of its own: a child's peak memory would start at what this one holds."""
    command = [sys.executable, str(ROOT / "bench" / "make_capture.py"), str(out), str(size), *map(str, sources)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def captures(folder: Path, megabytes: int) -> list[tuple[str, Path, int]]:
    """The files to measure on: small frames off the air, and large frames; (what, path, frames)."""
    real = find_captures()
    size = megabytes * 1_000_000
    small, large = folder / "small-frames.pcap", folder / "large-frames.pcap"
    files = []
    if real is not None:
        sources = sorted(real.glob("networks744_*.pcap"), key=lambda path: path.stat().st_size)[-6:]
        if sources:
            files.append(("small frames (real, mostly beacons)", small, make(sources, small, size)))
        sources = sorted(real.glob("SIM_ns3_*_ampdu.pcap"))
        if sources:
            files.append(("large frames (ns-3, A-MPDU data)", large, make(sources, large, size)))
    if len(files) < 2:
        print("Captures missing (TXOP_CAPTURES): measuring on invented ones instead.", file=sys.stderr)
        # Seconds of air; one second of this preset is about 7 MB.
        seed = folder / "specimen.pcap"
        subprocess.run([str(TARGET / "specimen"), "healthy", str(seed), "10"], check=True, stderr=subprocess.DEVNULL)
        files.append(("large frames (invented)", large, make([seed], large, size)))
    return files


def measure(what: str, path: Path, frames: int, args: argparse.Namespace, folder: Path) -> dict[str, object]:
    """All contenders on one file."""
    contenders = [Contender("txop air (Rust)", [str(TARGET / "report"), str(path)], path, frames)]
    txop = ROOT / ".venv" / "bin" / "txop"
    if txop.exists():
        contenders.append(Contender("txop air --json", [str(txop), "air", "--json", str(path)], path, frames))
    for way, name in (("buffered", "capture reader alone"), ("pcap-parser", "bare pcap-parser loop")):
        contenders.append(Contender(name, [str(TARGET / "count"), "--once", way, str(path)], path, frames))
    tshark = None
    if shutil.which("tshark"):
        start_of = folder / f"{path.stem}-start.pcap"
        count = prefix(path, start_of, args.tshark_frames)
        tshark = Contender(
            f"tshark, first {count} frames", ["tshark", "-r", str(start_of), *TSHARK_FIELDS], start_of, count
        )
        contenders.append(tshark)
        one = folder / f"{path.stem}-one.pcap"
        prefix(path, one, 1)
    else:
        print("No tshark: no ratio to it.", file=sys.stderr)
    # Into the page cache, piece by piece: a child's peak memory starts at what its parent held.
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass
    for _ in range(args.runs):
        for contender in list(contenders):
            sample = run(contender.command)
            if sample.code != 0:
                print(f"LEFT OUT: {contender.name} failed on {what}, exit status {sample.code}", file=sys.stderr)
                contenders.remove(contender)
                continue
            contender.samples.append(sample)
        if tshark is not None:
            tshark.start_up.append(run(["tshark", "-r", str(one), *TSHARK_FIELDS]))
    return {"file": what, "contenders": [contender.row(tshark) for contender in contenders]}


def memory(folder: Path, path: Path, args: argparse.Namespace) -> list[dict[str, object]]:
    """Peak memory on a tenth of the file, on all of it, and on a flood of invented addresses."""
    part = folder / "tenth.pcap"
    with path.open("rb") as source:
        source.seek(0, os.SEEK_END)
        size = source.tell()
    prefix_bytes(path, part, size // 10)
    flood = folder / "flood.pcap"
    subprocess.run([str(TARGET / "flood"), str(flood), str(args.flood_frames)], check=True)
    rows = []
    for what, file in (("a tenth of the first file", part), ("the first file", path), ("flood of addresses", flood)):
        sample = run([str(TARGET / "report"), str(file)])
        if sample.code != 0:
            sys.exit(f"the analysis of {what} failed with exit status {sample.code}")
        rows.append({"file": what, "megabytes": round(file.stat().st_size / 1e6, 1), "peak_rss_mb": sample.rss_mb})
    return rows


def prefix_bytes(path: Path, out: Path, size: int) -> None:
    """Copies whole records up to about `size` bytes."""
    with path.open("rb") as source, out.open("wb") as sink:
        sink.write(source.read(GLOBAL_HEADER))
        while sink.tell() < size:
            header = source.read(RECORD_HEADER)
            if len(header) < RECORD_HEADER:
                return
            sink.write(header + source.read(struct.unpack_from("<I", header, 8)[0]))


def show(result: dict[str, object]) -> None:
    """The tables for people."""
    for part in result["files"]:  # type: ignore[attr-defined]
        first = part["contenders"][0]
        print(f"\n{part['file']}: {first['frames']} frames, {first['megabytes']} MB; medians of {first['runs']} runs")
        print(
            f"{'':28}{'wall s (min-max)':>22}{'CPU s (min-max)':>22}{'M frames/s':>11}{'per CPU s':>10}"
            f"{'MB/s':>7}{'RSS MB':>8}{'x tshark':>9}{'(CPU)':>7}"
        )
        for row in part["contenders"]:
            wall, cpu = row["wall_s"], row["cpu_s"]
            ratio = (
                f"{row['times_tshark_wall']:9.0f}{row['times_tshark_cpu']:7.0f}" if "times_tshark_wall" in row else ""
            )
            print(
                f"{row['name']:28}{wall['median']:8.2f} ({wall['min']:5.2f}-{wall['max']:5.2f})"
                f"{cpu['median']:8.2f} ({cpu['min']:5.2f}-{cpu['max']:5.2f})"
                f"{row['frames_per_s'] / 1e6:11.3f}{row['frames_per_cpu_s'] / 1e6:10.3f}{row['megabytes_per_s']:7.0f}"
                f"{row['peak_rss_mb']:8.1f}{ratio}"
            )
    print("\nPeak memory of the analysis")
    for row in result["memory"]:  # type: ignore[attr-defined]
        print(f"{row['file']:28}{row['megabytes']:8.1f} MB file {row['peak_rss_mb']:8.1f} MB RSS")
    print("\nTargets")
    for target in result["targets"]:  # type: ignore[attr-defined]
        print(f"{'met   ' if target['met'] else 'MISSED'} {target['text']}")


def targets(result: dict[str, object]) -> list[dict[str, object]]:
    """The target, and whether this run shows it."""
    rows = []
    first = result["files"][0]["contenders"][0]  # type: ignore[index]
    rows.append(
        (
            first["frames_per_s"] >= MIN_FRAMES_PER_S,
            f"{first['frames_per_s'] / 1e6:.2f} M frames/s (at least {MIN_FRAMES_PER_S / 1e6:.0f})",
        )
    )
    # The target is for real frames; the file of generated ones is there to show what large frames cost.
    if "times_tshark_wall" in first:
        ratio = first["times_tshark_wall"]
        what = result["files"][0]["file"]  # type: ignore[index]
        rows.append((ratio >= MIN_RATIO, f"{ratio:.0f} times tshark on {what} (at least {MIN_RATIO})"))
    for row in result["memory"]:  # type: ignore[attr-defined]
        rows.append(
            (
                row["peak_rss_mb"] < MAX_RSS_MB,
                f"{row['peak_rss_mb']:.0f} MB of memory for {row['file']} (below {MAX_RSS_MB})",
            )
        )
    return [{"met": met, "text": text} for met, text in rows]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="txop air beside tshark and bare readers")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--keep", action="store_true", help="keep the captures that were made")
    parser.add_argument("--runs", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--megabytes", type=int, default=500, help="size of each capture (default 500)")
    parser.add_argument("--tshark-frames", type=int, default=100_000, help="frames given to tshark, which is slow")
    parser.add_argument("--flood-frames", type=int, default=4_000_000, help="frames of the flood (default 4 million)")
    args = parser.parse_args()
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=build))
    try:
        files = captures(folder, args.megabytes)
        result: dict[str, object] = {
            "processors": len(os.sched_getaffinity(0)),
            "load_average": os.getloadavg()[0],
            "files": [measure(what, path, frames, args, folder) for what, path, frames in files],
        }
        result["memory"] = memory(folder, files[0][1], args)
        result["targets"] = targets(result)
        if args.json:
            print(json.dumps(result, indent=2))
        else:
            print(f"{result['processors']} processors, load average {result['load_average']:.1f} at the start")
            show(result)
    finally:
        if args.keep:
            print(f"kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
