"""The machines of a plan: how each is reached."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from txop.plan.fields import Argv, Host, Interface, NamespaceName, Seconds
from txop.plan.strict import Strict


class Hooks(Strict):
    """Commands, run on the machine txop runs on, for what only the outside can do to a target."""

    reset: list[Argv] = []
    """Brings a target back that no longer answers, without cutting its power."""
    power_cycle: list[Argv] = []
    """Cuts the power: what a firmware needs that only a cold reset brings back."""
    settle_s: Seconds = 30.0
    """How long a target may take to answer after its hook has run."""
    reconnect_s: Seconds | None = None
    """How long a lost target is tried again before its hook is run; default: ``settle_s``."""

    @property
    def seconds_to_reconnect(self) -> float:
        """How long a lost target is tried again."""
        return self.settle_s if self.reconnect_s is None else self.reconnect_s


class _Target(Strict):
    interface: Interface | None = None
    """The network interface under test on this target."""
    address: Host | None = None
    """Address of this target on the link under test."""
    hooks: Hooks = Hooks()
    """What brings it back when it is lost."""
    sudo: bool = False
    """Run what needs root through ``sudo -n``."""


class LocalTarget(_Target):
    """The machine txop runs on."""

    kind: Literal["local"] = "local"
    """How the machine is reached."""


class NamespaceTarget(_Target):
    """A named network namespace of the machine txop runs on (``ip netns``)."""

    kind: Literal["namespace"]
    """How the machine is reached."""
    name: NamespaceName
    """Name of the namespace, as ``ip netns list`` shows it; it has to exist."""


class SshTarget(_Target):
    """A machine reached over SSH. A BusyBox shell there is enough; nothing is installed."""

    kind: Literal["ssh"]
    """How the machine is reached."""
    host: Host
    """Name, address, or alias of the SSH configuration."""
    port: Annotated[int, Field(ge=1, le=65535)] = 22
    """TCP port of its SSH server."""
    user: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", max_length=64)] | None = None
    """User to log in as; default: what the SSH configuration says, or else the user txop runs as."""
    key: str | None = None
    """Private key file; default: what the agent and ``~/.ssh`` offer."""
    jump: list[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\[][A-Za-z0-9._:%@\[\]-]*$")]] = []
    """Jump hosts, nearest first, each ``[user@]host[:port]``."""
    known_hosts: str | None = None
    """File of known host keys; default ``~/.ssh/known_hosts``. Unknown keys are refused."""
    config: str | None = None
    """OpenSSH client configuration to read; default ``~/.ssh/config``."""
    connect_timeout_s: Seconds = 15.0
    """How long one attempt to connect may take."""
    namespace: NamespaceName | None = None
    """A network namespace there (``ip netns list``) that every command runs in, through ``ip netns exec``: so that one
    machine can be device under test, access point and sniffer. Needs root there, or ``sudo``; it has to exist."""


class LabgridTarget(_Target):
    """A place of a labgrid device farm (needs the ``labgrid`` extra)."""

    kind: Literal["labgrid"]
    """How the machine is reached."""
    place: str
    """Name of the place; it has to be acquired already."""
    coordinator: str | None = None
    """Address of the coordinator; default: what labgrid's own environment says."""


class EmulatedTarget(_Target):
    """A host of the emulated link."""

    kind: Literal["emulated"]
    """How the machine is reached."""
    host: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """Name of the host in ``[link]``, or its number. Default: for ``peer`` the server behind the access point or modem,
    for ``dut`` the first host at the near end, for another target the host that is called as it is."""
    side: Literal["dut", "peer"] | None = None
    """As the target is called; need not be written."""


class GuestTarget(_Target):
    """One machine of a guest (real drivers on virtual chips): ``dut``, ``peer``, or a station of ``[guest]``."""

    kind: Literal["guest"]
    """How the machine is reached."""


Target = Annotated[
    LocalTarget | NamespaceTarget | SshTarget | LabgridTarget | EmulatedTarget | GuestTarget,
    Field(discriminator="kind"),
]
