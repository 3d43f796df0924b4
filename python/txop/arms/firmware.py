"""A firmware file put in place of the target's own, which is kept beside it and put back.

What was there is kept on the target itself, so that it can be put back after txop was killed or the power failed.
The kernel looks in ``/lib/firmware/updates`` before ``/lib/firmware`` (``drivers/base/firmware_loader/main.c``); a file
there would hide ours, so that is refused.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from txop.arms.steps import Session, Step, StepError, need, put
from txop.targets.contract import Target

ROOT = "/lib/firmware"
MAX_BYTES = 64 << 20
KEPT = ".txop-kept"
"""Behind the name of the target's own file while ours is in its place."""
NONE = ".txop-none"
"""Behind the name of an empty file that says that there was none."""


@dataclass
class PutFirmware(Step):
    """Put a firmware file in place."""

    target: str
    file: str
    name: str
    """Under ``/lib/firmware``."""
    root: str = ROOT
    sha256: str | None = field(default=None, init=False)
    """Hash of the file put in place; set by :meth:`do`."""

    @property
    def what(self) -> str:
        """See :class:`Step`."""
        return f"put firmware {self.name} in place"

    @property
    def path(self) -> str:
        """Where it goes."""
        return f"{self.root}/{self.name}"

    def shown(self) -> list[str]:
        """See :class:`Step`."""
        return [f"mv {self.path} {self.path}{KEPT}", f"copy {self.file} to {self.path}"]

    def undo_shown(self) -> list[str]:
        """See :class:`Step`."""
        return [f"mv -f {self.path}{KEPT} {self.path}"]

    async def do(self, session: Session) -> None:
        """See :class:`Step`."""
        target = session.target(self.target)
        data = session.read_file(self.file, MAX_BYTES)
        release = (await target.run(["uname", "-r"])).stdout.strip()
        for folder in (f"updates/{release}", "updates", release):
            if release and await _there(target, f"{self.root}/{folder}/{self.name}"):
                said = f"{self.root}/{folder}/{self.name} would be loaded instead of {self.path}: move it away"
                raise StepError(self.target, said)
        if not await _there(target, self.path + KEPT) and not await _there(target, self.path + NONE):
            if await _there(target, self.path):
                await need(target, ["mv", self.path, self.path + KEPT], f"keep {self.path}")
            else:
                await need(target, ["mkdir", "-p", self.path.rpartition("/")[0]], "make the firmware's folder")
                await put(target, self.path + NONE, b"", f"keep that there is no {self.path}")
        await put(target, self.path, data, "put the firmware in place")
        self.sha256 = hashlib.sha256(data).hexdigest()

    async def undo(self, session: Session) -> None:
        """See :class:`Step`."""
        await put_back(session.target(self.target), self.path)


async def put_back(target: Target, path: str) -> bool:
    """Put the target's own file back, if one of ours is in its place; also after txop was killed. Whether it was."""
    if await _there(target, path + KEPT):
        await need(target, ["mv", "-f", path + KEPT, path], f"put {path} back")
        return True
    if await _there(target, path + NONE):
        await need(target, ["rm", "-f", path, path + NONE], f"remove {path}")
        return True
    return False


async def _there(target: Target, path: str) -> bool:
    """Whether there is anything of this name, a dangling link included."""
    return (await target.run(["test", "-e", path], root=True)).ok or (
        await target.run(["test", "-L", path], root=True)
    ).ok
