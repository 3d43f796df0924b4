"""A place of a labgrid device farm. labgrid says where the place is; commands then go over SSH like any other's.

labgrid (the ``labgrid`` extra) is asked through the session of its client, ``labgrid.remote.client.start_session``,
as in labgrid 25 and 26. The place must have been acquired by this user (``labgrid-client -p PLACE acquire``) and hold
a ``NetworkService``. Power and reset stay with ``labgrid-client`` in the target's hooks.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from typing import Any

from txop.targets.contract import Listener, TargetError, TargetLostError
from txop.targets.ssh import SshTarget
from txop.targets.ssh_connection import SshAddress

DEFAULT_COORDINATOR = "127.0.0.1:20408"
"""labgrid's own default; ``LG_COORDINATOR`` comes before it."""

LOOKUP_TIMEOUT_S = 30.0


class LabgridTarget(SshTarget):
    """Looks the place up at every new connection: its address may change when it is power-cycled."""

    def __init__(
        self,
        name: str,
        *,
        place: str,
        coordinator: str | None = None,
        interface: str | None = None,
        address: str | None = None,
        sudo: bool = False,
        listener: Listener | None = None,
    ) -> None:
        where = SshAddress(place)
        super().__init__(name, where=where, interface=interface, address=address, sudo=sudo, listener=listener)
        self._place = place
        self._coordinator = coordinator or os.environ.get("LG_COORDINATOR") or DEFAULT_COORDINATOR

    async def _reach(self) -> None:
        self._drop_closed()
        if not self._chains:
            try:
                # labgrid runs an event loop of its own, so it needs a thread of its own.
                self._where = await asyncio.wait_for(asyncio.to_thread(self._look_up), LOOKUP_TIMEOUT_S)
            except TimeoutError:
                raise TargetLostError(
                    self._name, f"the labgrid coordinator {self._coordinator} does not answer"
                ) from None
        await super()._reach()

    def _look_up(self) -> SshAddress:
        try:
            client: Any = importlib.import_module("labgrid.remote.client")
        except ImportError as error:
            raise TargetError(
                self._name, "needs labgrid, which is not installed. Install it with: pip install 'txop[labgrid]'"
            ) from error
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)  # of this thread; gRPC asks for it
        try:
            try:
                session = client.start_session(self._coordinator, loop=loop)
            except (client.Error, OSError) as error:
                raise TargetLostError(self._name, f"labgrid coordinator {self._coordinator}: {_said(error)}") from error
            try:
                return self._service(session)
            except client.Error as error:
                raise TargetError(self._name, f"labgrid place {self._place!r}: {_said(error)}") from error
            finally:
                loop.run_until_complete(_leave(session))
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    def _service(self, session: Any) -> SshAddress:
        resources = session.get_target_resources(session.get_acquired_place(self._place))
        for entry in resources.values():
            if entry.cls == "NetworkService":
                service = entry.args
                return SshAddress(service["address"], port=service.get("port", 22), user=service.get("username"))
        raise TargetError(self._name, f"the labgrid place {self._place!r} has no NetworkService to reach it by SSH")


async def _leave(session: Any) -> None:
    await session.stop()
    await session.close()


def _said(error: Exception) -> str:
    return " ".join(str(part) for part in error.args)  # labgrid's errors put "Error:" in front of themselves
