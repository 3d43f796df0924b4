"""Scenarios that come with txop: the TOML files in ``scenarios``, which ``examples/links`` links to."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

SUFFIX = ".toml"
MOST_BYTES = 1 << 20
"""Of a scenario file."""


@dataclass(frozen=True)
class Shipped:
    """A scenario that comes with txop."""

    name: str
    title: str
    text: str


def shipped() -> dict[str, Shipped]:
    """Every scenario that can be run by its name; those that others stand on begin with ``_`` and are left out."""
    found = {}
    for file in sorted((resources.files("txop.simulate") / "scenarios").iterdir(), key=lambda file: file.name):
        if file.name.endswith(SUFFIX) and not file.name.startswith("_"):
            text = file.read_text(encoding="utf-8")
            name = file.name.removesuffix(SUFFIX)
            found[name] = Shipped(name, str(tomllib.loads(text).get("title", "")), text)
    return found


class Library:
    """Texts of scenario files: of the shipped ones when the first is a shipped name, else of the disk."""

    def __init__(self, name: str) -> None:
        folder = resources.files("txop.simulate") / "scenarios"
        file = folder / f"{name}{SUFFIX}"
        plain = name.replace("-", "").replace("_", "").isalnum()
        self.is_shipped = plain and file.is_file() and not Path(name).is_file()
        self.name = f"{name}{SUFFIX}" if self.is_shipped else name
        self._folder = folder

    def read(self, name: str) -> str:
        """The text of a file. Raises ``ValueError`` with the reason in a few words.

        The first file may be a pipe; a file that names others may not make txop wait for what nobody writes.
        """
        if self.is_shipped:
            if "/" in name or not (self._folder / name).is_file():
                raise ValueError("no scenario of this name is shipped")
            return (self._folder / name).read_text(encoding="utf-8")
        try:
            if name != self.name and Path(name).exists() and not Path(name).is_file():
                raise ValueError("not an ordinary file")
        except OSError as error:
            raise ValueError(error.strerror or str(error)) from None
        try:
            with Path(name).open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise ValueError(error.strerror or str(error)) from None
        except ValueError:
            raise ValueError("not the name of a file") from None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 text (byte {error.start})") from None
