"""Inputs tried in guests that were saved after the association: what their traffic costs.

A trial begins where the saved guest is restored, so all differ in nothing but the input. Faults begin with it; after
:data:`SETTLE_S` traffic and costs do."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shlex
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from txop.core.errors import ExitCode
from txop.guest.checkpoint import identity, restore
from txop.guest.chips import OUT, Chip
from txop.guest.fault_check import check_faults
from txop.guest.inputs import key_of
from txop.guest.outside import GivenRun
from txop.guest.running import FILES, Cause, GuestFailedError
from txop.guest.saved_starts import NoStartError, SavedStarts
from txop.guest.shipped_faults import FaultScript
from txop.guest_exploration.cost import Cost, read_cost
from txop.guest_exploration.memory import text_key
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.script import written
from txop.guest_exploration.slow.entry import Input, read_input
from txop.guest_exploration.slow.load import ECHO_MS, LONGEST_S, SECONDS
from txop.guest_image.error import GuestError
from txop.guest_image.overlay import Overlay
from txop.guest_trials.judgement import Verdict
from txop.guest_trials.kernel_lines import CRASHES, HANGS, WARNS, read_kernel_lines, trouble, usual_forms
from txop.guest_trials.trial import Place

VERSION = 2
"""Raised when the same input would be measured otherwise: outcomes of before are then not taken."""
LIMIT_S = 120
"""By the guest's clock, of a trial with its boot."""
SETTLE_S = 2.0
"""From the association to what is measured: with some drivers the first round trips take up to a second."""
LATEST_MS = int((SETTLE_S + SECONDS) * 1000)
"""A fault that begins later happens to nothing that is measured."""
INTERFACE = "wlan0"
"""``lab.sh`` gives this name to the interface of a wireless chip."""
PEER_ADDRESS = "10.80.210.1"
_COST_FILES = ("moments", "dev-begin", "dev-end", "chip-begin.json", "chip-end.json", "ping")
_MOST_BYTES = 64 << 20

START = """\
txop-lab up || exit
txop-vusb control checkpoint || exit 74
given=$(txop-vusb control run) || exit 74
eval "$given"
exit 0
"""
_TRIAL = """\
cd @out@ || exit 73
echo 1 >/dev/urandom
peer iperf3 -s -D >/dev/null 2>&1
dut ping -n -c 1 -W 1 @peer@ >/dev/null 2>&1
sleep @settle@
moment() {
    txop-vusb control counters chip-$1.json
    dut cat /proc/net/dev >dev-$1
    { read -r up idle </proc/uptime; echo "$1 $up $idle"; } >>moments
}
moment begin
dut ping -n -i @every@ -c @echoes@ -W 1 @peer@ >ping 2>&1 &
@load@
sleep @seconds@
moment end
wait
txop-vusb control struck >struck
dmesg >log
: >complete
"""


@dataclass(frozen=True)
class Without:
    """What costs are compared with."""

    rest: Cost
    """Echo requests alone."""
    usual: Cost
    """The usual traffic without faults."""


def trial_script(traffic: Input | None) -> str:
    """What a guest does. ``None``: echo requests alone, for as long."""
    load = ":"
    if traffic is not None:
        client = shlex.join(["iperf3", "-c", PEER_ADDRESS, *traffic.load.argv])
        load = f"dut timeout -k 1 {LONGEST_S} {client} >traffic.log 2>&1 &"
    values = {
        "out": OUT, "peer": PEER_ADDRESS, "settle": f"{SETTLE_S:g}", "every": f"{ECHO_MS / 1000:g}",
        "echoes": str(SECONDS * 1000 // ECHO_MS), "seconds": str(SECONDS), "load": load,
    }  # fmt: skip
    text = _TRIAL
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


class SlowTrials:
    """Measures inputs with one driver."""

    def __init__(
        self, driver: str, place: Place, folder: Path, starts: SavedStarts, *, security: str = "wpa2", jobs: int = 1
    ) -> None:
        """``folder``: for what guests output, in a folder ``trials``."""
        self._place = replace(place, computer=replace(place.computer, limit_s=LIMIT_S, seed=0))
        self._chip = Chip(place.device, driver, security=security)
        self._folder = folder / "trials"
        self._starts = starts
        self._slots = asyncio.Semaphore(jobs)
        self._usual_lines: frozenset[str] = frozenset()
        self._overlay = Overlay(
            script=START,
            environment=self._chip.variables(),
            files=self._chip.files(),
            modules=tuple(place.modules.get(driver, ())),
        )

    def made_of(self) -> dict[str, Any]:
        """What has to be the same for two outcomes to be comparable. Raises :class:`GuestError`."""
        start = key_of(identity(self._place.image, self._overlay, self._place.computer))
        text = trial_script(Input())
        return {
            "slow": VERSION,
            "driver": self._chip.driver,
            "kernel, security, mips, module or the program of the chips": start,
            "what is measured": hashlib.sha256(text.encode()).hexdigest(),
        }

    async def without(self) -> Without:
        """Measure what the others are compared with. Raises :class:`GuestError`."""
        rest = await self._without(None, "echo requests alone", self._folder / "rest")
        usual = await self._without(Input(), "the usual traffic", self._folder / "usual")
        self._usual_lines = usual_forms(read_kernel_lines(_bytes(self._folder / "usual" / FILES / "log")))
        return Without(rest, usual)

    async def _without(self, traffic: Input | None, name: str, results: Path) -> Cost:
        outcome = await self._measured(traffic, results)
        if outcome.cost is None:
            raise GuestError(
                f"{self._chip.driver}, {name}: {outcome.verdict} ({outcome.why})", what_to_do=f"look at {self._folder}"
            )
        return outcome.cost

    async def run(self, text: str, repeat: int) -> Outcome:
        """See :class:`txop.guest_exploration.exploration.Runner`. Raises :class:`GuestError`."""
        key = text_key(text, repeat)
        results = self._folder / key
        outcome = await self._measured(read_input(FaultScript(key, text)), results)
        if not outcome.void:
            await asyncio.to_thread(shutil.rmtree, results, ignore_errors=True)
        return outcome

    async def _measured(self, tried: Input | None, results: Path) -> Outcome:
        faults = None
        if tried is not None and tried.faults:
            faults = written(tried.faults)
            await asyncio.to_thread(check_faults, (FaultScript(results.name, faults),), self._chip.ap)
        async with self._slots:
            return await self._guest(GivenRun(0, None, trial_script(tried), faults), results)

    async def _guest(self, run: GivenRun, results: Path) -> Outcome:
        image, computer, limit_s = self._place.image, self._place.computer, self._place.wall_limit_s
        try:
            start = await self._starts.of(image, self._overlay, computer, limit_s)
            ended = await restore(
                image, self._overlay, computer, start.folder, results=results, wall_limit_s=limit_s, run=run
            )
        except NoStartError as error:
            raise GuestError(
                f"{self._chip.driver} does not join the network without any fault",
                what_to_do=f"try it: txop guest run --device {self._chip.device} --driver {self._chip.driver} -- true",
            ) from error
        except GuestFailedError as error:
            void = error.cause is Cause.HOST
            off = error.cause is Cause.OFF
            verdict = Verdict.NOT_DETERMINED if void else Verdict.CRASHES if off else Verdict.HANGS
            return Outcome(verdict=verdict.value, why=error.what, void=void)
        outcome = await asyncio.to_thread(self._read, results, ended.status)
        return outcome.model_copy(update={"seconds": ended.seconds, "guest_seconds": ended.guest_seconds})

    def _read(self, results: Path, status: int) -> Outcome:
        files = results / FILES
        log = _bytes(files / "log")
        said = trouble(read_kernel_lines(log), self._usual_lines)
        line = None if said.line is None else said.line.text
        sha256 = hashlib.sha256(b"".join(_bytes(files / name) for name in (*_COST_FILES, "log"))).hexdigest()
        struck = _bytes(files / "struck").strip()

        def outcome(verdict: Verdict, why: str, cost: Cost | None = None) -> Outcome:
            times = int(struck) if re.fullmatch(rb"\d{1,18}", struck) else None
            return Outcome(verdict=verdict.value, why=why, line=line, struck=times, log_sha256=sha256, cost=cost)

        for keys, verdict in ((CRASHES, Verdict.CRASHES), (HANGS, Verdict.HANGS), (WARNS, Verdict.WARNS)):
            if said.keys & keys:
                return outcome(verdict, "in the kernel log")
        if not (files / "complete").is_file():
            set_up = status != ExitCode.NO_TESTBED
            return outcome(Verdict.HANGS, f"it ended with {status}" if set_up else "the testbed could not be set up")
        cost = read_cost({name: _bytes(files / name) for name in _COST_FILES}, INTERFACE)
        if cost is None or cost.packets == 0:
            return outcome(Verdict.FAILS, "no traffic")
        return outcome(Verdict.UNAFFECTED, "measured", cost)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as source:
            return source.read(_MOST_BYTES)
    except OSError:
        return b""
