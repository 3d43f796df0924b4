"""Building drivers: what is refused before anything is fetched or built."""

from __future__ import annotations

import asyncio
import platform

import pytest

from txop.guest.driver import DriverBuild, build_driver
from txop.guest.error import GuestError, MissingForGuest
from txop.guest.locks import find_lock


@pytest.mark.parametrize("name", ["", "x y", "CONFIG_X=1", "$(shell true)", "A -include /etc/passwd", "1A", "ä"])
def test_what_is_no_configuration_symbol_never_gets_to_make(tmp_path, name):
    with pytest.raises(GuestError, match="is not a configuration symbol"):
        asyncio.run(build_driver(DriverBuild("rtl8xxxu", switches=(name,)), find_lock("6.12"), cache=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_on_a_processor_that_cannot_build_the_way_round_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(MissingForGuest, match="this is an aarch64 one") as said:
        asyncio.run(build_driver(DriverBuild("rtl8xxxu"), find_lock("6.12"), cache=tmp_path))
    assert "--module" in said.value.what_to_do
