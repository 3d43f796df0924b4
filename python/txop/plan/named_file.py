"""Files that plans name: on this machine, or among those that txop has."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

SHIPPED = "txop:"
"""How names of edit scripts begin that come with txop: ``txop:rtl8xxxu/0010-interrupts.toml``."""


def named_file(folder: Path, name: str) -> Path:
    """The file of that name as an absolute path; relative names are relative to ``folder``, ``~`` is the home of the
    user who runs txop."""
    if name.startswith(SHIPPED):
        return _scripts() / name.removeprefix(SHIPPED)
    return folder.absolute() / Path(name).expanduser()


def shipped_scripts() -> list[str]:
    """Names of the edit scripts that txop has."""
    return sorted(f"{SHIPPED}{path.relative_to(_scripts()).as_posix()}" for path in _scripts().rglob("*.toml"))


def _scripts() -> Path:
    return Path(str(resources.files("txop.guest"))) / "edits"
