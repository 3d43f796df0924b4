"""A campaign that goes on with a plan that was mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop.archive.journal import JournalWriter
from txop.archive.layout import ArchiveError, Layout
from txop.archive.plan_record import plan_record
from txop.archive.reader import read_archive
from txop.arms.arm_loader import tag_of
from txop.campaign.session import begin, reopen
from txop.plan.access import changes
from txop.plan.load import LoadedPlan, load_plan
from txop.plan.overrides import Overrides

PLAN = """
title = "t"
[target.dut]
kind = "ssh"
host = "lab"
user = "root"
interface = "wlan0"
[target.dut.hooks]
reset = ["true"]
[target.peer]
kind = "local"
address = "10.0.0.1"
[[arm]]
name = "a"
load = ["true"]
[[arm]]
name = "b"
load = ["true"]
[[test]]
name = "tx"
kind = "tcp-tx"
"""
MENDED = {
    'host = "lab"': 'host = "other"\nport = 2222\nkey = "plan.toml"\nnamespace = "sta"',
    'reset = ["true"]': 'reset = ["true", "sleep 1"]\nsettle_s = 5',
    'address = "10.0.0.1"': 'address = "10.0.0.3"',
}


def plan(folder: Path, text: str) -> LoadedPlan:
    (folder / "plan.toml").write_text(text)
    return load_plan(folder / "plan.toml")


def mended() -> str:
    text = PLAN
    for old, new in MENDED.items():
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_change_that_is_allowed_leaves_no_finding(tmp_path: Path) -> None:
    """Also one that writes the same plan otherwise: a default, a command as a list."""
    root = begin(plan(tmp_path, PLAN), tmp_path / "archive", Overrides()).layout.root
    layout = Layout(root)
    with JournalWriter(layout.journal) as journal:
        journal.write("campaign-started", seed=1, plan=plan_record(layout))
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "plan.toml").write_text("")
    text = mended().replace('load = ["true"]', 'load = [["true"]]').replace('title = "t"', 'title = "t"\nversion = 1')
    reopen(root, plan(tmp_path / "new", text))
    archive = read_archive(root)
    assert [event.event for event in archive.events] == ["campaign-started", "plan-changed"]
    assert archive.findings == []


def test_addresses_keys_and_hooks_may_change(tmp_path: Path) -> None:
    before = plan(tmp_path, PLAN)
    begin(before, tmp_path / "archive", Overrides(blocks=3))
    after = plan(tmp_path, mended())
    session = reopen(tmp_path / "archive", after)
    assert session.plan.target["dut"].host == "other"
    assert session.plan.design.blocks == 3, "what the command line changed stays"
    archive = read_archive(tmp_path / "archive")
    assert archive.plan.target["dut"].hooks.settle_s == 5
    assert (tmp_path / "archive/plan-1.toml").read_text() == PLAN
    (event,) = archive.events
    assert event.event == "plan-changed"
    assert sorted(event.get("keys")) == [
        "target.dut.hooks.reset",
        "target.dut.hooks.settle_s",
        "target.dut.host",
        "target.dut.key",
        "target.dut.namespace",
        "target.dut.port",
        "target.peer.address",
    ]
    assert tag_of(before.plan) == tag_of(after.plan), "what a killed campaign left is found all the same"
    reopen(tmp_path / "archive", after)
    assert len(read_archive(tmp_path / "archive").events) == 1, "the same plan again changes nothing"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('load = ["true"]\n[[arm]]', 'load = ["false"]\n[[arm]]', "arm[0].load[0][0]"),
        ('interface = "wlan0"', 'interface = "wlan1"', "target.dut.interface"),
        ('kind = "tcp-tx"', 'kind = "tcp-rx"', "test[0].kind"),
        ('title = "t"', 'title = "t"\n[design]\nblocks = 5', "design.blocks"),
    ],
)
def test_what_is_measured_may_not_change(tmp_path: Path, old: str, new: str, named: str) -> None:
    begin(plan(tmp_path, PLAN), tmp_path / "archive", Overrides())
    assert old in PLAN
    other = plan(tmp_path, mended().replace(old, new))
    with pytest.raises(ArchiveError) as caught:
        reopen(tmp_path / "archive", other)
    assert f"{named} may not change" in caught.value.what
    assert Layout(tmp_path / "archive").plan.read_text() == PLAN
    assert "target.dut.host" in changes(load_plan(tmp_path / "archive/plan.toml").plan, other.plan).allowed


def test_a_plan_that_was_moved_takes_its_files_along(tmp_path: Path) -> None:
    begin(plan(tmp_path, PLAN), tmp_path / "archive", Overrides())
    (tmp_path / "elsewhere").mkdir()
    session = reopen(tmp_path / "archive", plan(tmp_path / "elsewhere", PLAN))
    assert session.folder == tmp_path / "elsewhere"
