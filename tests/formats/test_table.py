"""The table of the package names every module."""

from __future__ import annotations

import pkgutil

from txop import formats


def test_every_module_is_in_the_table() -> None:
    assert formats.__doc__ is not None
    for module in pkgutil.iter_modules(formats.__path__):
        assert f"`{module.name}`" in formats.__doc__, module.name
