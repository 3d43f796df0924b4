"""Runs of an arm in guests: each boots one that goes through the whole run by itself, and nothing from outside disturbs
it. Runs of one block have the same seed, so that arms are paired by it."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from txop.campaign.active_run import ActiveRun
from txop.campaign.guest_script import data_format, given_script, marks_in, run_script, saved_script, take_over
from txop.campaign.guest_trials import carry_out_trial, driver_of, limit_s
from txop.campaign.kept_runs import KeptRuns, inputs_of_run
from txop.campaign.placed_arm import ArmError, PlacedArm
from txop.campaign.run_limits import longest_s
from txop.core.errors import ExitCode
from txop.core.origin import Start
from txop.guest.checkpoint import restore
from txop.guest.chips import Chip
from txop.guest.cluster import GuestCluster
from txop.guest.exactness import difference, results_sha256
from txop.guest.inputs import FileStates, Inputs, boots_sha256, file_states
from txop.guest.outside import GivenRun
from txop.guest.perturbation import perturbation
from txop.guest.qemu import Computer, Mode, qemu_version, shift_of, untested_qemu
from txop.guest.remote_run import remote_run
from txop.guest.results import Event, Milestone
from txop.guest.running import FILES, Cause, Ended, GuestFailedError, run_guest
from txop.guest.saved_starts import NoStartError, SavedStarts, copy_results
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.guest_image.packages.lock import Lock
from txop.guest_trials.trial import Trial
from txop.measure.instrument import EarlyInstrument, Instrument, Marks, RunContext
from txop.measure.probes.guest_trial import FOLDER
from txop.plan import guest_time
from txop.plan.guest import GuestSpec
from txop.plan.guest_time import MeasuredTime, guest_s, is_checked
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.plan_check.guest_chip import rate_words
from txop.targets.contract import TargetError

SLOWEST = 30
"""How many seconds of this machine's a guest's second may take, loaded as it may be."""
REPEAT = "repeat"
"""Folder of a run for the second guest of a check; there only when the two differ."""
BOOT_S = 120
"""What booting and associating may take, by the guest's clock."""


@dataclass(frozen=True)
class GuestOfRun:
    """The guest of a run."""

    overlay: Overlay
    computer: Computer
    inputs: Inputs | None
    """What it is a function of; ``None``: it is not exact, or nothing is kept."""
    run: GivenRun | None = None
    """The guest was saved after the association, and is restored for this; ``None``: it boots."""
    files: FileStates = ()
    """Its files when its inputs were read."""


@dataclass(frozen=True)
class GuestArm:
    """An arm as far as it can be prepared outside. It is loaded when the guest of a run boots."""

    plan: Plan
    spec: GuestSpec
    image: Image
    modules: tuple[Path, ...]
    chip: Chip
    facts: dict[str, Any]
    kvm: bool = False
    files: Mapping[str, Path] = field(default_factory=dict)
    """Programs that it takes beside the image, by name in the guest."""
    starts: SavedStarts | None = None
    """Where guests are saved after the association; ``None``: every run boots."""
    cluster: GuestCluster | None = None
    """What runs guests; ``None``: this machine."""
    lock: Lock | None = None
    """What the image is made of; ``None``: of more than a lock, so it is on this machine only."""
    kept: KeptRuns | None = None
    """Runs that were done before; ``None``: all are run."""
    booted: dict[tuple[object, ...], str] = field(default_factory=dict)
    """By script, environment and state of its files: the hash of what a guest boots."""

    async def carry_out(self, active: ActiveRun) -> None:
        """See :data:`~txop.campaign.testbed.CarryOut`. The instruments only read: what they would have done, the
        guest has done."""
        plan, test = active.context.plan, active.context.test
        active.placed = placed = PlacedArm(None, dict(self.facts), clock="clock of the guest")
        active.began += [each for each in active.instruments if isinstance(each, EarlyInstrument)]
        active.reporter.phase("measure", guest_s(plan, test))
        with active.voided_by_failures():
            await (self._try if plan.guest_trial(test) else self._run)(active, placed)
            active.began += [each for each in active.instruments if each not in active.began]
        active.warnings += placed.warnings
        active.reporter.phase("collect", None)

    async def _run(self, active: ActiveRun, placed: PlacedArm) -> None:
        """A run with the phases of every run. Sets the marks, by the clock of the guest."""
        context, block = active.context, active.label.block
        what = self.guest_of(context, active.instruments, block)
        inputs = what.inputs
        active.start = Start.BOOT if what.run is None else Start.ASSOCIATED
        guest = context.folder / "guest"
        watch = Stopwatch()
        kept = None if self.kept is None or inputs is None else await self.kept.take(inputs, guest)
        if kept is not None and self.kept is not None:
            active.reused = self.kept.record(kept)
            watch.take(kept.events)
            ended = Ended(0, kept.events, (), kept.header.seconds, tuple(kept.header.said))
        else:
            ended = await self._carry(what, guest, watch)
            if self.cluster is None:
                self._learn(self.spec, context.test, ended.seconds, ended.guest_seconds, watch)
                active.spent |= watch.spent(ended.seconds, restored=what.run is not None)
            else:
                watch.take(ended.events)
                active.spent["traffic_s"] = ended.seconds
        placed.warnings += [f"QEMU: {line}" for line in ended.said]
        self._check_end(context, guest, ended)
        checks = is_checked(self.plan, context.test, block)
        was_checked = kept is not None and kept.header.checked
        if checks and not was_checked:
            again = context.folder / REPEAT
            begun = time.monotonic()
            await self._carry(what, again, Stopwatch())
            active.spent["check_s"] = time.monotonic() - begun
            try:
                _compare(guest, again, placed)
            except ArmError:
                if kept is not None and inputs is not None and self.kept is not None:
                    self.kept.forget(inputs)
                raise
        elif checks:
            placed.verified["checked_exact"] = True
        if self.kept is not None and inputs is not None and (kept is None or (checks and not was_checked)):
            if file_states(what.overlay) == what.files:
                await self.kept.put(inputs, guest, ended, checked=checks)
            else:
                placed.warnings.append("a file that the guest takes was changed while it ran: the run is not kept")
        self._note_exactness(placed, guest)
        for key, value in marks_in(guest / FILES):
            setattr(context.marks, key, value)
        driver = take_over(guest / FILES, context.folder, self.spec)
        if driver is None or not driver.is_of(self.spec.driver):
            raise ArmError(
                "arm-not-verified", f"the driver of {self.spec.interface} is {driver}, not {self.spec.driver}"
            )
        placed.verified.update(driver.verified())
        if agreed := data_format(context.folder):
            placed.verified["data_format"] = agreed
        if what.run is None:
            placed.seconds = watch.load_s
        else:
            placed.no_seconds = "it was loaded once for all runs, and they begin after that"

    def guest_of(self, context: RunContext, instruments: Sequence[Instrument], block: int) -> GuestOfRun:
        """The guest of a run."""
        chip = self._chip_of(context.test)
        is_saved = self.starts is not None
        overlay = Overlay(
            script=(saved_script if is_saved else run_script)(context, instruments),
            environment=chip.variables(),
            files={**self.files, **self.chip.files()},
            modules=self.modules,
        )
        seed = seed_of(self.plan.design.seed, block)
        if not is_saved:
            computer = self._computer(seed, context.seconds_left)
            return self._guest(overlay, computer)
        longest = max(longest_s(self.plan, test) for test in self.plan.test if not self.plan.guest_trial(test))
        computer, drawn = self._computer(0, longest), perturbation(seed)
        wait_us = drawn.phase_us + drawn.start_us
        run = GivenRun(seed, None if chip.says_loss else drawn.loss, given_script(context, instruments, seed, wait_us))
        return self._guest(overlay, computer, run)

    async def run_again(self, what: GuestOfRun, results: Path) -> Ended:
        """Run it, whatever is kept. Raises as runs do."""
        return await self._carry(what, results, Stopwatch())

    async def save_start(self, what: GuestOfRun, making: Callable[[], None]) -> float | None:
        """Make the saved guest that a run begins with; what that took; ``None``: it was there, or none is needed. A
        guest that ends before it is associated is a matter of its runs. ``making``: called when one is made.

        Raises :class:`~txop.guest.checkpoint.CheckpointError`: guests cannot be saved here.
        """
        if what.run is None or self.starts is None:
            return None
        with suppress(NoStartError, GuestFailedError):
            limit_s = _wall_limit_s(what.computer)
            return (await self.starts.of(self.image, what.overlay, what.computer, limit_s, making)).seconds
        return None

    def _check_end(self, context: RunContext, guest: Path, ended: Ended) -> None:
        """Raise what voids a run that did not end well."""
        if ended.status == ExitCode.NO_TESTBED:
            take_over(guest / FILES, context.folder, self.spec)  # the kernel log says why
            raise ArmError("arm-load-failed", _last_words(guest / "stderr"))
        if ended.status != 0:
            why = "it did not end in its time" if ended.status == 124 else _last_words(guest / "stderr")
            raise TargetError("dut", f"the run in the guest ended with {ended.status}: {why}")
        if full := [event.words for event in ended.events if event.milestone is Milestone.CAPTURE_FULL]:
            advice = "keep less of each URB (snap_bytes), or take a shorter window"
            raise TargetError("dut", f"{full[0]}: {advice}")

    def _guest(self, overlay: Overlay, computer: Computer, run: GivenRun | None = None) -> GuestOfRun:
        """With its inputs. What boots is read once for all blocks, and again when a file of it was changed."""
        if (self.kept is None and self.cluster is None) or computer.mode is not Mode.EXACT:
            return GuestOfRun(overlay, computer, None, run)
        files = file_states(overlay)
        what = (overlay.script, *sorted(overlay.environment.items()), files)
        if what not in self.booted:
            with suppress(GuestError, OSError):  # what is missing for it is missing for the guest, too
                self.booted[what] = boots_sha256(self.image, overlay)
        inputs = inputs_of_run(self.image, overlay, computer, self.booted.get(what), run)
        return GuestOfRun(overlay, computer, inputs, run, files)

    def _chip_of(self, test: Test) -> Chip:
        """The chip, with the rates that the test allows."""
        if test.rates is None:
            return self.chip
        bitrates = rate_words(self.spec, test.rates)
        return replace(self.chip, queues=replace(self.chip.queues, bitrates=bitrates))

    async def _try(self, active: ActiveRun, placed: PlacedArm) -> None:
        """A run that is a trial with steps of its own."""
        context, block = active.context, active.label.block
        watch = Stopwatch()
        trial = await self._trial(context, block, watch)
        if is_checked(self.plan, context.test, block):
            again = context.folder / REPEAT
            await self._trial(replace(context, folder=again, marks=Marks()), block, Stopwatch())
            _compare(context.folder / FOLDER, again / FOLDER, placed)
        self._note_exactness(placed, context.folder / FOLDER)
        if trial.seconds is not None and trial.guest_seconds is not None:
            self._learn(self.spec, context.test, trial.seconds, trial.guest_seconds, watch)
        driver = driver_of(trial)
        if driver is not None:
            placed.verified.update(driver.verified())
        placed.seconds = watch.load_s

    async def _trial(self, context: RunContext, block: int, watch: Stopwatch) -> Trial:
        computer = self._computer(seed_of(self.plan.design.seed, block), limit_s(context.test))
        wall_limit_s = _wall_limit_s(computer)
        return await carry_out_trial(
            context, self.spec, self.image, self.modules, self.chip, computer, wall_limit_s, watch
        )

    def _note_exactness(self, placed: PlacedArm, results: Path) -> None:
        """What lets an exact run be compared with one done elsewhere, and why it may not be exact."""
        if Mode(self.spec.mode) is not Mode.EXACT:
            return
        placed.verified["guest_sha256"] = results_sha256(results)
        doubt = untested_qemu(qemu_version())
        if doubt is not None:
            placed.warnings.append(doubt)

    def _computer(self, seed: int, seconds: float) -> Computer:
        return Computer(
            mode=Mode(self.spec.mode),
            memory_mb=self.spec.memory_mb,
            shift=shift_of(self.spec.mips),
            kvm=self.kvm,
            seed=seed,
            limit_s=int(seconds) + BOOT_S,
            append=tuple(self.spec.append.split()),
        )

    async def _carry(self, what: GuestOfRun, guest: Path, watch: Stopwatch) -> Ended:
        wall_limit_s = _wall_limit_s(what.computer)
        try:
            if self.cluster is not None:
                return await self._elsewhere(self.cluster, what, guest, wall_limit_s)
            if what.run is None or self.starts is None:
                return await run_guest(
                    self.image, what.overlay, what.computer, results=guest, wall_limit_s=wall_limit_s, listener=watch
                )
            start = await self.starts.of(self.image, what.overlay, what.computer, wall_limit_s)
            return await restore(
                self.image, what.overlay, what.computer, start.folder,
                results=guest, wall_limit_s=wall_limit_s, run=what.run, listener=watch,
            )  # fmt: skip
        except NoStartError as error:
            copy_results(error.results, guest)
            return error.ended
        except GuestFailedError as error:
            said = error.console.splitlines()
            where = [row[row.index("RIP: ") :] for row in said if "RIP: 0010:" in row]
            shown = "; ".join([*said[:1], *where[:1]])
            cause = f"{error.what}{f' ({shown})' if shown else ''}"
            if error.cause is Cause.OFF and watch.booted:
                raise ArmError("guest-went-down", cause) from None
            raise TargetError("dut", cause) from None
        except GuestError as error:
            raise TargetError("dut", error.what) from None

    async def _elsewhere(self, cluster: GuestCluster, what: GuestOfRun, guest: Path, wall_limit_s: float) -> Ended:
        """Run it on a worker. Raises :class:`GuestError`."""
        if what.inputs is None:
            raise GuestError("only exact guests run on a cluster", what_to_do="leave --cluster out")
        remote = remote_run(self.lock, self.image, what.overlay, what.computer, what.inputs.key, wall_limit_s, what.run)
        return await cluster.run_into(remote, guest)

    @staticmethod
    def _learn(spec: GuestSpec, test: Test, seconds: float, guest_seconds: float, watch: Stopwatch) -> None:
        """Keep what the run took, for `txop plan check`. Losing it costs nothing else."""
        up = watch.associated_up_s
        if up is None or watch.associated_s is None or guest_seconds <= up:
            return
        slowdown = (seconds - watch.associated_s) / (guest_seconds - up)
        with suppress(OSError, RuntimeError):  # RuntimeError: there is no home folder
            guest_time.remember(spec, test, MeasuredTime(watch.associated_s, slowdown))


def _wall_limit_s(computer: Computer) -> float:
    return float(SLOWEST * computer.limit_s)


def _compare(results: Path, again: Path, placed: PlacedArm) -> None:
    """Raise :class:`ArmError` when the second run of a check left something else; its files are then kept, else not."""
    differs = difference(results, again)
    if differs is not None:
        raise ArmError("not-exact", f"a second run with the same seed is another: {differs}")
    placed.verified["checked_exact"] = True
    shutil.rmtree(again if again.name == REPEAT else again.parent, ignore_errors=True)


def seed_of(seed: int, block: int) -> int:
    """The seed of a block's guests: from 1 to 2^31 - 1, drawn from the plan's seed.

    >>> seed_of(1, 1) == seed_of(1, 1), seed_of(1, 1) == seed_of(1, 2)
    (True, False)
    """
    digest = hashlib.sha256(f"txop-guest:{seed}:{block}".encode()).digest()
    return int.from_bytes(digest[:4]) % (2**31 - 1) + 1


class Stopwatch:
    """A listener that notes when the guest was associated for the first time."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._first_up_s: float | None = None
        self.booted_s: float | None = None
        """When it was heard of first, by this machine's clock, from the start of QEMU."""
        self.associated_s: float | None = None
        """By this machine's clock, from the start of QEMU."""
        self.associated_up_s: float | None = None
        """By the guest's clock, from its kernel's start."""

    def take(self, events: Iterable[Event]) -> None:
        """Note the events of a guest that ran elsewhere, or before: by this machine's clock nothing is known."""
        for event in events:
            self.event(event)
        self.associated_s = None

    def spent(self, seconds: float, *, restored: bool) -> dict[str, float]:
        """Where the ``seconds`` of a guest went, by field of :class:`~txop.archive.run_file.RunTiming`."""
        if restored or self.booted_s is None:
            return {"traffic_s": seconds} if restored else {"boot_s": seconds}
        if self.associated_s is None:
            return {"boot_s": self.booted_s, "association_s": seconds - self.booted_s}
        association_s = self.associated_s - self.booted_s
        return {"boot_s": self.booted_s, "association_s": association_s, "traffic_s": seconds - self.associated_s}

    @property
    def booted(self) -> bool:
        """Whether the guest has reported anything."""
        return self._first_up_s is not None

    @property
    def load_s(self) -> float | None:
        """From the boot to the association, by the guest's clock; ``None``: it never was associated."""
        if self.associated_up_s is None or self._first_up_s is None:
            return None
        return round(self.associated_up_s - self._first_up_s, 3)

    def event(self, event: Event) -> None:
        """See :class:`~txop.guest.running.Listener`."""
        if self._first_up_s is None:
            self._first_up_s = event.uptime_s
            self.booted_s = time.monotonic() - self._begun
        if self.associated_up_s is None and event.milestone is Milestone.ASSOCIATED:
            self.associated_s = time.monotonic() - self._begun
            self.associated_up_s = event.uptime_s

    def output(self, stream: str, data: bytes) -> None:
        """Nothing."""


def _last_words(path: Path) -> str:
    try:
        rows = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        rows = []
    first = next((row for row in rows if row.startswith("txop-lab:")), rows[-1] if rows else "no output")
    return first[:300]
