"""The sentences of :mod:`txop.archive.damage`, as every reader of an archive prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from txop.archive.damage import Code, Finding

_SHOWN_NAMES = 5
_LONGEST = 80


def sentence(finding: Finding) -> str:
    """What is wrong, where, and what follows from it; without a full stop.

    >>> sentence(Finding(Code.RUN_UNIT, "001-old-tx", {"metric": "rtt_p50_ms", "unit": "s", "own": "ms"}))
    "runs/001-old-tx/run.json: the unit of rtt_p50_ms is 's', not 'ms'; the run does not count"
    """
    place, said = _SENTENCES[finding.code]
    text = f"{place.format(run=finding.run)}{said(finding.facts)}"
    counts_not = finding.spoils is not None and finding.code not in _SAY_IT_THEMSELVES
    return f"{text}; the run does not count" if counts_not else text


_SAY_IT_THEMSELVES = frozenset(
    {Code.RUN_MISSING, Code.RUN_UNREADABLE, Code.RUN_MALFORMED, Code.RUN_NEWER, Code.RUN_MISPLACED, Code.RUN_UNKNOWN}
)
"""Kinds of which it is plain that the run does not count: there is nothing to count."""

Facts = Mapping[str, object]


def line_words(facts: Facts) -> str:
    """What is wrong with a line of a journal."""
    problem, size = facts["problem"], facts.get("bytes")
    said = {"cut": f"cut short after {size} bytes", "long": f"of {size} bytes is longer than any event"}
    return f"line {facts['line']}: {said.get(str(problem), 'not an event')}"


def _names(value: object) -> str:
    names = [str(name) for name in value] if isinstance(value, list | tuple) else [str(value)]
    more = ", ..." if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more


def _lacks_end(facts: Facts) -> str:
    runs = facts["runs"]
    count = len(runs) if isinstance(runs, list | tuple) else 1
    return f" does not have the end of {_names(runs)} ({count} in all); the run.json of each is whole, so they count"


def _plan(facts: Facts) -> str:
    tables = _names(facts["tables"])
    unknown = "; which figures were primary cannot be told any more" if facts.get("primary_unknown") else ""
    return f" is not the plan that the journal recorded when the campaign began ({tables} differs){unknown}"


def _order(facts: Facts) -> str:
    of = f" of {facts['of']}" if facts.get("of") else ""
    return f"event {facts['number']}, {facts['event']}{of}, is not in the place where it was written"


def _block(facts: Facts) -> str:
    what, value, other = facts["what"], facts.get("value"), facts.get("other")
    if what == "beyond":
        return f"the plan has {other} blocks, and block {value} repeats none of them"
    if what == "replaces":
        return f"it repeats block {value}, but by the journal {'none' if other is None else f'block {other}'}"
    return f"it is number {value} of its block, but by the journal number {other}"


def _state(facts: Facts) -> str:
    match facts["what"]:
        case "no cause":
            return "it is void, without a cause"
        case "causes":
            return f"it is valid, with a cause that voids it ({_cut(facts.get('gate'))})"
        case _:
            return f"it is valid, and its gate {_cut(facts.get('gate'))} says void"


def _value(facts: Facts) -> str:
    if facts.get("beside") is not None:
        return f"{facts['metric']} is above {facts['beside']}"
    return f"{facts['metric']} is {_cut(facts['value'])}, which no run can have"


def _arm(facts: Facts) -> str:
    against = {"plan": "by the plan", "tie": "in as many runs of the arm"}.get(str(facts["against"]), "in the others")
    looks = f", as in runs of {facts['like']}" if facts.get("like") else ""
    own, other = _cut(facts["value"]), _cut(facts["expected"])
    return f"{facts['key']} of the arm is {own}{looks}, but {other} {against}"


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_RUN = "runs/{run}/run.json: "
_SENTENCES: dict[Code, tuple[str, Callable[[Facts], str]]] = {
    Code.JOURNAL_UNREADABLE: ("journal.jsonl: ", lambda facts: str(facts["reason"])),
    Code.JOURNAL_LINE: ("journal.jsonl, ", line_words),
    Code.JOURNAL_EMPTY: ("journal.jsonl: ", lambda facts: f"it has no event, and there are {facts['runs']} runs"),
    Code.JOURNAL_REPEATED: (
        "journal.jsonl: ",
        lambda facts: f"event {facts['number']}, {facts['event']}, repeats event {facts['first']}",
    ),
    Code.JOURNAL_ORDER: ("journal.jsonl: ", _order),
    Code.JOURNAL_STRANGE: (
        "journal.jsonl: ",
        lambda facts: f"event {facts['number']}, {facts['event']}, is of no block, arm and test of the plan",
    ),
    Code.JOURNAL_LACKS_END: ("journal.jsonl", _lacks_end),
    Code.PLAN_EDITED: ("plan.toml", _plan),
    Code.RUN_MISSING: (_RUN, lambda facts: f"{facts['reason']}, and the journal has the end of the run"),
    Code.RUN_UNREADABLE: (_RUN, lambda facts: str(facts["reason"])),
    Code.RUN_MALFORMED: (_RUN, lambda facts: _cut(facts["reason"])),
    Code.RUN_NEWER: (_RUN, lambda facts: f"was made by a newer txop (version {_cut(facts['version'])})"),
    Code.RUN_MISPLACED: (_RUN, lambda _: "belongs to another folder"),
    Code.RUN_UNKNOWN: ("runs/{run}: ", lambda _: "belongs to no arm and test of the plan"),
    Code.RUN_BLOCK: (_RUN, _block),
    Code.RUN_END: (_RUN, lambda facts: f"it is {facts['state']}, but by the journal {facts['journal']}"),
    Code.RUN_STATE: (_RUN, _state),
    Code.RUN_UNIT: (
        _RUN,
        lambda facts: f"the unit of {facts['metric']} is {_cut(facts['unit'])!r}, not {facts['own']!r}",
    ),
    Code.RUN_VALUE: (_RUN, _value),
    Code.RUN_WINDOW: (
        _RUN,
        lambda facts: f"its window of {facts['window_s']} s is longer than the run, {facts['seconds']} s",
    ),
    Code.RUN_COPY: (_RUN, lambda facts: f"it has the same figures as {facts['of']}, so one is a copy of the other"),
    Code.RUN_ARM: (_RUN, _arm),
    Code.SERIES_UNREADABLE: ("runs/{run}/series.json: ", lambda _: "cannot be read"),
}
