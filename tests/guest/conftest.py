"""What tests with real guests share: the image, or the reason why there is none here."""

from __future__ import annotations

import shutil

import pytest

from txop.guest.error import GuestError, MissingForGuest
from txop.guest.image import Image, build_image
from txop.guest.locks import find_lock
from txop.guest.qemu import find_qemu


@pytest.fixture(scope="session")
def image() -> Image:
    """The image of the shipped lock; skipped, with the reason, where QEMU or the packages are not to be had."""
    if shutil.which("setpriv") is None:
        pytest.skip("NO GUEST WAS STARTED: setpriv is missing (util-linux)")
    try:
        find_qemu()
        return build_image(find_lock("6.12"))
    except MissingForGuest as error:
        pytest.skip(f"NO GUEST WAS STARTED: {error}")
    except GuestError as error:
        pytest.skip(f"NO GUEST WAS STARTED: its packages cannot be had here: {error}")
