"""Fault scripts: those that come with txop (``faults``, which ``examples/faults`` links to), and your own."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from txop.core.nearest import did_you_mean
from txop.guest_image.error import GuestError
from txop.plan.devices import ON_PCI, SDIO_CARDS

SUFFIX = ".toml"
MOST_BYTES = 1 << 20
"""Largest script."""
_OF_CARDS = "sdio/"
_ON_PCI = "pci/"
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


def every_shipped_script() -> dict[str, FaultScript]:
    """Every script that comes with txop, by name. Names of those about SDIO commands begin with ``sdio/``, of those
    about chips on PCI with ``pci/``."""
    return _scripts("") | _scripts(_OF_CARDS) | _scripts(_ON_PCI)


def shipped_faults(device: str = "rtl8188cus") -> dict[str, FaultScript]:
    """By name, the scripts that come with txop and can happen to this virtual chip.

    An SDIO card gets no USB transfers of its own, a chip on PCI none at all, and a dongle no commands: what is about
    one cannot happen to the other. Endpoints and registers are those of the RTL8188CUS and of the AR9280; a chip that
    lacks one is not reached.
    """
    own = _OF_CARDS if device in SDIO_CARDS else _ON_PCI if device in ON_PCI else None
    if own is None:
        return _scripts("")
    return _scripts(own) | {name: script for name, script in _scripts("").items() if not _about_transfers(script.text)}


def _scripts(under: str) -> dict[str, FaultScript]:
    found = {}
    folder = resources.files("txop.plan") / "faults"
    for file in sorted((folder / under if under else folder).iterdir(), key=lambda file: file.name):
        if file.name.endswith(SUFFIX):
            name = under + file.name.removesuffix(SUFFIX)
            found[name] = FaultScript(name, file.read_text(encoding="utf-8"))
    return found


def _about_transfers(text: str) -> bool:
    return any("endpoint" in fault for fault in tomllib.loads(text).get("fault", ()))


def faults_file(name: str) -> Path:
    """The file of a shipped script by its name, else the file of that name."""
    shipped = resources.files("txop.plan") / "faults" / f"{name}{SUFFIX}"
    return Path(str(shipped)) if name in every_shipped_script() else Path(name)


def find_faults(name: str) -> FaultScript:
    """A shipped script by its name, or the file of that name. Raises :class:`GuestError`."""
    shipped = every_shipped_script()
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
