"""The exports: golden outputs, and text from outside that must not act in any of them."""

from __future__ import annotations

import csv
import json
import re
import runpy
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from txop.archive.reader import read_archive
from txop.compare.archive import compare
from txop.compare.result import CompareResult
from txop.present.csv_cells import write_table
from txop.report.exports import FORMATS
from txop.report.exports.dokuwiki import cell, link
from txop.report.exports.dokuwiki import lines as wiki_lines
from txop.report.exports.markdown import block, escaped, paragraph

GOLDEN = Path(__file__).parent / "golden"
STALE = "read the difference, then run: python tests/compare/make_golden.py"


@pytest.mark.parametrize(("name", "file"), [("markdown", "sample.md"), ("dokuwiki", "sample.dokuwiki.txt")])
def test_golden_text(golden, golden_result, tmp_path, name, file):
    target = tmp_path / file
    FORMATS[name].write(golden, golden_result, target)
    assert target.read_text(encoding="utf-8") == (GOLDEN / file).read_text(encoding="utf-8"), STALE


def test_the_golden_markdown_is_markdown():
    _assert_renders_inert((GOLDEN / "sample.md").read_text(encoding="utf-8"))


def test_golden_csv(golden_result, tmp_path):
    from txop.report.exports.csv import write_comparison

    with (tmp_path / "rows.csv").open("w", newline="") as out:
        write_comparison(golden_result, out)
    found, kept = (
        list(csv.DictReader(path.read_text().splitlines())) for path in (tmp_path / "rows.csv", GOLDEN / "sample.csv")
    )
    assert len(found) == len(kept), STALE
    for mine, theirs in zip(found, kept, strict=True):
        for name, text in theirs.items():
            try:
                assert float(mine[name]) == pytest.approx(float(text), rel=1e-9, abs=1e-12), (STALE, name)
            except ValueError:
                assert mine[name] == text, (STALE, name)


def test_every_run_and_figure_is_in_the_csv(golden, golden_result, tmp_path):
    FORMATS["csv"].write(golden, golden_result, tmp_path / "runs.csv")
    rows = list(csv.DictReader((tmp_path / "runs.csv").read_text().splitlines()))
    assert len(rows) == sum(len(run.metrics) for run in golden.runs)
    values = {(row["run"], row["metric"]): row for row in rows}
    assert values["005-vanilla-tx", "rtt_p99_ms"]["value"] == "inf"
    assert values["001-vanilla-tx", "signal_dbm"]["value"] == ""
    assert values["001-vanilla-tx", "signal_dbm"]["reason"] == "the link is emulated: there is no radio"
    assert values["003-patch10-tx", "throughput_mbit_s"]["counts"] == "false"
    assert values["003-patch10-tx", "throughput_mbit_s"]["void_gates"] == "association-lost"


def test_json_holds_result_and_runs(golden, golden_result, tmp_path):
    FORMATS["json"].write(golden, golden_result, tmp_path / "campaign.json")
    document = json.loads((tmp_path / "campaign.json").read_text(encoding="ascii"), parse_constant=pytest.fail)
    assert (document["format"], document["version"]) == ("txop-campaign", 1)
    assert CompareResult.model_validate(document["comparison"]) == golden_result
    assert [run["run"] for run in document["runs"]] == [run.run for run in golden.runs]


def test_parquet_holds_the_rows(golden, golden_result, tmp_path):
    FORMATS["parquet"].write(golden, golden_result, tmp_path / "out")
    table = pl.read_parquet(tmp_path / "out" / "comparison.parquet")
    assert table.height == sum(len(figure.rows) for figure in golden_result.figures)
    chosen = table.filter((pl.col("figure") == "tx.throughput_mbit_s") & (pl.col("arm") == "vendor"))
    expected = next(r for r in golden_result.figure("tx.throughput_mbit_s").rows if r.arm == "vendor")
    assert chosen["estimate"].item() == expected.estimate
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet").height == len(golden.runs)


# Every format on a plan with arms that differ by one change: rows of direct comparisons ----------------------------


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    """Every format of a campaign with direct comparisons."""
    pairs = runpy.run_path(str(Path(__file__).with_name("test_pairs_and_changes.py")))
    folder = tmp_path_factory.mktemp("direct")
    archive = read_archive(pairs["write"](folder / "archive", pairs["SERIES"], pairs["LEVELS"], p95_ms=pairs["LEVELS"]))
    result = compare(archive)
    assert any(figure.direct for figure in result.figures)
    for name, form in FORMATS.items():
        form.write(archive, result, folder / name)
    return folder, result


def rows_of(result):
    return [(figure, row) for figure in result.figures for row in (*figure.rows, *figure.direct)]


def test_parquet_of_direct_rows(direct):
    from txop.compare.table import ROW_COLUMNS

    folder, result = direct
    table = pl.read_parquet(folder / "parquet" / "comparison.parquet")
    assert table.columns == list(ROW_COLUMNS)
    assert table.height == len(rows_of(result))
    for found, (figure, row) in zip(table.iter_rows(named=True), rows_of(result), strict=True):
        assert (found["figure"], found["arm"], found["estimate"]) == (figure.name, row.arm, row.estimate)
        assert found["change"] == getattr(row, "change", None)
        assert (found["given"] is None) == (not hasattr(row, "given"))
    assert table["change"].drop_nulls().len() == sum(len(figure.direct) for figure in result.figures)
    tables = {path.stem: pl.read_parquet(path) for path in (folder / "parquet").glob("*.parquet")}
    assert set(tables) == {"comparison", "runs", "metrics", "series", "faults"}
    assert tables["runs"].height == tables["metrics"]["run"].n_unique() == 48


@pytest.mark.parametrize("value", ["change", "given", "p_adjusted", "blocks_needed", "n_with_voided"])
def test_every_column_has_one_kind(direct, value):
    """The rows hold what their schema says, so that no table of them fails."""
    from txop.compare.table import ROW_COLUMNS, comparison_rows

    _, result = direct
    place = list(ROW_COLUMNS).index(value)
    kinds = {type(row[place]) for row in comparison_rows(result)} - {type(None)}
    assert kinds <= ({int, float} if ROW_COLUMNS[value] is float else {ROW_COLUMNS[value]})


def test_csv_of_direct_rows(direct):
    from txop.report.exports.csv import write_comparison

    folder, result = direct
    with (folder / "rows.csv").open("w", newline="") as out:
        write_comparison(result, out)
    rows = pl.read_csv(folder / "rows.csv", infer_schema_length=None)
    assert rows.height == len(rows_of(result))
    assert rows["estimate"].to_list() == pytest.approx([row.estimate for _, row in rows_of(result)])
    runs = pl.read_csv(folder / "csv", infer_schema_length=None)
    assert runs.height == 48 * 2
    assert runs["value"].dtype == pl.Float64


def test_json_of_direct_rows(direct):
    folder, result = direct
    document = json.loads((folder / "json").read_text(), parse_constant=pytest.fail)
    assert CompareResult.model_validate(document["comparison"]) == result


def test_tables_of_direct_rows_are_whole(direct):
    """Every table of the wiki has as many cells in each row as in its head; Markdown renders as text and code."""
    folder, _ = direct
    _assert_renders_inert((folder / "markdown").read_text(encoding="utf-8"))
    cells = None
    for line in (folder / "dokuwiki").read_text(encoding="utf-8").splitlines():
        _assert_inert(line)
        outside = re.sub(r"%%.*?%%", "", line)
        if line.startswith("| **"):
            cells = outside.count("|")
        elif line.startswith("|"):
            assert outside.count("|") == cells, line
    for name in ("mail", "mail-ascii"):
        assert "p10" in (folder / name).read_text(encoding="utf-8")
    assert (folder / "mail-ascii").read_bytes().isascii()


def test_single_imported_figures_can_be_exported(sample, tmp_path):
    archive = read_archive(sample.single(tmp_path / "a"))
    result = compare(archive)
    for name, form in FORMATS.items():
        form.write(archive, result, tmp_path / f"out-{name}")
    text = (tmp_path / "out-markdown").read_text()
    assert "n=1" in text
    assert "12.50 Mbits/s" in (tmp_path / "out-dokuwiki").read_text()


def test_hostile_texts_do_not_act_in_any_export(poisoned, tmp_path):
    archive = read_archive(poisoned)
    result = compare(archive)
    for name, form in FORMATS.items():
        form.write(archive, result, tmp_path / name)
    for name in ("markdown", "dokuwiki", "csv"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "script" in text
    for line in (tmp_path / "markdown").read_text(encoding="utf-8").splitlines():
        if not line.startswith("    "):  # else a code block
            assert not re.search(r"(?<!\\)[<>`*\[\]]", line), line
    _assert_renders_inert((tmp_path / "markdown").read_text(encoding="utf-8"))
    for line in (tmp_path / "dokuwiki").read_text(encoding="utf-8").splitlines():
        _assert_inert(line)
    for row in csv.reader((tmp_path / "csv").read_text(encoding="utf-8").splitlines()):
        assert not any(text.lstrip().startswith(("=", "+", "@")) for text in row), row


def _assert_renders_inert(text: str) -> None:
    """Oracle: a CommonMark renderer makes paragraphs, headings and code blocks of it, and nothing else."""
    tags = set(re.findall(r"<(/?[a-z][a-z0-9]*)[^>]*>", MarkdownIt("commonmark").render(text)))
    assert tags <= {t for tag in ("h1", "h2", "p", "pre", "code") for t in (tag, f"/{tag}")}, tags
    assert "<code>" not in re.sub("<pre><code>", "", MarkdownIt("commonmark").render(text))


def _assert_inert(line: str) -> None:
    """Outside of nowiki there is only what txop itself writes; a heading knows no nowiki."""
    if line.startswith("="):
        assert not re.search(r"[<>{}\[\]|~*]|//|__|==.*[^= ].*==.+==", line.strip("= ")), line
        return
    outside = re.sub(r"<nowiki>.*?</nowiki>|%%.*?%%", "", line)
    assert "script>" not in outside, line
    assert "NOCACHE" not in outside, line
    assert "[[" not in outside, line
    if line.startswith("| **DUT**"):
        assert outside.count("|") == 8
    elif line.startswith("|"):
        assert outside.count("|") in (4, 6, 8), line


@given(st.text(max_size=60))
def test_a_dokuwiki_cell_means_nothing(text):
    """What a DokuWiki parser leaves outside of nowiki holds no markup, and what is inside is all of the text."""
    made = cell(text)
    outside = re.sub(r"<nowiki>%%</nowiki>|%%(?:(?!%%).)*%%", "", made)
    assert not re.search(r"[|^<>\[\]{}*_'\\~`\n\r]", outside), made
    assert "//" not in outside
    assert "--" not in outside


@given(st.text(max_size=60))
def test_a_dokuwiki_link_is_a_link_or_means_nothing(text):
    for address in (text, f"https://{text}", f"http://example.org/{text}"):
        made = link(address)
        assert made in (cell(address), f"%%{cell(address)}%%") or re.fullmatch(
            r"https?://[\w./:?=&+-]+", made, re.ASCII
        )


@given(st.text(max_size=200))
def test_a_markdown_paragraph_is_narrow_and_inert(text):
    for line in paragraph(text):
        assert not re.search(r"(?<!\\)[<>`*]", line.replace("\\\\", ""))
        assert len(line) <= 78 or " " not in line.strip()
        assert line.isprintable()
    assert "\n" not in escaped(text)


@given(
    st.text(max_size=100),
    st.lists(
        st.sampled_from(
            [
                "*",
                "_",
                "`",
                "<b>",
                "[a](b)",
                "!",
                "#",
                "-",
                "--",
                "=",
                "+",
                "~~~",
                "&amp;",
                "1.",
                "a" * 70,
                "2)",
                "word",
                "\\",
                "\t",
                "|",
                "http://a.b",
                "<http://a.b>",
                ">",
            ]
        ),
        max_size=40,
    ).map(" ".join),
)
def test_a_markdown_renderer_finds_nothing_in_a_paragraph(text, marks):
    for outside in (text, marks):
        shown = "\n".join(paragraph(f"note: {outside}"))
        tags = set(re.findall(r"<(/?[a-z][a-z0-9]*)[^>]*>", MarkdownIt("commonmark").render(shown)))
        assert tags <= {"p", "/p"}, shown


@given(st.lists(st.lists(st.text(max_size=80), min_size=1, max_size=6), min_size=1, max_size=5))
def test_a_markdown_table_is_narrow(rows):
    for line in block(rows):
        assert len(line) <= 78
        assert line == "" or line.startswith("    ")


@given(st.text(max_size=30))
def test_no_csv_cell_is_a_formula(text):
    import io

    out = io.StringIO()
    write_table(out, ["a"], [[text]])
    (found,) = list(csv.reader(io.StringIO(out.getvalue())))[1] or [""]
    assert not found.lstrip().startswith(("=", "+", "-", "@"))


def test_a_failed_export_leaves_the_earlier_file(golden, golden_result, tmp_path, monkeypatch):
    target = tmp_path / "report.md"
    target.write_text("before")
    monkeypatch.setattr("txop.report.exports.markdown.lines", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        FORMATS["markdown"].write(golden, golden_result, target)
    assert target.read_text() == "before"


def test_cells_are_those_that_a_real_dokuwiki_showed_as_their_text():
    pairs = json.loads((GOLDEN / "dokuwiki-cells.json").read_text(encoding="ascii"))
    assert len(pairs) > 500
    for text, made in pairs:
        assert cell(text) == made, text


@pytest.mark.parametrize(
    ("arms", "named", "shares"),
    [
        (["vanilla", "patch10", "vendor"], "802.11 retries (WLAN Traffic)", {"vanilla": "28.2", "patch10": "28.2"}),
        (["vanilla"], "802.11 retries (capture)", {"vanilla": "15.9", "patch10": "12.2"}),
    ],
)
def test_a_table_of_the_wiki_has_one_kind_of_retries_and_names_it(copied, change, arms, named, shares):
    def put(run):
        run["metrics"]["air_bss_retry_percent"] = {"value": 28.2, "unit": "%", "source": "air.pcapng"}

    for arm in arms:
        for folder in (copied / "runs").glob(f"*-{arm}-tx"):
            change(copied, folder.name, put)
    archive = read_archive(copied)
    lines = list(wiki_lines(archive, compare(archive)))
    heads = [line for line in lines if line.startswith("| **DUT**")]
    assert f"Throughput [Mbits/sec]; {named} [%]" in heads[0]
    for arm, share in shares.items():
        row = next(line for line in lines if f"001-{arm}-tx" in line)
        assert f"Mbits/s; {share}% |" in row
