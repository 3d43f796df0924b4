"""Lab machines for the tests of this folder: each is a whole Debian in QEMU, reached over SSH.

``make test-bench`` runs these tests; nothing else does. Where no machine can be made they are skipped and say so; in
continuous integration (``CI=true``) they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from lab_bench import Bench
from lab_image import LabImage, NoLabError, built_lab_image
from lab_machine import LabMachine, Place, find_qemu
from plain_environment import environment
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
        find_qemu()
        return built_lab_image()
    except (GuestError, NoLabError) as error:
        _no_lab(str(error))


@pytest.fixture(scope="session")
def started_machine(lab_image: LabImage) -> Callable[..., AbstractContextManager[LabMachine]]:
    """Starts a machine, by a folder and a place, or says why there is none."""

    @contextmanager
    def start(folder: Path, place: Place | None = None) -> Iterator[LabMachine]:
        with ExitStack() as stack:
            try:
                machine = stack.enter_context(LabMachine(lab_image, folder, place))
            except NoLabError as error:
                _no_lab(str(error))
            yield machine

    return start


@pytest.fixture(scope="session")
def machine(
    started_machine: Callable[..., AbstractContextManager[LabMachine]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LabMachine]:
    """A running machine that all tests share; one that a test has broken is started again for the next."""
    with started_machine(tmp_path_factory.mktemp("machine")) as machine:
        yield machine


@pytest.fixture
def bench(machine: LabMachine, tmp_path: Path, program: Path) -> Bench:
    """The machine in order, with nothing of an earlier test on it, and a folder for a plan and an archive."""
    machine.make_ready()
    return Bench(machine, tmp_path, program, environment())


@pytest.fixture(scope="module")
def shared_bench(machine: LabMachine, tmp_path_factory: pytest.TempPathFactory, program: Path) -> Bench:
    """The same for a campaign that several tests look at."""
    machine.make_ready()
    return Bench(machine, tmp_path_factory.mktemp("bench"), program, environment())
