"""Captures read by the workers of a Dask cluster. A worker that dies costs time: what it had is read by another one."""

from __future__ import annotations

from asyncio import CancelledError
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from txop.air.dataset.one import Done, read_into
from txop.air.dataset.places import Source
from txop.core.errors import UserError
from txop.process.dask_cluster import connected

if TYPE_CHECKING:
    from distributed import Client

IN_FLIGHT = 4
"""Captures queued per thread of the cluster: enough that none waits for this machine."""
TRIES = 3
"""How often a capture is queued again after the scheduler abandoned it; each time stands for several workers."""
DIED = "every worker that read it died: txop air on it alone says more"


def on_cluster(waiting: Sequence[Source], out: str, address: str) -> Iterator[tuple[Source, Done]]:
    """Each capture with what happened to it, in the order in which they are done.

    Raises:
        UserError: the cluster cannot be reached, has no worker, or has another version of txop.
    """
    with connected(address) as client:
        yield from _each(client, waiting, out)


def _each(client: Client, waiting: Sequence[Source], out: str) -> Iterator[tuple[Source, Done]]:
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    queue = deque((source, 1) for source in waiting)
    handed: dict[str, tuple[Source, int]] = {}
    coming = as_completed(loop=client.loop)

    def hand_out() -> None:
        most = IN_FLIGHT * max(1, sum(client.nthreads().values()))
        while queue and len(handed) < most:
            source, tried = queue.popleft()
            future = client.submit(read_into, source, out, pure=False)
            handed[future.key] = source, tried
            coming.add(future)

    hand_out()
    for future in coming:
        source, tried = handed.pop(future.key)
        try:
            error: Any = future.exception()
        except CancelledError:
            to_do = "run the same command again: what is done is left out"
            raise UserError("the scheduler went away", where=client.scheduler.addr, what_to_do=to_do) from None
        if error is None:
            yield source, future.result()
        elif not isinstance(error, KilledWorker):
            raise error
        elif tried < TRIES:
            queue.append((source, tried + 1))
        else:
            yield source, Done(source.address, "worker-died", DIED, bytes=source.bytes or 0)
        future.release()
        hand_out()
