"""Linux distributions: which package manager one has, and the command that installs packages with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class PackageManager(Enum):
    """Package managers that txop can name a command for."""

    APT = "apt-get install -y"
    DNF = "dnf install -y"
    PACMAN = "pacman -S --needed"


_MANAGERS: Mapping[str, PackageManager] = {
    "debian": PackageManager.APT,
    "ubuntu": PackageManager.APT,
    "fedora": PackageManager.DNF,
    "rhel": PackageManager.DNF,
    "centos": PackageManager.DNF,
    "arch": PackageManager.PACMAN,
}


@dataclass(frozen=True)
class Distribution:
    """A distribution, as far as installing packages goes."""

    name: str
    manager: PackageManager | None
    identifier: str = ""
    """``ID`` of os-release(5): ``debian``, ``ubuntu``, ..."""

    @classmethod
    def of(cls, os_release: Mapping[str, str]) -> Distribution:
        """Read the fields of os-release(5): ``ID`` first, then the ``ID_LIKE`` families.

        >>> Distribution.of({"ID": "raspbian", "ID_LIKE": "debian", "PRETTY_NAME": "Raspbian 12"})
        Distribution(name='Raspbian 12', manager=<PackageManager.APT: 'apt-get install -y'>, identifier='raspbian')
        """
        families = [os_release.get("ID", ""), *os_release.get("ID_LIKE", "").split()]
        manager = next((_MANAGERS[family] for family in families if family in _MANAGERS), None)
        return cls(os_release.get("PRETTY_NAME") or os_release.get("ID") or "unknown Linux", manager, families[0])


@dataclass(frozen=True)
class Packages:
    """One thing to install, under the names that the distributions give it (``None``: not packaged there)."""

    apt: str | None
    dnf: str | None
    pacman: str | None
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Whole commands for distributions (by identifier) that have it, but not as such a package."""

    def install_command(self, distribution: Distribution, *, as_root: bool) -> str | None:
        """The command to type on ``distribution``, or ``None`` when it has no such package or is not known."""
        prefix = "" if as_root else "sudo "
        if distribution.identifier in self.elsewhere:
            return prefix + self.elsewhere[distribution.identifier]
        match distribution.manager:
            case PackageManager.APT:
                names = self.apt
            case PackageManager.DNF:
                names = self.dnf
            case PackageManager.PACMAN:
                names = self.pacman
            case None:
                return None
        if names is None:
            return None
        return f"{prefix}{distribution.manager.value} {names}"
