"""Whether guests can run on this machine: their image, the virtual chips, drivers built for them.

In continuous integration on Debian, of any release, a reason why not is a failure: QEMU and the packages can be
installed there. Elsewhere tests are skipped, and say so. What goes wrong without anything of the machine missing
(a driver that does not build, chips that do not start) is a failure everywhere.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from txop.arms.build import Built
from txop.guest.chips import find_chips
from txop.guest.driver import DriverBuild, build_driver
from txop.guest.outside import qemu_command
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.image import Image, build_image
from txop.guest_image.locks import find_lock


def _is_debian() -> bool:
    try:
        return "ID=debian" in Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False


def no_guest(reason: str) -> NoReturn:
    """Skip the test, loudly; where guests have to run, fail it."""
    if os.environ.get("CI") == "true" and _is_debian():
        pytest.fail(f"no guest was started, and here one has to be: {reason}")
    pytest.skip(f"NO GUEST WAS STARTED: {reason}")


def built_image(series: str) -> Image:
    """The image of the shipped lock for a kernel series."""
    if shutil.which("setpriv") is None:
        no_guest("setpriv is missing (util-linux)")
    try:
        qemu_command()
        return build_image(find_lock(series))
    except MissingGuestToolError as error:
        no_guest(str(error))
    except GuestError as error:
        no_guest(f"its packages cannot be had here: {error}")


def built_chips() -> Path:
    """The program that is the virtual chips."""
    try:
        return find_chips()
    except MissingGuestToolError as error:
        no_guest(f"no chip can be plugged in: {error}")


def rebuilt_driver(driver: str, series: str = "6.12", patches: tuple[Path, ...] = ()) -> Built:
    """A driver built from scratch for the kernel of a series."""
    try:
        return asyncio.run(build_driver(DriverBuild(driver, patches), find_lock(series)))
    except MissingGuestToolError as error:
        no_guest(f"no driver can be built: {error}")
