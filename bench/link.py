"""Called by bench/link: the cases of bench/ns3/case.py in ns-3 and in txop, in turn, in one run.

Compared are simulated seconds per second of processor time: ns-3's event loop alone (its start-up is not counted), and
txop's `simulate` on one thread, with its start-up and its results. txop simulates ten times as long as ns-3: 13 s take
it some 20 ms, of which the start-up is up to half. Nothing is recorded by either. Exit code 1 below the target factor.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from txop import simulate

ROOT = Path(__file__).resolve().parent.parent
WHEEL = "ns3==3.44.post0"
TARGET = 100

MEDIUM = "[wlan.medium]\nchannel = 36\nwidth_mhz = 20\n"
WARM_UP_S, DURATION_S = 3, 127
RUN = f"[run]\nwarm_up_s = {WARM_UP_S}\nduration_s = {DURATION_S}\n"
WIRE = "[path]\nrate_mbit_s = 1000\ndelay_ms = 1\n"
HT = "mcs = 7\nshort_gi = false\n"
QUEUES = '[wlan.ap.queueing]\nkind = "fq_codel"\nmac_queue = { packets = 500, counts_in_flight = false }\n'


def scenario(stations: int, keys: str, sender: str, receiver: str, flow: str) -> str:
    """The TOML of a case."""
    access = f"[wlan.ap]\n{keys}{QUEUES}" + f'[[wlan.stations]]\nname = "s"\ncount = {stations}\n{keys}'
    traffic = f'[[traffic]]\nfrom = "{sender}"\nto = "{receiver}"\n{flow}\n'
    return f'title = "bench"\n{MEDIUM}{access}{WIRE}{traffic}{RUN}'


LEGACY = 'phy = "ofdm"\nrate_mbit_s = 54\n'
CASES = {
    "ht-1-udp-down": scenario(1, HT, "server", "s*", 'kind = "udp"\nrate_mbit_s = 80'),
    "ht-1-tcp-down": scenario(1, HT, "server", "s*", 'kind = "tcp"\nsmall_queues = false'),
    "ht-20-udp-up": scenario(20, HT, "s*", "server", 'kind = "udp"\nrate_mbit_s = 4'),
    "ht-20-tcp-down": scenario(20, HT, "server", "s*", 'kind = "tcp"\nsmall_queues = false'),
    "11a-20-udp-up": scenario(20, LEGACY, "s*", "server", 'kind = "udp"\nrate_mbit_s = 4'),
}


def ours(text: str, folder: Path) -> tuple[float, float]:
    """Simulated seconds per CPU second, and goodput."""
    path = folder / "scenario.toml"
    path.write_text(text)
    before = time.process_time()
    done = simulate.run(str(path), threads=1)
    speed = (WARM_UP_S + DURATION_S) / (time.process_time() - before)
    goodput = done.points[0].runs[0].goodput_mbit_s
    if goodput is None:
        sys.exit("the scenario has no goodput: there is nothing to compare")
    return speed, goodput


def theirs(python: Path, case: str) -> tuple[float, float]:
    """The same of ns-3."""
    command = [str(python), str(ROOT / "bench" / "ns3" / "case.py"), case]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    result = json.loads(ran.stdout.splitlines()[-1])
    return result["simulated_s"] / result["cpu_s"], result["goodput_mbit_s"]


def environment(folder: Path) -> Path:
    """A Python with ns-3, made for this and gone with it."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "ns3")], check=True)
    python = folder / "ns3" / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", WHEEL], check=True)
    return python


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="of each (default %(default)s)")
    parser.add_argument("--case", choices=list(CASES), help="only this one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ns3-python", type=Path, metavar="FILE", help=f"a Python that has {WHEEL} already")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="txop-bench-link-") as name:
        folder = Path(name)
        python = options.ns3_python or environment(folder)
        for case in [options.case] if options.case else CASES:
            mine, peer = [], []
            for _ in range(options.runs):
                peer.append(theirs(python, case))
                mine.append(ours(CASES[case], folder))
            speed, ns3 = (statistics.median(each[0] for each in runs) for runs in (mine, peer))
            rows.append(
                {
                    "case": case, "runs": options.runs, "txop_s_per_cpu_s": speed, "ns3_s_per_cpu_s": ns3,
                    "times": speed / ns3, "txop_mbit_s": mine[0][1], "ns3_mbit_s": peer[0][1],
                }
            )  # fmt: skip
            row = rows[-1]
            if not options.json:
                print(
                    f"{case:16} txop {speed:8.1f}  ns-3 {ns3:6.2f} simulated s per CPU s: {row['times']:6.0f} times"
                    f"  (goodput {row['txop_mbit_s']:.1f} and {row['ns3_mbit_s']:.1f} Mbit/s)",
                    flush=True,
                )
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0 if all(row["times"] >= TARGET for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
