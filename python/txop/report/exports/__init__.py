"""A campaign as text and data: for a mailing list, a wiki, a spreadsheet, a program.

Every writer has the same shape, ``write(archive, result, target)``; it writes atomically. Heavy
libraries are imported when a writer is called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.report.exports.csv import write_csv
from txop.report.exports.dokuwiki import write_dokuwiki
from txop.report.exports.json import write_json
from txop.report.exports.mail import write_mail, write_mail_ascii
from txop.report.exports.markdown import write_markdown
from txop.report.exports.parquet import write_parquet

Writer = Callable[[Archive, CompareResult, Path], None]


@dataclass(frozen=True)
class Format:
    """One format."""

    name: str
    """As the user asks for it."""
    title: str
    """What it is for."""
    suffix: str
    """Suffix of its file; empty for a folder."""
    write: Writer
    """Writes ``target``, which is a folder (made when missing) for a format of several files.

    Raises :class:`OSError` when that is not possible.
    """

    @property
    def folder(self) -> bool:
        """Whether it is several files."""
        return not self.suffix


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format("markdown", "plain text of 78 columns for a mailing list", ".md", write_markdown),
        Format("mail", "some forty lines for a mail: verdict, table, why, set-up, caveats", ".mail.txt", write_mail),
        Format("mail-ascii", "the same in ASCII", ".mail.txt", write_mail_ascii),
        Format("dokuwiki", "tables for a DokuWiki page", ".dokuwiki.txt", write_dokuwiki),
        Format("csv", "one row per run and figure", ".csv", write_csv),
        Format("json", "the comparison and all runs", ".json", write_json),
        Format("parquet", "a folder of tables: comparison, runs, metrics, series, faults", "", write_parquet),
    )
}
"""Every format, by name."""
