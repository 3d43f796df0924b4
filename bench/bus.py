"""Called by bench/bus: repeats a USB capture up to a size, and reads it with txop's analyzer and with tshark.

tshark prints the twelve fields that the analyzer's counts need, and nothing is done with them; the analyzer writes its
whole report. Both run alone, one after the other. The median of the runs counts, in processor time, which other work on
the machine disturbs least. Exit code 1 below the target factor.
"""

import argparse
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIELDS = (
    "frame.time_epoch", "usb.urb_id", "usb.urb_type", "usb.transfer_type", "usb.bus_id", "usb.device_address",
    "usb.endpoint_address", "usb.urb_status", "usb.urb_len", "usb.data_len", "usb.time", "usb.capdata",
)  # fmt: skip
TARGET = 100
ROOT = Path(__file__).parents[1]


def repeated(capture: Path, megabytes: int, target: Path) -> int:
    """Write the records of a little-endian pcap file again and again, each time later; returns their number."""
    data = capture.read_bytes()
    records, at = [], 24
    while at + 16 <= len(data):
        seconds, fraction, kept, length = struct.unpack_from("<IIII", data, at)
        records.append((seconds, fraction, kept, length, data[at + 16 : at + 16 + kept]))
        at += 16 + kept
    span = records[-1][0] - records[0][0] + 1
    times = max(1, round(megabytes * 1e6 / len(data)))
    with target.open("wb") as out:
        out.write(data[:24])
        for turn in range(times):
            for seconds, fraction, kept, length, record in records:
                out.write(struct.pack("<IIII", seconds + turn * span, fraction, kept, length) + record)
    return times * len(records)


def median_s(command: list[str], runs: int) -> tuple[float, float]:
    """The median processor time and the median wall-clock time of a command."""
    processor, wall = [], []
    for _ in range(runs):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        wall.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(processor), statistics.median(wall)


def main() -> int:
    """Measure and print."""
    default = (
        Path(os.environ.get("TXOP_CAPTURES", ROOT.parent / "shared/captures")) / "generated/D_qmi_wwan_usbmon.pcap"
    )
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", nargs="?", type=Path, default=default, help="a little-endian pcap file of usbmon")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=50)
    arguments = parser.parse_args()
    if not arguments.capture.is_file():
        print(f"{arguments.capture} is missing (set TXOP_CAPTURES, or name a capture)", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.pcap"
        records = repeated(arguments.capture, arguments.megabytes, large)
        ours = median_s([os.environ["BUS_PROGRAM"], os.fspath(large)], arguments.runs)
        fields = [part for field in FIELDS for part in ("-e", field)]
        theirs = median_s(["tshark", "-n", "-T", "fields", *fields, "-r", os.fspath(large)], arguments.runs)
        size = large.stat().st_size / 1e6
    print(f"{records:,} records, {size:.0f} MB, median of {arguments.runs}")
    print("                  processor        wall      records per processor second")
    for name, (processor, wall) in (("txop bus", ours), ("tshark -T fields", theirs)):
        print(f"{name:16} {processor:9.3f} s {wall:9.3f} s  {records / processor:12,.0f}")
    factor = theirs[0] / ours[0]
    print(f"factor           {factor:9.0f}   {theirs[1] / ours[1]:9.0f}    (target {TARGET}, processor time)")
    return 0 if factor >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
