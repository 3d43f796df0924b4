"""Regenerates the golden exports: ``python tests/compare/make_golden.py``. Read the difference before it is kept."""

from __future__ import annotations

from pathlib import Path

from txop.archive.reader import read_archive
from txop.compare.archive import compare
from txop.report.exports.csv import write_comparison
from txop.report.exports.dokuwiki import write_dokuwiki
from txop.report.exports.markdown import write_markdown

HERE = Path(__file__).parent


def main() -> None:
    archive = read_archive(HERE.parent / "data" / "archive-v1")
    result = compare(archive).model_copy(update={"txop": "0.1.0"})
    write_markdown(archive, result, HERE / "golden" / "sample.md")
    write_dokuwiki(archive, result, HERE / "golden" / "sample.dokuwiki.txt")
    with (HERE / "golden" / "sample.csv").open("w", encoding="utf-8", newline="") as out:
        write_comparison(result, out)


if __name__ == "__main__":
    main()
