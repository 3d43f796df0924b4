"""The rows of a comparison judged together: declared figures by Holm's method, all others over label swaps.

At most 1 - confidence of campaigns in which no arm differs from another get any verdict better or worse, whether on a
declared figure or on another one: declared figures are one family, and the exploratory figures of two arms share what
that family leaves (:mod:`txop.stats.label_swaps`), divided among the pairs of arms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from txop.compare.drafts import Draft, FigureDraft
from txop.compare.infinite import JudgedComparison, without_spread
from txop.core.metrics import DEPENDS_ON, Dependence
from txop.stats.comparison import Comparison
from txop.stats.label_swaps import BlockSwaps, Declared, RunSwaps, Samples, Swaps, adjusted, least
from txop.stats.verdict import not_judged, with_adjusted, with_holm

Rows = list[tuple[FigureDraft, Draft]]


def judge_together(drafts: Sequence[FigureDraft], *, family: int, pairs: int) -> set[tuple[str, str]]:
    """Give every row of ``drafts`` its adjusted p-value and its verdict.

    Returns:
        Pairs of an arm and what it is compared with that can have an exploratory verdict at all: not with few
        blocks, many pairs, or a primary figure so noisy that it may get its verdict by accident.

    Args:
        drafts: All figures of a comparison.
        family: How many primary comparisons were declared.
        pairs: How many pairs of arms are compared.
    """
    between = _by_pair(drafts)
    for rows in between.values():
        _leave_out_dependent(rows)
    primary = [row for draft in drafts if draft.primary for row in rows_of(draft)]
    for row, comparison in zip(primary, with_holm([_of(row) for row in primary], declared=family), strict=True):
        _replace(row, comparison)
        row.adjustment = None if comparison.p_adjusted is None else "holm"
    return {pair for pair, rows in between.items() if _judge_exploratory(rows, family=family, pairs=pairs)}


def rows_of(draft: FigureDraft) -> Iterator[Draft]:
    """All rows of a figure."""
    yield from draft.rows
    for _, row in draft.direct:
        yield row


def _by_pair(drafts: Sequence[FigureDraft]) -> dict[tuple[str, str], Rows]:
    found: dict[tuple[str, str], Rows] = {}
    for draft in drafts:
        for row in rows_of(draft):
            found.setdefault((row.arm, row.against), []).append((draft, row))
    return found


def _of(row: Draft) -> Comparison:
    return row.judged.comparison


def _replace(row: Draft, comparison: Comparison) -> None:
    endless = row.judged.limit < math.inf
    row.judged = JudgedComparison(
        without_spread(comparison) if endless else comparison, row.judged.limit, row.judged.low_limit
    )


def _judge_exploratory(rows: Rows, *, family: int, pairs: int) -> bool:
    """Judge the exploratory figures of two arms; whether any of them could have had a verdict."""
    declared = [row for draft, row in rows if draft.primary and _is_judged(row)]
    open_rows = [row for draft, row in rows if not draft.primary and _is_judged(row)]
    # A figure of a few blocks has no interval and no verdict, but would often look clear by accident.
    few = [row for row in open_rows if _of(row).low is None]
    for row in few:
        _replace(row, with_adjusted(_of(row), None))
    open_rows = [row for row in open_rows if _of(row).low is not None]
    if not open_rows:
        return False
    judged = {id(row) for row in (*declared, *open_rows)}
    numbered = [(draft, row) for draft, row in rows if id(row) in judged]
    swaps = _swaps(numbered)
    places = {id(row): place for place, (_, row) in enumerate(numbered)}
    first_step = {
        places[id(row)]: Declared((1 - _of(row).confidence) / max(family, 1), _of(row).axis_margin) for row in declared
    }
    decided = any(_of(row).verdict in ("better", "worse") for row in declared)
    counted = {} if decided else first_step
    found = adjusted(swaps, [places[id(row)] for row in open_rows], counted)
    for row, p in zip(open_rows, found, strict=True):
        _replace(row, with_adjusted(_of(row), min(1.0, pairs * p)))
        row.adjustment = "label-swaps"
    alpha = 1 - _of(open_rows[0]).confidence
    return pairs * least(swaps, counted) <= alpha * (1 + 1e-9)


def _is_judged(row: Draft) -> bool:
    comparison = _of(row)
    return comparison.better is not None and comparison.p is not None


def _swaps(rows: Rows) -> Swaps:
    """Label swaps over the figures of ``rows``, which are numbered in their order."""
    if all(row.paired for _, row in rows):
        return BlockSwaps([dict(zip(row.blocks, _differences(row), strict=True)) for _, row in rows])
    samples = []
    for draft, row in rows:
        first, second = _of(row).samples
        samples.append(
            Samples(
                draft.test.name,
                dict(zip(row.runs[0], _capped(first, row), strict=True)),
                dict(zip(row.runs[1], _capped(second, row), strict=True)),
            )
        )
    return RunSwaps(samples)


def _differences(row: Draft) -> list[float]:
    """The differences of a row; an infinite one counts as much as the largest finite one, so that it neither hides nor
    outweighs the others."""
    found = list(_of(row).differences)
    limit = row.judged.limit
    if not math.isfinite(limit):
        return found
    beyond = math.log1p(limit / 100) if _of(row).scale == "ratio" else limit
    cap = max((abs(d) for d in found if abs(d) < beyond), default=1.0) or 1.0
    return [d if abs(d) < beyond else math.copysign(cap, d) for d in found]


def _capped(values: Sequence[float], row: Draft) -> list[float]:
    """Unpaired values; infinite ones lie as far above the finite ones as these are apart."""
    if not math.isfinite(row.judged.limit):
        return list(values)
    everything = [value for side in _of(row).samples for value in side]
    top = max(everything)
    finite = [value for value in everything if value < top]
    if not finite:
        return list(values)
    cap = max(finite) + ((max(finite) - min(finite)) or 1.0)
    return [min(value, cap) for value in values]


def _leave_out_dependent(rows: Rows) -> None:
    """Take the verdict from figures that moved no further than what they depend on explains."""
    known = {(draft.test.name, draft.metric.key): row for draft, row in rows}
    for draft, row in rows:
        depends = DEPENDS_ON.get(draft.metric.key)
        if draft.primary or depends is None or _of(row).better is None:
            continue
        other = known.get((draft.test.name, depends.on))
        if other is not None and _explains(other, row, depends):
            way = "grows with it" if depends.proportional else "moves with it"
            text = f"informational: the arms differ in {other.metric.title}, and this figure {way}"
            _replace(row, not_judged(_of(row), text))
            row.not_judged = "depends"


def _explains(other: Draft, row: Draft, depends: Dependence) -> bool:
    """Whether the change of ``other`` would explain that of ``row``, if nothing else had changed."""
    cause, effect = _of(other), _of(row)
    if cause.low is None or cause.high is None or cause.low <= 0 <= cause.high:
        return False  # the arms do not differ in it, as far as can be told
    if not depends.proportional:
        return cause.estimate * effect.estimate < 0
    if min(*other.medians, *row.medians) <= 0 or not all(map(math.isfinite, (*other.medians, *row.medians))):
        return False
    grown, moved = (math.log(after / before) for before, after in (other.medians, row.medians))
    return grown * moved > 0 and abs(moved) <= abs(grown)
