"""Fault scripts: those that come with txop (``faults``, which ``examples/faults`` links to), and one's own."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from txop.core.nearest import did_you_mean
from txop.guest_image.error import GuestError

SUFFIX = ".toml"
MOST_BYTES = 1 << 20
"""Largest script."""
NONE = "none"
"""The control: no faults at all. No script has its name."""


@dataclass(frozen=True)
class FaultScript:
    """What goes wrong."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """The comment that it begins with, in one line; empty without one."""
        rows = []
        for row in self.text.splitlines():
            if not row.startswith("#"):
                break
            rows.append(row.lstrip("#").strip())
        return " ".join(rows)


CONTROL = FaultScript(NONE, "# Nothing goes wrong: what it looks like then.\n")


def shipped_faults() -> dict[str, FaultScript]:
    """Every script that comes with txop, by name."""
    found = {}
    for file in sorted((resources.files("txop.plan") / "faults").iterdir(), key=lambda file: file.name):
        if file.name.endswith(SUFFIX):
            name = file.name.removesuffix(SUFFIX)
            found[name] = FaultScript(name, file.read_text(encoding="utf-8"))
    return found


def faults_file(name: str) -> Path:
    """The file of a shipped script by its name, else the file of that name."""
    shipped = resources.files("txop.plan") / "faults" / f"{name}{SUFFIX}"
    return Path(str(shipped)) if name in shipped_faults() else Path(name)


def find_faults(name: str) -> FaultScript:
    """A shipped script by its name, or the file of that name. Raises :class:`GuestError`."""
    shipped = shipped_faults()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise GuestError(f"{name} is larger than {MOST_BYTES >> 20} MB: no fault script")
        return FaultScript(path.name.removesuffix(SUFFIX) or name, data.decode("utf-8"))
    except UnicodeDecodeError:
        raise GuestError(f"{name} is not UTF-8 text: no fault script") from None
    except OSError as error:
        raise GuestError(
            f"{name}: {error.strerror}",
            what_to_do=f"give a file, or a shipped one: {did_you_mean(name, list(shipped))}",
        ) from None
