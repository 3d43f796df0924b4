"""An exploration as a JSON document, and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from txop.guest_exploration.exploration import Finding
from txop.guest_exploration.explore import FINDINGS, ExploredDriver
from txop.guest_exploration.script import written
from txop.guest_trials.survey_report import where
from txop.guest_trials.trial import Place
from txop.present.csv_cells import Cell
from txop.present.format import plural

FORMAT = "txop-guest-exploration"
VERSION = 1

COLUMNS = ("driver", "finding", "faults", "trial", "from", "made smaller", "replay", "kernel log")


def cells(explored: ExploredDriver, finding: Finding) -> tuple[Cell, ...]:
    """A finding under :data:`COLUMNS`."""
    smaller = None
    if finding.reductions:
        smaller = f"{finding.reductions} trials" + ("" if finding.smallest else ", not to the end")
    return (
        explored.driver,
        finding.key,
        "; ".join(fault.kind for fault in finding.script),
        finding.trial,
        finding.begin or "mutation",
        smaller,
        finding.replay or "not yet",
        finding.outcome.line,
    )


def summary(explored: ExploredDriver) -> str:
    """How far it came, in a sentence."""
    exploration = explored.exploration
    mutated = max(0, exploration.tries - len(explored.begin))
    left_out = ""
    if explored.left_out:
        left_out = f" {plural(explored.left_out, 'trial')} left out: this machine ended the guest twice (trials/)."
    reach = "" if explored.reach is None else f" {explored.reach.sentence()}"
    cut = " The time was over: the same command goes on." if explored.cut else ""
    return (
        f"{explored.driver}: {exploration.tries - mutated} scripts to begin with and {mutated} mutated ones, "
        f"{exploration.trials} trials in all, {len(exploration.corpus.seen)} features, "
        f"{len(exploration.corpus.entries)} scripts kept.{reach}{left_out}{cut}"
    )


def document(explored: Sequence[ExploredDriver], place: Place, options: str) -> dict[str, Any]:
    """The exploration as a document (docs/guest-faults.md)."""
    return {
        "format": FORMAT,
        "version": VERSION,
        **where(place),
        "drivers": [_driver(one, options) for one in explored],
    }


def _driver(explored: ExploredDriver, options: str) -> dict[str, Any]:
    exploration = explored.exploration
    known = [outcome.seconds for outcome in explored.outcomes if outcome.seconds is not None]
    return {
        "driver": explored.driver,
        "seed": explored.request.seed,
        "ahead": explored.request.ahead,
        "control": {"verdict": explored.control.judgement.verdict.value, "registers": len(explored.control.registers)},
        "begin": [item.name for item in explored.begin],
        "tries": exploration.tries,
        "of": exploration.total,
        "cut": explored.cut,
        "trials": exploration.trials,
        "seconds": round(sum(known), 3) if known else None,
        "verdicts": dict(sorted(Counter(outcome.verdict for outcome in explored.outcomes).items())),
        "left_out": explored.left_out,
        "features": len(exploration.corpus.seen),
        "coverage": None if explored.reach is None else explored.reach.document(),
        "corpus": [
            {
                "trial": entry.number,
                "new": sorted(entry.new),
                "blocks": entry.blocks,
                "script": written(entry.script),
            }
            for entry in exploration.corpus.entries
        ],
        "findings": [_finding(explored, finding, options) for finding in explored.findings],
        "damage": explored.damage,
    }


def _finding(explored: ExploredDriver, finding: Finding, options: str) -> dict[str, Any]:
    return {
        "finding": finding.key,
        "file": f"{explored.driver}/{FINDINGS}/{finding.name}.toml",
        "verdict": finding.outcome.verdict,
        "why": finding.outcome.why,
        "line": finding.outcome.line,
        "trial": finding.trial,
        "begin": finding.begin,
        "faults": len(finding.script),
        "reductions": finding.reductions,
        "smallest": finding.smallest,
        "replay": finding.replay,
        "log_sha256": finding.outcome.log_sha256,
        "script": finding.text,
        "command": explored.command(finding, options),
    }
