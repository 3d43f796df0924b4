"""Markdown and DokuWiki of a campaign as renderers see them: what is a table, and that hostile text stays text.

markdown-it is a CommonMark renderer, pandoc reads DokuWiki.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from txop.archive.reader import read_archive
from txop.compare.archive import compare
from txop.report.exports.dokuwiki import lines as dokuwiki_lines
from txop.report.exports.markdown import lines as markdown_lines

PANDOC = shutil.which("pandoc")
needs_pandoc = pytest.mark.skipif(
    PANDOC is None, reason="no pandoc: DokuWiki output is not rendered (make test installs it)"
)

DOCUMENT = {"heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "code_block"}
OF_DOKUWIKI = {"Header", "Para", "Plain", "BulletList", "Table", "Strong", "Code", "Str", "Space", "SoftBreak"}


@pytest.fixture(scope="module", params=["golden", "poisoned"])
def archive(request, golden, poisoned):
    return golden if request.param == "golden" else read_archive(poisoned)


def test_markdown_is_headings_text_and_tables_in_code_blocks(archive):
    text = "\n".join(markdown_lines(archive, compare(archive)))
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    assert {token.type for token in tokens} == DOCUMENT
    inside = {child.type for token in tokens for child in token.children or ()}
    assert inside <= {"text", "softbreak", "text_special"}
    blocks = [token.content for token in tokens if token.type == "code_block"]
    assert any("vanilla" in block and "adj. p" in block for block in blocks)
    headings = [after.content for token, after in itertools.pairwise(tokens) if token.type == "heading_open"]
    assert {"What was compared", "Result", "Method"} <= set(headings)


def elements(part: Any) -> Iterator[dict[str, Any]]:
    """Every element of a document of pandoc."""
    if isinstance(part, dict):
        if "t" in part:
            yield part
        for value in part.values():
            yield from elements(value)
    elif isinstance(part, list):
        for value in part:
            yield from elements(value)


def words(part: Any) -> str:
    """Its text."""
    return "".join(each["c"] if each["t"] == "Str" else " " for each in elements(part) if each["t"] in ("Str", "Space"))


def rows(table: dict[str, Any]) -> list[list[str]]:
    """The cells of a table of pandoc, as text; the heading first."""
    _, _, _, head, bodies, _ = table["c"]
    made = [*head[1], *(row for body in bodies for row in (*body[2], *body[3]))]
    return [[words(cell[4]) for cell in row[1]] for row in made]


def rendered(text: str, folder: Path) -> list[dict[str, Any]]:
    (folder / "page.txt").write_text(text, encoding="utf-8")
    command = [str(PANDOC), "--from", "dokuwiki", "--to", "json", str(folder / "page.txt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return list(elements(json.loads(done.stdout)["blocks"]))


@needs_pandoc
def test_dokuwiki_tables_have_a_row_for_each_arm_and_a_cell_for_each_heading(golden, golden_result, tmp_path):
    text = "\n".join(dokuwiki_lines(golden, golden_result))
    tables = [rows(each) for each in rendered(text, tmp_path) if each["t"] == "Table"]
    tx = next(table for table in tables if any("Throughput" in cell for cell in table[0]))
    assert [len(row) for row in tx] == [7] * 4
    figure = golden_result.figure("tx.throughput_mbit_s")
    for arm, row in zip(figure.arms, tx[1:], strict=True):
        assert arm.median is not None
        assert row[3].startswith(f"{arm.median:.2f} Mbits/s; ")
        assert row[6] == f"runs/001-{arm.arm}-tx/air.pcapng"
    for row, verdict in zip(figure.rows, tx[2:], strict=True):
        assert verdict[5].endswith(f": {row.verdict}")


@needs_pandoc
def test_dokuwiki_is_headings_lists_and_whole_tables(archive, tmp_path):
    text = "\n".join(dokuwiki_lines(archive, compare(archive)))
    found = rendered(text, tmp_path)
    kinds = Counter(each["t"] for each in found)
    layout = {"AlignDefault", "ColWidthDefault"}
    links = [each["c"][2][0] for each in found if each["t"] == "Link"]
    assert set(kinds) - layout - {"Link"} <= OF_DOKUWIKI
    assert all(link.startswith("https://example.org/") for link in links)
    for table in (rows(each) for each in found if each["t"] == "Table"):
        assert len({len(row) for row in table}) == 1
        assert len(table) > 1
