"""A queue discipline, set with ``tc qdisc replace ... root``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.arms.steps import Session, Step, StepError, ended, has_interface, line, need, wait_for_interface


@dataclass(frozen=True)
class Qdisc:
    """A root queue discipline."""

    kind: str
    handle: str
    """``0:`` for the one that the kernel puts there by itself."""


def parse_root(text: str) -> Qdisc | None:
    """The root queue discipline in the output of ``tc qdisc show dev X``.

    >>> parse_root("qdisc fq_codel 8001: root refcnt 2 limit 1000p")
    Qdisc(kind='fq_codel', handle='8001:')
    """
    for row in text.splitlines():
        match = re.match(r"qdisc (\S+) ([0-9a-f]+:)(?: dev \S+)? root\b", row.strip())
        if match:
            return Qdisc(match[1], match[2])
    return None


@dataclass
class SetQdisc(Step):
    """Set the root queue discipline of an interface."""

    target: str
    interface: str | None
    """``None``: the target's interface under test."""
    discipline: tuple[str, ...]
    _set: bool = field(default=False, init=False)

    @property
    def what(self) -> str:
        """See :class:`Step`."""
        return f"set queue discipline {self.discipline[0]}"

    def device(self, session: Session) -> str:
        """The interface."""
        name = self.interface or session.target(self.target).interface
        if name is None:
            raise StepError(self.target, "it has no interface that a queue discipline could be set on")
        return name

    def shown(self) -> list[str]:
        """See :class:`Step`."""
        return [line(["tc", "qdisc", "replace", "dev", self.interface or "INTERFACE", "root", *self.discipline])]

    def undo_shown(self) -> list[str]:
        """See :class:`Step`."""
        return [line(["tc", "qdisc", "del", "dev", self.interface or "INTERFACE", "root"])]

    async def do(self, session: Session) -> None:
        """See :class:`Step`."""
        target, device = session.target(self.target), self.device(session)
        await wait_for_interface(session, self.target, device)
        before = parse_root((await target.run(["tc", "qdisc", "show", "dev", device], root=True)).stdout)
        if before is not None and before.handle != "0:":
            said = f"{device} had a queue discipline of its own ({before.kind}); afterwards it has the default"
            session.warnings.append(f"{self.target}: {said}")
        argv = ["tc", "qdisc", "replace", "dev", device, "root", *self.discipline]
        await need(target, argv, f"set {self.discipline[0]} on {device}")
        self._set = True

    async def undo(self, session: Session) -> None:
        """See :class:`Step`. An interface that is gone took its queue discipline along."""
        if not self._set:
            return
        target, device = session.target(self.target), self.device(session)
        if not await has_interface(target, device):
            self._set = False
            return
        argv = ["tc", "qdisc", "del", "dev", device, "root"]
        ran = await target.run(argv, root=True)
        self._set = False
        if ran.ok:
            return
        after = parse_root((await target.run(["tc", "qdisc", "show", "dev", device], root=True)).stdout)
        if after is not None and after.handle != "0:":
            raise StepError(self.target, f"could not take {after.kind} off {device}: `{line(argv)}` {ended(ran)}")

    async def find(self, session: Session) -> tuple[str | None, str | None]:
        """Kind found on the interface, and what is wrong with it."""
        device = self.device(session)
        ran = await session.target(self.target).run(["tc", "qdisc", "show", "dev", device], root=True)
        found = parse_root(ran.stdout) if ran.ok else None
        if found is None:
            return None, f"{self.target}: the queue discipline of {device} cannot be read ({ended(ran)})"
        if found.kind != self.discipline[0]:
            return found.kind, f"{self.target}: {device} has queue discipline {found.kind}, not {self.discipline[0]}"
        return found.kind, None
