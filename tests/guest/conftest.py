"""What tests with real guests share: the image and the virtual chips, or the reason why there are none here.

Where a continuous integration runs on the distribution that the shipped locks are for, a reason is a failure: QEMU and
the packages can be had there. Elsewhere the tests are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from txop.guest.chips import find_chips
from txop.guest.error import GuestError, MissingForGuest
from txop.guest.image import Image, build_image
from txop.guest.locks import find_lock
from txop.guest.packages.resolve import distribution
from txop.guest.qemu import check_qemu


def no_guest(reason: str) -> NoReturn:
    """Skip the test, loudly; where guests have to run, fail it."""
    if os.environ.get("CI") == "true" and distribution() == find_lock("6.12").distribution:
        pytest.fail(f"no guest was started, and here one has to be: {reason}")
    pytest.skip(f"NO GUEST WAS STARTED: {reason}")


def _built(series: str) -> Image:
    if shutil.which("setpriv") is None:
        no_guest("setpriv is missing (util-linux)")
    try:
        check_qemu()
        return build_image(find_lock(series))
    except MissingForGuest as error:
        no_guest(str(error))
    except GuestError as error:
        no_guest(f"its packages cannot be had here: {error}")


@pytest.fixture(scope="session")
def image() -> Image:
    """The image of the shipped lock for 6.12."""
    return _built("6.12")


@pytest.fixture(scope="session")
def image_of() -> Callable[[str], Image]:
    """The image of the shipped lock for a kernel series."""
    return _built


@pytest.fixture(scope="session")
def chips() -> Path:
    """The program that is the virtual chips."""
    try:
        return find_chips()
    except GuestError as error:
        no_guest(f"no chip can be plugged in: {error}")
