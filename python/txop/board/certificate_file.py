"""Certificates of a file: a DokuWiki table with a column *Certified*, or ``[[certificate]]`` tables of TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from txop.archive.regular import read_regular
from txop.board.model import Certificate
from txop.core.errors import UserError
from txop.formats.dokuwiki import WikiTable, tables
from txop.formats.error import FormatError

_MOST_BYTES = 4 << 20
_MOST_CERTIFICATES = 100
_CERTIFIED = "certified"
_COLUMNS = {
    "date": "date",
    "vendor": "vendor",
    "certificate": "product",
    "product": "product",
    "hardware": "hardware",
    "driver": "driver",
    "driver (version)": "driver",
}
"""Keys of a certificate by the headings of the table, in small letters."""
_LINK = re.compile(r"\[\[(?:[^\]|]{0,2000}\|)?([^\]|]{0,500})\]\]")


@dataclass
class GivenCertificates:
    """What a file holds."""

    certificates: list[Certificate] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    """What could not be read, with its line."""


def read_certificates(path: Path) -> GivenCertificates:
    """The certificates of a file.

    Raises:
        UserError: it cannot be read, or has none.
    """
    try:
        text = read_regular(path, _MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise UserError(error.strerror or str(error), where=str(path)) from None
    except UnicodeDecodeError:
        raise UserError("it is not UTF-8", where=str(path)) from None
    try:
        found = _of_toml(path, text) if path.suffix == ".toml" else _of_wiki(path, text)
    except FormatError as error:
        raise UserError(str(error), where=str(path)) from None
    if not found.certificates:
        why = f"no certificate in it can be read: {found.damage[0]}" if found.damage else "it has no certificate"
        to_do = "give a wiki table with a column Certified, or TOML with [[certificate]]; docs/board.md"
        raise UserError(why, where=str(path), what_to_do=to_do)
    if len(found.certificates) > _MOST_CERTIFICATES:
        raise UserError(f"it has more than {_MOST_CERTIFICATES} certificates", where=str(path))
    return found


def _of_toml(path: Path, text: str) -> GivenCertificates:
    try:
        given = tomllib.loads(text).get("certificate")
    except (ValueError, RecursionError) as error:
        raise UserError(f"it is not TOML: {error}"[:300], where=str(path)) from None
    found = GivenCertificates()
    for number, each in enumerate(given if isinstance(given, list) else [], start=1):
        _take(found, each if isinstance(each, dict) else {}, f"{path}: certificate {number}")
    return found


def _of_wiki(path: Path, text: str) -> GivenCertificates:
    found = GivenCertificates()
    for table in tables(text):
        if any(name.lower() == _CERTIFIED for name in table.columns):
            _of_table(found, table, path)
    return found


def _of_table(found: GivenCertificates, table: WikiTable, path: Path) -> None:
    names = [name.lower() for name in table.columns]
    for row in table.rows:
        where = f"{path}, line {row.line}"
        if len(row.cells) < len(names):
            found.damage.append(f"{where}: it has {len(row.cells)} cells of {len(names)}, so it was left out")
            continue
        cells = dict(zip(names, (_plain(cell) for cell in row.cells), strict=False))
        fields: dict[str, Any] = {key: cells[name] for name, key in _COLUMNS.items() if cells.get(name)}
        fields["certified"] = [part.strip() for part in cells[_CERTIFIED].split(", ") if part.strip()]
        _take(found, {**fields, "line": row.line}, where)


def _take(found: GivenCertificates, fields: Mapping[str, Any], where: str) -> None:
    try:
        found.certificates.append(Certificate.model_validate(fields))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        found.damage.append(f"{where}: {place}: {first['msg']}, so it was left out")


def _plain(cell: str) -> str:
    """A cell without the addresses of its links.

    >>> _plain("[[http://x.invalid|Yardian Pro]] PRO1902")
    'Yardian Pro PRO1902'
    """
    return _LINK.sub(lambda found: found[1].strip(), cell)
