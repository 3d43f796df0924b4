"""The shipped edit script for rmnet: it applies to the kernel's source, and changes the one value."""

from __future__ import annotations

from pathlib import Path

import pytest

from guests_here import rebuilt_driver
from txop.arms.edits.script import read_script
from txop.plan.named_file import SHIPPED, named_file, shipped_scripts

NAME = f"{SHIPPED}rmnet/pacing-shift-10.toml"


def test_it_is_shipped_and_says_what_it_does() -> None:
    assert NAME in shipped_scripts()
    script = read_script(named_file(Path(), NAME))
    assert (script.change, script.kernels) == ("reverts", ["6.12"])
    assert script.about


@pytest.mark.slow
def test_rmnet_is_built_with_another_shift() -> None:
    stock, edited = rebuilt_driver("rmnet"), rebuilt_driver("rmnet", patches=(named_file(Path(), NAME),))
    assert stock.module.read_bytes() != edited.module.read_bytes()
    changes = [row for row in edited.log.read_text().splitlines() if row[:1] in "+-" and row[:3] not in ("+++", "---")]
    assert [row.replace("\t", "") for row in changes] == [
        "-sk_pacing_shift_update(skb->sk, 8);",
        "+sk_pacing_shift_update(skb->sk, 10);",
    ]
