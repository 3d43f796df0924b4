"""A recorded run executed again by QEMU, which waits for gdb and can go back (QEMU, docs/system/replay.rst)."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from txop.guest.checkpoint import SNAPSHOT, snapshot_file
from txop.guest.outside import CONFIG, FOLDER, GIVEN, device_arguments, qemu_command
from txop.guest.qemu import Computer, Mode, arguments
from txop.guest.recorded import EVENTS, KERNEL, MACHINE, Record, RecordError, machine_parts
from txop.guest.running import INITRAMFS, MONITOR, check_setpriv, monitor_arguments
from txop.guest.scratch import scratch_folder
from txop.process.held import DIES_WITH_PARENT

DEBUGGER = "gdb"
"""Socket for gdb in the folder of a replay."""


@dataclass(frozen=True)
class Replay:
    """A QEMU that replays a record. It is stopped where the record begins."""

    work: Path
    process: subprocess.Popen[bytes]

    @property
    def monitor(self) -> Path:
        """Socket of its monitor."""
        return self.work / MONITOR

    @property
    def debugger(self) -> Path:
        """Socket for gdb."""
        return self.work / DEBUGGER


@contextlib.contextmanager
def replay(record: Record, cache: Path | None = None) -> Iterator[Replay]:
    """Starts a replay; nothing is left of it afterwards. Raises :class:`GuestError`."""
    check_setpriv()
    mine = machine_parts()
    if differing := sorted(name for name, value in mine.items() if record.parts.get(name) != value):
        raise RecordError(
            f"{record.folder} was recorded by another txop or QEMU: {', '.join(differing)}",
            what_to_do="record the run again",
        )
    with scratch_folder("debug", cache) as work:
        computer = Computer(
            mode=Mode.EXACT,
            memory_mb=record.computer["memory_mb"],
            shift=record.shift,
            seed=record.computer["seed"],
            limit_s=record.computer["limit_s"],
            append=tuple(record.computer["append"]),
            debugger=work / DEBUGGER,
            replay=record.folder / EVENTS,
            replay_from=f"{SNAPSHOT}0",
        )
        shutil.copyfile(record.folder / MACHINE, work / MACHINE)
        (work / FOLDER).mkdir()
        config = work / CONFIG
        config.write_text(json.dumps(_config(record, work)), encoding="utf-8")
        own = arguments(
            computer,
            record.folder / KERNEL,
            record.folder / INITRAMFS,
            work,
            devices=[*device_arguments(config, restored=True), *monitor_arguments(), *snapshot_file()],
        )
        said = (work / "said").open("wb")
        process = subprocess.Popen(
            [*DIES_WITH_PARENT, *qemu_command(cache), *own],
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            yield Replay(work, process)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            said.close()


def _config(record: Record, work: Path) -> dict[str, Any]:
    """The configuration of the devices that was recorded, for other folders."""
    config: dict[str, Any] = json.loads((record.folder / CONFIG).read_bytes())
    files = {name: str(record.folder / GIVEN / place) for name, place in config["files"].items()}
    return {**config, "folder": str(work / FOLDER), "files": files}
