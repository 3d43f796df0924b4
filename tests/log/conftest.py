"""Short ways to read a log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.log import Fault, LogReport, name_faults

HERE = Path(__file__).parent

Name = Callable[[str], LogReport]


@pytest.fixture(scope="session")
def name() -> Name:
    """The report of a text."""
    return lambda text: name_faults(text.split("\n"))


@pytest.fixture(scope="session")
def values() -> Callable[[Fault], dict[str, list[tuple[str, str | None]]]]:
    """The values of a fault by name: text and meaning."""

    def by_name(fault: Fault) -> dict[str, list[tuple[str, str | None]]]:
        found: dict[str, list[tuple[str, str | None]]] = {}
        for value in fault.values:
            found.setdefault(value.name, []).append((value.text, value.meaning))
        return found

    return by_name


@pytest.fixture(scope="session")
def wiki() -> dict[str, str]:
    """The two logs that the rtl8xxxu page of the Linux Wireless wiki prints."""
    folder = HERE.parents[1] / "examples" / "boards" / "rtl8xxxu-gardena"
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.txt")}


@pytest.fixture(scope="session")
def captured() -> dict[str, str]:
    """One kernel log as the tools print it: dmesg of util-linux 2.38, journalctl of systemd 252."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "captured").glob("*.txt"))}
