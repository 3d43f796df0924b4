"""Lab machines for the tests of this folder: each is a whole Debian in QEMU, reached over SSH.

``make test-bench`` runs these tests; nothing else does. Where no machine can be made they are skipped and say so; in
continuous integration (``CI=true``) they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from lab_bench import Bench
from lab_image import LabImage, NoLabError, built_lab_image
from lab_machine import LabMachine
from txop.guest.qemu import check_qemu
from txop.guest_image.error import GuestError


def _no_lab(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(f"no lab machine was started, and here one has to be: {reason}")
    pytest.skip(f"NO LAB MACHINE WAS STARTED: {reason}")


@pytest.fixture(scope="session")
def lab_image() -> LabImage:
    """The disk of lab machines, made the first time."""
    for program in ("ssh", "setpriv"):
        if shutil.which(program) is None:
            _no_lab(f"needs {program}")
    try:
        check_qemu()
        return built_lab_image()
    except (GuestError, NoLabError) as error:
        _no_lab(str(error))


@pytest.fixture(scope="session")
def machine(lab_image: LabImage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabMachine]:
    """A running machine that all tests share; one that a test has broken is started again for the next."""
    with LabMachine(lab_image, tmp_path_factory.mktemp("machine")) as started:
        yield started


@pytest.fixture
def bench(machine: LabMachine, tmp_path: Path, program: Path, plain_environment: dict[str, str]) -> Bench:
    """The machine in order, with nothing of an earlier test on it, and a folder for a plan and an archive."""
    machine.make_ready()
    return Bench(machine, tmp_path, program, plain_environment)
