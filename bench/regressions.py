"""Planted regressions: does `txop why` rank the planted cause first, and do the shares sum to the whole?

Each has two or three candidates, in which two arms differ together; one is planted as the cause of most of the effect.
Every combination runs in exact guests that begin where saved ones are restored (docs/why.md). What is finished is kept,
and not run again."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from txop.plan.model import Plan
from txop.plan.write import plan_text
from txop.plan_check.factorial import factorial, factorial_plan

RESULT = "result.json"
EDITS = "txop:rtl8xxxu/"
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Planted:
    """One planted regression."""

    name: str
    true: str
    """The candidate that is planted; a name as the factorial plan gives it."""
    patches: Mapping[str, str] = field(default_factory=dict)
    """By name: edit scripts of the regressed arm."""
    guest: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the regressed arm's guest."""
    base: Mapping[str, Any] = field(default_factory=dict)
    """Keys of both arms' guest."""
    kind: str = "tcp-tx"


def _rtl8xxxu(name: str, true: str, *edits: str, **more: Any) -> Planted:
    known = {
        "aggregation": "0007-tx-ampdu-off", "rts": "0008-hw-rts", "interrupts": "0010-interrupts",
        "tx-power": "0001-txpower-set", "rx-signal": "0006-rx-signal",
    }  # fmt: skip
    return Planted(
        name,
        true,
        {edit: f"{EDITS}{known[edit]}.toml" for edit in edits},
        base={"device": "rtl8188cus", "driver": "rtl8xxxu"},
        **more,
    )


_CUS = {"device": "rtl8188cus", "driver": "rtl8192cu"}
_MT = {"device": "mt7610u", "driver": "mt76x0u"}
_BUS = {"host": "virtual", "bus_time": True}
_SD = {"device": "sd8686", "driver": "libertas_sdio", "security": "open", "sdio": _BUS}
_AR6 = {"device": "ar6003", "driver": "ath6kl_sdio", "sdio": _BUS}
_ATH9K = {"device": "ar9280", "driver": "ath9k"}
_NCM = {"device": "ncm", "driver": "cdc_ncm", "ncm": {"hold_us": 0}}
_NOISE = {"noise_dbm": -60}
_LOSS = {"loss_percent": 20}

PLANTED = (
    _rtl8xxxu("rtl8xxxu-1", "aggregation", "aggregation", "interrupts"),
    _rtl8xxxu("rtl8xxxu-2", "aggregation", "aggregation", "rts"),
    _rtl8xxxu("rtl8xxxu-3", "aggregation", "aggregation", "tx-power"),
    _rtl8xxxu("rtl8xxxu-4", "aggregation", "aggregation", "rx-signal"),
    _rtl8xxxu("rtl8xxxu-5", "aggregation", "aggregation", "interrupts", "rts"),
    _rtl8xxxu("rtl8xxxu-6", "noise-dbm", "interrupts", guest={"air": _NOISE}),
    _rtl8xxxu("rtl8xxxu-7", "noise-dbm", "tx-power", guest={"air": _NOISE}),
    _rtl8xxxu("rtl8xxxu-8", "interrupts", "interrupts", "tx-power", kind="tcp-rx"),
    Planted("rtl8192cu-1", "noise-dbm", guest={"air": _NOISE, "assume": {"rts-retries": "with-data"}}, base=_CUS),
    Planted("rtl8192cu-2", "loss-percent", guest={"air": _LOSS, "assume": {"fallback-beyond": "lowest"}}, base=_CUS),
    Planted("rtl8192cu-3", "neighbour-mbit-s", guest={"air": {"neighbour_mbit_s": 15}, "channel": 1}, base=_CUS),
    Planted("rtl8192cu-4", "noise-dbm", guest={"air": _NOISE, "power_save": False}, base=_CUS, kind="tcp-rx"),
    Planted("mt7610u-1", "noise-dbm", guest={"air": _NOISE, "assume": {"tx-reports": 32}}, base=_MT),
    Planted("mt7610u-2", "tx-queue-frames", guest={"assume": {"tx-queue-frames": 1, "tx-reports": 32}}, base=_MT),
    Planted("mt7610u-3", "vendor-request-us", guest={"assume": {"vendor-request-us": 2000, "rx-frames": 64}}, base=_MT),
    Planted("mt7610u-4", "loss-percent", guest={"air": _LOSS, "assume": {"aggregates": "neighbours"}}, base=_MT),
    Planted("ar9280-1", "aggregation", {"aggregation": "txop:ath9k/no-aggregation.toml"}, {"channel": 1}, _ATH9K),
    Planted("ar9280-2", "one", {"one": "txop:ath9k/one-in-queue.toml"}, {"channel": 1}, _ATH9K),
    Planted("ar9280-3", "noise-dbm", {"rts": "txop:ath9k/rts-always.toml"}, {"air": {"noise_dbm": -56}}, _ATH9K),
    Planted("ar9280-4", "loss-percent", guest={"air": _LOSS, "channel": 1}, base=_ATH9K),
    Planted("ar9280-5", "neighbour-mbit-s", guest={"air": {"neighbour_mbit_s": 15}, "channel": 11}, base=_ATH9K),
    Planted("sd8686-1", "lines", guest={"sdio": {"lines": 1}, "channel": 1}, base=_SD),
    Planted("sd8686-2", "interrupts", guest={"sdio": {"interrupts": "poll"}, "channel": 1}, base=_SD),
    Planted("sd8686-3", "loss-percent", guest={"air": {"loss_percent": 60}, "channel": 11}, base=_SD),
    Planted("ar6003-1", "lines", guest={"sdio": {"lines": 1}, "channel": 1}, base=_AR6),
    Planted("ar6003-2", "interrupts", guest={"sdio": {"interrupts": "poll"}, "channel": 1}, base=_AR6),
    Planted("ar6003-3", "noise-dbm", guest={"air": _NOISE, "channel": 11}, base=_AR6),
    Planted(
        "ncm-1", "ntb-out-datagrams", guest={"ncm": {"ntb_out_datagrams": 1, "aggregate_datagrams": 20}}, base=_NCM
    ),
    Planted("ncm-2", "tx-max-bytes", guest={"ncm": {"tx_max_bytes": 2048, "aggregate_datagrams": 20}}, base=_NCM),
    Planted("ncm-3", "hold-us", guest={"ncm": {"hold_us": 5000, "ntb_in_max": 8192}}, base=_NCM, kind="tcp-rx"),
)


def plan_of(planted: Planted, seeds: int) -> Plan:
    """The plan with every combination. Raises :class:`txop.core.errors.UserError`."""
    raw = {
        "title": f"Planted: {planted.name}",
        "target": {"dut": {"kind": "guest"}, "peer": {"kind": "guest"}},
        "guest": {**planted.base, "start": "associated", "check_exact": "none"},
        "arm": [
            {"name": "stock"},
            {
                "name": "regressed",
                "patches": [{"description": name, "file": file} for name, file in planted.patches.items()],
                "guest": dict(planted.guest),
            },
        ],
        "test": [{"name": "load", "kind": planted.kind, "duration_s": 1}],
        "design": {
            "blocks": seeds,
            "baseline": "stock",
            "warm_up_s": 1,
            "idle_s": 0,
            "primary": ["load.throughput_mbit_s"],
        },
    }
    return factorial_plan(Plan.model_validate(raw), "regressed", "stock")


def run(planted: Planted, seeds: int, folder: Path, jobs: int) -> dict[str, Any]:
    """Run one, unless it is finished with as many seeds, and judge it."""
    place = folder / planted.name
    result = place / RESULT
    text = plan_text(plan_of(planted, seeds))
    if result.is_file() and (kept := json.loads(result.read_bytes()))["plan"] == text:
        return dict(kept)
    place.mkdir(parents=True, exist_ok=True)
    (place / "plan.toml").write_text(text, encoding="utf-8")
    program = [sys.executable, "-m", "txop"]
    archive = place / f"archive-{seeds}"
    step = ["resume", str(archive)] if archive.is_dir() else ["run", str(place / "plan.toml"), "-o", str(archive)]
    done = subprocess.run(
        [*program, *step, "--no-report", "--quiet", "--jobs", str(jobs)], capture_output=True, text=True, check=False
    )
    told = subprocess.run([*program, "why", str(archive), "--json"], capture_output=True, text=True, check=False)
    if told.returncode not in (0, 4):
        return {"name": planted.name, "failed": (told.stderr or done.stderr).strip()[-400:]}
    found = judged(planted, json.loads(told.stdout)) | {"plan": text}
    result.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def judged(planted: Planted, causes: Mapping[str, Any]) -> dict[str, Any]:
    """What came of it."""
    shares = {cause["name"]: cause["share"] for cause in causes["causes"]}
    whole = causes["whole"]
    first = max(shares, key=lambda name: abs(shares[name]["mean"]))
    total = sum(share["mean"] for share in shares.values())
    low, high = (whole["low"], whole["high"]) if whole["low"] is not None else (whole["mean"], whole["mean"])
    clear = whole["low"] is not None and (whole["low"] > 0 or whole["high"] < 0)
    return {
        "name": planted.name,
        "true": planted.true,
        "first": first,
        "n": len(causes["blocks"]),
        "left_out": causes["left_out"],
        "unit": causes["unit"],
        "whole": whole,
        "shares": shares,
        "is_first": first == planted.true,
        "clear": clear,
        "sums": low - TOLERANCE <= total <= high + TOLERANCE,
        "before": causes["before"],
        "after": causes["after"],
    }


def _row(found: Mapping[str, Any]) -> str:
    if "failed" in found:
        return f"| {found['name']} | failed: {found['failed']} | | | | | |"
    true = found["shares"].get(found["true"])
    others = [f"{name} {share['mean']:+.1f}" for name, share in found["shares"].items() if name != found["true"]]
    low, high = found["whole"]["low"], found["whole"]["high"]
    span = "" if low is None else f" ({low:+.1f} to {high:+.1f})"
    mine = "missing" if true is None else f"{true['mean']:+.1f}"
    return (
        f"| {found['name']} | {found['true']} {mine} | {', '.join(others)} | {found['whole']['mean']:+.1f}{span} | "
        f"{'yes' if found['is_first'] else 'no'} | {'yes' if found['sums'] else 'no'} | {found['n']} |"
    )


def listed(planted: Planted, seeds: int) -> None:
    """Print what one is, and what `txop plan check` has against it."""
    plan = plan_of(planted, seeds)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.toml"
        file.write_text(plan_text(plan), encoding="utf-8")
        argv = [sys.executable, "-m", "txop", "plan", "check", str(file), "--json"]
        checked = json.loads(subprocess.run(argv, capture_output=True, text=True, check=False).stdout)
    causes = factorial(plan, "regressed", "stock").factors
    names = [cause.name for cause in causes]
    wrong = [str(problem) for problem in checked["problems"]]
    if planted.true not in names:
        wrong.append("there is no such candidate")
    what = f"{planted.true} of {', '.join(names)}; {len(plan.arm)} arms, {planted.kind}"
    print(f"{planted.name}: {what}; {wrong or 'valid'}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="this one; may be repeated")
    parser.add_argument("--seeds", type=int, default=6, help="blocks of each")
    parser.add_argument("--list", action="store_true", help="check the plan of each, and run none")
    parser.add_argument("--jobs", type=int, default=1, help="guests at once")
    parser.add_argument("--folder", type=Path, default=Path("build/regressions"), help="where what is finished is kept")
    given = parser.parse_args()
    unknown = set(given.only or ()) - {each.name for each in PLANTED}
    if unknown:
        parser.error(f"no such regressions: {', '.join(sorted(unknown))}")
    chosen = [each for each in PLANTED if not given.only or each.name in given.only]
    if given.list:
        for each in chosen:
            listed(each, given.seeds)
        return
    print("| regression | planted, % | others, % | whole, % (95 % interval) | first | sums | n |")
    print("|---|---|---|---|---|---|---|")
    rows = []
    for each in chosen:
        rows.append(run(each, given.seeds, given.folder, given.jobs))
        print(_row(rows[-1]), flush=True)
    done = [each for each in rows if "failed" not in each]
    print(
        f"\n{len(done)} of {len(PLANTED)} run: {sum(each['is_first'] for each in done)} with the planted cause first, "
        f"{sum(each['sums'] for each in done)} with shares that sum to the whole; "
        f"{sum(each['clear'] for each in done)} with a whole effect that is clear of 0"
    )


if __name__ == "__main__":
    main()
