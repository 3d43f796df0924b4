"""What cannot be in a guest of a plan: found before the first one is booted."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from txop.guest.chips import STOCK_DRIVERS, Chip
from txop.guest.error import GuestError
from txop.guest.fault_check import check_faults
from txop.guest.locks import find_lock
from txop.guest.shipped_faults import find_faults
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.plan.model import GuestSpec


def wrong_guests(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Chips, kernels and fault scripts of arms that cannot be. Files that are not there are left to
    :mod:`txop.plan.check_files`."""
    plan = loaded.plan
    if plan.guest is None:
        return
    for index, arm in enumerate(plan.arm):
        spec = plan.guest.varied(arm.guest)
        own = set(arm.guest.model_fields_set) if arm.guest is not None else set()

        def place(*names: str, own: set[str] = own, index: int = index) -> Path:
            """Where the first of these that the arm sets stands, else the first of them for all arms."""
            mine = next((name for name in names if name in own), None)
            return ("guest", names[0]) if mine is None else ("arm", index, "guest", mine)

        yield from _chip(spec, place("security", "ap"))
        if spec.source is None and not arm.patches and spec.driver not in STOCK_DRIVERS[spec.device]:
            known = " and ".join(STOCK_DRIVERS[spec.device])
            yield place("driver", "device"), f"{spec.driver} does not know an {spec.device}", f"{known} do"
        if spec.lock is None:
            try:
                find_lock(spec.kernel)
            except GuestError as error:
                yield place("kernel"), error.what, error.what_to_do
        if spec.faults is not None:
            yield from _script(loaded, spec.faults, spec.ap, place("faults"))


def _chip(spec: GuestSpec, path: Path) -> Iterator[tuple[Path, str, str | None]]:
    try:
        Chip(spec.device, spec.driver, security=spec.security, width_mhz=spec.width_mhz, ap=spec.ap)
    except GuestError as error:
        yield path, error.what, error.what_to_do


def _script(loaded: LoadedPlan, name: str, ap: str, path: Path) -> Iterator[tuple[Path, str, str | None]]:
    file = loaded.file(name)
    if not file.is_file():
        return
    try:
        script = find_faults(str(file))
        tomllib.loads(script.text)
        check_faults([script], ap)
    except GuestError as error:
        yield path, error.what, error.what_to_do
    except (ValueError, RecursionError) as error:
        yield path, f"{name}: {error}", "examples of fault scripts are in examples/faults"
