"""Headings, sentences, lists and tables in a markup language. Texts may come from outside and are shown as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from txop.report.exports import dokuwiki
from txop.report.exports.markdown import escaped


@dataclass(frozen=True)
class Markup:
    """A markup language: how it writes a text in each place, and what stands around it."""

    text: Callable[[str], str]
    heading: Callable[[str], str]
    cell: Callable[[str], str]
    title_form: str
    section_form: str
    item_form: str
    head: Callable[[Sequence[str]], str]
    """Lines above the rows of a table, of headings without signs that have a meaning."""

    def title(self, text: str) -> Iterator[str]:
        """The heading of the document."""
        yield self.title_form.format(self.heading(text))

    def section(self, text: str) -> Iterator[str]:
        """The heading of a section."""
        yield self.section_form.format(self.heading(text))

    def paragraph(self, text: str) -> Iterator[str]:
        """A sentence or several."""
        yield from (self.text(text), "")

    def items(self, texts: Iterable[str]) -> Iterator[str]:
        """A list."""
        yield from (self.item_form.format(self.text(text)) for text in texts)
        yield ""

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
        """A table."""
        yield self.head(head)
        yield from ("| " + " | ".join(map(self.cell, cells)) + " |" for cells in rows)
        yield ""


GITHUB = Markup(
    text=escaped,
    heading=escaped,
    cell=lambda text: escaped(text).replace("|", "\\|"),
    title_form="# {}\n",
    section_form="## {}\n",
    item_form="- {}",
    head=lambda names: "| " + " | ".join(names) + " |\n|" + "---|" * len(names),
)
"""GitHub's kind of Markdown."""

DOKUWIKI = Markup(
    text=dokuwiki.cell,
    heading=dokuwiki.heading,
    cell=dokuwiki.cell,
    title_form="===== {} =====\n",
    section_form="==== {} ====",
    item_form="  * {}",
    head=lambda names: dokuwiki.table_row(names, head=True),
)
"""DokuWiki's syntax, as driver developers keep their pages."""

MARKUPS = {"markdown": GITHUB, "dokuwiki": DOKUWIKI}
"""By the name of the format."""
