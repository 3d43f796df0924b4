"""Called by bench/vusb: how many URBs a second a virtual device handles.

Alone: a host that does nothing else at the other end of a pair of sockets. In a guest: through vhci-hcd and usbfs, as a
driver's URBs go, on one processor that the device, the host controller and the program share. Fast: QEMU's translator
(or KVM) as fast as this machine is at the moment. Exact: 1000 and 500 million instructions a second by the guest's
clock, the same on every machine. Exit code 1 when a fast guest handles fewer than the target with 32 URBs under way,
either way.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

TARGET_PER_S = 20_000
DEPTH = 32
IN_GUEST = "modprobe vhci_hcd && exec /root/urb_rate vhci {seconds}"

Row = dict[str, object]


def rows(output: str, where: str) -> list[Row]:
    """What the program said, one document a line."""
    return [{"where": where, **json.loads(line)} for line in output.splitlines() if line.startswith("{")]


def alone(program: Path, seconds: float) -> list[Row]:
    """The core over a pair of sockets."""
    argv = [str(program), "loopback", str(seconds)]
    return rows(subprocess.run(argv, capture_output=True, text=True, check=True, timeout=600).stdout, "core alone")


def in_guest(program: Path, seconds: float, where: str, mode: list[str]) -> list[Row]:
    """Through the kernel of a guest."""
    command = ["--", "sh", "-c", IN_GUEST.format(seconds=seconds)]
    argv = [sys.executable, "-m", "txop", "guest", "run", *mode, "--file", str(program), "--json", *command]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=3_600)
    if ended.returncode != 0:
        raise SystemExit(f"{where}: the guest failed ({ended.returncode}):\n{ended.stderr[-2_000:]}")
    return rows(json.loads(ended.stdout)["stdout"], where)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = alone(options.program, options.seconds)
    for where, mode in (
        ("guest, fast", ["--mode", "fast"]),
        ("guest, exact, 1000 MIPS", ["--mode", "exact", "--mips", "1000"]),
        ("guest, exact, 500 MIPS", ["--mode", "exact", "--mips", "500"]),
    ):
        found += in_guest(options.program, options.seconds, where, mode)
    targets = [row for row in found if row["where"] == "guest, fast" and row["depth"] == DEPTH]
    met = len(targets) == 2 and all(float(str(row["urbs_per_s"])) >= TARGET_PER_S for row in targets)
    if options.json:
        print(json.dumps({"rows": found, "target_per_s": TARGET_PER_S, "met": met}, indent=2))
    else:
        print(f"{'where':26}{'direction':>10}{'under way':>10}{'URBs/s':>10}   (1500 bytes each, {options.seconds} s)")
        for row in found:
            print(f"{row['where']:26}{row['direction']:>10}{row['depth']:>10}{row['urbs_per_s']:>10}")
        print(f"target in a fast guest with {DEPTH} under way: {TARGET_PER_S}/s: {'met' if met else 'NOT met'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
