"""Reads tests/data/r_wilcox.tsv, the answers of R; tests/data/make_r_wilcox.R writes it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"
SCRIPT = DATA / "make_r_wilcox.R"
STORED = DATA / "r_wilcox.tsv"


@dataclass(frozen=True)
class Answer:
    kind: str
    exact: bool
    confidence: float
    p: float | None
    estimate: float | None
    low: float | None
    high: float | None
    conditional_p: float | None
    x: list[float]
    y: list[float]


def read(text: str) -> list[Answer]:
    def number(cell: str) -> float | None:
        return None if cell == "NA" else float(cell)

    def numbers(cell: str) -> list[float]:
        return [float(value) for value in cell.split(",")] if cell else []

    return [
        Answer(
            row["kind"],
            row["exact"] == "TRUE",
            float(row["confidence"]),
            number(row["p"]),
            number(row["estimate"]),
            number(row["low"]),
            number(row["high"]),
            number(row["conditional_p"]),
            numbers(row["x"]),
            numbers(row["y"] or ""),
        )
        for row in csv.DictReader(text.splitlines(), delimiter="\t")
    ]


def stored(kind: str) -> list[Answer]:
    return [answer for answer in read(STORED.read_text()) if answer.kind == kind]
