"""Writes ``golden/dokuwiki-cells.json``: cells that a real DokuWiki shows as the very text they were made of.

``python tests/compare/make_dokuwiki_oracle.py RENDER...``, where the command RENDER reads a page from stdin and writes
what DokuWiki makes of it (``p_render("xhtml", p_get_instructions($text), $info)``), with ``camelcase`` switched on. The
file in the repository was made with DokuWiki 2022-07-31a. It fails when one cell is not shown as its text.
"""

from __future__ import annotations

import html
import json
import random
import re
import subprocess
import sys
from pathlib import Path

from txop.core.visible import visible
from txop.report.exports.dokuwiki import cell

TARGET = Path(__file__).parent / "golden" / "dokuwiki-cells.json"

PIECES = [
    "**",
    "//",
    "__",
    "''",
    "%%",
    "%",
    "[[",
    "]]",
    "{{",
    "}}",
    "<b>",
    "</nowiki>",
    "<nowiki>",
    "<php>",
    "<html>",
    "<code>",
    "|",
    "^",
    "\\\\",
    "--",
    "->",
    "<-",
    "<->",
    "(c)",
    ":-)",
    ";-)",
    "8-)",
    "=)",
    "http://x.y/z",
    "a@b.cc",
    "~~NOTOC~~",
    "~~NOCACHE~~",
    "((foot))",
    "((",
    "))",
    "====",
    "----",
    ">",
    "CamelCase",
    "640x480",
    "...",
    '"q"',
    "'s",
    "&amp;",
    "FIXME",
    "LOL",
    "word",
    "<script>alert(1)</script>",
    "rtl8xxxu",
    "rtl8192cu",
    ":::",
    ":!:",
    "a:b",
    "n=8",
    "m(",
    "^_^",
    "1.",
    "*",
    "5 %",
    "(patch 10)",
    "+31.1 %",
    "15.45 Mbits/s; 15.9%",
    "\x1b[2J",
    "\n",
    "\u202e",
    "  * item",
    "  - item",
]


def main(command: list[str]) -> None:
    dice = random.Random(1)  # noqa: S311 - any texts will do
    texts = sorted(
        {"".join(dice.choice(PIECES) + dice.choice(["", " "]) for _ in range(dice.randint(1, 8))) for _ in range(600)}
    )
    page = "\n".join(f"| {cell(text)} | {number} |" for number, text in enumerate(texts))
    shown = subprocess.run(command, input=page, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r'<tr class="row\d+">\s*(.*?)\s*</tr>', shown, re.DOTALL)
    assert len(rows) == len(texts), (len(rows), len(texts))
    for number, (text, row) in enumerate(zip(texts, rows, strict=True)):
        cells = [html.unescape(found).strip() for found in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)]
        empty = [str(number)] if not visible(text).strip() else [visible(text).strip(), str(number)]
        assert [c for c in cells if c] == empty, (text, cell(text), cells)
    pairs = [[text, cell(text)] for text in texts]
    TARGET.write_text(json.dumps(pairs, indent=0) + "\n", encoding="ascii")


if __name__ == "__main__":
    main(sys.argv[1:])
