"""A free command of the plan, and figures from what it prints."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

from txop.archive.run_file import Value
from txop.core.metrics import METRICS, describe
from txop.measure.instrument import GateFinding, Reading, RunContext, RunFacts
from txop.measure.recording import Phase, Recording, begin
from txop.plan.measurement import CommandTest
from txop.targets.contract import Running

OUTPUT_FILE = "command.txt"
ERRORS_FILE = "command-errors.txt"
STATUS_FILE = "command-status.txt"
"""How a command in a guest ended, when it did by itself."""
MAX_OUTPUT_BYTES = 16 * 1024 * 1024
MAX_METRICS = 64
SHORT_TEXT = 20
"""Too short for any pattern to take long in."""
SEARCH_TIMEOUT_S = 10.0
_NAME = re.compile(r"[a-z0-9_]{1,60}")


class Command:
    """Starts with the window's warm-up and is stopped at its end, if it has not ended by itself."""

    name = "command"
    essential = True

    def __init__(self, test: CommandTest) -> None:
        self._test = test
        self._running: Running | None = None

    def recordings(self, run: RunContext) -> list[Recording]:
        """The command, from the start of the load."""
        del run
        return [
            Recording(
                self._test.on,
                tuple(self._test.command),
                OUTPUT_FILE,
                Phase.LOAD,
                MAX_OUTPUT_BYTES,
                errors_file=ERRORS_FILE,
                status_file=STATUS_FILE,
            )
        ]

    async def prepare(self, run: RunContext) -> None:
        """Nothing: see :meth:`start`."""

    async def start(self, run: RunContext) -> None:
        """Start the command."""
        (command,) = self.recordings(run)
        self._running = await begin(run, command)

    async def stop(self, run: RunContext) -> None:
        """End it; a command that failed voids the run."""
        del run
        if self._running is None:
            return
        ended = self._running.done
        ran = await self._running.stop()
        if ended and not ran.ok:
            raise ValueError(f"`{' '.join(self._test.command)}` ended with {ran.status}")

    def read(self, facts: RunFacts) -> Reading:
        """The figures that the plan's parser finds."""
        reading = Reading(files={OUTPUT_FILE: "output of the test's command"})
        status = _status(facts.folder / STATUS_FILE)
        if status not in (None, "0"):
            words = f"`{' '.join(self._test.command)}` ended with {status}"
            reading.gates.append(GateFinding("traffic-failed", "void", words, self._test.on))
        try:
            text = (facts.folder / OUTPUT_FILE).read_bytes()[:MAX_OUTPUT_BYTES].decode("utf-8", "replace")
        except OSError:
            text = ""
        values, problem = figures(self._test, text)
        for key, value in values.items():
            metric = describe(key)
            reading.metrics[key] = Value(value=value, unit=metric.unit, source=f"{self._test.parser} of the command")
        if problem:
            reading.warnings.append(f"command: {problem}")
        for key in {*self._test.higher_is_better, *self._test.lower_is_better} - values.keys():
            unit = METRICS[key].unit if key in METRICS else ""
            reason = "not in the command's output"
            reading.metrics[key] = Value(value=None, unit=unit, source="the command", reason=reason)
        return reading


def _status(path: Path) -> str | None:
    """What a guest noted; ``None`` when the command did not end by itself, or was not run in a guest."""
    try:
        with path.open("rb") as source:
            text = source.read(16).decode("ascii", "replace").strip()
    except OSError:
        return None
    return text if re.fullmatch(r"[0-9]{1,3}", text) else "no status"


def figures(test: CommandTest, text: str) -> tuple[dict[str, float], str | None]:
    """Figures in ``text`` as the test's parser finds them, and what was wrong with it.

    >>> test = CommandTest(name="x", kind="command", command="x", parser="regex", pattern=r"took (?P<boot_s>\\S+) s")
    >>> figures(test, "it took 3.5 s")
    ({'boot_s': 3.5}, None)
    """
    if test.parser == "json":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return {}, "its output is not JSON"
        if not isinstance(found, dict):
            return {}, "its output is not a JSON object"
    else:
        groups = _matched(test.pattern or "", text)
        if isinstance(groups, str):
            return {}, groups
        found = groups
    values: dict[str, float] = {}
    odd: list[str] = []
    for key, given in found.items():
        value = _number(given)
        if value is None or not _NAME.fullmatch(key) or len(values) >= MAX_METRICS:
            odd.append(key[:40])
        else:
            values[key] = value
    return values, f"not used, being no plain names with finite numbers: {', '.join(odd[:5])}" if odd else None


_SEARCH = (
    "import json, re, sys; match = re.search(*json.load(sys.stdin)); print(json.dumps(match and match.groupdict()))"
)


def _matched(pattern: str, text: str) -> dict[str, str | None] | str:
    """The named groups of the first match, or what was wrong. In a process of its own when the text is long: a pattern
    can take forever on a text that it was not made for, and a running search cannot be stopped."""
    if len(text) <= SHORT_TEXT:
        match = re.search(pattern, text)
        return match.groupdict() if match is not None else "the pattern is not in its output"
    try:
        ran = subprocess.run(
            [sys.executable, "-I", "-c", _SEARCH],
            input=json.dumps([pattern, text]).encode(),
            capture_output=True,
            timeout=SEARCH_TIMEOUT_S,
            check=True,
        )
        found = json.loads(ran.stdout)
    except subprocess.TimeoutExpired:
        return f"the search for the pattern took longer than {SEARCH_TIMEOUT_S:g} s"
    except (OSError, ValueError, subprocess.CalledProcessError):
        return "the pattern could not be searched for in its output"
    return found if isinstance(found, dict) else "the pattern is not in its output"


def _number(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        return None
    try:
        value = float(given)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None
