"""Starting the processes of an emulated link."""

from __future__ import annotations

from collections.abc import Sequence

from txop.emulate.error import EmulationError
from txop.process.held import HeldProcess, NotStartedError, start


async def started(argv: Sequence[str], environment: dict[str, str], *, files: Sequence[int] = ()) -> HeldProcess:
    """:func:`txop.process.held.start`.

    Raises:
        EmulationError: there is no such program, or it may not be run.
    """
    try:
        return await start(argv, environment, files=files)
    except NotStartedError as error:
        raise EmulationError(str(error)) from None
