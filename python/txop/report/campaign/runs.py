"""Every run of the campaign in one table."""

from __future__ import annotations

from txop.archive.counting import figure_value
from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.compare import words
from txop.compare.result import CompareResult, MetricFacts
from txop.present.blocks import Cell, Column, Grid
from txop.present.cells import missing
from txop.report.answer.wording import INFINITE, unit, value

ROWS_SHOWN = 24
ROWS_MAX = 1000

_COLUMNS = (
    "throughput_mbit_s",
    "throughput_up_mbit_s",
    "throughput_down_mbit_s",
    "rtt_p50_ms",
    "rtt_p95_ms",
    "retry_percent",
    "air_retry_percent",
    "cpu_busy_percent",
    "cpu_s_per_gbit",
)
_MOST_COLUMNS = 6


def all_runs(archive: Archive, result: CompareResult) -> Grid:
    """The table: what each run was, whether it counts, its main figures."""
    metrics = _metrics(result)
    columns = [
        Column("run", right=False),
        Column("order"),
        Column("block"),
        Column("arm", right=False),
        Column("test", right=False),
        Column("state", right=False),
        Column("started (UTC)", right=False),
        *(Column(f"{metric.title}{unit(metric)}") for metric in metrics),
    ]
    ordered = in_order(archive.runs)
    rows = [_row(number, run, metrics) for number, run in enumerate(ordered[:ROWS_MAX], start=1)]
    more = len(ordered) - len(rows)
    note = f"{more:,} more runs are in the CSV and Parquet exports." if more > 0 else ""
    return Grid("", columns, rows, note=note, unit_of_rows="runs")


def in_order(runs: list[RunFile]) -> list[RunFile]:
    """Runs in the order they were made: by block and place in it, then by their start."""
    return sorted(runs, key=lambda run: (run.block, run.position, run.started_at, run.run))


def _metrics(result: CompareResult) -> list[MetricFacts]:
    known = {figure.metric.key: figure.metric for figure in result.figures if any(v.n for v in figure.arms)}
    primary = [figure.metric.key for figure in result.figures if figure.role == "primary"]
    keys = dict.fromkeys([*(key for key in primary if key in known), *(key for key in _COLUMNS if key in known)])
    return [known[key] for key in list(keys)[:_MOST_COLUMNS]]


def _row(number: int, run: RunFile, metrics: list[MetricFacts]) -> list[Cell]:
    void = run.state == "void"
    cells = [
        Cell(run.run),
        Cell(str(number), number),
        Cell(str(run.block) + (f" (for {run.replaces})" if run.replaces is not None else ""), run.block),
        Cell(run.arm),
        Cell(run.test),
        Cell(f"void: {', '.join(v.gate for v in run.void)}" if void else "valid", None, "bad" if void else ""),
        Cell(run.started_at[:19].replace("T", " ")),
    ]
    for metric in metrics:
        found = figure_value(run, metric.key)
        if found is None:
            cells.append(missing())
        else:
            endless = value(None, metric, infinite=True) == INFINITE and found == float("inf")
            text = words.bounded(run.metrics[metric.key].bound) + value(
                None if endless else found, metric, infinite=endless
            )
            cells.append(Cell(text, 1e300 if endless else found))
    return cells
