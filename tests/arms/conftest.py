"""Targets with a played kernel, and modules made by a real compiler and linker."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fake_kernel import FakeKernel
from txop.targets.contract import Targets


@pytest.fixture
def kernel() -> FakeKernel:
    kernel = FakeKernel()
    kernel.connected = True
    return kernel


@pytest.fixture
def targets(kernel: FakeKernel) -> Targets:
    return Targets({"dut": kernel})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits of a second take a hundredth."""
    import asyncio

    sleep = asyncio.sleep

    async def short(seconds: float) -> None:
        await sleep(seconds / 100)

    for module in ("module", "steps", "bring_up"):
        monkeypatch.setattr(f"txop.arms.{module}.asyncio.sleep", short)


MODULE_C = """
#define INFO(tag, name, text) \\
    static const char name[] __attribute__((section(".modinfo"), used, aligned(1))) = tag "=" text;
INFO("name", a, "%(name)s")
INFO("srcversion", b, "%(srcversion)s")
INFO("version", c, "1.2")
INFO("vermagic", d, "6.1.0-7-amd64 SMP preempt mod_unload modversions ")
INFO("depends", e, "mac80211,cfg80211")
INFO("parm", f, "debug:Debug level")
INFO("parmtype", g, "debug:int")
INFO("parmtype", h, "ht40:bool")
INFO("license", i, "GPL")
int x = %(number)d;
"""


@pytest.fixture(scope="session")
def make_module(tmp_path_factory):
    """Makes a relocatable with .modinfo and a build-id, as the kernel's build does: compiler, then linker with -r."""
    if not shutil.which("gcc") or not shutil.which("ld"):
        pytest.skip("no gcc and ld here")
    folder = tmp_path_factory.mktemp("modules")

    def make(name: str = "rtl8xxxu", *, srcversion: str = "0123456789ABCDEF01234567", number: int = 1) -> Path:
        place = folder / f"{name}-{srcversion}-{number}"
        place.mkdir(exist_ok=True)
        source = place / "m.c"
        source.write_text(MODULE_C % {"name": name, "srcversion": srcversion, "number": number})
        subprocess.run(["gcc", "-c", "-o", place / "m.o", source], check=True)
        target = place / f"{name}.ko"
        subprocess.run(["ld", "-r", "--build-id=sha1", "-o", target, place / "m.o"], check=True)
        return target

    return make
