"""A capture on a target, streamed into the run's folder while it goes on, by tcpdump or else dumpcap."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

from txop.core.visible import visible
from txop.core.whole_file import whole_file
from txop.measure.instrument import GateFinding, Reading, RunContext, RunFacts
from txop.targets.contract import Running, Target, TargetError, TargetLostError

MESSAGES = "capture-{}.txt"
"""Output of the tool, by name of the capture (``air``, ``usb``)."""
ABOUT = "capture-{}.json"
STARTED_S = 5.0
"""How long a tool may take until it captures."""
STOP_GRACE_S = 5.0
DRAIN_S = 1.5
"""From the end of the window to the end of the capture: tcpdump is given frames by the block, a block at the latest
every second, and forgets the last one when it is interrupted."""
BUFFER_KIB = 8192
LOADING_S = 300.0
"""What putting an arm in place may take: a capture that begins before lasts longer by this at most."""
MAX_MESSAGES_BYTES = 1 << 20

_STARTED = ("listening on", "Capturing on")
_TCPDUMP = {
    "captured": re.compile(r"^(\d{1,18}) packets? captured", re.MULTILINE),
    "received": re.compile(r"^(\d{1,18}) packets? received by filter", re.MULTILINE),
    "kernel": re.compile(r"^(\d{1,18}) packets? dropped by kernel", re.MULTILINE),
    "interface": re.compile(r"^(\d{1,18}) packets? dropped by interface", re.MULTILINE),
}
_DUMPCAP = re.compile(
    r"^Packets received/dropped on interface [^\n]{1,300}: (?P<received>\d{1,18})/(?P<dropped>\d{1,18})"
    r"(?: \(pcap:\d{1,18}/dumpcap:\d{1,18}/flushed:\d{1,18}/ps_ifdrop:(?P<interface>\d{1,18})\))?",
    re.MULTILINE,
)


@dataclass(frozen=True)
class CaptureSummary:
    """What the tool counted."""

    kept: int
    """Frames in the file."""
    dropped: int
    """Frames that came and are not in it, for want of time or room."""

    @property
    def loss_percent(self) -> float:
        """Dropped frames in percent of all."""
        return 100 * self.dropped / (self.kept + self.dropped) if self.dropped else 0.0


def parse_summary(text: str) -> CaptureSummary | None:
    """The last words of tcpdump or dumpcap; ``None`` when it was killed before it could say them.

    "Received by filter" of tcpdump is not used: whether it holds the dropped ones depends on the system
    (pcap_stats(3)).

    >>> parse_summary("9 packets captured\\n12 packets received by filter\\n3 packets dropped by kernel").loss_percent
    25.0
    """
    if (found := _DUMPCAP.search(text)) is not None:
        return CaptureSummary(int(found["received"]), int(found["dropped"]) + int(found["interface"] or 0))
    counts = {key: int(match[1]) for key, pattern in _TCPDUMP.items() if (match := pattern.search(text)) is not None}
    if "captured" not in counts or "kernel" not in counts:
        return None
    return CaptureSummary(counts["captured"], counts["kernel"] + counts.get("interface", 0))


class PacketCapture:
    """One capture of a run. Its failure is never the run's, but losses beyond the plan's limit are."""

    def __init__(self, name: str, target: str) -> None:
        """``name``: ``air`` or ``usb``; begins the names of its files."""
        self._name = name
        self._target = target
        self._running: Running | None = None
        self.about: dict[str, object] = {"target": target}
        """For the record; ``problem`` when there is no capture."""

    @property
    def begun(self) -> bool:
        """Whether it was started, and has not been stopped."""
        return self._running is not None

    async def start(self, run: RunContext, interface: str, *, least_snap_bytes: int = 0) -> bool:
        """Start capturing on ``interface``, of each frame the plan's ``snap_bytes``, but ``least_snap_bytes`` at least;
        whether it does."""
        target = run.targets.by_name[self._target]
        limit_bytes = int(run.plan.collect.max_capture_mb * 1e6)
        snap = str(max(run.plan.collect.snap_bytes, least_snap_bytes))
        for tool, suffix in (("tcpdump", "pcap"), ("dumpcap", "pcapng")):
            program = await target.find(tool)
            if program is None:
                continue
            argv = [program, "-i", interface, "-s", snap, "-w", "-"]
            argv += ["-U", "-n", "-B", str(BUFFER_KIB)] if tool == "tcpdump" else ["-q"]
            file = f"{self._name}.{suffix}"
            self.about |= {"tool": tool, "interface": interface, "file": file}
            if await self._started(run, target, argv, file, limit_bytes):
                return True
            if "find user" not in str(self.about.get("problem")):
                return False
            # A tcpdump built to become a user that this system does not have.
            del self.about["problem"]
            return await self._started(run, target, [*argv, "-Z", "root"], file, limit_bytes)
        self.about["problem"] = f"{self._target} has neither tcpdump nor dumpcap"
        return False

    async def _started(self, run: RunContext, target: Target, argv: list[str], file: str, limit_bytes: int) -> bool:
        messages = run.folder / MESSAGES.format(self._name)
        running = await target.start(
            argv,
            stdout=run.folder / file,
            stderr=messages,
            limit_bytes=limit_bytes,
            root=True,
            max_seconds=run.seconds_left + LOADING_S,
        )
        self._running = running
        until = time.monotonic() + STARTED_S
        while not running.done and time.monotonic() < until:
            if any(word in _text(messages) for word in _STARTED):
                return True
            await asyncio.sleep(0.05)
        if running.done and not any(word in _text(messages) for word in _STARTED):
            said = [line.strip() for line in _text(messages).splitlines() if line.strip()]
            self.about["problem"] = f"{argv[0].rpartition('/')[2]} ended at once" + (f": {said[-1]}" if said else "")
            return False
        return True

    async def stop(self, run: RunContext) -> None:
        """End it, and note how it went."""
        running, self._running = self._running, None
        if running is not None and "problem" not in self.about:
            early = running.done
            if not early and run.marks.end is not None:
                await asyncio.sleep(max(0.0, run.marks.end + DRAIN_S - time.monotonic()))
            try:
                ran = await running.stop(grace_s=STOP_GRACE_S)
            except TargetLostError:
                raise
            except TargetError as error:
                self.about["problem"] = error.what
            else:
                self.about["full"] = ran.cut
                if early and not ran.cut and run.marks.end is not None:
                    self.about["problem"] = f"it ended by itself, with {ran.status}"
        with whole_file(run.folder / ABOUT.format(self._name)) as out:
            out.write(json.dumps(self.about, indent=1) + "\n")


def read_capture(facts: RunFacts, name: str, what: str) -> Reading:
    """What happened to a capture: its files, a warning when it failed or is not whole, the gate ``capture-dropped``."""
    reading = Reading()
    try:
        about = json.loads((facts.folder / ABOUT.format(name)).read_bytes())
        target, problem, file = str(about["target"]), about.get("problem"), about.get("file")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        reading.warnings.append(f"{what}: nothing was recorded")
        return reading
    if isinstance(file, str) and "/" not in file and (facts.folder / file).is_file():
        reading.files[file] = what
        if (facts.folder / MESSAGES.format(name)).is_file():
            reading.files[MESSAGES.format(name)] = f"messages of the capture tool about the {what}"
    for note in about.get("notes") or []:
        reading.warnings.append(f"{what}: {visible(str(note)[:300])}")
    if problem:
        said = visible(str(problem)[:300])
        reading.warnings.append(f"{what}: {said}")
        reading.gates.append(GateFinding("capture-dropped", "not available", said, target))
        return reading
    if about.get("full"):
        reading.warnings.append(f"{what}: stopped at {facts.plan.collect.max_capture_mb:g} MB (collect.max_capture_mb)")
    summary = parse_summary(_text(facts.folder / MESSAGES.format(name)))
    if summary is None:
        words = "the capturing tool did not report how many frames it dropped"
        reading.gates.append(GateFinding("capture-dropped", "not available", words, target))
    elif summary.loss_percent > facts.plan.gates.capture_loss_percent:
        words = f"{what}: {summary.dropped} of {summary.kept + summary.dropped} frames were dropped"
        words += f" ({summary.loss_percent:.1f} %, {facts.plan.gates.capture_loss_percent:g} % allowed)"
        reading.gates.append(GateFinding("capture-dropped", "void", words, target))
    else:
        reading.gates.append(GateFinding("capture-dropped", "ok", target=target))
        if summary.kept == 0:
            reading.warnings.append(f"{what}: not one frame was captured")
    return reading


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_MESSAGES_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
