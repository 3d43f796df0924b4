"""Campaigns in guests that really boot: side by side as one after the other, broken ones void, nothing left behind."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guests_here import rebuilt_driver
from quiet_reporter import Quiet
from txop.archive.reader import Archive, read_archive
from txop.campaign import session
from txop.core.origin import Start
from txop.guest.run_store import RunStore
from txop.guest_image.cache import default_cache
from txop.plan.load import load_plan
from txop.plan.overrides import Overrides

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("image", "chips")]

PLAN = """
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
mips = 500
security = "open"
[[arm]]
name = "whole"
[[test]]
name = "tx"
kind = "tcp-tx"
duration_s = 2
warm_up_s = 1
[design]
blocks = 1
idle_s = 1
gap_s = 0
max_repeats = 0
"""
OTHER_ARM = """
[[arm]]
name = "lossy"
[arm.guest]
faults = "faults.toml"
"""
NOISE = """
[[fault]]
name = "a fifth of all frames gets lost"
from_ms = 0
action = "loss"
probability = 0.2
"""


def carried_out(folder: Path, text: str, faults: str | None = None, jobs: int = 1) -> Archive:
    folder.mkdir()
    (folder / "plan.toml").write_text(text)
    if faults is not None:
        (folder / "faults.toml").write_text(faults)
    made = session.begin(load_plan(folder / "plan.toml"), folder / "archive", Overrides())
    asyncio.run(made.carry_out(Quiet(), jobs))
    return read_archive(folder / "archive")


def prints(archive: Archive) -> dict[str, str]:
    """Hashes of what the guests left."""
    found = {}
    for run in archive.runs:
        folder = archive.layout.run(run.run)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "run.json":
                found[str(path.relative_to(folder.parent))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def test_guests_side_by_side_are_those_one_after_the_other(tmp_path: Path) -> None:
    text = PLAN.replace("[[test]]", OTHER_ARM + "[[test]]", 1) + "[collect]\nair = true\nusbmon = true\n"
    alone, beside = (carried_out(tmp_path / str(jobs), text, NOISE, jobs) for jobs in (1, 2))
    assert prints(alone) == prints(beside)
    figures = [{run.run: run.metrics for run in archive.runs} for archive in (alone, beside)]
    assert figures[0] == figures[1]
    whole, lossy = (figures[0][f"001-{arm}-tx"] for arm in ("whole", "lossy"))
    assert all(run.state == "valid" for run in alone.runs), [run.void for run in alone.runs]
    # the capture of the window and the chip's own count of it are of the same frames, but for those at its edges,
    # as the chip is read before and after it (1,359 retries of 3,500 MPDUs counted, 1,337 of 3,399 captured)
    for figure in (whole, lossy):
        counted, captured = (figure[key].value for key in ("chip_retry_percent", "air_retry_percent"))
        assert counted is not None
        assert captured == pytest.approx(counted, abs=1.0)
        urbs = [figure[key].value or 0.0 for key in ("usb_out_urbs_per_s", "usb_in_urbs_per_s")]
        assert sum(urbs) <= (figure["chip_urbs_per_s"].value or 0.0) * 1.02
    assert (lossy["chip_retry_percent"].value or 0) > (whole["chip_retry_percent"].value or 0) + 10
    assert (whole["throughput_mbit_s"].value or 0) > (lossy["throughput_mbit_s"].value or 0) > 0


def test_a_dongle_that_is_pulled_out_voids_the_run(tmp_path: Path) -> None:
    faults = '[[fault]]\nname = "unplugged"\nfrom_ms = 8000\naction = "disconnect"\n'
    text = PLAN.replace('name = "whole"', 'name = "whole"\n[arm.guest]\nfaults = "faults.toml"').replace(
        "duration_s = 2", "duration_s = 12"
    )
    (run,) = carried_out(tmp_path / "x", text, faults).runs
    assert run.state == "void"
    assert {void.gate for void in run.void} & {"association-lost", "traffic-failed"}, run.void


TRAFFIC = 'kind = "tcp-tx"\nduration_s = 2\nwarm_up_s = 1\n'


@pytest.mark.parametrize(("way", "cycles"), [("reload", 2), ("replug", 2)])
def test_what_is_taken_away_under_traffic_comes_back(tmp_path: Path, way: str, cycles: int) -> None:
    assert TRAFFIC in PLAN
    text = PLAN.replace(TRAFFIC, f'kind = "module-cycle"\nway = "{way}"\ncycles = {cycles}\nrecover_s = 60\n')
    (run,) = carried_out(tmp_path / "x", text).runs
    assert run.state == "valid", run.void
    wanted = {"cycles": cycles, "cycles_failed": 0, "kernel_warnings": 0, "hung_tasks": 0}
    assert {key: run.metrics[key].value for key in wanted} == wanted, run.warnings
    assert 0 < (run.metrics["recovery_s"].value or 0) < 60
    assert run.metrics["slab_growth_kb"].reason
    assert any(fault.key == "wifi-associated" for fault in run.faults), "the kernel log was not read"
    assert run.verified["driver"] == "rtl8192cu"
    assert (run.window_s or 0) > 0


def test_a_driver_that_a_fault_silences_is_a_result_beside_its_control(tmp_path: Path) -> None:
    arm = OTHER_ARM.replace("lossy", "silent").replace("faults.toml", "txop:faults/silent-rx.toml")
    text = PLAN.replace(TRAFFIC, 'kind = "fault-trial"\n').replace("[[test]]", arm + "[[test]]", 1)
    runs = {run.arm: run for run in carried_out(tmp_path / "x", text).runs}
    assert all(run.state == "valid" for run in runs.values()), [run.void for run in runs.values()]
    control, silent = (runs[name].metrics for name in ("whole", "silent"))
    assert [control[key].value for key in ("recovered", "struck", "kernel_warnings")] == [1, 0, 0]
    assert runs["whole"].warnings == []
    assert silent["recovered"].value == 0
    assert (silent["struck"].value or 0) > 0
    assert (silent["silence_s"].value or 0) > 10 > (control["silence_s"].value or 0)
    assert runs["silent"].warnings[0].startswith("fails cleanly")


def test_faults_while_loading_are_counted_with_their_log_in_void_runs_too(tmp_path: Path) -> None:
    # RTL8XXXU_DEBUG_EFUSE and RTL8XXXU_DEBUG_REG_WRITE: without them the driver keeps a block that fails to itself
    arms = """
[[arm]]
name = "no-firmware"
[arm.guest]
driver = "rtl8xxxu"
faults = "txop:faults/firmware-upload.toml"
parameters = { debug = 8193 }
[[arm]]
name = "no-calibration"
[arm.guest]
driver = "rtl8xxxu"
faults = "txop:faults/rx-iqk.toml"
"""
    text = PLAN.replace("[[test]]", arms + "[[test]]", 1)
    archive = carried_out(tmp_path / "x", text.replace("mips = 500", 'mips = 500\ncheck_exact = "none"'))
    runs = {run.arm: run for run in archive.runs}
    states = {name: (run.state, [void.gate for void in run.void]) for name, run in runs.items()}
    assert states == {"whole": ("valid", []), "no-calibration": ("valid", []),
                      "no-firmware": ("void", ["arm-load-failed"])}  # fmt: skip
    wanted = {"whole": {}, "no-firmware": {"rtl8xxxu-firmware-block": 6, "probe-failed": 1},
              "no-calibration": {"rtl8xxxu-iqk-failed": 2}}  # fmt: skip
    for name, run in runs.items():
        serious = [fault for fault in run.faults if fault.severity in ("warning", "error", "critical")]
        assert {fault.key: fault.count for fault in serious} == wanted[name]
        assert all(fault.while_loading for fault in serious)
        assert run.metrics["load_faults"].value == sum(wanted[name].values())
    logs = {name: (archive.layout.run(run.run) / "kernel-log-loading.txt").read_text() for name, run in runs.items()}
    assert logs["no-firmware"].count("rtl8xxxu_writeN: Failed to write block at addr: 1c00 size: 0080") == 6
    assert "probe with driver rtl8xxxu failed with error -11" in logs["no-firmware"]
    assert logs["no-calibration"].count("rtl8xxxu_iqk_path_a: Path A RX IQK failed!") == 2
    # what never came up has neither a time to load nor faults after it
    for key, reason in (("load_time_s", "it never came up"), ("faults", "the arm never came up")):
        figure = runs["no-firmware"].metrics[key]
        assert figure.value is None
        assert reason in (figure.reason or "")
    assert runs["no-calibration"].metrics["faults"].value == 0


def test_an_interrupt_storm_costs_more_per_gbit_and_while_idle(tmp_path: Path) -> None:
    arms = """
[[arm]]
name = "storm"
patches = [{ number = 10, file = "txop:rtl8xxxu/0010-interrupts.toml" }]
"""
    text = PLAN.replace('name = "whole"', 'name = "calm"').replace("[[test]]", arms + "[[test]]", 1)
    assert TRAFFIC in text
    text = text.replace(TRAFFIC, 'kind = "tcp-rx"\nduration_s = 5\nwarm_up_s = 1\n').replace("idle_s = 1", "idle_s = 2")
    text = text.replace("mips = 500", 'mips = 500\ndriver = "rtl8xxxu"\ncheck_exact = "none"')
    runs = {run.arm: run for run in carried_out(tmp_path / "x", text).runs}
    assert all(run.state == "valid" for run in runs.values()), [run.void for run in runs.values()]

    def value(arm: str, key: str) -> float:
        found = runs[arm].metrics[key]
        assert found.value is not None, found.reason
        return found.value

    assert value("storm", "chip_interrupts_per_s") > 1000 > value("calm", "chip_interrupts_per_s")
    assert value("storm", "cpu_total_s_per_gbit") > 1.5 * value("calm", "cpu_total_s_per_gbit")
    assert value("storm", "idle_cpu_percent") > 50 > 10 > value("calm", "idle_cpu_percent")
    # What is left after taking the idle phase away says the reverse, or nothing, which is why it is not judged.
    left = runs["storm"].metrics["cpu_s_per_gbit"]
    assert left.value is None or left.value < value("calm", "cpu_s_per_gbit")
    assert left.value is not None or left.code == "below-noise"


def test_ctrl_c_leaves_no_guest_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.replace("blocks = 1", "blocks = 9"))
    argv = [sys.executable, "-c", "from txop.cli.entry import main; main()", "run", "plan.toml", "-j", "2", "-o", "out"]
    program = subprocess.Popen(argv, cwd=tmp_path, stderr=subprocess.PIPE)
    runs = default_cache() / "runs"
    try:
        until = time.monotonic() + 300
        while not list(runs.glob(f"{program.pid}-*")) and time.monotonic() < until:
            time.sleep(0.2)
        assert list(runs.glob(f"{program.pid}-*"))
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=60)
    finally:
        program.kill()
    assert program.returncode == 130, said
    assert b"txop resume" in said
    assert not list(runs.glob(f"{program.pid}-*"))
    assert not [p for p in Path("/proc").glob("[0-9]*") if f"runs/{program.pid}-".encode() in command_line(p)]


def command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


MODEM = """
[[arm]]
name = "aggregation"
[arm.guest.modem]
tx_aggregation = { datagrams = 16, bytes = 16384, hold_us = 800 }
"""


def test_aggregation_of_rmnet_is_seen_on_the_bus_of_a_modem(tmp_path: Path) -> None:
    rebuilt_driver("rmnet")
    modem = 'device = "qmi-modem"\nmodem = { mux = "rmnet", ack_every_segment = true }\ncheck_exact = "none"\n'
    text = PLAN.replace('security = "open"\n', modem).replace("[[test]]", MODEM + "[[test]]", 1)
    # a processor that is not the bottleneck, and a download that has its rate when the window begins
    text = text.replace("mips = 500", "mips = 1000").replace("warm_up_s = 1", "warm_up_s = 2")
    text = text.replace('"tcp-tx"', '"tcp-both"')
    runs = {run.arm: run for run in carried_out(tmp_path / "x", text + "[collect]\nusbmon = true\n").runs}
    assert all(run.state == "valid" for run in runs.values()), [run.void for run in runs.values()]
    whole, aggregated = (runs[name].metrics for name in ("whole", "aggregation"))
    assert whole["usb_out_datagrams_per_urb"].value == 1
    assert (aggregated["usb_out_datagrams_per_urb"].value or 0) > 1.5
    for key in ("throughput_up_mbit_s", "throughput_down_mbit_s"):
        assert (aggregated[key].value or 0) > (whole[key].value or 0) > 0
    for run in runs.values():
        assert run.verified["driver"] == "qmi_wwan"
        assert run.metrics["retry_percent"].reason
        assert (run.bus or {})["window"]


def test_runs_from_a_saved_guest_differ_by_seed_and_are_the_same_by_seed(tmp_path: Path) -> None:
    """And the second time nothing is run: each is taken from the cache, to the byte."""
    text = PLAN.replace("mips = 500", 'mips = 250\nap = "builtin"\nstart = "associated"\ncheck_exact = "all"')
    text = text.replace("blocks = 1", "blocks = 2").replace("idle_s = 1", "idle_s = 0")
    (tmp_path / "plan.toml").write_text(text)
    store = RunStore.at(str(tmp_path / "runs"))
    found = []
    for name in ("one", "two"):
        made = session.begin(load_plan(tmp_path / "plan.toml"), tmp_path / name, Overrides())
        asyncio.run(made.carry_out(Quiet(), 2, store))
        found.append(read_archive(tmp_path / name))
    first, second = found
    assert [run.void for run in first.runs] == [[], []]
    assert all(run.start is Start.ASSOCIATED and run.verified["checked_exact"] for run in first.runs)
    assert len({run.verified["guest_sha256"] for run in first.runs}) == 2, "another seed is another run"
    assert [run.reused is None for run in first.runs] == [True, True]
    assert [run.reused is None for run in second.runs] == [False, False]
    for one, other in zip(first.runs, second.runs, strict=True):
        assert one.metrics == other.metrics
        assert one.verified == other.verified
