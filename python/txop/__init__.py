"""txop measures, explains and compares Linux wireless drivers.

The command line is :mod:`txop.cli`; this is what Python programs and notebooks use (``docs/python.md``). Everything
loads on first use, so ``import txop`` is cheap:

>>> import txop
>>> campaign = txop.read_archive("campaign")                    # doctest: +SKIP
>>> campaign.compare().rows.filter(verdict="better")            # doctest: +SKIP
>>> report = txop.air.analyze("capture.pcapng")                 # doctest: +SKIP
>>> txop.simulate.run("two-stations", settings=[("run.duration_s", "1"), ("run.warm_up_s", "0.5")]).origin
'simulated'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from txop import air, bus, log, simulate
    from txop.api import Campaign, Comparison, read_archive
    from txop.core.errors import TxopError, UserError

__all__ = [
    "Campaign",
    "Comparison",
    "TxopError",
    "UserError",
    "__version__",
    "air",
    "bus",
    "log",
    "read_archive",
    "simulate",
]

__version__: str

_PLACES = {
    "Campaign": "txop.api",
    "Comparison": "txop.api",
    "read_archive": "txop.api",
    "TxopError": "txop.core.errors",
    "UserError": "txop.core.errors",
}
"""Where the names are defined that are no packages."""

_PACKAGES = {"air": "txop.air", "bus": "txop.bus", "log": "txop.log", "simulate": "txop.simulate"}
"""The packages with an interface of their own."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from txop.core.version import program_version

        return program_version()
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(_PACKAGES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
