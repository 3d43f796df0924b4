"""What a shell completes where a name is asked for. The lists are read when it asks, not before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from txop.archive.reader import Archive


def scenarios(incomplete: str) -> list[str]:
    """Scenarios that come with txop; where none begins so, the shell completes files."""
    from txop.simulate.shipped import names

    return beginning(names(), incomplete)


def documents(incomplete: str) -> list[str]:
    """Documents of ``txop history``; where none begins so, the shell completes files."""
    from txop.history.documents import shipped

    return beginning(shipped(), incomplete)


def boards(incomplete: str) -> list[str]:
    """Boards that come with txop; where none begins so, the shell completes files."""
    from txop.board.boards import shipped

    return beginning(shipped(), incomplete)


def scenes(incomplete: str) -> list[str]:
    """Scenes of ``txop specimen``."""
    from txop import _native

    return beginning((name for name, _ in _native.specimen_scenes()), incomplete)


def templates(incomplete: str) -> list[str]:
    """Templates of ``txop plan new``."""
    from txop.plan.templates import templates as known

    return beginning(known(), incomplete)


def interfaces(incomplete: str) -> list[str]:
    """Network interfaces of this machine."""
    import socket

    return beginning((name for _, name in socket.if_nameindex()), incomplete)


def one_of(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Completion of a fixed set of words."""
    fixed = tuple(words)

    def complete(incomplete: str) -> list[str]:
        return beginning(fixed, incomplete)

    return complete


def arms(context: typer.Context, incomplete: str) -> list[str]:
    """Arms of the archive that the command line names already; none where it cannot be read."""
    archive = _archive(context)
    return [] if archive is None else beginning((arm.name for arm in archive.plan.arm), incomplete)


def figures(context: typer.Context, incomplete: str) -> list[str]:
    """Figures (``TEST.METRIC``) that runs of that archive have; none where it cannot be read."""
    archive = _archive(context)
    if archive is None:
        return []
    names = {
        f"{run.test}.{key}" for run in archive.runs for key, value in run.metrics.items() if value.value is not None
    }
    return beginning(sorted(names), incomplete)


def _archive(context: typer.Context) -> Archive | None:
    from txop.archive.reader import read_archive
    from txop.core.errors import UserError

    named = context.params.get("archive") or context.params.get("archives")
    named = named[0] if isinstance(named, (list, tuple)) and named else named
    # an option that still waits for its value leaves what came before it in args
    named = named or next((word for word in context.args if word[:1] != "-"), None)
    if named is None:
        return None
    try:
        return read_archive(Path(named))
    except (UserError, OSError, ValueError):
        return None


def beginning(words: Iterable[str], incomplete: str) -> list[str]:
    """The words that begin with what is there already."""
    return [word for word in words if word.startswith(incomplete)]
