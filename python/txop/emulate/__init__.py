"""An emulated 802.11n link between two network namespaces: real packets of the host's own network stack.

:class:`~txop.emulate.pair.EmulatedPair` makes the namespaces, starts the emulator (``python -m txop.emulate``, the link
engine of ``crates/link`` in real time) and says how to run programs at either end. Nothing of it survives the process
that made it, however that ends.

Addresses, in namespaces that nothing else can see: the station (``dut``) has 10.80.211.1, the host behind the access
point (``peer``) 10.80.211.2, both /30, on the interface ``air0``.
"""

from txop.emulate.error import EmulationError, MissingForEmulation, ScenarioError
from txop.emulate.pair import EmulatedPair
from txop.emulate.scenario import check_scenario
from txop.emulate.status import EmulationStatus

__all__ = [
    "EmulatedPair",
    "EmulationError",
    "EmulationStatus",
    "MissingForEmulation",
    "ScenarioError",
    "check_scenario",
]
