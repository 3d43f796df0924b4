"""The locks that txop ships, and those of this user, which come first."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from txop.guest_image.error import GuestError
from txop.guest_image.packages.lock import Lock, load_lock, read_lock

_SHIPPED = "debian-12"


def own_lock(series: str) -> Path:
    """Where this user's lock for a kernel series is, if there is one: ``txop/guest`` in the user's data folder."""
    base = os.environ.get("XDG_DATA_HOME", "")
    folder = Path(base) if base.startswith("/") else Path("~/.local/share").expanduser()
    return folder / "txop" / "guest" / f"{series}.lock"


def find_lock(series: str, path: Path | None = None) -> Lock:
    """The lock in a file, else this user's, else the shipped one. Raises :class:`GuestError` or :class:`OSError`."""
    if path is not None:
        return load_lock(path)
    own = own_lock(series)
    if own.is_file():
        return load_lock(own)
    name = f"{_SHIPPED}-{series}.lock"
    shipped = resources.files("txop.guest_image.locks").joinpath(name)
    if "/" in series or not shipped.is_file():
        raise GuestError(
            f"txop ships no lock for the kernel {series!r}",
            what_to_do=f"make one with `txop guest build --kernel {series} --update`",
        )
    return read_lock(shipped.read_text(encoding="utf-8"), name)
