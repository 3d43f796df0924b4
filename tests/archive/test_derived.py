"""``derived/`` and the golden archive: what is in them, and that they can be made again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from txop.archive import derived
from txop.archive.reader import read_archive

TESTS = Path(__file__).parent.parent
GOLDEN = TESTS / "data" / "archive-v1"
DOCS = TESTS.parent / "docs"


@pytest.fixture
def root(tmp_path):
    return shutil.copytree(GOLDEN, tmp_path / "archive")


def test_the_golden_archive_is_what_its_generator_makes(sample, tmp_path):
    sample.make(tmp_path / "again")
    names = sorted(str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*") if path.is_file())
    assert names == sorted(
        str(path.relative_to(tmp_path / "again")) for path in (tmp_path / "again").rglob("*") if path.is_file()
    )
    for name in names:
        assert (GOLDEN / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name
    assert sum((GOLDEN / name).stat().st_size for name in names) < 500_000


def test_tables_hold_what_the_runs_hold(root):
    archive = read_archive(root)
    written = derived.rebuild(archive)
    assert [path.name for path in written] == [
        "runs.parquet",
        "metrics.parquet",
        "series.parquet",
        "faults.parquet",
        "derived.json",
    ]
    runs, metrics, series, faults = (pl.read_parquet(root / "derived" / f"{name}.parquet") for name in derived.tables())
    assert runs.height == len(archive.runs) == 75
    assert runs.filter(pl.col("state") == "void")["void_gates"].to_list() == [["association-lost"]]
    assert runs.filter(pl.col("counts")).height == 72
    assert metrics.height == sum(len(run.metrics) for run in archive.runs)
    assert metrics.filter(pl.col("value").is_infinite() & pl.col("counts"))["run"].to_list() == ["005-vanilla-tx"]
    assert metrics.filter(pl.col("value").is_null())["reason"].null_count() == 0
    assert series.height == sum(len(points) for run in archive.runs for points in archive.series(run).series.values())
    assert faults["count"].to_list() == [2]
    assert json.loads((root / "derived" / "derived.json").read_text())["runs"] == 75


def test_rebuilding_changes_nothing(root):
    derived.rebuild(read_archive(root))
    before = {path.name: path.read_bytes() for path in (root / "derived").iterdir()}
    derived.rebuild(read_archive(root))
    assert {path.name: path.read_bytes() for path in (root / "derived").iterdir()} == before


def test_many_rows_are_written_in_parts(root, monkeypatch):
    archive = read_archive(root)
    derived.rebuild(archive)
    whole = pl.read_parquet(root / "derived" / "series.parquet")
    monkeypatch.setattr(derived, "_ROWS_AT_ONCE", 500)
    derived.rebuild(archive)
    assert pl.read_parquet(root / "derived" / "series.parquet").equals(whole)
    assert sorted(path.name for path in (root / "derived").iterdir()) == [
        "derived.json",
        "faults.parquet",
        "metrics.parquet",
        "runs.parquet",
        "series.parquet",
    ]


def test_a_failure_leaves_the_earlier_tables(root, monkeypatch):
    archive = read_archive(root)
    derived.rebuild(archive)
    before = (root / "derived" / "metrics.parquet").read_bytes()
    monkeypatch.setattr(pl.DataFrame, "write_parquet", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        derived.rebuild(archive)
    assert (root / "derived" / "metrics.parquet").read_bytes() == before
    assert not [path for path in (root / "derived").iterdir() if path.name.startswith(".")]


def test_a_damaged_archive_gives_the_rest(root):
    (root / "runs" / "001-vanilla-tx" / "series.json").write_text("{")
    (root / "runs" / "002-vanilla-tx" / "run.json").write_text("[]")
    archive = read_archive(root)
    derived.rebuild(archive)
    assert pl.read_parquet(root / "derived" / "runs.parquet").height == 74
    damage = json.loads((root / "derived" / "derived.json").read_text())["damage"]
    assert any("series.json" in sentence for sentence in damage)
    assert any("002-vanilla-tx/run.json" in sentence for sentence in damage)


def test_an_empty_archive_gives_empty_tables_with_their_columns(root):
    shutil.rmtree(root / "runs")
    derived.rebuild(read_archive(root))
    for name, (schema, _) in derived.tables().items():
        table = pl.read_parquet(root / "derived" / f"{name}.parquet")
        assert table.height == 0
        assert table.columns == list(schema())


def test_a_time_that_no_table_holds_is_null(root):
    path = root / "runs" / "007-vanilla-tx" / "run.json"
    run = json.loads(path.read_text())
    run["started_at"] = "0001-01-01T00:00:00+23:59"
    path.write_text(json.dumps(run))
    derived.rebuild(read_archive(root))
    runs = pl.read_parquet(root / "derived" / "runs.parquet")
    assert runs.filter(pl.col("started_at").is_null())["run"].to_list() == ["007-vanilla-tx"]


def test_the_queries_of_the_documentation_run(root, monkeypatch):
    derived.rebuild(read_archive(root))
    monkeypatch.chdir(root)
    queries = re.findall(r"```sql\n(.*?)```", (DOCS / "archive.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(queries) == 2
    for query in queries:
        assert pl.sql(query).collect().height > 0
