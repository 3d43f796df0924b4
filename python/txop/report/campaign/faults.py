"""Named faults of the kernel logs, and what the runs say that does not count."""

from __future__ import annotations

from dataclasses import dataclass, field

from txop.archive.reader import Archive
from txop.archive.run_file import Fault, RunFile
from txop.compare import words
from txop.compare.result import CompareResult, Row
from txop.present.blocks import Cell, Column, Grid, Lines
from txop.present.format import plural
from txop.report.answer.wording import listed
from txop.report.campaign.effects import primary
from txop.report.campaign.pieces import Code, Fold, Paragraph, Piece

_MOST_FAULTS = 100
_MOST_LINES = 6
_LONGEST = 300
_MOST_RUNS = 500


@dataclass
class _FaultCount:
    fault: Fault
    count: int = 0
    runs: list[str] = field(default_factory=list)
    void: int = 0
    lines: list[str] = field(default_factory=list)


def faults(archive: Archive, result: CompareResult) -> list[Piece]:
    """Faults by arm: name, how often, in which runs, the kernel's first lines."""
    pieces: list[Piece] = []
    looked = [run for run in archive.runs if "faults" in run.metrics or run.faults]
    asked = [run for run in looked if run.faults or any(_known(run, key) for key in ("faults", "load_faults"))]
    if not asked:
        reasons = sorted({run.metrics["faults"].reason or "" for run in looked if "faults" in run.metrics} - {""})
        why = listed(reasons) or "the runs recorded no kernel log"
        return [Paragraph(f"Kernel logs are not available: {why}.")]
    rows: list[list[Cell]] = []
    folds: list[Piece] = []
    for arm in result.arms:
        seen = _of_arm(archive, arm.name)
        mine = sum(run.arm == arm.name for run in asked)
        if not seen:
            none = Cell("none", None, "dim")
            rows.append([Cell(arm.name), none, Cell(""), Cell(""), Cell("0", 0), Cell(f"0 of {mine}", 0)])
        for entry in list(seen.values())[:_MOST_FAULTS]:
            void = f" ({entry.void} void)" if entry.void else ""
            rows.append(
                [
                    Cell(arm.name),
                    Cell(entry.fault.title),
                    Cell("while loading" if entry.fault.while_loading else "in the run"),
                    Cell(entry.fault.severity, None, "bad" if entry.fault.severity in ("error", "fatal") else ""),
                    Cell(f"{entry.count:,}", entry.count),
                    Cell(f"{len(entry.runs)} of {mine}{void}", len(entry.runs)),
                ]
            )
            text = "\n".join(line[:_LONGEST] for line in entry.lines[:_MOST_LINES])
            head = f"{arm.name}: {entry.fault.title} ({entry.fault.key}), in {listed(entry.runs)}"
            folds.append(Code(head, text or "no line was kept"))
    columns = [
        Column("arm", right=False),
        Column("fault", right=False),
        Column("when", right=False),
        Column("severity", right=False),
        Column("messages"),
        Column("runs"),
    ]
    pieces.append(Grid("", columns, rows[:_MOST_FAULTS], unit_of_rows="faults", note="Void runs are included here."))
    if folds:
        pieces.append(Fold("The kernel's own lines", folds[:_MOST_FAULTS], open=len(folds) <= 4))
    return pieces


def _known(run: RunFile, key: str) -> bool:
    return key in run.metrics and run.metrics[key].value is not None


def _of_arm(archive: Archive, arm: str) -> dict[tuple[str, str, bool], _FaultCount]:
    found: dict[tuple[str, str, bool], _FaultCount] = {}
    for run in archive.runs:
        for fault in run.faults if run.arm == arm else ():
            entry = found.setdefault((fault.key, fault.severity, fault.while_loading), _FaultCount(fault))
            entry.count += fault.count
            if run.run not in entry.runs:  # a run has as many faults of a key as tasks hang
                entry.runs.append(run.run)
                entry.void += run.state == "void"
            entry.lines += [line for line in fault.lines if line not in entry.lines]
            del entry.lines[_MOST_LINES:]
    return found


def not_counted(result: CompareResult) -> list[Piece]:
    """Void runs with their causes, repeats, what they would have changed, and warnings of the others."""
    pieces: list[Piece] = []
    if result.voided:
        columns = [Column(text, right=False) for text in ("run", "cause", "taken again")]
        rows = []
        for run in result.voided[:_MOST_RUNS]:
            causes = "; ".join(f"{gate}: {cause}" for gate, cause in zip(run.gates, run.causes, strict=True))
            again = f"in block {run.repeated_in}" if run.repeated_in is not None else "no"
            rows.append([Cell(run.run), Cell(causes or "no cause recorded"), Cell(again)])
        pieces.append(Grid(f"Void: {plural(len(result.voided), 'run')}", columns, rows, unit_of_rows="runs"))
        pieces += _with_and_without(result)
    else:
        pieces.append(Paragraph("No run was void: every run that ended counts."))
    if result.design.repeats:
        repeats = listed([f"block {r.block} repeats block {r.replaces}" for r in result.design.repeats], 20)
        pieces.append(Paragraph(f"Repeats: {repeats}."))
    warned = words.run_warning_lines(result)
    if warned:
        most = 30
        lines = warned[:most]
        if len(warned) > most:
            lines.append(f"and {len(warned) - most} more; the JSON export has them all")
        about = f"Warnings of {plural(len(result.run_warnings), 'run')} that count"
        pieces.append(Fold(about, [Lines(lines)], open=len(warned) <= 8))
    return pieces


def _with_and_without(result: CompareResult) -> list[Piece]:
    """The primary effects as they are, and as they would be with every run."""
    rows = []
    for figure in primary(result):
        for row in figure.rows:
            if row.with_voided is None:
                continue
            other = row.model_copy(update=dict(row.with_voided))
            rows.append([Cell(words.label(figure)), Cell(row.arm), Cell(_effect(row)), Cell(_effect(other))])
    if not rows:
        return []
    columns = [Column(text, right=False) for text in ("figure", "arm", "as it counts", "with void and repeated runs")]
    note = "For the reader only: whether leaving runs out made the result."
    return [Grid("With and without them", columns, rows, unit_of_rows="rows", note=note)]


def _effect(row: Row) -> str:
    ends = words.interval(row, unit=False)
    return f"{words.change(row)} ({ends + ', ' if ends else ''}n={row.n})"
