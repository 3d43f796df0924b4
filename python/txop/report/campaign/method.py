"""The chapter about the method: how and with what a campaign was measured, and how to repeat it."""

from __future__ import annotations

from dataclasses import dataclass

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.report import facts
from txop.report.answer.wording import unit
from txop.report.campaign.pieces import Code, Fold, Paragraph, Piece

_LONGEST_PLAN = 200_000


@dataclass(frozen=True)
class Definition:
    """A metric explained, as ``blocks.html.j2`` shows definitions."""

    term: str
    text: str
    denominator: str = ""

    @property
    def sentence(self) -> str:
        """The text."""
        return self.text


def definitions(result: CompareResult) -> dict[str, Definition]:
    """Every metric that the page shows, by its key."""
    found: dict[str, Definition] = {}
    for figure in result.figures:
        metric = figure.metric
        way = "informational" if metric.better is None else f"{metric.better} is better"
        how = "%" if metric.scale == "ratio" else ("percentage points" if metric.unit == "%" else metric.unit)
        margin = f"smallest effect that matters: {metric.margin:g} {how}".rstrip()
        term = f"{metric.title[:1].upper()}{metric.title[1:]} ({metric.key}{unit(metric)})"
        found.setdefault(metric.key, Definition(term, f"{metric.definition} {way[:1].upper()}{way[1:]}; {margin}."))
    return found


def methods(result: CompareResult) -> list[Piece]:
    """The methods paragraph."""
    return [Paragraph(" ".join(result.methods))]


def reproduce(archive: Archive, result: CompareResult) -> list[Piece]:
    """The commands, and the plan they need."""
    again = "txop report ARCHIVE"
    if result.baseline != archive.plan.baseline:
        again += f" --baseline {result.baseline}"
    commands = [f"{command} -o ARCHIVE" for command in facts.reproduce(archive)]
    pieces: list[Piece] = [Code("The same campaign again, and this page from it", "\n".join([*commands, again]))]
    digest = facts.plan_sha256(archive)
    try:
        text = archive.layout.plan.read_text(encoding="utf-8", errors="replace")[:_LONGEST_PLAN]
    except OSError:
        text = ""
    if digest is None or not text:
        pieces.append(Paragraph("The plan is not available: plan.toml of the archive cannot be read."))
    else:
        pieces.append(Fold("plan.toml", [Code(f"sha256 {digest}", text)]))
    return pieces
