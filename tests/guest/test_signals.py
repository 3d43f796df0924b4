"""What is left of guests and builds whose `txop` is asked to end: nothing. Programs take the place of QEMU and make."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from txop.guest import outside
from txop.guest_image.image import Image

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
STAND_IN = """\
#!/bin/sh
case "$*" in --version) echo "QEMU emulator version 8.2.0"; exit ;; esac
echo $$ >{folder}/part.$$
mv {folder}/part.$$ {folder}/pid.$$
exec sleep 1000
"""


def stand_in(folder: Path, name: str) -> dict[str, str]:
    """A program that says its number and then does nothing; the environment in which it is found first."""
    place = folder / "programs"
    place.mkdir()
    (place / name).write_text(STAND_IN.format(folder=folder))
    (place / name).chmod(0o755)
    cache = folder / "cache"
    return {
        **os.environ,
        "PATH": f"{place}{os.pathsep}{os.environ['PATH']}",
        outside.VARIABLE: str(place / name),
        "XDG_CACHE_HOME": str(cache),
    }


def end(process: subprocess.Popen[bytes], number: int, folder: Path, programs: int) -> None:
    """Signal it twice, as timeout(1) does, once that many programs run; it and they have to end, soon."""
    while len(pids := [path.suffix[1:] for path in folder.glob("pid.*")]) < programs:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(number)
    process.send_signal(number)
    process.communicate(timeout=300)
    assert process.returncode == 128 + number
    for pid in pids:
        command = Path("/proc") / pid / "cmdline"
        for _ in range(600):
            if not command.exists() or not command.read_bytes():  # a zombie has none
                break
            time.sleep(0.1)
        else:
            pytest.fail("a program goes on")


@pytest.mark.parametrize(
    ("number", "arguments", "guests"),
    [
        (signal.SIGTERM, ("survey", "--faults", "unplug", "--driver", "rtl8192cu", "-j", "2"), 2),
        (signal.SIGINT, ("explore", "--driver", "rtl8192cu", "-o", "found"), 1),
        pytest.param(signal.SIGHUP, ("cycle", "--driver", "rtl8192cu", "-j", "2"), 2, marks=pytest.mark.slow),
        *(pytest.param(number, ("run", "--kvm", "no", "--", "true"), 1, marks=pytest.mark.slow) for number in SIGNALS),
    ],
)
def test_guests_end_with_their_txop_and_leave_nothing(
    program: Path, image: Image, chips: Path, tmp_path: Path, number: int, arguments: tuple[str, ...], guests: int
) -> None:
    del chips
    environment = stand_in(tmp_path, "qemu")
    cache = tmp_path / "cache" / "txop" / "guest"
    cache.mkdir(parents=True)
    for name in ("images", "unpacked", "packages"):
        (cache / name).symlink_to(image.folder.parents[1] / name)
    argv = [str(program), "guest", *arguments]
    process = subprocess.Popen(argv, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end(process, number, tmp_path, guests)
    assert list((cache / "runs").iterdir()) == []


BUILDING = """
import sys
from pathlib import Path
from txop.cli import app
from txop.guest import driver
driver.build_folder = lambda *_, **__: Path(sys.argv[1])
driver.check_tools = lambda *_, **__: None
driver.check_compiler = lambda *_: "gcc 12"
driver.compiler_folder = lambda *_, **__: None
app.main(["guest", "module", "--driver", "x", "--source", sys.argv[1]])
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_build_ends_with_its_txop_and_leaves_nothing(tmp_path: Path, number: int) -> None:
    environment = stand_in(tmp_path, "make")
    source = tmp_path / "source"
    source.mkdir()
    (source / "Makefile").write_text("obj-m := x.o\n")
    argv = [sys.executable, "-c", BUILDING, str(source)]
    process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end(process, number, tmp_path, 1)
    assert list((tmp_path / "cache" / "txop" / "guest" / "modules").iterdir()) == []
