"""Scenarios in virtual time: :func:`run` gives one :class:`~txop.simulate.simulation.Simulation`.

>>> from txop import simulate
>>> done = simulate.run("two-stations", settings=[("run.duration_s", "1"), ("run.warm_up_s", "0.5")])
>>> done.origin, len(done.points[0].runs)
('simulated', 1)
"""

from __future__ import annotations

from txop.formats.error import FormatError
from txop.simulate.engine import SimulationOptions, check, run, run_json
from txop.simulate.error import ScenarioError
from txop.simulate.shipped import Shipped, shipped
from txop.simulate.simulation import Simulation

__all__ = [
    "FormatError",
    "ScenarioError",
    "Shipped",
    "Simulation",
    "SimulationOptions",
    "check",
    "run",
    "run_json",
    "shipped",
]
