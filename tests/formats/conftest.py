"""Captured text: what real tools printed, by folder and name; the name says the version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

CAPTURED = Path(__file__).with_name("captured")


@pytest.fixture(scope="session")
def captured() -> Callable[[str], str]:
    """The text of a captured file, such as ``iperf3/v3.12-tcp-client.txt``."""

    def read(name: str) -> str:
        return (CAPTURED / name).read_bytes().decode("utf-8")

    return read
