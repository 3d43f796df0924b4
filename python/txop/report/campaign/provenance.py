"""The chapter about provenance: facts of every target, and the driver found loaded for every arm.

What all have in common is printed once, and what is not available in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from txop.archive.reader import Archive
from txop.present.blocks import Cell, Column, Fact, Facts, Grid
from txop.present.cells import missing
from txop.report import facts
from txop.report.campaign.pieces import Paragraph, Piece

_ABSENT = "not_available."
_BETWEEN = " | "
_MANY = 3
"""A fact with more values than these changed from run to run."""


def provenance(archive: Archive) -> list[Piece]:
    """Every fact of every target, and what was found loaded."""
    return [*_targets(archive), *_loaded(archive)]


def _targets(archive: Archive) -> list[Piece]:
    pieces: list[Piece] = []
    known = {name: dict(found) for name, found in facts.targets(archive).items()}
    described = [name for name in archive.plan.target if known.get(name)]
    same = _same([known[name] for name in described])
    if same:
        pieces += _described(f"All targets ({', '.join(described)})", same)
    for name in archive.plan.target:
        if name not in described:
            pieces.append(Paragraph(f"Target {name}: not available, the journal has no facts of it."))
        else:
            rest = {key: text for key, text in known[name].items() if key not in same}
            pieces += _described(f"Target {name}", rest)
    return pieces


def _described(title: str, found: Mapping[str, str]) -> list[Piece]:
    """Facts as a list, and in a sentence what is not available."""
    items = [Fact(key, text) for key, text in found.items() if not key.startswith(_ABSENT)]
    absent = [f"{key.removeprefix(_ABSENT)} ({why})" for key, why in found.items() if key.startswith(_ABSENT)]
    pieces: list[Piece] = [Facts(items, title=title)] if items else []
    if absent:
        whose = "" if items else f"{title}: "
        pieces.append(Paragraph(f"{whose}Not available: {'; '.join(absent)}.", "note"))
    return pieces


def _loaded(archive: Archive) -> list[Piece]:
    found_of = facts.loaded_arms(archive)
    loaded = {arm.name: dict(found_of[arm.name]) for arm in archive.plan.arm if arm.name in found_of}
    same = _same(list(loaded.values()))
    pieces: list[Piece] = []
    keys = [key for key in dict.fromkeys(key for found in loaded.values() for key in found) if key not in same]
    changing = [key for key in keys if any(_changes(found.get(key, "")) for found in loaded.values())]
    rows = [[Cell(key), *(_cell(found.get(key)) for found in loaded.values())] for key in keys if key not in changing]
    columns = [Column("fact", right=False), *(Column(arm, right=False) for arm in loaded)]
    note = f"Another one in every run, or nearly: {', '.join(changing)}." if changing else ""
    if rows:
        title = "Found loaded, where arms differ" if len(loaded) > 1 else f"Found loaded for {next(iter(loaded))}"
        pieces.append(Grid(title, columns, rows, note=note, unit_of_rows="facts", whole=True))
    elif note:
        pieces.append(Paragraph(note, "note"))
    if same:
        pieces += _described("Found loaded for every arm", same)
    return pieces


def _same(found: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all of several have in common; nothing where there is only one."""
    if len(found) < 2:
        return {}
    first, *others = found
    return {key: text for key, text in first.items() if all(other.get(key) == text for other in others)}


def _changes(text: str) -> bool:
    return text.count(_BETWEEN) >= _MANY


def _cell(text: str | None) -> Cell:
    return missing() if text is None else Cell(text)
