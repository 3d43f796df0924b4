"""From an edit to a verdict: `txop ci` of a one-line change, without and with the base in the cache; and whether
restored runs leave the same bytes, however busy the machine is.

    bench/minutes.py --folder DIR                   # both times; give it a quiet machine
    bench/minutes.py --folder DIR --repeats 50      # the same run 50 times beside varying load, every byte compared
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLAN = ROOT / "examples" / "ci" / "plan.toml"
LINE = "\tampdu_factor = 1 << (ampdu_factor + 2);\n"
"""In rtl8xxxu/core.c, the line that is changed."""
SPIN = "import time\nwhile True:\n    time.monotonic()\n"


def txop(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run it, and give what it printed."""
    command = [sys.executable, "-m", "txop", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **settings})


def change(folder: Path, number: int) -> Path:
    """A patch of one line; each number is another."""
    found = json.loads(txop("guest", "source", "--driver", "rtl8xxxu", "--json").stdout)
    before = (Path(found["folder"]) / "core.c").read_text(encoding="utf-8").splitlines(keepends=True)
    after = [f"\tampdu_factor = (1 << (ampdu_factor + 2)) + {number};\n" if row == LINE else row for row in before]
    name = f"{found['in_kernel']}/core.c"
    diff = "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"))
    path = folder / f"change-{number}.patch"
    path.write_text(f"From: A <a@example.org>\nSubject: [PATCH] one line\n\nIt changes a number.\n---\n{diff}")
    return path


def measured(folder: Path, number: int, words: list[str]) -> dict[str, object]:
    """One series: seconds of the clock and of processors, and where they went."""
    patch = change(folder, number)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    place = ("--plan", str(PLAN), "-o", str(folder / f"ci-{number}"), "--cache", str(folder / "runs"))
    done = txop("ci", "--series", str(patch), *place, "--json", "--quiet", *words)
    wall_s = time.monotonic() - begun
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    cpu_s = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return {
        "state": found["state"], "runs": found["runs"], "reused": found["reused_runs"], "wall_s": round(wall_s, 1),
        "cpu_s": round(cpu_s, 1), "load": os.getloadavg()[0], "timing": found["timing"],
    }  # fmt: skip


def repeated(folder: Path, repeats: int) -> None:
    """The first run of the plan again and again, beside loads that come and go."""
    words = ("run", str(PLAN), "--blocks", "1", "--no-cache", "--no-report", "--quiet", "--json")
    hashes: dict[str, set[str]] = {}
    draws = random.Random(1)  # noqa: S311 - a load, not a secret
    for number in range(repeats):
        loads = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(draws.choice((0, 0, 1, 2, 4)))]
        try:
            with tempfile.TemporaryDirectory(dir=folder) as name:
                txop(*words, "-o", f"{name}/archive")
                for path in sorted(Path(name).glob("archive/runs/*/run.json")):
                    run = json.loads(path.read_text(encoding="utf-8"))
                    print(f"{number + 1} {run['run']} {run['state']} beside {len(loads)}", flush=True)
                    hashes.setdefault(run["run"], set()).add(run["verified"].get("guest_sha256", run["state"]))
        finally:
            for each in loads:
                each.kill()
                each.wait()
    for run_name, found in hashes.items():
        print(f"{run_name}: {len(found)} kind(s) of bytes in {repeats} repeats")
    if any(len(found) != 1 for found in hashes.values()) or not hashes:
        sys.exit(1)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="for archives and the cache; some GB")
    parser.add_argument("--repeats", type=int, help="compare restored runs instead")
    given, words = parser.parse_known_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.repeats is not None:
        repeated(given.folder, given.repeats)
        return
    shutil.rmtree(given.folder / "runs", ignore_errors=True)
    for number, name in ((1, "without a cache"), (2, "base in the cache")):
        shutil.rmtree(given.folder / f"ci-{number}", ignore_errors=True)
        print(name, json.dumps(measured(given.folder, number, words)), flush=True)


if __name__ == "__main__":
    main()
