"""The whole way of a guest as a user who may do nothing special, in a home of their own."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from txop.guest.chips import PROGRAM, VARIABLE
from txop.guest_image.image import Image

NOBODY = 65_534


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that a user without privileges reaches and owns."""
    with tempfile.TemporaryDirectory(prefix="txop-nobody-") as name:
        Path(name).chmod(0o755)
        place = Path(name) / "home"
        place.mkdir()
        os.chown(place, NOBODY, NOBODY)
        yield place


@pytest.mark.slow
def test_a_guest_runs_for_a_user_without_privileges(image: Image, chips: Path, program: Path, home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("every test runs without privileges here")
    cache = home / ".cache" / "txop" / "guest"
    cache.mkdir(parents=True)
    subprocess.run(["cp", "-r", str(image.folder.parents[1] / "packages"), str(cache)], check=True)
    subprocess.run(["cp", str(chips), str(home / PROGRAM)], check=True)
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(home)], check=True)
    as_nobody = [
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "--inh-caps=-all",
        "--no-new-privs",
    ]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], VARIABLE: str(home / PROGRAM)}
    if subprocess.run(
        [*as_nobody, str(program), "--version"], env=environment, capture_output=True, check=False
    ).returncode:
        pytest.skip(f"a user without privileges cannot reach {program}")
    guest = ["guest", "run", "--device", "rtl8188cus", "--output", "out", "--", "dut", "ping", "-c", "3", "10.80.210.1"]
    ran = subprocess.run(
        [*as_nobody, str(program), *guest], env=environment, cwd=home, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert " 0% packet loss" in ran.stdout
    assert (home / "out" / "files" / "chip.json").stat().st_uid == NOBODY
    assert list((cache / "runs").iterdir()) == []
