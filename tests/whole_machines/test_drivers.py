"""What a developer of drivers varies: builds with patches, firmware, kernels, settings of an access point."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from lab_bench import STARVED, Bench
from txop.archive.counting import counting
from txop.archive.reader import Archive

SOURCE = Path(__file__).parents[1] / "data" / "lab_driver"


def complete(bench: Bench, test: str, runs: int) -> Archive:
    """The archive of a campaign that was completed: this many runs count, others are void for want of time alone,
    and nothing is left on the machine."""
    read = bench.read()
    assert read.finished
    assert not read.damage
    for run in read.runs:
        assert {cause.gate for cause in run.void} <= STARVED, run.void
    assert len(counting(read, test).runs) == runs
    assert bench.machine.left_behind() == []
    return read


def driver(bench: Bench) -> Path:
    """The plan of the driver of two modules, and what it names."""
    source = shutil.copytree(SOURCE, bench.folder / "source")
    (bench.folder / "wire.bin").write_bytes(b"twelve bytes")
    headers = str(bench.machine.image.headers)
    return bench.plan_of("driver.toml", {"SOURCE": str(source), "HEADERS": headers})


def test_builds_of_a_driver_of_two_modules_with_firmware(bench: Bench):
    plan = driver(bench)
    checked = bench.txop("plan", "check", str(plan), "--connect")
    assert checked.returncode == 0, checked.stdout
    done = bench.txop("run", str(plan), "-o", str(bench.archive))
    assert done.returncode == 0, done.stderr
    read = complete(bench, "rx", 2)
    found = {}
    for run in read.runs:
        assert run.verified["module"] == "lab_wire"
        assert run.verified["parameters"] == {"firmware": "Y", "firmware_bytes": "12"}
        found[run.arm] = run.verified["modules"]["lab_core"]["build_id"]
        if run.state == "valid":
            assert run.metrics["throughput_mbit_s"].value > 1
            assert run.metrics["rtt_p50_ms"].value > 0
    assert found["vanilla"] != found["patched"]
    assert bench.machine.ssh("ls /lib/firmware/lab 2>/dev/null; ls -d /sys/module/lab_*", check=False) == ""
    assert (bench.archive / "build" / "patched.log").read_text().count("lab_wire.o") >= 1


def made(bench: Bench, name: str, oops: str) -> Path:
    """The driver's two modules, as a kernel tree's own build makes them; ``oops``: default of the parameter."""
    folder = shutil.copytree(SOURCE, bench.folder / name)
    wire = folder / "lab_wire.c"
    wire.write_text(wire.read_text().replace("static bool oops;", f"static bool oops = {oops};"))
    command = ["make", "-C", str(bench.machine.image.headers), f"M={folder}", "modules"]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return folder


def test_a_module_that_oopses_is_named_and_the_machine_reset(bench: Bench):
    """The first load oopses and leaves the module half loaded, so only a reset helps; the hook resets the machine
    and puts a good module in place."""
    bad, good = made(bench, "bad", "true"), made(bench, "good", "false")
    machine = bench.machine
    hook = bench.folder / "reset"
    hook.write_text(
        f"#!/bin/sh\ncp {good}/lab_wire.ko {bad}/lab_wire.ko\n"
        + machine.ssh_line('nohup sh -c "sleep 1; reboot -ff" >/dev/null 2>&1 &')
        + "\n"
    )
    hook.chmod(0o755)
    plan = driver(bench)
    text = plan.read_text()
    text = text[: text.index('[[arm]]\nname = "patched"')] + text[text.index("[bring_up]") :]
    modules = f'[[arm.modules]]\nfile = "{bad}/lab_core.ko"\n[[arm.modules]]\nfile = "{bad}/lab_wire.ko"\n'
    text = text[: text.index("[arm.build]")] + modules + text[text.index("[arm.verify]") :]
    text = text.replace('parameters = { firmware_bytes = "12" }\n', "")
    plan.write_text(text.replace("hooks.settle_s = 400", f'hooks.settle_s = 400\nhooks.reset = ["{hook}"]', 1))
    boot = machine.boot_id()
    done = bench.txop("run", str(plan), "-o", str(bench.archive))
    assert done.returncode == 0, done.stderr
    assert machine.boot_id() != boot
    first, *others = bench.read().runs
    (cause,) = first.void
    assert cause.gate == "arm-load-failed"
    assert "NULL pointer dereference" in cause.cause
    assert "lab_wire" in cause.cause
    assert others[-1].state == "valid", others[-1].void
    assert others[-1].replaces is not None
    read = bench.read()
    assert (read.finished, read.damage) == (True, [])
    assert machine.left_behind() == []


def test_two_kernels_are_compared(bench: Bench):
    releases = bench.machine.ssh("ls /lib/modules").split()
    (cloud,) = [release for release in releases if "cloud" in release]
    (usual,) = [release for release in releases if "cloud" not in release]
    plan = bench.plan_of("kernels.toml", {"RELEASE": usual, "CLOUD": cloud})
    try:
        done = bench.txop("run", str(plan), "-o", str(bench.archive))
        assert done.returncode == 0, done.stderr
        read = complete(bench, "tx", 2)
        for run in read.runs:
            assert run.verified["kernel"] == (cloud if run.arm == "cloud" else usual)
            assert not any(cause.gate in ("target-lost", "target-rebooted") for cause in run.void)
        first = min(read.runs, key=lambda run: run.started_at)
        assert ("boot_s" in first.verified) is (first.arm == "cloud"), "the usual one ran already"
        assert len({run.verified["kernel_build_id"] for run in read.runs}) == 2
    finally:
        bench.machine.power_off()  # the next test finds the usual kernel


def test_an_access_point_with_busybox_is_set_by_the_arms(bench: Bench):
    plan = bench.plan_of("router.toml", {"ROUTER_AT": str(bench.machine.router_port)})
    checked = bench.txop("plan", "check", str(plan), "--connect")
    assert checked.returncode == 0, checked.stdout
    begun = time.monotonic()
    done = bench.txop("run", str(plan), "-o", str(bench.archive))
    assert done.returncode == 0, f"after {time.monotonic() - begun:.0f} s: {done.stderr}"
    read = complete(bench, "all", 2)
    commands = (bench.archive / "commands.log").read_text()
    assert "hostapd-legacy.conf" in commands
    assert read.provenance["peer"]["tools"]["iperf3"].startswith("iperf 3")
    for run in read.runs:
        if run.state == "valid":
            assert run.metrics["throughput_mbit_s"].value > 0.5
