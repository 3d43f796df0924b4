"""What is built for the arms of guests: the driver, another module of the kernel in its place, or both."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from txop.campaign import guests
from txop.campaign.guests import GuestTestbed
from txop.guest_image.error import GuestError
from txop.plan.load import parse_plan
from txop.plan_check.count import _guest_builds

PLAN = """\
title = "builds"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
device = "{device}"
driver = "{driver}"
{more}
[[arm]]
name = "it"
{patch}
[[test]]
name = "tx"
kind = "tcp-tx"
"""


class Quiet:
    def notice(self, words: str) -> None:
        del words


@pytest.mark.parametrize(
    ("device", "driver", "more", "patch", "built"),
    [
        ("mt7610u", "mt76x0u", "", "", []),
        ("rtl8188cus", "rtl8xxxu", "", "", [("rtl8xxxu", (), 0)]),
        ("mt7610u", "mt76x0u", 'switches = ["CONFIG_X"]', "", [("mt76x0u", ("CONFIG_X",), 0)]),
        ("mt7610u", "mt76x0u", 'module = "mac80211"', "", [("mac80211", (), 0)]),
        (
            "rtl8188cus",
            "rtl8xxxu",
            'module = "mac80211"\nswitches = ["CONFIG_X"]',
            'patches = [{ file = "fix.patch" }]',
            [("mac80211", ("CONFIG_X",), 1), ("rtl8xxxu", (), 0)],
        ),
    ],
)
def test_what_is_built(tmp_path, monkeypatch, device, driver, more, patch, built):
    (tmp_path / "fix.patch").write_text("--- a\n+++ b\n")
    text = PLAN.format(device=device, driver=driver, more=more, patch=patch)
    plan = parse_plan(text.encode(), tmp_path / "plan.toml").plan
    asked = []

    async def build(what, lock, **_):
        asked.append((what.driver, what.switches, len(what.patches)))
        return SimpleNamespace(module=Path(f"{what.driver}.ko"), info=SimpleNamespace(build_id="id"))

    monkeypatch.setattr(guests, "build_driver", build)
    monkeypatch.setattr(guests, "build_image", lambda lock, **_: SimpleNamespace(release="6.12", key="k"))
    monkeypatch.setattr(guests, "check_driver", lambda *_: None)
    arm = asyncio.run(GuestTestbed(plan, tmp_path, Quiet())._prepare(plan.arm[0]))
    assert asked == built
    assert [module.stem for module in arm.modules] == [name for name, _, _ in built]
    assert _guest_builds(plan, plan.guest, None) == len(built), "the plan's estimate counts the same"


@pytest.mark.parametrize(("theirs", "is_refused"), [(b"preempt", False), (b"PREEMPT", True)])
def test_a_module_file_is_held_against_the_modules_of_the_image(tmp_path, monkeypatch, make_module, theirs, is_refused):
    module = make_module("vendor").read_bytes()
    (tmp_path / "vendor.ko").write_bytes(module)
    (tmp_path / "image").mkdir()
    (tmp_path / "image" / "other.ko").write_bytes(module.replace(b"SMP preempt", b"SMP " + theirs))
    text = PLAN.format(device="rtl8188cus", driver="vendor", more='module_file = "vendor.ko"', patch="")
    plan = parse_plan(text.encode(), tmp_path / "plan.toml").plan
    image = SimpleNamespace(release="6.1.0-7-amd64", key="k", modules_folder=tmp_path / "image")
    monkeypatch.setattr(guests, "build_image", lambda lock, **_: image)
    monkeypatch.setattr(guests, "check_driver", lambda *_: None)
    prepared = GuestTestbed(plan, tmp_path, Quiet())._prepare(plan.arm[0])
    if is_refused:
        with pytest.raises(GuestError, match="options"):
            asyncio.run(prepared)
    else:
        assert asyncio.run(prepared).modules == (tmp_path / "vendor.ko",)
