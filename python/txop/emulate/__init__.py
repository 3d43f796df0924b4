"""An emulated link between network namespaces: real packets of the host's own network stack.

:class:`~txop.emulate.network.EmulatedNetwork` makes the namespaces, starts the emulator (``python -m txop.emulate``,
the link engine of ``crates/link`` in real time) and says how to run programs at the hosts. Nothing of it survives the
process that made it, however that ends.

Addresses, in namespaces that nothing else can see: the server (behind the access point or modem) has 10.80.208.1, the
first host at the near ends 10.80.208.2, and so on, all in one /20, on the interface ``link0``.
"""

from txop.emulate.error import EmulationError, MissingEmulationToolError
from txop.emulate.hosts import Host
from txop.emulate.network import Captures, EmulatedNetwork
from txop.emulate.scenario import LinkScenario, link_scenario, load_scenario
from txop.emulate.status import EmulationStatus

__all__ = [
    "Captures",
    "EmulatedNetwork",
    "EmulationError",
    "EmulationStatus",
    "Host",
    "LinkScenario",
    "MissingEmulationToolError",
    "link_scenario",
    "load_scenario",
]
