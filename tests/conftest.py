"""What every test may use: the installed program, run the way a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("txop")

RunTxop = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def program() -> Path:
    """The ``txop`` that `make setup` installed beside this Python."""
    assert PROGRAM.exists(), f"{PROGRAM} is missing; run: make setup"
    return PROGRAM


@pytest.fixture
def plain_environment() -> dict[str, str]:
    """The environment without what changes the look of output or the handling of errors."""
    changes_output = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TXOP_DEBUG", "PYTHONIOENCODING", "TERM", "GITHUB_ACTIONS")
    return {name: value for name, value in os.environ.items() if name not in changes_output}


@pytest.fixture
def txop(program: Path, plain_environment: dict[str, str]) -> RunTxop:
    """Run ``txop`` with arguments; stdout and stderr are pipes, there is no stdin."""

    def run(*arguments: str, env: dict[str, str] | None = None, **options: object) -> subprocess.CompletedProcess[str]:
        settings: dict[str, object] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "timeout": 120,
            "encoding": "utf-8",
            **options,
        }
        return subprocess.run([program, *arguments], env={**plain_environment, **(env or {})}, **settings)  # type: ignore[call-overload, no-any-return]

    return run
