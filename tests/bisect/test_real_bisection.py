"""Regressions that were put into the real rtl8xxxu and the real mac80211, found in real guests."""

from __future__ import annotations

import json

import pytest
from driver_history import long_history, slower_rtl8xxxu
from mac80211_series import SLOWER, slower_mac80211

from guests_here import built_chips, built_image
from txop.cli.app import main

PLAN = """\
title = "sending"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
driver = "rtl8xxxu"
mips = 500
check_exact = "none"
[[arm]]
name = "driver"
[[test]]
name = "tx"
kind = "tcp-tx"
duration_s = 3
warm_up_s = 2
[design]
blocks = 3
confidence = 0.75    # three runs of each: the effect is large, and guests are slow
idle_s = 0
"""


def bisected(tmp_path, capsys, plan, *range_words):
    """The document of a bisection by this plan, which finds something."""
    (tmp_path / "plan.toml").write_text(plan)
    where = ["--plan", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out"), "--json", "--quiet"]
    with pytest.raises(SystemExit) as left:
        main(["bisect", *range_words, *where])
    assert left.value.code == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_the_commit_that_makes_rtl8xxxu_slower_is_found(tmp_path, capsys):
    built_image("6.12")
    built_chips()
    commits = slower_rtl8xxxu(tmp_path / "repo")
    where = ("--source", str(tmp_path / "repo"))
    found = bisected(tmp_path, capsys, PLAN, "--good", commits[0], "--bad", commits[8], *where)
    assert found["state"] == "found"
    assert found["candidates"][found["bad"]]["commit"] == commits[6]
    assert found["candidates"][4]["standing"] == "skipped", "it does not build"
    assert (tmp_path / "out" / found["candidates"][4]["log"]).is_file()
    assert found["step"]["estimate"] < -20


@pytest.mark.slow
def test_the_edit_that_makes_mac80211_slower_is_found(tmp_path, capsys):
    built_image("6.12")
    built_chips()
    series = slower_mac80211(tmp_path / "series")
    plan = PLAN.replace("[guest]\n", '[guest]\nmodule = "mac80211"\n')
    found = bisected(tmp_path, capsys, plan, "--series", str(series))
    assert found["state"] == "found"
    assert found["bad"] == SLOWER  # candidate 0 is the kernel's own
    assert found["candidates"][SLOWER]["title"] == "Sessions of Block Ack are refused"
    assert found["step"]["estimate"] < -20


@pytest.mark.slow
def test_one_of_five_hundred_commits_is_found_with_the_usual_confidence(tmp_path, capsys):
    """It took 59 minutes on two processors, beside other work (n = 1)."""
    built_image("6.12")
    built_chips()
    slow = 317
    commits = long_history(tmp_path / "repo", 500, slow)
    plan = PLAN.replace("blocks = 3", "blocks = 6").replace("confidence = 0.75", "#")
    where = ("--source", str(tmp_path / "repo"))
    found = bisected(tmp_path, capsys, plan, "--good", commits[0], "--bad", commits[-1], *where)
    assert (found["state"], found["confidence"]) == ("found", 0.95)
    assert (found["good"], found["bad"]) == (slow - 1, slow)
    assert found["candidates"][slow]["commit"] == commits[slow]
    assert found["runs"] <= 6 * 12
    assert found["seconds"] < 4 * 3600
