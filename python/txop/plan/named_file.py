"""Files that plans name: on this machine, or among those that txop has."""

from __future__ import annotations

from importlib import resources
from pathlib import Path, PurePosixPath

SHIPPED = "txop:"
"""How names begin of edit scripts that come with txop (``txop:rtl8xxxu/0010-interrupts.toml``), and of fault scripts
that do (``txop:faults/unplug.toml``)."""

_FAULTS = "faults"


def named_file(folder: Path, name: str) -> Path:
    """The file of that name as an absolute path; relative names are relative to ``folder``, ``~`` is the home of the
    user who runs txop."""
    if name.startswith(SHIPPED):
        inside = PurePosixPath(name.removeprefix(SHIPPED))
        leads_out = inside.is_absolute() or ".." in inside.parts
        if inside.parts[:1] == (_FAULTS,) and not leads_out:
            return _scripts().parent / inside
        return _scripts() / ("no such script" if leads_out else inside)
    return folder.absolute() / Path(name).expanduser()


def shipped_scripts() -> list[str]:
    """Names of the edit scripts that txop has."""
    return sorted(f"{SHIPPED}{path.relative_to(_scripts()).as_posix()}" for path in _scripts().rglob("*.toml"))


def _scripts() -> Path:
    return Path(str(resources.files("txop.plan"))) / "edits"
