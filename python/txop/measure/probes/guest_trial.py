"""A trial in a guest (:mod:`txop.guest_trials.trial`) as a run of a campaign: cycles of the driver or the chip, or a
fault script, as figures beside those of other arms. What the trial did and what counts as what is written there; here
it is only put under the names of metrics."""

from __future__ import annotations

from txop.archive.run_file import SERIOUS, Fault
from txop.core.visible import visible
from txop.guest.running import FILES
from txop.guest_trials.endurance import EnduranceResult, Removal, read_endured
from txop.guest_trials.growth import LEAST_CYCLES, Slope
from txop.guest_trials.judgement import Judgement, Verdict, judge
from txop.guest_trials.kernel_lines import CRASHES, HANGS, WARNS, deadlocks, named
from txop.guest_trials.survey import judge_control, usual_of
from txop.guest_trials.trial import Trial, read_trial
from txop.log.report import SEVERITIES, LogReport
from txop.log.times import times
from txop.measure.instrument import GateFinding, PostRunInstrument, Reading, RunFacts
from txop.plan.guest import GuestSpec

FOLDER = "guest"
"""Folder of a run with what its guest output."""
SOURCE = "trial in the guest"
KERNEL_LOG = "kernel log"
FEW = f"growth is judged from {LEAST_CYCLES} cycles on, after the first fifth"
GONE = "the guest went down"
SUPPRESSED = "Future hung task reports are suppressed"
"""The kernel's words after the last report that it makes (Linux kernel/hung_task.c)."""
MAX_WARNINGS = 8
MAX_LINES_KEPT = 5

_FILES = {
    "facts": "what the trial saw, by the guest's clock",
    "slab": "the kernel's slab caches after each cycle",
    "memory": "the kernel's memory after each cycle",
    "kmsg": "the kernel log, all of it",
    "kmemleak": "reports of kmemleak",
    "log": "the kernel log",
    "carried": "packets that the interface had carried, twice a second",
    "chip.json": "counters of the virtual chip",
    "vusb.log": "log of the virtual chip",
    "hostapd.log": "log of the access point",
    "wpa_supplicant.log": "log of wpa_supplicant",
    "steps.log": "output of the steps of the trial",
}


class GuestTrial(PostRunInstrument):
    """Reads what a trial left. A driver that does not recover is a result, and so is a guest that went down."""

    name = "guest trial"
    essential = True

    def read(self, facts: RunFacts) -> Reading:
        """Figures of the trial."""
        reading = Reading()
        results = facts.folder / FOLDER
        trial = read_trial(results)
        if trial is None:
            reading.gates.append(GateFinding("instrument-failed", "void", "the trial left no result", "dut"))
            return reading
        names = {name: f"{FOLDER}/{FILES}/{name}" for name in _FILES}
        reading.files = {path: _FILES[name] for name, path in names.items() if (facts.folder / path).is_file()}
        spec = (facts.plan.guest or GuestSpec()).varied(facts.arm.guest)
        if (planned := facts.test.module_cycles) is not None:
            way = Removal(planned.way)
            _cycles(reading, read_endured(spec.driver, way, planned.cycles, trial, results), facts)
        else:
            _fault(reading, trial, struck=spec.faults is not None)
        return reading


def _cycles(reading: Reading, endured: EnduranceResult, facts: RunFacts) -> None:
    reading.put("cycles", float(endured.begun), SOURCE)
    reading.put("cycles_failed", float(endured.failed), SOURCE)
    recovery = endured.recovery_s
    reason = None if recovery else GONE if endured.with_traffic is None else "it never recovered"
    reading.put("recovery_s", recovery.median if recovery else None, SOURCE, reason)
    _kernel(reading, endured.log)
    for key, slope in (
        ("slab_growth_kb", endured.growth.slab_kb),
        ("vmalloc_growth_kb", endured.growth.vmalloc_kb),
        ("pages_growth_kb", endured.growth.other_kb),
    ):
        _growth(reading, key, slope)
    known = endured.growth.slab_kb is not None
    reading.put("leaks", float(len(endured.growth.leaks)) if known else None, SOURCE, None if known else FEW)
    objects = endured.leaked_objects
    why = GONE if endured.with_traffic is None else "this kernel has no kmemleak"
    reading.put("kmemleak_objects", objects, "kmemleak", None if objects is not None else why)
    reading.warnings += [visible(words[:300]) for words in endured.problems[:MAX_WARNINGS]]
    if len(endured.problems) > MAX_WARNINGS:
        reading.warnings.append(f"{len(endured.problems) - MAX_WARNINGS} more problems")
    window = facts.marks.window or 0.0
    given = {fact.words: fact.uptime_s for fact in endured.trial.seen.facts.all("given")}
    reading.series["recovery_s"] = [
        (round(given[str(number)] - window, 3), seconds) for number, seconds in endured.recoveries_s.items()
    ]


def _growth(reading: Reading, key: str, slope: Slope | None) -> None:
    reading.put(key, None if slope is None else slope.per_cycle, SOURCE, FEW if slope is None else None)


def _fault(reading: Reading, trial: Trial, *, struck: bool) -> None:
    """``struck``: the arm has a fault script. What a driver's log has without faults is not known here, so that what
    only the log shows is in ``faults`` and not in the verdict."""
    own = usual_of(trial)
    judgement = judge(trial.seen, own) if struck else judge_control(trial, own)
    facts = trial.seen.facts
    if struck and judgement.verdict is Verdict.NOT_REACHED:
        reading.gates.append(GateFinding("fault-not-reached", "void", "the fault never happened", "dut"))
    reading.put("recovered", float(facts.words("by-itself") == "yes"), SOURCE)
    silence = judgement.silence_s
    reading.put("silence_s", silence, SOURCE, None if silence is not None else _no_silence(trial))
    count = judgement.struck if struck else 0
    reading.put(
        "struck",
        count,
        "counters of the virtual chip",
        None if count is not None else "the virtual chip reported no count",
    )
    log = named(trial.seen.lines)
    _kernel(reading, log)
    known = [f"{fault.title} ({fault.key})" for fault in deadlocks(log)]
    if any(SUPPRESSED in line.text for line in trial.seen.lines):
        known.append("the kernel stopped to report tasks that hang: there may be more of them")
    stuck = [f"does not end: {fact.words}" for fact in facts.all("stuck")]
    reading.warnings += [visible(words[:300]) for words in [*_warnings(judgement), *known, *stuck[:MAX_WARNINGS]]]
    reading.provenance["dut"] = {
        "fault_trial": {"verdict": judgement.verdict.value, "brought_back_by": judgement.back, "why": judgement.why}
    }


def _no_silence(trial: Trial) -> str:
    if trial.seen.failure is not None and not list(trial.seen.facts):
        return GONE
    return "there was no traffic that could have stood still"


def _warnings(judgement: Judgement) -> list[str]:
    """The verdict in words, where there is one."""
    if judgement.verdict in (Verdict.UNAFFECTED, Verdict.NOT_REACHED):
        return []
    back = f"; brought back by {judgement.back}" if judgement.back is not None else ""
    line = f": {judgement.line}" if judgement.line is not None else ""
    return [f"{judgement.verdict.value} ({judgement.why}{back}){line}"]


def _kernel(reading: Reading, report: LogReport) -> None:
    """Counts of what the kernel log of the trial says."""
    reading.faults = [
        Fault(
            key=fault.key,
            title=fault.title,
            severity=str(fault.severity),
            target="dut",
            count=fault.count,
            lines=list(fault.examples[:MAX_LINES_KEPT]),
        )
        for fault in report.faults
    ]
    reading.put("faults", float(times(report.faults, SERIOUS)), KERNEL_LOG)
    for key, rules in (("kernel_warnings", CRASHES | WARNS), ("hung_tasks", HANGS)):
        found = [fault for fault in report.faults if fault.key in rules]
        reading.put(key, float(times(found, SEVERITIES)), KERNEL_LOG)
