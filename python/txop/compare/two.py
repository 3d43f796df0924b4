"""Compare one arm of two archives: unpaired, and drift is not controlled."""

from __future__ import annotations

from collections.abc import Sequence

from txop.archive.counting import counting
from txop.archive.reader import Archive
from txop.compare import words
from txop.compare.answer import answers
from txop.compare.archive import narrowed, some
from txop.compare.drafts import ArmPairs
from txop.compare.facts import (
    arm_facts,
    damage_facts,
    design_facts,
    family_warnings,
    origin_warnings,
    plain,
    runs_lost,
    runs_with_failed_cycles,
    test_facts,
    txop_version,
    voided_runs,
)
from txop.compare.result import CompareResult, NotAvailable, Source, WarnedRun
from txop.compare.rows import compare_figures, family_size
from txop.compare.select import CompareError, check_comparable, primary_of
from txop.compare.test_set import TestSet
from txop.core.nearest import did_you_mean
from txop.plan.measurement import Test


def compare_two(
    first: Archive, second: Archive, arm: str | None = None, metrics: Sequence[str] | None = None
) -> CompareResult:
    """Compare one arm of two archives, ``A`` (the baseline) and ``B``: unpaired, drift not controlled.

    ``arm`` is needed when the archives share several arms and the first one's baseline is not among them.

    Raises:
        CompareError: archives of different origin, or without a common arm; an unknown arm or metric.
    """
    origin = check_comparable(first, second)
    arm = _shared_arm(first, second, arm)
    sets, missing = [], []
    for test in first.plan.test:
        other = next((t for t in second.plan.test if t.name == test.name), None)
        if other is None:
            missing.append(NotAvailable(figure=f"{test.name}.*", arm="B", reason="the plan of B has no such test"))
            continue
        if difference := _difference(test, other):
            missing.append(NotAvailable(figure=f"{test.name}.*", arm=None, reason=f"the tests differ: {difference}"))
            continue
        runs = [
            run.model_copy(update={"arm": label, "run": f"{label}/{run.run}"})
            for label, archive in (("A", first), ("B", second))
            for run in counting(archive, test.name).alone(arm)
        ]
        sets.append(TestSet(test, runs, runs))
    everything = [run for s in sets for run in s.runs]
    chosen, by_default = primary_of(first if second.primary_is_known else second, everything)
    pairs = ArmPairs(first.plan, "A", ["A", "B"], paired=False)
    figures, absent, nameable = compare_figures(pairs, sets, chosen)
    missing += absent
    family = family_size(chosen, pairs)
    design = design_facts(first, first.runs, chosen, by_default, family, first.plan)
    both = first.finished and second.finished
    design = design.model_copy(
        update={
            "finished": both,
            "state": "finished"
            if both
            else f"{'the first' if not first.finished else 'the second'} campaign is not finished",
        }
    )
    sides = (("A", first, first.runs), ("B", second, second.runs))
    mine = {label: [run for run in runs if run.arm == arm] for label, _, runs in sides}
    failed = [*runs_lost(mine, [s.test.name for s in sets]), *runs_with_failed_cycles(sets, mine)]
    found = answers(figures, "A", ["A", "B"], nameable)
    return CompareResult(
        txop=txop_version(),
        sources=[Source(path=a.layout.named, title=a.plan.title) for a in (first, second)],
        title=f"{arm}: {first.plan.title} (A) and {second.plan.title} (B)",
        description="",
        environment={
            f"{label}: {key}": plain(value) for label, a, _ in sides for key, value in a.plan.environment.items()
        },
        origin=origin,
        headline=words.headline(figures, found, "A", design, runs=len(everything), failed=failed),
        baseline="A",
        arms=[
            arm_facts(a.plan.find_arm(arm), runs).model_copy(
                update={"name": label, "title": f"{a.plan.find_arm(arm).shown}, {a.plan.title}"}
            )
            for label, a, runs in sides
        ],
        tests=[test_facts(first.plan, s) for s in sets],
        figures=narrowed(figures, missing, metrics, first.layout.root),
        answers=found,
        not_available=missing,
        voided=[
            v.model_copy(update={"run": f"{label}/{v.run}", "arm": label})
            for label, _, runs in sides
            for v in voided_runs(runs)
            if v.arm == arm
        ],
        run_warnings=[WarnedRun(run=run.run, warnings=run.warnings) for run in everything if run.warnings],
        design=design,
        methods=words.methods(design, "A", paired=False, two_archives=True),
        warnings=[
            f"A is {first.layout.named}, B is {second.layout.named}; unpaired, drift not controlled: whatever changed "
            "between the two campaigns is in the difference.",
            *origin_warnings(origin),
            *family_warnings(figures, first.plan.design.confidence, family),
        ],
        damage=[
            *(f"A: {sentence}" for sentence in first.damage),
            *(f"B: {sentence}" for sentence in second.damage),
        ],
        damage_found=damage_facts([first, second]),
    )


def _difference(test: Test, other: Test) -> str | None:
    """How two tests of one name differ, in the first few settings that do."""
    a, b = test.model_dump(mode="json"), other.model_dump(mode="json")
    keys = [key for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)]
    return ", ".join(f"{key} {a.get(key)} and {b.get(key)}" for key in keys[:3]) or None


def _shared_arm(first: Archive, second: Archive, wanted: str | None) -> str:
    """The arm to compare: as asked, else the first archive's baseline, else the only common one."""
    shared = [a.name for a in first.plan.arm if a.name in {b.name for b in second.plan.arm}]
    if wanted is None and first.plan.baseline in shared:
        return first.plan.baseline
    if wanted is None and len(shared) == 1:
        return shared[0]
    if wanted in shared and wanted is not None:
        return wanted
    if not shared:
        what = "has no arm in common with"
        to_do: str | None = "give the arm the same name in both plans"
    else:
        what = "shares several arms with" if wanted is None else f"has no arm {wanted} in common with"
        to_do = f"choose with --arm: {some(shared)}" if wanted is None else did_you_mean(wanted, shared)
    raise CompareError(f"{what} {first.layout.root}", where=second.layout.root, what_to_do=to_do)
