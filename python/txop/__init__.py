"""txop measures, explains and compares Linux wireless drivers.

The command line is :mod:`txop.cli`; everything it does can be called from Python too. Sub-packages load on first use,
so ``import txop`` is cheap:

>>> import txop
>>> result = txop.air.analyze("capture.pcapng")     # doctest: +SKIP
"""

from __future__ import annotations

import importlib

__all__ = ["__version__"]

__version__: str

_SUBPACKAGES = frozenset({"air"})
"""What ``txop.<name>`` imports on first use."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version  # costs more than the rest of `txop --help`

        return version("txop")
    if name in _SUBPACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
