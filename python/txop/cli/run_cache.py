"""The options of commands that reuse exact runs, and what they say of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from txop.core.errors import UserError
from txop.present.format import plural

if TYPE_CHECKING:
    from txop.archive.run_file import RunFile
    from txop.guest.run_store import RunStore

NoCacheFlag = Annotated[
    bool, typer.Option("--no-cache", help="Run every exact guest, and keep none: see `txop cache --help`.")
]
"""Nothing is reused."""

CacheOption = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="PLACE",
        help="Where exact runs are kept and taken from: a folder, or an address as s3://BUCKET/runs; "
        "default: $TXOP_RUN_CACHE, else the user's cache folder.",
    ),
]
"""Where the cache is."""


ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run exact guests on the workers of this Dask scheduler, as tcp://HOST:8786; they give the same bytes.",
    ),
]
"""What runs the guests."""


def store_of(no_cache: bool, place: str | None) -> RunStore | None:
    """The cache that is used; ``None``: none is. Raises :class:`UserError`."""
    from txop.guest.run_store import RunStore

    if no_cache and place is not None:
        raise UserError("--no-cache and --cache exclude each other")
    return None if no_cache else RunStore.at(place)


def reused_words(runs: Iterable[RunFile]) -> str | None:
    """How many runs were not run again; ``None``: all were run."""
    all_runs = list(runs)
    reused = sum(run.reused is not None for run in all_runs)
    return words_of(reused, len(all_runs)) if reused else None


def words_of(reused: int, of: int) -> str:
    """The same in words.

    >>> words_of(14, 28)
    '14 of 28 runs from the cache'
    """
    return f"{reused} of {plural(of, 'run')} from the cache"
