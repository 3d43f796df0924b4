"""The kernel log of the device under test: what was logged during the run, and which faults that shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from txop.archive.run_file import SERIOUS, Fault
from txop.core.whole_file import whole_file
from txop.measure.instrument import GateFinding, Reading, RunContext, RunFacts
from txop.measure.recording import Phase, Snapshot, take
from txop.plan.guest_function import CHIP_INTERFACE

if TYPE_CHECKING:
    from txop.log.report import Fault as Named

BEFORE_FILE = "kernel-log-before.txt"
"""Before the arm was loaded."""
LOADED_FILE = "kernel-log-loaded.txt"
"""Once it was up."""
AFTER_FILE = "kernel-log-after.txt"
NEW_FILE = "kernel-log.txt"
LOADING_FILE = "kernel-log-loading.txt"
WHOLE_FILE = "kernel.log"
"""The log of a guest after the testbed was taken down: the link, the stations and the device are gone by then."""
LEAVING_FILE = "kernel-log-leaving.txt"
OF_THE_KERNEL = "kernel-"
"""How keys of faults begin that are the kernel's own: oopses, warnings, what its checkers report."""
MAX_LOG_BYTES = 16 * 1024 * 1024
MAX_LINES_KEPT = 5
ASSOCIATION_LOST = frozenset({"wifi-deauthenticated", "wifi-disassociated", "wifi-connection-lost", "wifi-leaving"})
"""Rules of :mod:`txop.log` after which a station is no longer associated."""
_COUNTED = {"faults": SERIOUS, "load_faults": SERIOUS | {"warning"}}
"""What counts, by figure. A calibration that fails while the arm is loaded is a warning to the kernel, and to the
reader the cause of a bad run."""


class KernelLog:
    """``dmesg`` before the arm is loaded, once it is up, and after the run: the differences are what loading it and the
    run itself gave. A run with an arm that never came up has the first and the last."""

    name = "kernel-log"
    essential = False

    def __init__(self, target: str = "dut") -> None:
        # BusyBox's dmesg has no options worth having
        self._before, self._loaded, self._after = (
            Snapshot(target, ("dmesg",), file, phase, MAX_LOG_BYTES, root=True)
            for file, phase in ((BEFORE_FILE, Phase.ARM), (LOADED_FILE, Phase.UP), (AFTER_FILE, Phase.END))
        )
        self._target = target

    def recordings(self, run: RunContext) -> list[Snapshot]:
        """The three logs."""
        del run
        return [self._before, self._loaded, self._after]

    async def before_arm(self, run: RunContext) -> None:
        """Take the log as it is before the arm is loaded."""
        await take(run, self._before)

    async def prepare(self, run: RunContext) -> None:
        """Take it once the arm is up."""
        await take(run, self._loaded)

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Take it as it is after."""
        if (run.folder / BEFORE_FILE).exists():
            await take(run, self._after)

    def read(self, facts: RunFacts) -> Reading:
        """The faults named by txop log in what is new: while the arm was loaded and brought up, and after that."""
        reading = Reading()
        before, loaded, after = (_text(facts.folder / name) for name in (BEFORE_FILE, LOADED_FILE, AFTER_FILE))
        last = after if after is not None else loaded
        if before is None or last is None:
            for key in ("load_faults", "faults"):
                reading.put(key, None, "kernel log", "the kernel log could not be read (dmesg needs root)")
            return reading
        came_up = facts.marks.idle is not None
        if came_up and loaded is None:  # an archive of a txop that took the log twice
            reading.put("load_faults", None, "kernel log", "the log was not taken when the arm was up")
        else:
            up = loaded if loaded is not None else last
            self._read(facts, reading, (before, up), LOADING_FILE, "load_faults", "while the arm was loaded")
            before = up
        if came_up:
            found = self._read(facts, reading, (before, last), NEW_FILE, "faults", "during the run")
            self._association(facts, reading, found)
            self._leaving(facts, reading, last)
        else:
            reading.put("faults", None, "kernel log", "the arm never came up: see the faults while loading")
        return reading

    def _read(
        self, facts: RunFacts, reading: Reading, logs: tuple[str, str], file: str, key: str, when: str
    ) -> Sequence[Named]:
        from txop.log import difference, name_faults, times

        lines = difference(*logs)
        _write(facts.folder / file, "\n".join(lines) + "\n" if lines else "")
        report = name_faults(lines)
        reading.faults += [self._fault(fault, while_loading=key == "load_faults") for fault in report.faults]
        reading.put(key, float(times(report.faults, _COUNTED[key])), "kernel log")
        reading.files[file] = f"what the kernel logged {when}"
        return report.faults

    def _leaving(self, facts: RunFacts, reading: Reading, before: str) -> None:
        """What a guest's kernel reports when it frees what it had for the link and the device. That the device has gone
        makes drivers complain, so only what is of the kernel itself is named, and the figures do not count it."""
        from txop.log import difference, name_faults

        whole = _text(facts.folder / WHOLE_FILE)
        if whole is None:
            return
        lines = difference(before, whole)
        _write(facts.folder / LEAVING_FILE, "\n".join(lines) + "\n" if lines else "")
        known = {fault.key for fault in reading.faults}
        reading.faults += [
            self._fault(fault)
            for fault in name_faults(lines).faults
            if fault.key.startswith(OF_THE_KERNEL) and fault.key not in known
        ]
        reading.files[LEAVING_FILE] = "what the kernel logged when the testbed was taken down"

    def _fault(self, fault: Named, *, while_loading: bool = False) -> Fault:
        return Fault(
            key=fault.key,
            title=fault.title,
            severity=str(fault.severity),
            target=self._target,
            count=fault.count,
            lines=list(fault.examples[:MAX_LINES_KEPT]),
            while_loading=while_loading,
        )

    def _association(self, facts: RunFacts, reading: Reading, faults: Sequence[Named]) -> None:
        """The gate ``association-lost``, when the log shows it for the interface under test."""
        machine = facts.plan.target.get(self._target)
        interface = machine.interface if machine is not None else None
        guest = facts.plan.guest_of(facts.arm)
        if machine is not None and machine.kind == "guest":
            interface = CHIP_INTERFACE
            if guest is not None and guest.is_function:
                return
        if not facts.plan.gates.association or facts.test.reconnects:
            return
        lost = [fault for fault in faults if fault.key in ASSOCIATION_LOST and fault.device in (None, interface)]
        if not lost:
            return
        words = "; ".join(f"kernel log: {fault.title}" for fault in lost[:3])
        if facts.test.outlasts_association:
            reading.warnings.append(f"{self._target}: {words}")
        else:
            reading.gates.append(GateFinding("association-lost", "void", words, self._target))


def _write(path: Path, text: str) -> None:
    """Write ``path``, unless it has this text already: an old archive may be read-only."""
    try:
        there = path.read_bytes()
    except OSError:
        there = None
    if there != text.encode("utf-8", "surrogatepass"):
        with whole_file(path) as out:
            out.write(text)


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
