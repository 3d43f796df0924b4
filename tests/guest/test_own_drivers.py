"""Drivers of nobody's kernel: built with variables for their Makefile, in a guest whose radio stays where it is."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from guests_here import built_chips, built_image
from txop.arms.build import first_error
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.driver import DriverBuild, DriverBuildError, build_driver
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay

STILL = Path(__file__).parents[1] / "data" / "still_driver"
SCRIPT = """
txop-lab up || exit
readlink /proc/1/ns/net >/txop/out/first; dut readlink /proc/self/ns/net >/txop/out/dut
dut cat /sys/class/net/wlan0/operstate >/txop/out/state; cat /sys/module/still/parameters/answer >/txop/out/answer
txop-lab replug; sleep 3; txop-lab join || exit
dut cat /sys/class/net/wlan0/operstate >/txop/out/state-again
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_first_error_has_its_file_and_line(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    import subprocess

    tree = tmp_path / "tree"
    (tree / "core").mkdir(parents=True)
    (tree / "core/x.c").write_text("int f(void)\n{\n\treturn missing + also_missing;\n}\n")
    argv = [compiler, "-c", "-o", "x.o", str(tree / "core/x.c")]
    said = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False).stderr
    found = first_error(f"  CC [M]  x.o\n{said}make: *** [x] Error 1\n", tree)
    assert found is not None
    assert (found.file, found.line) == ("core/x.c", 3)
    assert "missing" in found.text


@pytest.mark.parametrize(
    "said", ["", "ERROR: modpost: x undefined!", "make: *** [x] Error 2", "a: error: b", "\x00:1: x"]
)
def test_what_is_no_error_of_a_compiler_has_no_place(said: str) -> None:
    assert first_error(said, Path("/t")) is None


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["5.10", "6.12"])
def test_a_driver_with_variables_whose_radio_stays(tmp_path: Path, kernel: str) -> None:
    image, program, lock = built_image(kernel), built_chips(), find_lock(kernel)
    with pytest.raises(DriverBuildError) as refused:
        asyncio.run(build_driver(DriverBuild("still", source=STILL), lock))
    assert refused.value.first is not None
    assert (refused.value.first.file, refused.value.first.line) == ("still.c", 13)
    built = asyncio.run(build_driver(DriverBuild("still", source=STILL, make=("STILL_CHANNEL=6",)), lock))
    overlay = Overlay(
        script=SCRIPT,
        environment=Chip(driver="still", security="open", parameters=("answer=7",)).variables(),
        files={IN_GUEST: program},
        modules=(built.module,),
    )
    ended = asyncio.run(run_guest(image, overlay, Computer(), results=tmp_path, wall_limit_s=900))
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    left = {path.name: path.read_text().strip() for path in (tmp_path / "files").iterdir() if path.suffix == ""}
    assert left["first"] == left["dut"]
    assert (left["state"], left["state-again"], left["answer"]) == ("up", "up", "7")
