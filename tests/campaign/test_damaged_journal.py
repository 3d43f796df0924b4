"""Whatever is done to the journal, no good run is lost without a word, and ``compare`` and ``resume`` agree."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from txop.archive.counting import counting
from txop.archive.damage import Code
from txop.archive.reader import read_archive
from txop.campaign.ending import End
from txop.compare.archive import compare


def good_runs(layout) -> set[str]:
    return {run.run for run in read_archive(layout.root).runs if run.state == "valid"}


def killed_in_block_3(make_bench, text):
    bench = make_bench(text)
    with pytest.raises(SystemExit):
        bench.go(lambda run: "die" if run == "003-new-rx" else None)
    return bench


def flip(data: bytes, at: float, bit: int) -> bytes:
    if not data:
        return data
    place = int(at * (len(data) - 1))
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


DAMAGE = st.one_of(
    st.tuples(st.just("cut"), st.floats(0, 1)),
    st.tuples(st.just("flip"), st.floats(0, 1), st.integers(0, 7)),
    st.tuples(st.just("hole"), st.floats(0, 1), st.floats(0, 0.5)),
    st.tuples(st.just("zeros"), st.floats(0, 1), st.floats(0, 0.5)),
)


def damaged(data: bytes, how: tuple) -> bytes:
    match how:
        case ("cut", at):
            return data[: int(at * len(data))]
        case ("flip", at, bit):
            return flip(data, at, bit)
        case (kind, at, share):
            begin = int(at * len(data))
            end = min(len(data), begin + int(share * len(data)))
            return data[:begin] + (b"\0" * (end - begin) if kind == "zeros" else b"") + data[end:]
    raise AssertionError(how)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(harm=st.lists(DAMAGE, min_size=1, max_size=3))
def test_no_good_run_is_lost_whatever_is_done_to_the_journal(make_bench, plan_text, tmp_path, harm):
    shutil.rmtree(tmp_path / "archive", ignore_errors=True)
    bench = killed_in_block_3(make_bench, plan_text)
    before = good_runs(bench.layout)
    assert len(before) >= 9
    data = bench.layout.journal.read_bytes()
    for how in harm:
        data = damaged(data, how)
    bench.layout.journal.write_bytes(data)
    assert good_runs(bench.layout) == before, "compare counts what it counted"
    finished_by_a_flip = read_archive(bench.layout.root).finished
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    after = {run.run for run in archive.runs if run.state == "valid"}
    assert before <= after
    aside = {folder.name.split(".")[0] for folder in bench.layout.runs.iterdir() if ".interrupted-" in folder.name}
    assert not aside & before, "a good run was set aside"
    if not finished_by_a_flip:
        assert len(counting(archive, "tx").runs) == len(counting(archive, "rx").runs) == 6, bench.notices


def test_what_the_journal_lacked_is_said_once_and_written_down(make_bench, plan_text):
    bench = killed_in_block_3(make_bench, plan_text)
    lines = bench.layout.journal.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b'"block": 1' not in line or b'"run-finished"' not in line]
    bench.layout.journal.write_bytes(b"".join(kept))
    (found,) = compare(read_archive(bench.layout.root)).damage_found
    assert (found.code, len(found.facts["runs"])) == (Code.JOURNAL_LACKS_END, 4)
    assert bench.go().end is End.FINISHED
    assert any("their files are whole, so they are kept: 001-" in notice for notice in bench.notices)
    archive = read_archive(bench.layout.root)
    assert not archive.damage
    assert sorted({run.block for run in counting(archive, "tx").runs}) == [1, 2, 3]
    assert sum(1 for event in archive.events if event.event == "block-started") == 3, "nothing was repeated"


def test_a_run_that_was_whole_when_the_process_was_killed_is_kept(make_bench, plan_text):
    """Between ``run.json`` and the journal's line lies a moment in which the process can be killed."""
    bench = killed_in_block_3(make_bench, plan_text)
    lines = bench.layout.journal.read_bytes().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if b'"run-finished"' in line)
    bench.layout.journal.write_bytes(b"".join(lines[:last]))
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert not archive.damage
    assert len(archive.runs) == 12


def test_a_run_whose_file_is_damaged_is_done_again_and_said(make_bench, plan_text):
    bench = killed_in_block_3(make_bench, plan_text)
    path = bench.layout.run("002-old-tx") / "run.json"
    path.write_bytes(path.read_bytes()[:100])
    counted = {run.block for run in counting(read_archive(bench.layout.root), "tx").runs}
    assert 2 not in counted
    assert bench.go().end is End.FINISHED
    assert any("lost, to be repeated: 002-old-tx" in notice for notice in bench.notices)
    archive = read_archive(bench.layout.root)
    assert sorted({run.block for run in counting(archive, "tx").runs}) == [1, 3, 4]
