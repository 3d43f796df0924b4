"""The shipped edit scripts for rmnet: they apply to the kernel's source, and change the one value."""

from __future__ import annotations

from pathlib import Path

import pytest

from guests_here import rebuilt_driver
from txop.arms.edits.script import read_script
from txop.plan.named_file import SHIPPED, named_file, shipped_scripts

SHIFTS = (9, 10)


def name_of(shift: int) -> str:
    return f"{SHIPPED}rmnet/pacing-shift-{shift}.toml"


@pytest.mark.parametrize("shift", SHIFTS)
def test_it_is_shipped_and_says_what_it_does(shift: int) -> None:
    assert name_of(shift) in shipped_scripts()
    script = read_script(named_file(Path(), name_of(shift)))
    assert (script.change, script.kernels) == ("reverts", ["6.12"])
    assert script.about


@pytest.mark.slow
@pytest.mark.parametrize("shift", SHIFTS)
def test_rmnet_is_built_with_another_shift(shift: int) -> None:
    stock = rebuilt_driver("rmnet")
    edited = rebuilt_driver("rmnet", patches=(named_file(Path(), name_of(shift)),))
    assert stock.module.read_bytes() != edited.module.read_bytes()
    changes = [row for row in edited.log.read_text().splitlines() if row[:1] in "+-" and row[:3] not in ("+++", "---")]
    assert [row.replace("\t", "") for row in changes] == [
        "-sk_pacing_shift_update(skb->sk, 8);",
        f"+sk_pacing_shift_update(skb->sk, {shift});",
    ]
