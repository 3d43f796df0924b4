"""Exact guests on the workers of a Dask cluster. A worker that dies costs time: another runs what it had."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from txop.core.errors import UserError
from txop.guest.remote_run import RemoteResult, RemoteRun, carried_out, taken
from txop.guest.running import Ended
from txop.process.dask_cluster import connected

if TYPE_CHECKING:
    from distributed import Client

TRIES = 3
"""How often a guest is queued again after the scheduler gave it up; each time stands for several workers."""
POLL_S = 0.1


class GuestCluster:
    """The workers, each of which runs as many guests at once as it has threads."""

    def __init__(self, address: str) -> None:
        """Raises :class:`~txop.core.errors.UserError`: it cannot be reached, has no worker, or has another txop."""
        self._address = address
        self._client: Client = connected(address)

    @property
    def threads(self) -> int:
        """Guests at once on all workers."""
        return max(1, int(sum(self._client.nthreads().values())))

    async def run_into(self, what: RemoteRun, results: Path) -> Ended:
        """Have a guest run somewhere, and put what it left into a folder here, which is made.

        Raises:
            GuestError: It failed, on whichever worker.
            UserError: The scheduler went away.
        """
        return taken(what, await self.run(what), results)

    async def run(self, what: RemoteRun) -> RemoteResult:
        """Have a guest run somewhere.

        Raises:
            UserError: the scheduler went away.
        """
        from distributed.scheduler import KilledWorker

        for _ in range(TRIES):
            future = self._client.submit(carried_out, what, pure=False)
            try:
                while not future.done():
                    await asyncio.sleep(POLL_S)
                if future.cancelled():
                    raise UserError("the scheduler went away", where=self._address, what_to_do="start it, and resume")
                error = future.exception()
                if error is None:
                    came = future.result()
                    return came if isinstance(came, RemoteResult) else RemoteResult(failed="it sent something else")
                if not isinstance(error, KilledWorker):
                    return RemoteResult(failed=f"{type(error).__name__}: {error}"[:300])
            finally:
                future.cancel()
        return RemoteResult(failed="every worker that ran it died")

    def close(self) -> None:
        """Let go of it."""
        self._client.close()
