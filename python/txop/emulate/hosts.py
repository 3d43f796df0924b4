"""The hosts that an emulated link joins: their names and addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from txop.core.nearest import did_you_mean
from txop.emulate.error import EmulationError

INTERFACE = "link0"
"""Name of the interface in every namespace."""
FIRST_ADDRESS = IPv4Address("10.80.208.1")
"""The address of host 0, the server behind the access point or modem; host 1 has the next one, and so on."""
PREFIX_LENGTH = 20
MOST_HOSTS = 256
"""Each is a namespace and a few processes."""


@dataclass(frozen=True)
class Host:
    """An end of the link."""

    number: int
    """0 behind the access point or modem; 1 and up at the near ends."""
    name: str
    address: str
    interface: str = INTERFACE

    @property
    def variable(self) -> str:
        """The name as a part of the name of an environment variable."""
        return "".join(letter if letter.isalnum() else "_" for letter in self.name.upper())


def find_host(hosts: Sequence[Host], name: str) -> Host:
    """The host called ``name`` (or with that number). Raises :class:`EmulationError`."""
    for host in hosts:
        if name in (host.name, str(host.number)):
            return host
    raise EmulationError(f'unknown host "{name}"', what_to_do=did_you_mean(name, [host.name for host in hosts]))


def host_of_target(hosts: Sequence[Host], target: str, named: str | None) -> Host:
    """The host that a target of a plan is: the one that it names, else for ``peer`` the server, for ``dut`` the first
    at the near end, and for others the one that is called as the target. Raises :class:`EmulationError`.

    >>> host_of_target(hosts_of(["server", "fast", "slow"]), "dut", None).name
    'fast'
    """
    default = {"peer": "0", "dut": "1"}.get(target, target)
    return find_host(hosts, default if named is None else named)


def hosts_of(names: Sequence[str]) -> tuple[Host, ...]:
    """Hosts with these names, by number.

    >>> [host.address for host in hosts_of(["server", "dut"])]
    ['10.80.208.1', '10.80.208.2']
    """
    return tuple(Host(number, name, str(FIRST_ADDRESS + number)) for number, name in enumerate(names))
