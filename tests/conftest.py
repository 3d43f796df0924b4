"""What every test may use: the installed program, run the way a user runs it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import make_archive_sample
import pytest
from hypothesis import settings

from guests_here import built_chips, built_image
from made_module import maker
from plain_environment import environment
from program_server import PROGRAM, ProgramServer, RunTxop
from ssh_server import Keys, Server, why_not
from txop.guest_image.image import Image

# Nothing is timed in tests: the machine may be busy. In continuous integration the same examples are tried every time.
settings.register_profile("txop", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("txop")

# Who starts the tests may ignore these signals (nohup, a shell's `&`), and programs inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def program() -> Path:
    """The ``txop`` that `make setup` installed beside this Python."""
    assert PROGRAM.exists(), f"{PROGRAM} is missing; run: make setup"
    return PROGRAM


@pytest.fixture(scope="session")
def sample() -> ModuleType:
    """The module that makes archives."""
    return make_archive_sample


@pytest.fixture(scope="session")
def make_module(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes kernel modules as far as their sections go."""
    return maker(tmp_path_factory.mktemp("modules"))


@pytest.fixture
def plain_environment() -> dict[str, str]:
    """The environment without what changes the look of output or the handling of errors."""
    return environment()


@pytest.fixture(scope="session")
def program_server() -> Iterator[ProgramServer]:
    """Runs ``txop`` without loading it each time."""
    server = ProgramServer()
    yield server
    server.close()


_SERVED = {"cwd", "input", "timeout", "stdin"}
"""Options with which a call needs no Python of its own."""


def _of_python(name: str) -> bool:
    """Whether an environment variable changes how Python starts."""
    return name.startswith(("PYTHON", "LC_", "LANG"))


@pytest.fixture
def txop(program: Path, program_server: ProgramServer, plain_environment: dict[str, str]) -> RunTxop:
    """Run ``txop`` with arguments; stdout and stderr are pipes, there is no stdin."""

    def run(*arguments: str, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**plain_environment, **(env or {})}
        served = options.keys() <= _SERVED and options.get("stdin", subprocess.DEVNULL) in (None, subprocess.DEVNULL)
        if served and not any(map(_of_python, env or {})):
            options.pop("stdin", None)
            return program_server.run([str(each) for each in arguments], env=environment, **options)
        settings: dict[str, object] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "timeout": 600,  # a guard against hangs, generous because the machine may be busy
            "encoding": "utf-8",
            **options,
        }
        return subprocess.run([program, *arguments], env=environment, **settings)  # type: ignore[call-overload, no-any-return]

    return run


@pytest.fixture(scope="session")
def image() -> Image:
    """A guest's image by the shipped lock for 6.12, or the reason why there is none here."""
    return built_image("6.12")


@pytest.fixture(scope="session")
def image_of() -> Callable[[str], Image]:
    """A guest's image by the shipped lock for a kernel series."""
    return built_image


@pytest.fixture(scope="session")
def chips() -> Path:
    """The program that is a guest's virtual chips."""
    return built_chips()


StartServer = Callable[..., Server]


@pytest.fixture
def busybox_sshd(tmp_path: Path) -> Iterator[StartServer]:
    """Start real SSH servers with a BusyBox userland in namespaces of their own; see :class:`ssh_server.Server` for
    the arguments. They are gone after the test."""
    with contextlib.ExitStack() as servers:
        keys: list[Keys] = []

        def start(*, server: str = "openssh", **options: object) -> Server:
            reason = why_not(server)
            if reason is not None:
                if os.environ.get("CI") == "true" and os.geteuid() == 0 and reason.startswith("needs"):
                    pytest.fail(f"SSH servers for tests: {reason}")
                pytest.skip(f"SSH servers for tests: {reason}")
            if not keys:
                (tmp_path / "keys").mkdir()
                keys.append(Keys(tmp_path / "keys"))
            root = tmp_path / f"root-{len(list(tmp_path.glob('root-*')))}"
            root.mkdir()
            return servers.enter_context(Server(root, keys[0], server=server, **options))  # type: ignore[arg-type]

        yield start
