"""Where the runs of an archive begin: all of them at one place, also when it is continued."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from quiet_reporter import Quiet
from txop.archive.journal import JournalWriter
from txop.archive.layout import Layout
from txop.campaign.guest_runs import GuestArm
from txop.campaign.guests import GuestTestbed
from txop.campaign.session import _begun
from txop.guest.checkpoint import CheckpointError
from txop.guest.chips import Chip
from txop.guest.saved_starts import SavedStarts
from txop.guest_image.image import Image
from txop.plan.guest import GuestSpec
from txop.plan.model import Plan
from txop.targets.contract import TargetError


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


@pytest.mark.parametrize("begun", [None, "boot", "associated"])
def test_where_guests_cannot_be_saved_runs_boot_unless_others_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: str | None
) -> None:
    plan = Plan.model_validate(
        {
            "title": "x",
            "target": {"dut": {"kind": "guest"}, "peer": {"kind": "guest"}},
            "guest": {"start": "associated", "ap": "builtin"},
            "arm": [{"name": "a"}],
            "test": [{"name": "t", "kind": "tcp-tx"}],
        }
    )
    (tmp_path / "library.so").write_bytes(b"")
    monkeypatch.setenv("TXOP_QEMU_DEVICES", str(tmp_path / "library.so"))
    testbed = GuestTestbed(plan, tmp_path, Quiet(), begun=begun)
    image = Image(tmp_path, "6.12.1", tmp_path, (), "key", cached=True)
    arm = GuestArm(plan, plan.guest or GuestSpec(), image, (), Chip(), {}, starts=SavedStarts(tmp_path))

    async def prepared(_: object) -> GuestArm:
        return arm

    async def refused(*_: object) -> None:
        raise CheckpointError("QEMU did not save the guest")

    monkeypatch.setattr(testbed, "_prepare", prepared)
    monkeypatch.setattr(testbed, "_first_guests", lambda *_: [None])
    monkeypatch.setattr(GuestArm, "save_start", refused)
    if begun == "associated":
        with pytest.raises(TargetError, match="associated"):
            asyncio.run(testbed.open())
    else:
        assert asyncio.run(testbed.open())["dut"]["start"] == "boot"
        assert testbed.arm("a").starts is None
