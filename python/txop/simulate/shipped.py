"""Scenarios that come with txop: the TOML files in ``scenarios``, which ``examples/links`` links to."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

SUFFIX = ".toml"
MOST_BYTES = 1 << 20
"""Limit on a scenario file."""


@dataclass(frozen=True)
class Shipped:
    """A scenario that comes with txop."""

    name: str
    title: str
    text: str


def names() -> list[str]:
    """Names of the scenarios that can be run by name, without reading them."""
    files = (resources.files("txop.simulate") / "scenarios").iterdir()
    found = (file.name.removesuffix(SUFFIX) for file in files if file.name.endswith(SUFFIX))
    return sorted(name for name in found if not name.startswith("_"))


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

    def __init__(self, name: str, folder: Path | None = None) -> None:
        """``name``: of the first file; relative to ``folder`` (default: the current one), as those that it names."""
        self._on_disk = folder or Path()
        shipped = resources.files("txop.simulate") / "scenarios"
        file = shipped / f"{name}{SUFFIX}"
        plain = name.replace("-", "").replace("_", "").isalnum()
        self.is_shipped = plain and file.is_file() and not (self._on_disk / name).is_file()
        self.name = f"{name}{SUFFIX}" if self.is_shipped else name
        self._folder = shipped

    def read(self, name: str) -> str:
        """The text of a file. Raises ``ValueError`` with the reason in a few words.

        The first file may be a pipe; a file that names others may not make txop wait for a pipe without a writer.
        """
        if self.is_shipped:
            if "/" in name or not (self._folder / name).is_file():
                raise ValueError("no scenario of this name is shipped")
            return (self._folder / name).read_text(encoding="utf-8")
        if name != self.name:
            _ensure_ordinary(self._on_disk / name)
        try:
            with (self._on_disk / name).open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise ValueError(error.strerror or str(error)) from None
        except ValueError:
            raise ValueError("not the name of a file") from None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 text (byte {error.start})") from None


class Bases:
    """Texts of the files that a document is based on which is part of another one, as the link of a plan. The first
    that is asked for is shipped or on the disk (never a pipe), and so are all others."""

    def __init__(self, folder: Path) -> None:
        """``folder``: where the first is, unless it is shipped."""
        self._folder = folder
        self._library: Library | None = None

    def read(self, name: str) -> str:
        """As :meth:`Library.read`."""
        if self._library is not None:
            return self._library.read(name)
        self._library = Library(name, self._folder)
        if not self._library.is_shipped:
            _ensure_ordinary(self._folder / name)
        return self._library.read(self._library.name)


def _ensure_ordinary(file: Path) -> None:
    """Raise ``ValueError`` for what is there and is not a file."""
    try:
        if file.exists() and not file.is_file():
            raise ValueError("not an ordinary file")
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
