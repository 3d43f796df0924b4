"""From a scenario to results: the calls into the native simulator (``crates/simulate``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from txop.simulate.error import ScenarioError
from txop.simulate.settled import warnings
from txop.simulate.shipped import Library
from txop.simulate.simulation import Simulation

Progress = Callable[[int, int], None]
"""Called now and then with the runs done, and all there are."""

Settings = Sequence[tuple[str, str]]
"""Dotted keys and TOML values to set over the scenario."""


def check(name: str, *, settings: Settings = ()) -> dict[str, Any]:
    """Check the scenario ``name`` (a file, or one that is shipped); returns every setting, defaults filled in.

    Raises:
        ScenarioError: it is invalid.

    >>> check("two-stations")["wlan"]["dut"]["mcs"]
    7
    """
    from txop import _native

    library = Library(name)
    try:
        found: dict[str, Any] = json.loads(_native.check_scenario(library.name, library.read, settings=list(settings)))
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    return found


class SimulationOptions(TypedDict, total=False):
    """Options of :func:`run` and :func:`run_json`."""

    settings: Settings
    """Keys to set over the scenario."""
    sweeps: Sequence[str]
    """``key=first..last``, ``key=first..last:step`` or ``key=a,b``; every combination is run."""
    seeds: int
    """Runs of each combination, with seeds from the scenario's upwards; default: one."""
    threads: int
    """Runs at the same time; 0, the default, for as many as there are processors."""
    air: Path | None
    """File for what a perfect monitor would have captured of the first run."""
    usb: Path | None
    """File for what usbmon would have captured of the first run."""
    waterfall: bool
    """Say where the goodput of the first run went, as ``txop air`` does."""
    progress: Progress | None
    """Told how far it is; what it raises ends the simulation."""


def run(name: str, **options: Unpack[SimulationOptions]) -> Simulation:
    """Run the scenario ``name`` (a file, or one that is shipped).

    Args:
        name: The scenario.
        options: See :class:`SimulationOptions`.

    Raises:
        ScenarioError: the scenario, a setting or a sweep is invalid.
        OSError: a capture cannot be written.
    """
    return _document(name, options)[1]


def run_json(name: str, **options: Unpack[SimulationOptions]) -> bytes:
    """The same as the JSON document itself (UTF-8); see ``docs/simulate.md``."""
    document, simulation = _document(name, options)
    said = json.dumps(simulation.warnings, ensure_ascii=False).encode()
    # The engine's bytes stay as they are.
    head = document.rstrip().removesuffix(b"}").rstrip()
    return head + b',"warnings":' + said + b"}\n"


def _document(name: str, options: SimulationOptions) -> tuple[bytes, Simulation]:
    """The engine's document, and what is in it with what there is to say of it."""
    from txop import _native

    library = Library(name)
    given: dict[str, Any] = dict(options)
    given |= {key: list(given[key]) for key in ("settings", "sweeps") if key in given}
    try:
        document = _native.simulate_scenario(library.name, library.read, **given)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    simulation = Simulation.parse(document)
    return document, simulation.model_copy(update={"warnings": warnings(simulation)})
