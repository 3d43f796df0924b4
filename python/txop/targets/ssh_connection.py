"""Making an SSH connection, through jump hosts if need be, to hosts with known keys; and saying why not.

asyncssh is imported inside: it takes longer than all of ``txop --help``.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from txop.targets.contract import TargetError, TargetLostError

if TYPE_CHECKING:
    import asyncssh

KEEPALIVE_INTERVAL_S = 4
KEEPALIVE_COUNT = 2
"""A host that does not respond for (count + 1) intervals, 12 s, is lost."""

DEFAULT_KNOWN_HOSTS = "~/.ssh/known_hosts"

_HOP = re.compile(r"^(?:(?P<user>[^@]+)@)?(?:\[(?P<literal>[^\]]+)\]|(?P<host>[^:@\[\]]+))(?::(?P<port>[0-9]{1,5}))?$")


@dataclass(frozen=True)
class SshAddress:
    """Where to connect to, and with what. ``None`` leaves it to the configuration file."""

    host: str
    port: int | None = None
    user: str | None = None
    key: str | None = None
    jump: Sequence[str] = ()
    """``[user@]host[:port]``, nearest first."""
    known_hosts: str | None = None
    config: str | None = None
    connect_timeout_s: float = 15.0


@dataclass(frozen=True)
class Hop:
    """One host on the way.

    >>> Hop.parse("root@[2001:db8::1]:2222")
    Hop(host='2001:db8::1', port=2222, user='root')
    >>> Hop.parse("2001:db8::1"), Hop.parse("gateway")
    (Hop(host='2001:db8::1', port=None, user=None), Hop(host='gateway', port=None, user=None))
    """

    host: str
    port: int | None = None
    user: str | None = None

    @classmethod
    def parse(cls, text: str) -> Hop:
        """From ``[user@]host[:port]``, or ``ssh://`` that. Raises :class:`ValueError`."""
        text = text.removeprefix("ssh://")
        user, _, rest = text.rpartition("@")
        if rest.count(":") > 1 and not rest.startswith("["):
            return cls(rest, None, user or None)  # an IPv6 address without brackets has no room for a port
        match = _HOP.match(text)
        if match is None:
            raise ValueError(f"{text!r} is not a jump host; write [user@]host[:port]")
        port = int(match["port"]) if match["port"] else None
        return cls(match["literal"] or match["host"], port, match["user"])

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host


async def open_connection(target: str, address: SshAddress) -> list[asyncssh.SSHClientConnection]:
    """Connect: the jump hosts' connections in their order, the target's last.

    Raises:
        TargetLostError: The target does not answer now.
        TargetError: It will not work without a change: the host key is unknown or wrong, no key is accepted, a file
            cannot be read.
    """
    made: list[asyncssh.SSHClientConnection] = []
    try:
        last = Hop(address.host, address.port, address.user)
        first = await _hop(target, address, last, made, probe=True)
        for number, hop in enumerate([*first, last]):
            await _hop(target, address, hop, made, jumps=first[:number])
    except BaseException:
        close_connections(made)
        raise
    return made


def close_connections(connections: Sequence[asyncssh.SSHClientConnection]) -> None:
    """Drop them, the farthest first."""
    for connection in reversed(connections):
        connection.abort()


async def _hop(
    target: str,
    address: SshAddress,
    hop: Hop,
    made: list[asyncssh.SSHClientConnection],
    *,
    jumps: Sequence[Hop] = (),
    probe: bool = False,
) -> list[Hop]:
    """Connect one hop further, behind ``jumps``, and add it to ``made``; or, with ``probe``, only say which jump hosts
    come before."""
    import asyncssh

    refused_key: list[str] = []

    class Client(asyncssh.SSHClient):
        def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002
            refused_key.append(key.get_fingerprint())
            return False

    settings: dict[str, Any] = {
        "client_factory": Client,
        "tunnel": made[-1] if made else None,
        "keepalive_interval": KEEPALIVE_INTERVAL_S,
        "keepalive_count_max": KEEPALIVE_COUNT,
        "connect_timeout": address.connect_timeout_s,
        "login_timeout": max(1.0, address.connect_timeout_s),
        "agent_forwarding": False,
        "x11_forwarding": False,
        "request_pty": False,
        # A campaign cannot type a password.
        "password_auth": False,
        "kbdint_auth": False,
    }
    if hop.user is not None:
        settings["username"] = hop.user
    if hop.port is not None:
        settings["port"] = hop.port
    if address.key is not None:
        settings["client_keys"] = [_file(target, address.key, "the private key")]
    if address.config is not None:
        settings["config"] = [_file(target, address.config, "the SSH configuration")]
    if address.known_hosts is not None:
        settings["known_hosts"] = _file(target, address.known_hosts, "the file of known host keys")
    try:
        if probe:
            settings["tunnel"] = ()
        options = await asyncssh.SSHClientConnectionOptions.construct(host=hop.host, **settings)
        if probe:
            configured = options.tunnel if isinstance(options.tunnel, str) else ""
            return [Hop.parse(text) for text in address.jump or [h for h in configured.split(",") if h]]
        if options.known_hosts is None:
            # asyncssh takes `UserKnownHostsFile none` as "trust every host". Nothing turns that check off here.
            settings["known_hosts"] = b""
        async with asyncio.timeout(address.connect_timeout_s):
            made.append(await asyncssh.connect(hop.host, **settings))
    except asyncssh.HostKeyNotVerifiable as error:
        raise TargetError(target, _host_key(hop, options, address, refused_key, jumps)) from error
    except asyncssh.PermissionDenied as error:
        raise TargetError(target, _denied(hop, options, address)) from error
    except asyncssh.KeyExchangeFailed as error:
        raise TargetError(
            target,
            f"{hop} and txop have no SSH algorithm in common ({error.reason}). Add the kind of host key it has to the "
            "known ones, or allow its old algorithms in the SSH configuration (HostKeyAlgorithms, KexAlgorithms)",
        ) from error
    except (asyncssh.KeyEncryptionError, asyncssh.KeyImportError) as error:
        raise TargetError(
            target,
            f"the private key {address.key or 'for it'} cannot be used: {error}. Add one with a "
            "passphrase to the agent (ssh-add)",
        ) from error
    except asyncssh.ConfigParseError as error:
        raise TargetError(target, f"the SSH configuration has an error: {error}") from error
    except TimeoutError as error:
        raise TargetLostError(target, f"{hop} did not answer in {address.connect_timeout_s:g} s") from error
    except asyncssh.ChannelOpenError as error:
        raise TargetLostError(target, f"{hop} cannot be reached through the jump host: {error.reason}") from error
    except asyncssh.DisconnectError as error:
        if refused_key:  # through a tunnel, asyncssh says no more than that the connection ended
            raise TargetError(target, _host_key(hop, options, address, refused_key, jumps)) from error
        raise TargetLostError(target, f"{hop} closed the connection: {error.reason}") from error
    except OSError as error:
        raise TargetLostError(target, f"{hop} cannot be reached: {error.strerror or error}") from error
    except (asyncssh.Error, ValueError) as error:
        raise TargetError(target, f"{hop}: {error}") from error
    return []


def _file(target: str, path: str, what: str) -> str:
    whole = Path(path).expanduser()
    if not os.access(whole, os.R_OK) or whole.is_dir():
        raise TargetError(target, f"{what} {whole} cannot be read")
    return str(whole)


def _host_key(hop: Hop, options: Any, address: SshAddress, fingerprints: Sequence[str], jumps: Sequence[Hop]) -> str:
    """What is known of the host decides between "not yet" and "not any more"."""
    import asyncssh

    file = address.known_hosts or DEFAULT_KNOWN_HOSTS
    if isinstance(options.known_hosts, list | tuple) and options.known_hosts:
        file = str(options.known_hosts[0])
    alias = options.host_key_alias or options.host
    port = options.port or 22
    try:
        keys = asyncssh.match_known_hosts(str(Path(file).expanduser()), alias, "", port)[0]
    except (OSError, ValueError):
        keys = []
    shown = f" (it shows {fingerprints[0]})" if fingerprints else ""
    name = alias if port == 22 else f"[{alias}]:{port}"
    if keys:
        return (
            f"the host key of {hop} is not the one in {file}{shown}. Either the machine was installed afresh, or "
            f"this is another machine. When you know why, forget the old key (ssh-keygen -f {file} -R '{name}') and "
            "add the new one"
        )
    if jumps:
        return (
            f"the host key of {hop} is not known{shown}. Connect once the same way, compare the fingerprint, and let "
            f"ssh add it: {_by_hand(hop, address, jumps)}"
        )
    return (
        f"the host key of {hop} is not known{shown}. Connect once with ssh, compare the fingerprint, and let ssh add "
        f"it; or: ssh-keyscan -p {port} {options.host} >> {file}"
    )


def _by_hand(hop: Hop, address: SshAddress, jumps: Sequence[Hop]) -> str:
    """The command line of ssh that goes the same way. ``-J`` would not take the key and the file of known hosts to the
    jump hosts, so each of them is a ProxyCommand where the plan names any."""
    options = [
        *(["-F", address.config] if address.config is not None else []),
        *(["-i", address.key] if address.key is not None else []),
        *(["-o", f'UserKnownHostsFile="{address.known_hosts}"'] if address.known_hosts is not None else []),
    ]
    if not options:
        return shlex.join(["ssh", "-J", ",".join(_login(jump) for jump in jumps), *_to(hop)])
    way: list[str] = []
    for jump in jumps:
        before = [word.replace("%", "%%") for word in way]  # for the ssh that this one starts
        inner = shlex.join(["ssh", *options, *before, "-W", "%h:%p", *_to(jump)])
        way = ["-o", f"ProxyCommand={inner}"]
    return shlex.join(["ssh", *options, *way, *_to(hop)])


def _login(hop: Hop) -> str:
    return f"{hop.user}@{hop}" if hop.user else str(hop)


def _to(hop: Hop) -> list[str]:
    port = ["-p", str(hop.port)] if hop.port else []
    return [*port, f"{hop.user}@{hop.host}" if hop.user else hop.host]


def _denied(hop: Hop, options: Any, address: SshAddress) -> str:
    key = address.key or "the keys of the agent and of ~/.ssh"
    return (
        f"{hop} refuses {key} for user {options.username}. Add the public key to its authorized_keys "
        "(/etc/dropbear/authorized_keys on OpenWrt), or name another `key` or `user`"
    )
