"""A kernel module as far as its sections go: made by a real compiler and linker."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

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


def maker(folder: Path) -> Callable[..., Path]:
    """Make relocatables with .modinfo and a build-id, as the kernel's build does: compiler, then linker with -r."""
    if not shutil.which("gcc") or not shutil.which("ld"):
        pytest.skip("no gcc and ld here")

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
