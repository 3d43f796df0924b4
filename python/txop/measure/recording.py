"""What an instrument has a target record, declared once: from outside the instrument begins it with :func:`begin` and
:func:`take`, and the script of a guest (:mod:`txop.campaign.guest_script`) is made of the same declarations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, runtime_checkable

from txop.measure.instrument import RunContext
from txop.targets.contract import Running

SNAPSHOT_TIMEOUT_S = 20.0


class Phase(Enum):
    """Moments of a run."""

    ARM = auto()
    """Before the arm is put in place."""
    UP = auto()
    """The arm is up; the idle phase follows."""
    LOAD = auto()
    """The traffic begins."""
    END = auto()
    """The window is over; also after a failure, for what began before."""


@dataclass(frozen=True)
class Snapshot:
    """A command with output that is a raw file of the run, waited for. It sees the whole machine: in a guest no network
    namespace is entered for it."""

    target: str
    argv: tuple[str, ...]
    file: str
    at: Phase
    limit_bytes: int
    """The end of longer output is kept."""
    root: bool = False


@dataclass(frozen=True)
class Recording:
    """A command that runs beside the run until its end, into a raw file."""

    target: str
    argv: tuple[str, ...]
    file: str
    begins: Phase
    limit_bytes: int
    root: bool = False
    after_s: float = 0.0
    """How long after that moment it begins."""
    listens_on: int | None = None
    """TCP port of a server: nothing goes on before it listens there."""
    finish_s: float = 0.0
    """How long after the window it may take to end by itself."""
    linger_s: float = 0.0
    """How long after the window it goes on before it is interrupted."""
    errors_file: str | None = None
    """Where its errors go; default: nowhere, in a guest with its output."""
    status_file: str | None = None
    """Where a guest notes how it ended, if it did by itself. It then has a process group of its own, which is ended as
    one."""


@runtime_checkable
class Recorded(Protocol):
    """An instrument of which a guest can do all that is done while a run goes on."""

    def recordings(self, run: RunContext) -> Sequence[Recording | Snapshot]:
        """What it records in a guest. On another target it may have to find out first which tools there are."""


async def begin(run: RunContext, recording: Recording) -> Running:
    """Begin a recording now."""
    return await run.targets.by_name[recording.target].start(
        recording.argv,
        stdout=run.folder / recording.file,
        stderr=None if recording.errors_file is None else run.folder / recording.errors_file,
        limit_bytes=recording.limit_bytes,
        root=recording.root,
        max_seconds=run.seconds_left,
    )


async def take(run: RunContext, snapshot: Snapshot) -> None:
    """Take a snapshot now; there is no file when it fails."""
    ran = await run.targets.by_name[snapshot.target].run(
        snapshot.argv, timeout_s=SNAPSHOT_TIMEOUT_S, root=snapshot.root
    )
    if ran.ok:
        (run.folder / snapshot.file).write_bytes(ran.stdout_bytes[-snapshot.limit_bytes :])
