"""Reads a capture into a data set as txop does, except that some captures kill the process that reads them."""

from __future__ import annotations

import os
import signal

from txop.air.dataset.one import Done, read_into
from txop.air.dataset.places import Source


def read_or_die(source: Source, out: str) -> Done:
    if "deadly" in source.address:
        os.kill(os.getpid(), signal.SIGKILL)
    return read_into(source, out)
