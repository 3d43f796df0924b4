"""Makes archives of campaigns by rule: `archive-v1` beside this file (small, checked in), and richer ones for tests.

    python tests/data/make_archive_sample.py          # regenerates tests/data/archive-v1
    python tests/data/make_archive_sample.py FOLDER   # a richer one, with a sample every 0.2 s

The campaign is that of three builds of a driver for the RTL8188CUS (vanilla, with one patch, the vendor's), on an
emulated link, with everything a real archive can hold: a block repeated because a run was void, a warning, kernel-log
faults, lost probes, a quantile that is infinite, figures that are not available. Same seed, same bytes.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from txop.archive.layout import Layout
from txop.archive.run_file import Fault, RunFile, SeriesFile, Value, Voiding
from txop.archive.window import is_inside
from txop.campaign.schedule import Block, planned, repeat
from txop.core.metrics import METRICS, describe
from txop.core.origin import Origin
from txop.log import name_faults
from txop.plan.model import Plan

HERE = Path(__file__).parent
GOLDEN = HERE / "archive-v1"

PLAN = """\
version = 1
title = "RTL8188CUS: interrupt reduction against vanilla and vendor"
description = "Does patch 10 close the gap between rtl8xxxu and the vendor's 8192cu?"

[environment]
hardware = "ARMv5, GARDENA smart Gateway"
ap = "Linksys WRT3200ACM"
distance = "1 m"
line_of_sight = true
channel = 12
remarks = "emulated link; figures in the range of the wiki's"

[target.dut]
kind = "emulated"
side = "dut"

[target.peer]
kind = "emulated"
side = "peer"

[[arm]]
name = "vanilla"
title = "rtl8xxxu (vanilla)"
description = "Linux v5.10.52"

[[arm]]
name = "patch10"
title = "rtl8xxxu (patch 10)"
description = "Linux v5.10.52 and patch 10"

[[arm.patches]]
number = 10
description = "rtl8xxxu: Reduce the number of USB interrupts"
link = "https://example.org/linux/commit/10"
upstream = "sent, v2 asked for"

[[arm]]
name = "vendor"
title = "8192cu (vendor)"
description = "tag rs/2021-07-23"
link = "https://example.org/8192cu"

[[test]]
name = "tx"
kind = "tcp-tx"
duration_s = 30
latency = "ping"

[[test]]
name = "rx"
kind = "tcp-rx"
duration_s = 30

[[test]]
name = "latency"
kind = "latency"
duration_s = 20

[design]
blocks = 8
seed = 10
warm_up_s = 3

[collect]
air = true
"""


def plan_of_tx(blocks: int = 6) -> str:
    """The plan with its first test alone: a page of it is made in a third of the time."""
    begin, end = PLAN.index('[[test]]\nname = "rx"'), PLAN.index("[design]")
    return PLAN[:begin] + PLAN[end:].replace("blocks = 8", f"blocks = {blocks}")


_MBIT_S = {
    "tx": {"vanilla": 15.6, "patch10": 20.6, "vendor": 42.5},
    "rx": {"vanilla": 32.1, "patch10": 32.6, "vendor": 47.3},
}
_RETRY_PERCENT = {"vanilla": 17.0, "patch10": 12.0, "vendor": 2.4}
_CPU_PERCENT = {"vanilla": 71.0, "patch10": 52.0, "vendor": 49.0}
_LOADED_MS = {"vanilla": 46.0, "patch10": 33.0, "vendor": 17.5}
_IDLE_MS = {"vanilla": 2.41, "patch10": 2.40, "vendor": 2.1}
_DRIVER = {"vanilla": "rtl8xxxu", "patch10": "rtl8xxxu", "vendor": "8192cu"}
_SRCVERSION = {
    "vanilla": "5B1F2D0C9A7E44D1B0C3F11",
    "patch10": "91C2A77D05E3B86F4410D2E",
    "vendor": "0D44E7B1A92C5F6633E8A70",
}

VOID_BLOCK, VOID_ARM, VOID_TEST = 3, "patch10", "tx"
INFINITE_BLOCK, INFINITE_ARM = 5, "vanilla"
FAULTY_BLOCK, FAULTY_ARM, FAULTY_TEST = 7, "vanilla", "tx"
WARNED_BLOCK, WARNED_ARM, WARNED_TEST = 6, "vendor", "rx"

_SECTION_HEADER = bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000")
"""A pcapng file without packets."""


def make(
    root: Path, *, step_s: float = 1.0, probe_s: float = 0.25, plan_text: str = PLAN, finished: bool = True
) -> Path:
    """Write an archive to the new folder ``root``; ``step_s`` and ``probe_s`` set how dense the series are."""
    import tomllib

    plan = Plan.model_validate(tomllib.loads(plan_text))
    layout = Layout(root)
    layout.create(plan_text, Path("/campaigns/rtl8188cus"))
    identity = json.loads(layout.identity.read_text())
    layout.identity.write_text(json.dumps({**identity, "txop": "0.1.0"}) + "\n")
    writer = _Journal(layout)
    writer.event("campaign-started", seed=plan.design.seed)
    for target in plan.target:
        writer.event("connected", target=target, provenance=_provenance(target))
    blocks = planned(plan)
    void = any(block.number == VOID_BLOCK for block in blocks)
    if void:
        blocks.append(repeat(plan, len(blocks) + 1, blocks[VOID_BLOCK - 1], (VOID_TEST,)))
    drift = random.Random("drift")  # noqa: S311 - a sample, not a secret
    level = 0.0
    for block in blocks:
        level = 0.7 * level + drift.gauss(0, 0.02)
        writer.event(
            "block-started",
            block=block.number,
            arms=list(block.arms),
            tests=list(block.tests),
            replaces=block.replaces,
        )
        for arm, test in block.runs():
            run, series = _run(block, arm, test, level, writer, step_s, probe_s)
            folder = layout.run(run.run)
            fields = {"run": run.run, "block": block.number, "arm": arm, "test": test}
            writer.event("run-started", **fields)
            writer.pass_time(run.seconds)
            folder.mkdir()
            (folder / "run.json").write_text(_compact(run.model_dump(mode="json", exclude_defaults=True), RunFile))
            (folder / "series.json").write_text(_compact(series.model_dump(mode="json"), SeriesFile))
            if "air.pcapng" in run.files:
                (folder / "air.pcapng").write_bytes(_SECTION_HEADER)
            if run.state == "void":
                causes = [voiding.model_dump() for voiding in run.void]
                writer.event("run-voided", **fields, seconds=run.seconds, causes=causes)
            else:
                writer.event("run-finished", **fields, seconds=run.seconds)
        writer.event("block-finished", block=block.number)
    if finished:
        writer.event("campaign-finished", reason="")
    writer.close()
    layout.commands.write_text("2026-03-02T08:00:00.000Z dut ip link show\n")
    return root


def _run(
    block: Block, arm: str, test: str, level: float, journal: _Journal, step_s: float, probe_s: float
) -> tuple[RunFile, SeriesFile]:
    number = block.number
    dice = random.Random(f"{number}-{arm}-{test}")  # noqa: S311
    void = (number, arm, test) == (VOID_BLOCK, VOID_ARM, VOID_TEST)
    faulty = (number, arm, test) == (FAULTY_BLOCK, FAULTY_ARM, FAULTY_TEST)
    faults = _loading_faults()
    warned = (number, arm, test) == (WARNED_BLOCK, WARNED_ARM, WARNED_TEST)
    infinite = (number, arm, test) == (INFINITE_BLOCK, INFINITE_ARM, "tx")
    window_s = 27.0 if test != "latency" else 17.0
    series: dict[str, list[tuple[float, float | None]]] = {}
    metrics: dict[str, Value] = {}

    def put(key: str, value: float | None, source: str, reason: str | None = None) -> None:
        endless = value == math.inf
        metrics[key] = Value(
            value=None if value is None or endless else round(value, max(3, describe(key).digits)),
            unit=describe(key).unit,
            source=source,
            reason="beyond the last probe that came back" if endless else reason,
            infinite=endless,
        )

    cpu = _CPU_PERCENT[arm] * math.exp(dice.gauss(0, 0.02)) if test != "latency" else 4.0 + dice.random()
    if test != "latency":
        mbit_s = _MBIT_S[test][arm] * math.exp(level + dice.gauss(0, 0.03)) * (0.4 if void else 1)
        ramp = [(t, mbit_s * (0.5 + 0.5 * (t + 3) / 3) if t < 0 else mbit_s * math.exp(dice.gauss(0, 0.08)))
                for t in _times(-3, window_s, step_s)]  # fmt: skip
        if void:
            ramp = [(t, 0.0 if 10 <= t < 22 else v) for t, v in ramp]
        kept = [v for t, v in ramp if t >= 0]
        put("throughput_mbit_s", math.fsum(kept) / len(kept), "iperf3 of both ends")
        series["throughput_mbit_s"] = [(t, round(v, 3)) for t, v in ramp]
        retry = _RETRY_PERCENT[arm] * math.exp(dice.gauss(0, 0.1)) * (1.4 if test == "rx" else 1)
        put("tcp_retransmits_per_s", 0.6 + 2 * dice.random(), "iperf3 of the sender")
        put("tcp_rtt_ms", _LOADED_MS[arm] * 0.9 * math.exp(dice.gauss(0, 0.05)), "TCP_INFO in iperf3")
        put("cpu_s_per_gbit", (cpu - 4) / 100 / mbit_s * 1000, "/proc/stat")
        put(
            "context_switches_per_s", (9000 if arm == "vanilla" else 5200) * math.exp(dice.gauss(0, 0.04)), "/proc/stat"
        )
        put("interrupts_per_s", (7800 if arm == "vanilla" else 3100) * math.exp(dice.gauss(0, 0.03)), "/proc/stat")
        put("air_retry_percent", retry, "air.pcapng")
        put("air_ampdu_mpdus", (9.3 if arm == "vendor" else 1.0) + dice.random() / 10, "air.pcapng")
        put("air_goodput_share_percent", 100 * mbit_s / 72.2, "air.pcapng")
    if test in ("tx", "latency"):
        middle = (_LOADED_MS if test == "tx" else _IDLE_MS)[arm] * math.exp(
            dice.gauss(0, 0.05 if test == "tx" else 0.03)
        )
        probes = _probes(dice, middle, window_s, probe_s)
        inside = [i for i, (t, _) in enumerate(probes) if t >= 0]
        lost = set(
            dice.sample(inside, max(1, len(inside) // 27) if infinite else int(test == "tx" and dice.random() < 0.3))
        )
        lost |= {i for i in inside if void and 10 <= probes[i][0] < 22}
        probes = [(t, None if i in lost else v) for i, (t, v) in enumerate(probes)]
        series["rtt_ms"] = probes
        known = sorted(v if v is not None else math.inf for t, v in probes if is_inside(t, window_s))
        for key, quantile in (("rtt_p50_ms", 0.5), ("rtt_p95_ms", 0.95), ("rtt_p99_ms", 0.99)):
            put(key, known[min(len(known) - 1, math.ceil(quantile * len(known)) - 1)], "ping")
        put("probe_loss_percent", 100 * sum(math.isinf(v) for v in known) / len(known), "ping")
    put("cpu_busy_percent", cpu, "/proc/stat")
    put("faults", 0, "kernel log")
    put("load_faults", sum(fault.count for fault in faults) if faulty else 0, "kernel log")
    put("load_time_s", 2.1 + dice.random() / 2, "journal")
    put("signal_dbm", None, "iw station dump", "the link is emulated: there is no radio")
    put("channel_busy_percent", None, "iw survey dump", "the link is emulated: there is no radio")
    put("device_interrupts_per_s", None, "/proc/interrupts", "no line of a USB or SDIO host was found")
    series["cpu_busy_percent"] = [
        (t, round(cpu * math.exp(dice.gauss(0, 0.03)), 2)) for t in _times(-3, window_s, max(1, step_s))
    ]
    gates = dict.fromkeys(("association", "peer-cpu", "route", "probe"), "ok")
    gates["usb-speed"] = "not available: the link is emulated"
    run = RunFile(
        run=Layout.run_name(number, arm, test),
        block=number,
        replaces=block.replaces,
        position=block.arms.index(arm) + 1,
        arm=arm,
        test=test,
        origin=Origin.EMULATED,
        state="void" if void else "valid",
        void=[Voiding(gate="association-lost", cause="disassociated for 12.0 s, reason 8 (leaving)", target="dut")]
        if void
        else [],
        started_at=journal.now(),
        seconds=round(window_s + 14 + dice.random(), 3),
        window_s=window_s,
        metrics=dict(sorted(metrics.items(), key=lambda item: list(METRICS).index(item[0]))),
        warnings=["throughput was still rising after the warm-up (MSER-5 would cut 6 s, not 3 s)"] if warned else [],
        gates={**gates, "association": "void"} if void else gates,
        faults=faults if faulty else [],
        verified={"driver": _DRIVER[arm], "srcversion": _SRCVERSION[arm], "parameters": {}},
        provenance={"dut": {"tx_bitrate": "72.2 MBit/s MCS 7 short GI", "bssid": "24:f5:a2:c0:4e:b1"}},
        air=_air(dice, arm, metrics) if test != "latency" else None,
        files={"air.pcapng": "monitor capture"} if number == 1 and test != "latency" else {},
    )
    return run, SeriesFile(series=series)


_LOADING = ["usb 1-1.5.4: rtl8xxxu_iqk_path_a: Path A RX IQK failed!"] * 2
"""What the kernel said while the driver of the faulty run was loaded: the second fault that a vendor's wiki counts."""


def _loading_faults() -> list[Fault]:
    """As a campaign names them."""
    return [
        Fault(
            key=fault.key, title=fault.title, severity=str(fault.severity), target="dut", count=fault.count,
            lines=list(fault.examples), while_loading=True,
        )
        for fault in name_faults(_LOADING).faults
    ]  # fmt: skip


def _air(dice: random.Random, arm: str, metrics: dict[str, Value]) -> dict[str, Any]:
    """The digest of a capture, in the words of ``txop air --json``."""
    payload = (metrics["air_goodput_share_percent"].value or 0) / 100
    retry = (metrics["air_retry_percent"].value or 0) / 100
    weights = {
        "mac_headers": 0.03,
        "preamble": 0.08,
        "ifs_backoff": 0.30 if arm != "vendor" else 0.10,
        "ack": 0.09,
        "rts_cts": 0.0,
        "retries": 1.6 * retry,
        "reverse": 0.03,
        "other_stations": 0.02 + dice.random() / 50,
        "beacons_management": 0.01,
        "idle_queued": 0.25 if arm == "vanilla" else 0.05,
        "idle": 0.03,
    }
    rest = (1 - payload) / math.fsum(weights.values())
    shares = {"payload": payload, **{cause: weight * rest for cause, weight in weights.items()}}
    return {
        "retry_percent": metrics["air_retry_percent"].value,
        "ampdu_mpdus": metrics["air_ampdu_mpdus"].value,
        "phy_mbit_s": 72.2,
        "response_delay_p50_us": round(10.4 + dice.random(), 2)
        if arm == "vendor"
        else round(14.0 + 6 * dice.random(), 2),
        "waterfall": [{"cause": cause, "share": round(share, 5)} for cause, share in shares.items()],
    }


def _probes(dice: random.Random, middle_ms: float, window_s: float, step_s: float) -> list[tuple[float, float | None]]:
    return [(t, round(middle_ms * math.exp(dice.gauss(0, 0.25)), 3)) for t in _times(-3, window_s, step_s)]


def _times(start: float, end: float, step: float) -> list[float]:
    return [round(start + i * step, 3) for i in range(round((end - start) / step))]


def _provenance(target: str) -> dict[str, object]:
    return {
        "kernel": "5.10.52",
        "machine": "armv5tejl" if target == "dut" else "x86_64",
        "regulatory_domain": "CH",
        "tools": {"iperf3": "3.12", "ping": "iputils 20221126", "iw": None},
        **({"firmware": "rtlwifi/rtl8192cufw_TMSC.bin", "firmware_sha256": "5a3d" * 16} if target == "dut" else {}),
    }


def _compact(document: dict[str, Any], model: type[RunFile] | type[SeriesFile]) -> str:
    defaults = {key: model.model_fields[key].default for key in ("format", "version")}
    text = json.dumps({**defaults, **document}, separators=(",", ":"))
    model.model_validate_json(text)
    return text + "\n"


class _Journal:
    """Writes events as the journal of a campaign has them, at times that pass by rule."""

    def __init__(self, layout: Layout) -> None:
        self._file = layout.journal.open("w", encoding="ascii")
        self._passed_s = 0.0

    def now(self) -> str:
        moment = datetime(2026, 3, 2, 8, 0, 0, tzinfo=UTC) + timedelta(seconds=self._passed_s)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def pass_time(self, seconds: float) -> None:
        self._passed_s = round(self._passed_s + seconds, 3)

    def event(self, event: str, **fields: Any) -> None:
        record = {"event": event, "at": self.now(), "monotonic_s": 1000 + self._passed_s, "boot": "sample", **fields}
        self._file.write(json.dumps(record) + "\n")
        self.pass_time(0.25)

    def close(self) -> None:
        self._file.close()


def single(root: Path, *, origin: Origin = Origin.IMPORTED, arms: dict[str, float] | None = None) -> Path:
    """A tiny archive of figures of others: one run per arm, one figure, nothing known about order."""
    values = arms or {"vanilla": 12.5, "patch10": 20.6, "vendor": 30.6}
    plan = ['version = 1\ntitle = "Figures of a wiki"\n[target.dut]\nkind = "local"\n']
    plan.append('[[test]]\nname = "tx"\nkind = "tcp-tx"\n')
    plan.append("[design]\nblocks = 1\n")
    plan += [f'[[arm]]\nname = "{name}"\n' for name in values]
    layout = Layout(root)
    layout.create("".join(plan), Path("/campaigns/wiki"))
    layout.journal.touch()
    for position, (arm, value) in enumerate(values.items(), start=1):
        run = RunFile(
            run=Layout.run_name(1, arm, "tx"),
            block=1,
            position=position,
            arm=arm,
            test="tx",
            origin=origin,
            state="valid",
            started_at="2021-07-24T00:00:00Z",
            seconds=30.0,
            metrics={"throughput_mbit_s": Value(value=value, unit="Mbit/s", source="the wiki's table")},
        )
        layout.run(run.run).mkdir()
        (layout.run(run.run) / "run.json").write_text(run.model_dump_json() + "\n")
    return root


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make(Path(sys.argv[1]), step_s=0.2, probe_s=0.1)
    else:
        shutil.rmtree(GOLDEN, ignore_errors=True)
        make(GOLDEN)
