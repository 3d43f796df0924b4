"""Fault scripts read by the program that is to carry them out, on this machine: in a guest a mistake in one would end
it, and look as if the dongle were gone."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from txop.core.visible import visible
from txop.guest.chips import PROGRAM, find_chips
from txop.guest.shipped_faults import SUFFIX, FaultScript
from txop.guest_image.error import GuestError, MissingGuestToolError

LIMIT_S = 120.0
"""For reading a script, on a busy machine."""
_COMPLAINT = f"{PROGRAM}: "


def check_faults(scripts: Iterable[FaultScript], ap: str) -> None:
    """Raise :class:`GuestError` for the first script that cannot be carried out with this access point.

    Nothing is found out where the program does not run (another processor), or is one that cannot be asked.
    """
    try:
        program = find_chips()
    except MissingGuestToolError:
        return
    with tempfile.TemporaryDirectory(prefix="txop-faults-") as folder:
        for script in scripts:
            place = Path(folder) / f"script{SUFFIX}"
            place.write_text(script.text, encoding="utf-8")
            about_ap = _read(program, place, script.name)
            if about_ap and ap != "builtin":
                raise GuestError(
                    f"{script.name} is about the access point, and hostapd follows no script",
                    what_to_do="take the built-in one (--ap builtin)",
                )


def check_options(
    device: str, ap: str, options: Sequence[str], stations: Sequence[int] = (), access_points: Sequence[int] = ()
) -> None:
    """Raise :class:`GuestError` for options of the program that it does not take, before a guest boots.

    Nothing is found out where the program does not run, or is one that cannot be asked.
    """
    try:
        program = find_chips()
        several = {"--stations": stations, "--access-points": access_points}
        who = [f"{name}={','.join(map(str, signals))}" for name, signals in several.items() if signals] or ["--ap", ap]
        said = subprocess.run(
            [program, "check-options", "--device", device, *who, *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except (MissingGuestToolError, OSError, subprocess.TimeoutExpired):
        return
    words = said.stderr.decode("utf-8", "replace")
    if said.returncode == 2 and words.startswith(("error: ", _COMPLAINT)) and "'check-options'" not in words:
        plain = words.removeprefix("error: ").removeprefix(_COMPLAINT)
        first = " ".join(plain.partition("\n\nUsage:")[0].split())
        raise GuestError(
            f"{PROGRAM} does not take these options: {visible(first[:500])}",
            what_to_do="docs/virtual-chips.md has its options",
        )


def _read(program: Path, place: Path, name: str) -> bool:
    """Whether a script says what the access point does."""
    try:
        read = subprocess.run(
            [program, "check-faults", place],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    said = read.stderr.decode("utf-8", "replace")
    if read.returncode != 0 and said.startswith(_COMPLAINT):
        words = visible(" ".join(said.removeprefix(_COMPLAINT).replace(str(place), name).split())[:1000])
        raise GuestError(words, what_to_do="docs/virtual-chips.md lists what a script may contain")
    try:
        return read.returncode == 0 and json.loads(read.stdout.splitlines()[0])["access_point"] is True
    except (ValueError, IndexError, KeyError, TypeError, RecursionError):
        return False
