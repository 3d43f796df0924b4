"""Captures read by processes of this machine. One that dies costs the capture that it was reading, and no other."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from txop.air.dataset.one import Done, read_into
from txop.air.dataset.places import Source

DIED = "the process that read it died (out of memory, or a defect of txop): txop air on it alone says more"


def in_processes(waiting: Sequence[Source], out: str, jobs: int) -> Iterator[tuple[Source, Done]]:
    """Each capture with what happened to it, in the order in which they are done."""
    queue = deque(waiting)
    while queue:
        suspects: list[Source] = []
        with _pool(jobs) as pool:
            pending: dict[Future[Done], Source] = {}
            while (queue or pending) and not suspects:
                while queue and len(pending) < jobs:
                    source = queue.popleft()
                    try:
                        pending[pool.submit(read_into, source, out)] = source
                    except BrokenProcessPool:
                        suspects.append(source)
                        break
                finished, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    source = pending.pop(future)
                    try:
                        yield source, future.result()
                    except BrokenProcessPool:
                        suspects.append(source)
            suspects += pending.values()
        for source in suspects:  # one of them killed its process: alone, each shows whether it was that one
            yield source, _alone(source, out)


def _alone(source: Source, out: str) -> Done:
    try:
        with _pool(1) as pool:
            return pool.submit(read_into, source, out).result()
    except BrokenProcessPool:
        return Done(source.address, "worker-died", DIED, bytes=source.bytes or 0)


def _pool(jobs: int) -> ProcessPoolExecutor:
    # a fork of a process that has polars' threads may hang
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("forkserver"))
