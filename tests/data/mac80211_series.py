"""A series of edits of mac80211, one of which makes it slower."""

from __future__ import annotations

from pathlib import Path

EDITS = 24
SLOWER = 17
"""Which one: sessions of Block Ack are refused, so nothing is aggregated."""

_SCRIPT = """\
format = "txop-edits"
title = "{title}"
change = "adds"
kernels = ["6.12"]
folder = "net/mac80211"
[[edit]]
file = "{file}"
in = "{function}"
insert_before = "{before}"
with = '{words}'
"""


def slower_mac80211(folder: Path) -> Path:
    """A folder of edit scripts, in order. All but one add a debug message: another module that does the same."""
    folder.mkdir()
    for number in range(1, EDITS + 1):
        script = _SCRIPT.format(
            title=f"A debug message, number {number}",
            file="main.c",
            function="ieee80211_register_hw",
            before="if (ieee80211_hw_check(hw, QUEUE_CONTROL)",
            words=f'pr_debug("number {number} of %d\\n", {EDITS});',
        )
        if number == SLOWER:
            script = _SCRIPT.format(
                title="Sessions of Block Ack are refused",
                file="agg-tx.c",
                function="ieee80211_start_tx_ba_session",
                before="if (WARN_ON_ONCE(!local->ops->ampdu_action))",
                words="if (tid < IEEE80211_NUM_TIDS) return -EBUSY;",
            )
        (folder / f"{number:02}.toml").write_text(script)
    return folder
