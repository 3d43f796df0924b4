"""The data set of many captures: what is done already is left out, one bad capture never stops the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from txop.air.dataset.one import Done, file_of, place_of, write_error
from txop.air.dataset.places import Source, Target, sources
from txop.air.dataset.processes import in_processes
from txop.air.dataset.tables import NAMES, parquet
from txop.core.errors import UserError
from txop.core.stores import is_address

SCHEMA = "0-columns.parquet"
"""A file without rows in each table: a query of a table always finds one."""


@dataclass(frozen=True)
class Settings:
    """How captures are read."""

    jobs: int
    """Processes on this machine."""
    cluster: str | None = None
    """The scheduler of Dask that lets its workers read them instead."""


@dataclass
class Built:
    """What was done."""

    out: str
    captures: int = 0
    """Captures there are."""
    before: int = 0
    """Those of them that an earlier call had read."""
    damaged_before: int = 0
    """Those of these that were damaged."""
    read: int = 0
    frames: int = 0
    bytes: int = 0
    reading_s: float = 0.0
    """Time in which they were read, added up over all processes."""
    failed: list[Done] = field(default_factory=list)
    """Captures that could not be read, or not whole."""


def build(
    names: Sequence[str],
    out: str,
    settings: Settings,
    advance: Callable[[Built, int], None] = lambda *_: None,
) -> Built:
    """Read every capture that ``names`` stand for into the data set ``out``.

    Args:
        names: Files, folders and addresses.
        out: A folder, or an address that fsspec knows.
        settings: Where they are read.
        advance: Called after each capture with what was done so far, and how many captures are still to be read.

    Raises:
        UserError: a name stands for nothing, the target cannot be written, or the cluster cannot be used.
    """
    found = sources(names)
    target = Target(out)
    present = {table: set(target.names(table)) for table in NAMES}
    built = Built(out, captures=len(found))
    waiting = [source for source in found if file_of(source) not in present["captures"]]
    built.before = len(found) - len(waiting)
    done_before = {file_of(source) for source in found} & present["captures"]
    built.damaged_before = len(done_before & present["errors"])
    try:
        for table in NAMES:
            if SCHEMA not in present[table]:
                target.write(table, SCHEMA, parquet(table, []))
        _forget(target, present, waiting)
        advance(built, len(waiting))
        for left, (source, done) in enumerate(_read(waiting, out, settings), start=1):
            if done.kind == "worker-died":
                write_error(target, source, done)
            if done.kind in ("read", "damaged"):
                built.read += 1
            if done.kind != "read":
                built.failed.append(done)
            built.frames += done.frames
            built.bytes += done.bytes
            built.reading_s += done.reading_s
            advance(built, len(waiting) - left)
    except OSError as error:
        raise UserError(error.strerror or str(error), where=out) from error
    return built


def _read(waiting: Sequence[Source], out: str, settings: Settings) -> Iterator[tuple[Source, Done]]:
    if not waiting:
        return iter(())
    if settings.cluster is None:
        return in_processes(waiting, out, settings.jobs)
    from txop.air.dataset.cluster import on_cluster

    if not is_address(out):
        out = Target(out).root
    return on_cluster(waiting, out, settings.cluster)


def _forget(target: Target, present: dict[str, set[str]], waiting: Iterable[Source]) -> None:
    """Remove the rows of captures that have changed since they were read."""
    places = {place_of(source.address): file_of(source) for source in waiting}
    for table, files in present.items():
        for name in files:
            if places.get(name.partition("-")[0], name) != name:
                target.remove(table, name)
