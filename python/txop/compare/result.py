"""What a comparison says: the ``txop-compare`` format, version 1.

One :class:`CompareResult` per archive (or pair of archives). Reports, exports and ``txop compare --json`` show nothing
that is not in it. Percentages are 0 to 100. ``None`` is *not available*, never 0; infinite figures are ``None`` with a
flag beside them, because JSON has no infinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from txop.archive.damage import Code
from txop.archive.run_file import Bound
from txop.core.metrics import Better, Scale
from txop.core.origin import Origin

FORMAT = "txop-compare"
VERSION = 1

Finite = Annotated[float, Field(allow_inf_nan=False)]

Role = Literal["primary", "exploratory"]
"""``primary``: declared before the campaign and judged together (Holm). ``exploratory``: everything else; a difference
there is a hint for the next campaign, not a finding of this one."""

Verdict = Literal["better", "worse", "equivalent", "inconclusive", "not-judged"]
"""``not-judged``: for the reason in ``Row.not_judged``."""

NotJudged = Literal["explains", "bounds", "depends"]
"""``explains``: neither direction is good, or it is a cost of the emulator. ``bounds``: one side or both are bounds and
no figures. ``depends``: the arms differ in what the figure depends on (:data:`txop.core.metrics.DEPENDS_ON`)."""

Adjustment = Literal["holm", "label-swaps"]
"""How ``p_adjusted`` was made: :mod:`txop.stats.holm` over all primary rows, :mod:`txop.stats.label_swaps` over the
exploratory figures of two arms, times the number of pairs of arms."""

Infinity = Literal["above", "below"]


class Record(BaseModel):
    """Part of the format: unknown fields are refused, because only txop writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="null")


class PatchFacts(Record):
    """A patch of an arm, as the plan gives it."""

    number: int | None
    description: str
    link: str | None
    upstream: str | None


class ArmFacts(Record):
    """An arm and how many runs it has."""

    name: str
    title: str
    """Its title in the plan, or else its name."""
    description: str
    link: str | None
    patches: list[PatchFacts]
    valid: int
    """Valid runs, of all tests and blocks, repeats included."""
    void: int
    faults: int
    """Faults of severity error or worse that the kernel logs of its runs hold, while loading or later, void runs
    included. A task that hangs counts once in each of the two."""
    load_failures: int = 0
    """Void runs in which the arm could not be put in place, or was not the one that was asked for."""
    went_wrong: int = 0
    """Void runs in which the traffic failed or the guest went down."""


class TestFacts(Record):
    """A test of the plan."""

    __test__ = False  # pytest: not a test case

    name: str
    kind: str
    duration_s: Finite
    length: str
    """How long a run of it lasts, in words: trials in guests do not go by ``duration_s``."""
    warm_up_s: Finite
    blocks: list[int]
    """The blocks that hold a pair of runs that counts."""


class MetricFacts(Record):
    """What a figure is (:class:`txop.core.metrics.Metric`, with the plan's margin)."""

    key: str
    title: str
    unit: str
    better: Better | None
    scale: Scale
    margin: Finite
    """Smallest effect that matters, in the effect's unit."""
    digits: int
    definition: str


@dataclass(frozen=True, slots=True)
class Point:
    """The figure of one run that counts."""

    block: int
    run: str
    value: Finite | None
    """``None`` when infinite."""
    infinite: bool = False
    bound: Bound | None = None
    """``value`` is a bound of the figure."""
    flagged: bool = False
    """Far from the other runs of its arm: more than 5 robust standard deviations (1.4826 MAD) from their median. A
    mark for the reader; nothing is ever left out for it."""


class ArmValues(Record):
    """The figure in the runs of one arm."""

    arm: str
    n: int
    median: Finite | None
    """``None`` when there is no value, or when the median is infinite."""
    median_infinite: bool = False
    lowest: Finite | None
    highest: Finite | None
    """Lowest and highest of the finite values."""
    points: list[Point]
    """In the order of blocks."""
    bound: Bound | None = None
    """Some of the values are bounds, so the median is one, too."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The two runs of one block, compared."""

    block: int
    effect: Finite | None
    """In the row's ``effect_unit``; ``None`` when infinite."""
    infinite: Infinity | None = None


class Estimate(Record):
    """An effect and its interval, in the row's ``effect_unit``."""

    n: int
    """Pairs of blocks; of unpaired data, the runs of the smaller side."""
    estimate: Finite | None
    """Hodges-Lehmann; ``None`` without data, or when infinite."""
    infinite: Infinity | None = None
    """The estimate itself is infinite: most pairs have an infinite figure on one side."""
    low: Finite | None
    high: Finite | None
    """Ends of the interval; ``None`` where an end is infinite, and where there is no interval: ``confidence`` is then
    ``None``."""
    low_infinite: Infinity | None = None
    high_infinite: Infinity | None = None
    """Which way an end is infinite."""
    confidence: Finite | None
    """Confidence that the interval really has (exact intervals come in steps), as a fraction; ``None``: no interval."""
    asked_confidence: Finite
    """Confidence that was asked for: the interval has at least that."""
    p: Finite | None
    """Two-sided, against no difference; not adjusted."""


class SignTest(Record):
    """The median of the pairs' effects, in the row's ``effect_unit``, and whether it is 0."""

    n: int
    """Pairs with a difference other than 0."""
    median: Finite | None
    low: Finite | None
    high: Finite | None
    confidence: Finite | None
    """That the interval really has; ``None``: no interval."""
    p: Finite
    """Exact, two-sided, not adjusted."""


class Drift(Record):
    """Whether the difference changed in the course of the campaign: Spearman's rank correlation with the block."""

    rho: Finite
    p: Finite


class Row(Estimate):
    """One arm against the baseline, in one figure."""

    arm: str
    paired: bool
    """By block. Unpaired data is not protected against drift."""
    effect_unit: str
    """``%`` for a ratio (+10: 10 % more than the baseline), ``pp`` (percentage points) for a difference of percentages,
    the metric's unit for any other difference."""
    n_baseline: int
    n_arm: int
    """Runs on each side that have the figure (equal to ``n`` in pairs)."""
    baseline_median: Finite | None
    arm_median: Finite | None
    """Medians of the values compared; ``None`` when infinite or missing."""
    pairs: list[Pair]
    """Empty when unpaired."""
    p_adjusted: Finite | None
    """The p-value that the verdict rests on; ``None`` without one, and where the figure is not judged."""
    adjustment: Adjustment | None = None
    """How it was adjusted."""
    sd_d: Finite | None
    """Standard deviation of the pairs' effects, in ``effect_unit`` (for a ratio: of 100 times the log ratio)."""
    smallest_detectable_effect: Finite | None
    """Effect that a campaign of this size and noise finds with 80 % power after Holm's method, in ``effect_unit``;
    ``None`` for exploratory rows."""
    margin: Finite
    """Smallest effect that matters, in ``effect_unit``."""
    verdict: Verdict
    not_judged: NotJudged | None = None
    """Why it is not judged; ``None`` where it is."""
    bounds: tuple[Bound | None, Bound | None] = (None, None)
    """Whether the medians of the baseline and of the arm are bounds. There is no estimate and no interval then."""
    small_but_real: bool
    """Equivalent, and the interval excludes no difference."""
    blocks_needed: int | None
    """Blocks in all with which 4 of 5 campaigns like this one would decide an inconclusive primary row; ``None`` when
    not estimated."""
    beyond_limit: bool = False
    """Inconclusive, and more blocks would be needed than a campaign may have."""
    drift: Drift | None
    """``None``: fewer than four blocks, no spread, unpaired data, or blocks that are seeds (guests with exact time,
    simulations), where nothing can drift."""
    skewness: Finite | None = None
    """Skewness of the pairs' differences where it is strong: the signed-rank test then does not quite hold."""
    sign_test: SignTest | None = None
    """What holds for strongly skewed differences; ``None`` for others."""
    excluded: list[str]
    """Blocks that could not be used for this row, and why."""
    with_voided: Estimate | None
    """The same with every run that has the figure, void ones and repeated blocks included; ``None`` without such."""
    method: str
    """What was computed, in words."""
    sentence: str
    """The row in one sentence."""
    warnings: list[str]
    """What must be known to read the row."""


class DirectRow(Row):
    """Two arms that differ by exactly one declared change, neither of them the baseline, in one figure."""

    against: str
    """The arm without the change: here the change is as in the baseline."""
    change: str
    """The change in words: ``patch 7``."""
    given: list[str]
    """What both arms have beyond the baseline."""


class ComparedFigure(Record):
    """One figure of one test, in all arms."""

    name: str
    """``TEST.METRIC``."""
    test: str
    metric: MetricFacts
    role: Role
    sources: list[str]
    """What the values were read from."""
    arms: list[ArmValues]
    """In the order of the plan, the baseline included; arms without the figure have no points."""
    rows: list[Row]
    """Each other arm against the baseline."""
    direct: list[DirectRow] = []
    """Arms that differ by one change, compared with each other; primary ones are in the same family as ``rows``."""


class Answer(Record):
    """What two arms differ in: names of figures (``TEST.METRIC``), each quantity once."""

    arm: str
    against: str
    primary: list[str]
    """Figures declared before the campaign that could be compared."""
    gains: list[str]
    """Exploratory figures with the verdict better: what users notice first, then the largest in margins."""
    costs: list[str]
    """Exploratory figures with the verdict worse."""
    looked_at: int
    """Exploratory quantities that were judged, and of which ``gains`` and ``costs`` are those named."""
    can_name: bool
    """Whether a gain or cost could have been named at all: not with few blocks, many pairs of arms, or a primary figure
    so noisy that it may get its verdict by accident."""


class ChangeFacts(Record):
    """What the campaign shows of a single change: a patch, a parameter, a key of the link."""

    change: str
    """In words: ``patch 7``."""
    patch: str | None
    """The patch that it is: its number, or else its file, link or description."""
    arm: str | None
    """The arm with the change; ``None``: no two arms differ by it alone, so what it does cannot be determined."""
    against: str | None
    """The arm that is the same without it."""
    given: list[str]
    """What both have beyond the baseline; empty: the change was made to the baseline itself."""
    sentence: str
    """Its effect on the primary figures and which exploratory ones it makes worse, or that it cannot be determined."""


class NotAvailable(Record):
    """A figure that could not be compared."""

    figure: str
    arm: str | None
    """The arm that lacks it; ``None``: all of them."""
    reason: str


class VoidedRun(Record):
    """A void run."""

    run: str
    block: int
    arm: str
    test: str
    gates: list[str]
    causes: list[str]
    repeated_in: int | None
    """The block that took its place."""


class Repeat(Record):
    """A block that was run again."""

    block: int
    replaces: int


class WarnedRun(Record):
    """What a reader must know of a run that counts."""

    run: str
    warnings: list[str]


class DesignFacts(Record):
    """How the campaign was planned, and how far it got."""

    seed: int
    blocks_planned: int
    blocks_complete: int
    """Blocks, repeats included, in which every arm has every test, valid."""
    repeats: list[Repeat]
    confidence: Finite
    primary: list[str]
    """Figures judged together; as the plan says, or by the default rule."""
    primary_by_default: bool
    family: int
    """Primary comparisons that Holm's method adjusts together: every arm with the baseline, and the direct ones. Those
    that were declared and could not be made count too."""
    warm_up_s: Finite
    idle_s: Finite
    gap_s: Finite
    reload: str
    finished: bool
    """The campaign came to its planned end."""
    state: str
    """In words: finished, or why not."""
    started_at: str | None
    ended_at: str | None


class RemarkFacts(Record):
    """Remarks of people (``txop note``)."""

    at: str
    text: str
    arm: str | None
    """The arm it is about; ``None`` with ``run`` ``None`` as well: the campaign."""
    run: str | None


class Source(Record):
    """An archive that was compared."""

    path: str
    title: str


class DamageFacts(Record):
    """One thing that is wrong with an archive."""

    source: int
    """Which archive: its place in ``sources``, from 0."""
    code: Code
    """The kind: `run-copy`, `journal-line`, ... (docs/archive.md)."""
    run: str | None
    """Name of the run; ``None``: it is not of one run."""
    spoils: bool
    """The run does not count because of it."""
    facts: dict[str, Any]
    """What it rests on: names and figures, by name."""


class CompareResult(Record):
    """Version 1 of the ``txop-compare`` format."""

    format: Literal["txop-compare"] = "txop-compare"
    version: Literal[1] = 1
    txop: str
    """Version of the txop that compared."""
    sources: list[Source]
    """One archive; two when an arm of one was compared with the same arm of another."""
    title: str
    description: str
    environment: dict[str, str]
    """The plan's notes on the place, as text."""
    origin: Origin
    headline: list[str]
    """The answer, in one to a few sentences."""
    baseline: str
    arms: list[ArmFacts]
    tests: list[TestFacts]
    figures: list[ComparedFigure]
    """Primary ones first, then in the order of tests and metrics."""
    answers: list[Answer] = []
    """Each arm against the baseline, then arms that differ by one change."""
    changes: list[ChangeFacts] = []
    """What each change of the plan does, given the others."""
    not_available: list[NotAvailable]
    voided: list[VoidedRun]
    run_warnings: list[WarnedRun]
    remarks: list[RemarkFacts] = []
    """Oldest first."""
    design: DesignFacts
    methods: list[str]
    """The methods paragraph, sentence by sentence."""
    warnings: list[str]
    """What must be known to read the whole."""
    damage: list[str]
    """What of the archive cannot be read or contradicts the rest, so that it does not count, in words."""
    damage_found: list[DamageFacts] = []
    """The same as facts."""

    def figure(self, name: str) -> ComparedFigure:
        """The figure called ``TEST.METRIC``; :class:`KeyError` when there is none."""
        return {figure.name: figure for figure in self.figures}[name]

    def arm(self, name: str) -> ArmFacts:
        """The arm called ``name``; :class:`KeyError` when there is none."""
        return {arm.name: arm for arm in self.arms}[name]
