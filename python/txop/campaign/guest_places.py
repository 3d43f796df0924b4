"""The ends of a guest: by what program a command is run there, and under what address it is reached; see ``lab.sh``."""

from __future__ import annotations

from collections.abc import Mapping

from txop.plan.guest import GuestSpec

PEER_ADDRESS = "10.80.210.1"
"""Address of the access point's host."""
HOST_ADDRESS = "10.80.211.1"
"""Address of the host behind an access point under test."""
DUT_ADDRESS = "10.80.210.2"
"""Address of the device under test on its radio."""

Places = Mapping[str, tuple[str, ...]]
"""By target: the program in the guest, with its arguments, that runs a command there."""


def on_access_point(spec: GuestSpec) -> bool:
    """Whether the other end of stations' traffic is the access point itself."""
    return spec.stations is not None and spec.topology == "server"


def peer_address_of(spec: GuestSpec) -> str:
    """Where the traffic goes; see ``lab.sh``."""
    if spec.stations is None:
        return PEER_ADDRESS
    return DUT_ADDRESS if on_access_point(spec) else HOST_ADDRESS


def places_of(spec: GuestSpec) -> Places:
    """By target: what runs a command there, in the guest."""
    stations = {station.name: ("station", str(n)) for n, station in enumerate(spec.stations or (), start=1)}
    return {"dut": ("dut",), "peer": ("dut",) if on_access_point(spec) else ("peer",), "lan": ("lan",), **stations}


def of_stations(spec: GuestSpec) -> Places:
    """Those of the stations of an access point under test."""
    names = {station.name for station in spec.stations or ()}
    return {name: place for name, place in places_of(spec).items() if name in names}
