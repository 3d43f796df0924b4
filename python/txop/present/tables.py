"""Reports as flat tables: for polars, for CSV.

A table is a list of model objects; its columns are their fields. A nested object becomes one column per field
(``signal_dbm.median`` is ``signal_dbm_median``), a sentence its text, a list of plain values or sentences one text
cell, a list of objects a table of its own, with the key columns of its parent in front.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Generic, Protocol, TypeVar, Union

from txop.present.csv_cells import Cell, write_table
from txop.present.document import Model
from txop.present.report_parts import Sentence

if TYPE_CHECKING:
    import polars

Row = tuple[dict[str, Cell], Model]
"""Key columns of the parent, and the object the row shows."""


class Captured(Protocol):
    """A report on a capture."""

    @property
    def path(self) -> str:
        """The capture."""


R = TypeVar("R", bound=Captured)


@dataclass(frozen=True)
class Table(Generic[R]):
    """One table of a report."""

    name: str
    about: str
    keys: tuple[str, ...]
    """Columns that come from the parent object, text unless they are in :data:`WHOLE_KEYS`."""
    item: type[Model]
    rows: Callable[[R], Iterator[Row]]


WHOLE_KEYS = frozenset({"tid"})
"""Key columns that are whole numbers."""


def plain(get: Callable[[R], Iterable[Model]]) -> Callable[[R], Iterator[Row]]:
    """Rows without a parent."""

    def rows(report: R) -> Iterator[Row]:
        for item in get(report):
            yield {}, item

    return rows


def nested(get: Callable[[R], Iterable[Model]], keys: tuple[str, ...], inner: str) -> Callable[[R], Iterator[Row]]:
    """Rows from the list ``inner`` of each parent, with the parent's ``keys``."""

    def rows(report: R) -> Iterator[Row]:
        for parent in get(report):
            key = {name: getattr(parent, name) for name in keys}
            for item in getattr(parent, inner):
                yield key, item

    return rows


def columns(table: Table[R]) -> dict[str, type]:
    """Names of the columns with the type of their cells (``str``, ``int``, ``float`` or ``bool``)."""
    return {key: int if key in WHOLE_KEYS else str for key in table.keys} | dict(_columns_of(table.item, ""))


def rows(report: R, table: Table[R]) -> Iterator[dict[str, Cell]]:
    """The rows of a table of ``report``, in the order of the report."""
    for keys, item in table.rows(report):
        cells = dict(keys)
        _flatten(item, "", cells)
        yield cells


def frame(report: R, table: Table[R]) -> polars.DataFrame:
    """The table as a polars frame."""
    import polars

    kinds = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    schema = {column: kinds[kind] for column, kind in columns(table).items()}
    return polars.DataFrame(list(rows(report, table)), schema=schema, orient="row")


def write_csv(reports: Iterable[R], table: Table[R], out: IO[str]) -> None:
    """The table of all ``reports`` as CSV with a heading line; the first column names the capture.

    An empty cell is *not available*; text is made visible, and safe for spreadsheets.
    """
    names = list(columns(table))
    lines = ((report.path, *(row[name] for name in names)) for report in reports for row in rows(report, table))
    write_table(out, ["capture", *names], lines)


def _columns_of(item: type[Model], prefix: str) -> Iterator[tuple[str, type]]:
    for name, field in item.model_fields.items():
        inner = _without_none(field.annotation)
        if inner is Sentence:
            yield f"{prefix}{name}", str
        elif isinstance(inner, type) and issubclass(inner, Model):
            yield from _columns_of(inner, f"{prefix}{name}_")
        elif typing.get_origin(inner) is list:
            if _is_text_list(inner):
                yield f"{prefix}{name}", str
        elif isinstance(inner, type):
            yield f"{prefix}{name}", inner


def _flatten(item: Model, prefix: str, into: dict[str, Cell]) -> None:
    for name, field in type(item).model_fields.items():
        inner = _without_none(field.annotation)
        value = getattr(item, name)
        if inner is Sentence:
            into[f"{prefix}{name}"] = None if value is None else value.text
        elif isinstance(inner, type) and issubclass(inner, Model):
            if value is None:
                into.update(dict.fromkeys((column for column, _ in _columns_of(inner, f"{prefix}{name}_")), None))
            else:
                _flatten(value, f"{prefix}{name}_", into)
        elif typing.get_origin(inner) is list:
            if _is_text_list(inner):
                into[f"{prefix}{name}"] = None if value is None else "; ".join(_text(part) for part in value)
        else:
            into[f"{prefix}{name}"] = value


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (Union, types.UnionType):
        present = [part for part in typing.get_args(annotation) if part is not type(None)]
        if len(present) == 1:
            return present[0]
    return annotation


def _is_text_list(annotation: Any) -> bool:
    """Whether a list fits into one cell: of plain values, or of sentences."""
    (inner,) = typing.get_args(annotation)
    return inner is Sentence or not (isinstance(inner, type) and issubclass(inner, Model))


def _text(part: object) -> str:
    return part.text if isinstance(part, Sentence) else str(part)
