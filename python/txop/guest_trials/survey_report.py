"""The fault survey as a JSON document, as CSV and as Markdown."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import IO, Any

from txop.core.visible import visible
from txop.guest.provenance import in_words, provenance
from txop.guest_trials.endurance import EnduranceResult
from txop.guest_trials.survey import Row
from txop.guest_trials.trial import Place
from txop.present.csv_cells import Cell, write_table

SURVEY = "txop-guest-survey"
CYCLES = "txop-guest-cycle"
VERSION = 1
MOST_CACHES = 10
"""Listed of each run."""

COLUMNS = ("fault", "driver", "verdict", "n", "brought back by", "silence s", "struck", "why", "kernel log")


def words(row: Row) -> str:
    """The verdicts of a row: one, or how many of each."""
    counts = row.counts
    if len(counts) == 1:
        return next(iter(counts)).value
    return ", ".join(f"{verdict.value} {number}" for verdict, number in counts.items())


def cells(row: Row) -> tuple[Cell, ...]:
    """A row under :data:`COLUMNS`, with what the worst of its samples says."""
    worst = row.worst.judgement
    silence_s = None if worst.silence_s is None else round(worst.silence_s, 1)
    return (
        row.script.name,
        row.driver,
        words(row),
        len(row.done),
        worst.back,
        silence_s,
        worst.struck,
        worst.why,
        worst.line,
    )


def surveyed(rows: Sequence[Row], place: Place) -> dict[str, Any]:
    """The survey as a document."""
    return {
        "format": SURVEY,
        "version": VERSION,
        **where(place),
        "rows": [
            {
                "fault": row.script.name,
                "title": row.script.title,
                "sha256": hashlib.sha256(row.script.text.encode()).hexdigest(),
                "driver": row.driver,
                "n": len(row.done),
                "verdicts": {verdict.value: number for verdict, number in row.counts.items()},
                "trials": [
                    {
                        "seed": done.case.seed,
                        "verdict": done.judgement.verdict.value,
                        "back": done.judgement.back,
                        "why": done.judgement.why,
                        "line": done.judgement.line,
                        "silence_s": done.judgement.silence_s,
                        "struck": done.judgement.struck,
                        "seconds": done.trial.seconds,
                        "guest_seconds": done.trial.guest_seconds,
                        "facts": [[fact.uptime_s, fact.name, fact.words] for fact in done.trial.seen.facts],
                    }
                    for done in row.done
                ],
            }
            for row in rows
        ],
    }


def where(place: Place) -> dict[str, Any]:
    """The chip, and what figures of guests stand on."""
    given = (path for modules in place.modules.values() for path in modules)
    return {"device": place.device, **provenance(place.image, place.computer, given)}


def write_survey_csv(rows: Sequence[Row], place: Place, out: IO[str]) -> None:
    """Write the rows, with where they come from in each."""
    facts = where(place)
    write_table(
        out,
        ("origin", "kernel", "device", *COLUMNS),
        ((facts["origin"], facts["release"], facts["device"], *cells(row)) for row in rows),
    )


def survey_markdown(rows: Sequence[Row], place: Place) -> str:
    """The survey as a Markdown table, and where it comes from."""
    lines = _head(place)
    lines += _table(COLUMNS, [cells(row) for row in rows])
    return "\n".join(lines) + "\n"


def _head(place: Place) -> list[str]:
    facts = where(place)
    return [f"Device: {facts['device']}. {in_words(facts)}", "", facts["not_radio"], ""]


def _table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    return [
        f"| {' | '.join(columns)} |",
        f"|{'|'.join(' --- ' for _ in columns)}|",
        *(f"| {' | '.join(_markdown(value) for value in row)} |" for row in rows),
    ]


def _markdown(value: Cell) -> str:
    """A value in a cell of a table, where nothing in it acts."""
    if value is None:
        return "–"
    text = visible(str(value))
    for character in "\\`*_{}[]<>#|":
        text = text.replace(character, f"\\{character}")
    return text


CYCLE_COLUMNS = (
    *("driver", "removed", "cycles", "of", "with traffic"),
    *("recovery s, least", "recovery s, median", "recovery s, most"),
    *("problems", "slab kB per cycle", "other kB per cycle", "grows most"),
)


def cycle_cells(done: EnduranceResult) -> tuple[Cell, ...]:
    """A run under :data:`CYCLE_COLUMNS`."""
    growth = done.growth
    top = ", ".join(f"{cache.name} {cache.bytes_per_cycle:.0f} B" for cache in growth.caches[:3])
    recovery = done.recovery_s
    return (
        done.driver,
        done.way.value,
        done.done,
        done.asked,
        done.with_traffic,
        *((None,) * 3 if recovery is None else (round(value, 2) for value in recovery[1:])),
        "; ".join(done.problems) or None,
        None if growth.slab_kb is None else round(growth.slab_kb.per_cycle, 2),
        None if growth.other_kb is None else round(growth.other_kb.per_cycle, 2),
        top or None,
    )


def cycled(runs: Sequence[EnduranceResult], place: Place) -> dict[str, Any]:
    """Runs of cycles as a document."""
    return {"format": CYCLES, "version": VERSION, **where(place), "runs": [_run(done) for done in runs]}


def _run(done: EnduranceResult) -> dict[str, Any]:
    growth = done.growth
    return {
        "driver": done.driver,
        "way": done.way.value,
        "asked": done.asked,
        "done": done.done,
        "with_traffic": done.with_traffic,
        "problems": done.problems,
        "recovery_s": None if done.recovery_s is None else done.recovery_s._asdict(),
        "seconds": done.trial.seconds,
        "guest_seconds": done.trial.guest_seconds,
        "kmemleak_objects": done.leaked_objects,
        "leaks": list(growth.leaks),
        "slab_kb_per_cycle": None if growth.slab_kb is None else growth.slab_kb.per_cycle,
        "other_kb_per_cycle": None if growth.other_kb is None else growth.other_kb.per_cycle,
        "cycles_measured": None if growth.slab_kb is None else growth.slab_kb.cycles,
        "caches": [
            {
                "name": cache.name,
                "object_bytes": cache.object_bytes,
                "objects_per_cycle": cache.slope.per_cycle,
                "rising_share": cache.slope.rising_share,
                "leaks": cache.leaks,
            }
            for cache in growth.caches[:MOST_CACHES]
        ],
        "faults": [
            {"key": fault.key, "severity": fault.severity, "count": fault.count, "examples": fault.examples[:1]}
            for fault in done.log.faults
            if fault.severity != "info"
        ],
    }


def cycle_markdown(runs: Sequence[EnduranceResult], place: Place) -> str:
    """Runs of cycles as a Markdown table."""
    lines = _head(place)
    return "\n".join([*lines, *_table(CYCLE_COLUMNS, [cycle_cells(done) for done in runs])]) + "\n"
