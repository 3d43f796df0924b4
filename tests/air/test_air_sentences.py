"""What the report says in words: of each capture of the corpus what it must and must not say, of all captures that no
sentence goes beyond what was measured."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from txop.air import AirReport, analyze
from txop.air.view import Facts, Grid, headline, sections
from txop.present.blocks import Lines
from txop.present.report_parts import Figure

ROOT = Path(__file__).parents[2]
CAPTURES = Path(os.environ.get("TXOP_CAPTURES", ROOT.parent / "shared" / "captures"))
CORPUS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "corpus/sentences.toml").read_text())["capture"]

NONSENSE = re.compile(r"\b0 of (the )?0\b|none of 0\b|-0\.0\b|(?<!of )\b1 (were|are|have)\b|\b0ss\b")


@cache
def by_hash() -> dict[str, Path]:
    """The captures at hand by their SHA-256."""
    files = [path for folder in ("wlan", "generated") for path in sorted((CAPTURES / folder).glob("*"))]
    captures = [path for path in files if path.suffix not in (".md", ".tsv")]
    if not captures:
        pytest.skip(f"SKIPPED: no real captures at {CAPTURES}; set TXOP_CAPTURES")
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in captures}


def stated(report: AirReport) -> Iterator[tuple[str, list[Figure]]]:
    """Every sentence with its figures."""
    for limit in report.summary.limits:
        yield limit.text, limit.figures
    for sentence in (*report.hearing.doubts, *filter(None, [report.hearing.proof])):
        yield sentence.text, sentence.figures
    for flood in report.floods:
        yield flood.text, flood.figures
    for verdict in report.ack_verdicts:
        yield verdict.text, verdict.figures
        for sentence in verdict.evidence:
            yield sentence.text, sentence.figures
    for fall in report.waterfalls:
        for sentence in fall.advice:
            yield sentence.text, sentence.figures
    for steady in report.steadiness:
        for event in steady.events:
            yield event.text, event.figures
    for management in report.events.rows:
        if management.text is not None:
            yield management.text, [Figure(name="frames", value=management.frames, unit="count", n=management.frames)]
    for audit in report.capabilities:
        for row in audit.rows:
            if row.note is not None:
                yield f"{row.capability}: {row.note.text}", row.note.figures


def shown(report: AirReport) -> Iterator[str]:
    """Every line of the report as terminal and page show it."""
    first = headline(report)
    yield first.unavailable
    for flow in first.flows:
        yield from (flow.sentence, *flow.advice)
    for verdict in first.verdicts:
        yield from (verdict.title, verdict.text, *verdict.evidence)
    for section in sections(report):
        yield from section.unavailable
        for block in section.blocks:
            match block:
                case Facts():
                    yield from (f"{fact.label}: {fact.value}" for fact in block.items)
                case Lines():
                    yield from block.items
                case Grid():
                    yield from (block.title, block.note)
                    yield from (" | ".join(cell.text for cell in row) for row in block.rows)


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry["name"])
def test_a_capture_of_the_corpus_is_described_as_it_is(entry: dict[str, Any]) -> None:
    path = by_hash().get(entry["sha256"])
    if path is None:
        pytest.skip(f"SKIPPED: {entry['name']} ({entry['sha256'][:12]}) is not at {CAPTURES}")
    report = analyze(path)
    texts = [text for text, _ in stated(report)]
    for kind, found in (("", texts), ("page_", list(shown(report)) if "page_says" in entry else [])):
        for expected in entry.get(f"{kind}says", []):
            assert any(expected in text for text in found), (expected, found)
        for forbidden in entry.get(f"{kind}never", []):
            assert not any(forbidden in text for text in found), (forbidden, [t for t in found if forbidden in t])


def test_no_sentence_goes_beyond_what_was_measured() -> None:
    reports = 0
    for path in by_hash().values():
        try:
            report = analyze(path)
        except (ValueError, OSError):
            continue  # nothing of it could be read: there is no report to go too far
        reports += 1
        codes = {limit.code for limit in report.summary.limits}
        for text, figures in stated(report):
            assert figures, (path.name, text)
            assert all(figure.n >= 0 and figure.name for figure in figures), (path.name, text)
            if "no transmission was captured" in text or "sender silent" in text:
                assert report.hearing.silence_is_evidence, (path.name, text)
            if "(TSFT)" in text:
                assert "no-tsft" in codes, (path.name, text)
            assert not NONSENSE.search(text), (path.name, text)
        for raster in report.hearing.beacons:
            if report.hearing.proof is not None and raster.address in report.hearing.proof.text:
                assert raster.heard <= raster.due + 1 + raster.due // 100, (path.name, raster)
        for exchange in report.exchanges:
            data = exchange.data
            assert data.ppdus == data.answered + data.missing_resent + data.missing_not_resent, (path.name, exchange)
            assert (data.late_answered or 0) + (data.in_time_answered or 0) <= data.answered, (path.name, exchange)
        timed = {(each.ta, each.ra): each.data_gap_us for each in report.exchanges}
        for verdict in report.ack_verdicts:
            if verdict.question == "ack" and verdict.answer in ("not-received", "late"):
                gap = timed[verdict.originator, verdict.recipient]
                assert gap is not None, (path.name, verdict.text)
                assert gap.n >= 20, (path.name, verdict.text)
        busy = report.airtime
        if busy.busy_share is not None and busy.busy_share_low is not None and busy.busy_share_high is not None:
            assert busy.busy_share_low <= busy.busy_share <= busy.busy_share_high + 1e-9, path.name
    assert reports >= 100, f"only {reports} captures gave a report"
