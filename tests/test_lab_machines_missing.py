"""Where no lab machine can be made, their tests say so; in continuous integration they fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("whole_machines")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ci", "status", "said"),
    [("", 0, "NO LAB MACHINE WAS STARTED: there is no qemu"), ("true", 1, "here one has to be: there is no qemu")],
)
def test_without_qemu(tmp_path: Path, ci: str, status: int, said: str) -> None:
    for program in ("ssh", "setpriv"):
        found = shutil.which(program)
        if found is None:
            pytest.skip(f"there is no {program} here")
        (tmp_path / program).symlink_to(found)
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", FOLDER / "test_devices.py"]
    environment = {**os.environ, "PATH": str(tmp_path), "CI": ci}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == status, done.stdout
    assert said in done.stdout
