"""The engine against every reference of docs/validation.md, which `make validate` writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, str(ROOT / "bench" / "validate.py")]


def test_goodput_of_one_station(tmp_path):
    ran = subprocess.run([*PROGRAM, "--only", "One station, UDP"], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("Mbit/s | ") == 10


@pytest.mark.slow
def test_what_is_out_of_its_tolerance_fails(tmp_path):
    code = "import sys; sys.argv[0:1] = []; import runpy, wlan; wlan.CASES[0].__dict__['reference'] = 1.0; "
    code += "runpy.run_path(sys.argv[0], run_name='__main__')"
    folder = str(ROOT / "bench" / "validation")
    ran = subprocess.run(
        [sys.executable, "-c", code, PROGRAM[1], "--only", "One station, UDP"],
        capture_output=True, text=True, timeout=600, env={"PYTHONPATH": folder, "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert ran.returncode == 1, ran.stderr
    assert "9 of 10 within their tolerance" in ran.stderr


@pytest.mark.slow
def test_every_reference(tmp_path):
    page = tmp_path / "validation.md"
    ran = subprocess.run([*PROGRAM, "--output", str(page)], capture_output=True, text=True, timeout=3600)
    assert ran.returncode == 0, ran.stderr
    # The same seeds give the same page: what is in the repository is what the engine says.
    assert page.read_text() == (ROOT / "docs" / "validation.md").read_text()
