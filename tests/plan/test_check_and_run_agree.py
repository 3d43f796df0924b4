"""What ``txop run`` refuses before it touches a target, ``txop plan check`` refuses too: same words, same line and key.

Both commands are driven over one set of bad plans. What would make the link or the chip is asked as well: it must have
a reason to refuse, or else the check is stricter than the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from txop.cli import app as program
from txop.emulate import EmulatedNetwork, EmulationError, link_scenario
from txop.guest_image.error import GuestError
from txop.plan.load import LoadedPlan, parse_plan
from txop.plan.problem import PlanError
from txop.plan_check.check import check
from txop.plan_check.guest_chip import chip_of
from txop.simulate import ScenarioError

LINK = """\
title = "t"
[target.dut]
kind = "emulated"
[target.peer]
kind = "emulated"
[link]
{link}
[[arm]]
name = "a"
[[arm]]
name = "b"
emulated = {{ {variant} }}
[[test]]
name = "tx"
kind = "tcp-tx"
"""

GUEST = """\
title = "t"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
{guest}
[[arm]]
name = "a"
[[arm]]
name = "b"
guest = {{ {variant} }}
[[test]]
name = "tx"
kind = "tcp-tx"
"""


def link(text: str = "", variant: str = "") -> str:
    return LINK.format(link=text, variant=variant)


def guest(text: str = "", variant: str = "") -> str:
    return GUEST.format(guest=text, variant=variant)


BAD = {
    "a key of the link that does not exist": (link("wlan.dut = { msc = 3 }"), 7, "link.wlan.dut.msc", "no such key"),
    "a table of the link that does not exist": (link("wlan = {}\n[link.bus]\nx = 1"), 8, "link.bus", "no such key"),
    "a value out of range": (
        link("[link.wlan.ap]\nretry_limit = 300"),
        8,
        "link.wlan.ap.retry_limit",
        "not a whole number",
    ),
    "a deep key": (link("[link.wlan.ap.edca.video]\ncw_min = 8"), 8, "link.wlan.ap.edca.video.cw_min", "8 is not"),
    "a value of another type": (link('[link.wlan.dut]\nmcs = "7"'), 8, "link.wlan.dut.mcs", "not a whole number"),
    "text in place of a number": (
        link("[link.wlan.dut]\nmpdu_error_rate = nan"),
        8,
        "link.wlan.dut.mpdu_error_rate",
        "finite",
    ),
    "a date": (link("[link.wlan.dut]\nmcs = 2026-01-01"), 8, "link.wlan.dut.mcs", "date"),
    "a list in place of a table": (link("wlan.dut = [1]"), 7, "link.wlan.dut", "not a table"),
    "an arm's key": (link("wlan = {}", "wlan.dut = { msc = 3 }"), 12, "arm[1].emulated.wlan.dut.msc", "no such key"),
    "an arm's value": (link("wlan = {}", "wlan.ap = { mcs = 40 }"), 12, "arm[1].emulated.wlan.ap.mcs", "40 is not"),
    "two keys that are good alone": (
        link('[link.wlan.ap]\nphy = "ofdm"\n[link.wlan.dut]\nphy = "ofdm"', 'wlan.dut = { phy = "ht" }'),
        15,
        "arm[1].emulated.wlan.dut.phy",
        "knows more than the access point",
    ),
    "dut and stations": (link("wlan = { dut = {}, stations = [{}] }"), 7, "link.wlan.dut", "the only station"),
    "more hosts than can be": (link("wlan.stations = [{ count = 400 }]"), 6, "link", "256 can be emulated"),
    "a key of a modem": (link("modem.device = { buffers = 0 }"), 7, "link.modem.device.buffers", "0 is not"),
    "a base that is not there": (link('base = "no-such"'), 7, "link.base", "No such file"),
    "no link": (link(), 6, "link", "there is no link"),
    "an old key": (link("dut = { mcs = 3 }"), 7, "link.dut", "is a scenario now"),
    "a chip's security": (guest('ap = "builtin"\nsecurity = "wpa2"'), 7, "guest", "open"),
    "a chip's parameter": (guest("", 'parameters = { x = "a b" }'), 12, "arm[1].guest.parameters", "passed on"),
    "a driver that knows no such chip": (guest('driver = "ath9k"'), 7, "guest.driver", "does not know"),
    "a kernel without lock": (guest('kernel = "5.4"'), 7, "guest.kernel", "no lock"),
    "a plan in place of a lock file": (guest('lock = "plan.toml"'), 7, "guest.lock", ""),
    "a source without Makefile": (guest('source = "."'), 7, "guest.source", "no Makefile"),
    "a name of another arm": (link("wlan = {}").replace('"b"', '"a"'), 9, "arm[1].name", "another arm"),
}
"""Plan, and the first line that can be meant, the key, and a word of what is said."""


@pytest.mark.parametrize("name", BAD)
def test_the_two_commands_refuse_alike(name, tmp_path, monkeypatch, capsys):
    text, line, key, words = BAD[name]
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(text)
    with pytest.raises(SystemExit) as left:
        program.main(["plan", "check", "plan.toml", "--json"])
    assert left.value.code == 2
    problems = json.loads(capsys.readouterr().out)["problems"]
    told = [problem for problem in problems if (problem["key"] or "").startswith(key) and words in problem["message"]]
    assert told, problems
    assert told[0]["line"] >= line
    with pytest.raises(SystemExit) as left:
        program.main(["run", "plan.toml", "-o", "archive"])
    assert left.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    for problem in problems:
        assert f"line {problem['line']}" in said
        assert " ".join(problem["message"].split()) in said
    assert not Path("archive").exists()


def refused_links(loaded: LoadedPlan) -> bool:
    """Whether making one of the links of the plan is refused."""
    plan = loaded.plan
    for link in (plan.link or {}, *(plan.link_of(arm) or {} for arm in plan.arm)):
        try:
            EmulatedNetwork(link_scenario(link))
        except (EmulationError, ScenarioError):
            return True
    return False


def refused_chips(loaded: LoadedPlan) -> bool:
    """Whether making one of the chips of the plan is refused."""
    plan = loaded.plan
    try:
        for arm in plan.arm:
            chip_of(plan.guest.varied(arm.guest) if plan.guest else None)  # type: ignore[arg-type]
    except GuestError:
        return True
    return False


@pytest.mark.parametrize(
    "name", [name for name in BAD if "[link]" in BAD[name][0] and "another arm" not in BAD[name][3]]
)
def test_what_is_refused_could_not_have_been_made(name):
    try:
        loaded = parse_plan(BAD[name][0].encode(), Path("plan.toml"))
    except PlanError:
        return
    assert refused_links(loaded)


KEYS = st.sampled_from(
    ["mcs", "msc", "rts", "phy", "usb", "queueing", "snr_db", "ap_mcs", "count", "name", "edca", "width_mhz"]
)
VALUES = st.one_of(
    st.integers(-1, 80),
    st.booleans(),
    st.sampled_from(['"ht"', '"ofdm"', '"dsss"', "{}", "[]", "inf", "[{}]", '{ kind = "fifo" }', "{ rx_urbs = 0 }"]),
)
TABLE = st.dictionaries(KEYS, VALUES, max_size=3)


def toml(table: dict[str, object]) -> str:
    shown = {True: "true", False: "false"}
    return ", ".join(f"{k} = {shown[v] if isinstance(v, bool) else v}" for k, v in table.items())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TABLE, TABLE, TABLE, TABLE)
def test_any_link_is_refused_by_the_check_when_it_cannot_be_made_and_only_then(dut, ap, own_dut, own_ap):
    base = f"wlan.dut = {{ {toml(dut)} }}\nwlan.ap = {{ {toml(ap)} }}"
    text = link(base, f"wlan.dut = {{ {toml(own_dut)} }}, wlan.ap = {{ {toml(own_ap)} }}")
    loaded = parse_plan(text.encode(), Path("plan.toml"))
    problems = check(loaded, files=False).problems
    assert bool(problems) == refused_links(loaded), problems
    assert all(problem.line is not None and problem.key for problem in problems)


def test_every_bad_chip_of_the_set_could_not_have_been_made():
    for text, refused in ((BAD["a chip's security"][0], True), (BAD["a chip's parameter"][0], True), (guest(), False)):
        assert refused_chips(parse_plan(text.encode(), Path("plan.toml"))) is refused
