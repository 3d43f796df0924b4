"""Where the runs of an archive begin: all of them at one place, also when it is continued."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop.archive.journal import JournalWriter
from txop.archive.layout import Layout
from txop.campaign.session import _begun


@pytest.mark.parametrize("begun", ["associated", "boot"])
def test_an_archive_with_runs_says_where_they_begin(tmp_path: Path, begun: str) -> None:
    layout = Layout(tmp_path)
    assert _begun(layout) is None
    with JournalWriter(layout.journal) as journal:
        journal.write("connected", target="dut", provenance={"start": begun})
        assert _begun(layout) is None, "no run has ended"
        journal.write("run-finished", run="001-a-t")
        journal.write("connected", target="dut", provenance={"start": "other"})
    assert _begun(layout) == begun
