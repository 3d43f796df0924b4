"""Remarks reach the archive and every report."""

from __future__ import annotations

import pytest

from txop.archive.reader import read_archive
from txop.archive.remarks import Remark, remarks_of
from txop.campaign.ending import End
from txop.compare.archive import compare
from txop.report.exports import FORMATS


def test_remarks_are_kept_and_reported(bench, txop, tmp_path):
    bench.go()
    root = str(bench.layout.root)
    assert txop("note", root, "microwave <b>oven</b>").returncode == 0
    assert txop("note", root, "--run", "001-new-tx", "door opened").returncode == 0
    assert txop("note", root, "--arm", "old", "dongle felt hot").returncode == 0
    archive = read_archive(bench.layout.root)
    assert [(r.text, r.arm, r.run) for r in remarks_of(archive.events)] == [
        ("microwave <b>oven</b>", None, None),
        ("door opened", None, "001-new-tx"),
        ("dongle felt hot", "old", None),
    ]
    assert archive.finished
    result = compare(archive)
    assert [remark.text for remark in result.remarks] == ["microwave <b>oven</b>", "door opened", "dongle felt hot"]
    for name in ("markdown", "dokuwiki"):
        FORMATS[name].write(archive, result, tmp_path / name)
        text = (tmp_path / name).read_text()
        assert "door opened" in text
        assert "dongle felt hot" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--arm", "none", "x"], "Choose from old, new"), (["--run", "../..", "x"], "no run"), ([" "], "empty")],
)
def test_a_remark_on_nothing_is_refused(bench, txop, arguments, said):
    bench.go()
    done = txop("note", str(bench.layout.root), *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert remarks_of(read_archive(bench.layout.root).events) == []


def test_a_remark_before_the_end_does_not_end_the_campaign(bench, txop):
    with pytest.raises(SystemExit):
        bench.go(lambda run: "die" if run == "002-old-rx" else None)
    assert txop("note", str(bench.layout.root), "power cut").returncode == 0
    assert bench.go().end is End.FINISHED
    assert remarks_of(read_archive(bench.layout.root).events) == [
        Remark(at=remarks_of(read_archive(bench.layout.root).events)[0].at, text="power cut")
    ]
