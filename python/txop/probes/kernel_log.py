"""The kernel log of the device under test: what it said during the run, and which faults that were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from txop.archive.run_file import Fault
from txop.campaign.instrument import GateFinding, Reading, RunContext, RunFacts
from txop.plan.model import ModuleCycleTest, SoakTest
from txop.report.whole_file import whole_file
from txop.targets.contract import Target

if TYPE_CHECKING:
    from txop.klog.report import Fault as Named

BEFORE_FILE = "kernel-log-before.txt"
AFTER_FILE = "kernel-log-after.txt"
NEW_FILE = "kernel-log.txt"
MAX_LOG_BYTES = 16 * 1024 * 1024
MAX_LINES_KEPT = 5
ASSOCIATION_LOST = frozenset({"wifi-deauthenticated", "wifi-disassociated", "wifi-connection-lost", "wifi-leaving"})
"""Rules of :mod:`txop.klog` after which a station is no longer associated."""
GUEST_INTERFACE = "wlan0"
"""Under test in a guest; see ``lab.sh``."""
_SERIOUS = frozenset({"error", "critical"})


class KernelLog:
    """``dmesg`` before and after the run; the difference is the run's."""

    name = "kernel-log"
    essential = False

    def __init__(self, target: str = "dut") -> None:
        self._target = target
        self._taken = False

    async def prepare(self, run: RunContext) -> None:
        """Take the log as it is before."""
        text = await _dmesg(run.targets.by_name[self._target])
        if text is not None:
            (run.folder / BEFORE_FILE).write_bytes(text)
            self._taken = True

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Take it as it is after."""
        if not self._taken:
            return
        text = await _dmesg(run.targets.by_name[self._target])
        if text is not None:
            (run.folder / AFTER_FILE).write_bytes(text)

    def read(self, facts: RunFacts) -> Reading:
        """The faults named by txop log in what is new."""
        from txop.klog import difference, name_faults

        reading = Reading()
        try:
            before = (facts.folder / BEFORE_FILE).read_bytes().decode("utf-8", "replace")
            after = (facts.folder / AFTER_FILE).read_bytes().decode("utf-8", "replace")
        except OSError:
            reading.put("faults", None, "kernel log", "the kernel log could not be read (dmesg needs root)")
            return reading
        lines = difference(before, after)
        _write(facts.folder / NEW_FILE, "\n".join(lines) + "\n" if lines else "")
        report = name_faults(lines)
        self._association(facts, reading, report.faults)
        reading.faults = [
            Fault(
                key=fault.key,
                title=fault.title,
                severity=str(fault.severity),
                target=self._target,
                count=fault.count,
                lines=list(fault.examples[:MAX_LINES_KEPT]),
            )
            for fault in report.faults
        ]
        serious = sum(fault.count for fault in reading.faults if fault.severity in _SERIOUS)
        reading.put("faults", float(serious), "kernel log")
        reading.files[NEW_FILE] = "what the kernel logged during the run"
        return reading

    def _association(self, facts: RunFacts, reading: Reading, faults: Sequence[Named]) -> None:
        """The gate ``association-lost``, when the log says so of the interface under test."""
        machine = facts.plan.target.get(self._target)
        interface = machine.interface if machine is not None else None
        if machine is not None and machine.kind == "guest":
            interface = GUEST_INTERFACE
        if not facts.plan.gates.association or isinstance(facts.test, ModuleCycleTest):
            return
        lost = [fault for fault in faults if fault.key in ASSOCIATION_LOST and fault.device in (None, interface)]
        if not lost:
            return
        words = "; ".join(f"the kernel log says: {fault.title}" for fault in lost[:3])
        if isinstance(facts.test, SoakTest):
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


async def _dmesg(target: Target) -> bytes | None:
    """The kernel log; ``None`` when it cannot be had. BusyBox's dmesg has no options worth having."""
    ran = await target.run(["dmesg"], timeout_s=20, root=True)
    return ran.stdout_bytes[-MAX_LOG_BYTES:] if ran.ok else None
