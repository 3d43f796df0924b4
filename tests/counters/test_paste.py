"""Which lines of a paste are the output of which tool."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counter_specimens as specimens
from txop.counters import CountersReport, analyse, split

OUTPUTS = {
    "iw dev wlan0 station dump": specimens.STATION_BEFORE,
    "iw dev wlan0 survey dump": specimens.SURVEY_BEFORE,
    "ethtool -i wlan0": specimens.DRIVER.format(name="ath9k"),
    "ethtool -S wlan0": specimens.ETHTOOL_BEFORE,
    "cat /proc/net/wireless": specimens.WIRELESS,
    "cat /sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:aa:bb:01/rc_stats": specimens.RATES_NEW,
    "cat /sys/kernel/debug/ieee80211/phy0/ath9k/xmit": specimens.XMIT,
    "cat /sys/kernel/debug/ieee80211/phy1/mt76/tx_stats": specimens.TX_STATS,
    "cat /sys/kernel/debug/ieee80211/phy0/ath10k/fw_stats": specimens.FW_STATS,
    "cat /sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:aa:bb:01/airtime": specimens.AIRTIME,
    "cat /sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:aa:bb:01/aqm": specimens.AQM,
    "cat /sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:aa:bb:01/aql": specimens.AQL,
    "dmesg | tail -3": specimens.KERNEL_LOG,
}
PLAIN = "\n".join(f"$ {command}\n{output}" for command, output in OUTPUTS.items())


def read(text: str) -> CountersReport:
    return analyse(None, split("paste", text.split("\n")))


def facts(report: CountersReport) -> list[object]:
    return [*report.figures, *report.conclusions, *report.implausible, report.driver]


def test_a_mixed_paste() -> None:
    report = read(PLAIN)
    lines = PLAIN.split("\n")
    assert [part.kind for part in report.parts] == [
        "iw-station",
        "iw-survey",
        "ethtool-driver",
        "ethtool",
        "proc-net-wireless",
        "rc-stats",
        "ath9k-xmit",
        "mt76-tx-stats",
        "ath10k-fw-stats",
        "mac80211-airtime",
        "mac80211-aqm",
        "mac80211-aql",
        "kernel-log",
    ]
    assert [part.command for part in report.parts][-2:] == [None, "txop log"]
    log = report.parts[-1]
    assert "\n".join(lines[log.first_line - 1 : log.last_line]) == specimens.KERNEL_LOG.rstrip("\n")
    station = report.parts[0]
    assert lines[station.first_line - 1].startswith("Station ")
    assert lines[station.last_line - 1].startswith("\tconnected time:")
    assert {figure.subject.interface for figure in report.figures if figure.subject.kind == "ethtool"} == {"wlan0"}
    assert report.driver == "ath9k"
    assert report.lines_not_read == 1, "the title above a table of mt76"


PROMPTS = ("root@OpenWrt:~# ", "# ", "$ ", "[user@host ~]$ ", "=== ", "sudo ")


def changed(seed: int) -> str:
    """The paste as people hand it on, with the same in it."""
    dice = random.Random(seed)  # noqa: S311 - which changes, not a secret
    text = PLAIN.replace("$ ", dice.choice(PROMPTS))
    lines = text.split("\n")
    if dice.random() < 0.5:
        lines = [line.replace("\t", "        ") for line in lines]
    if dice.random() < 0.5:
        lines = [f"{line}  " for line in lines]
    if dice.random() < 0.3:
        lines = [f"> {line}" for line in lines]
    if dice.random() < 0.3:
        lines = ["Hello,", "here is what you asked for", "```", *lines, "```", "Thanks"]
    if dice.random() < 0.3:
        lines = [f"\x1b[1m{line}\x1b[0m" if line.startswith("Station") else line for line in lines]
    return ("\r\n" if dice.random() < 0.5 else "\n").join(lines)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_the_form_of_a_paste_changes_nothing(seed: int) -> None:
    assert facts(read(changed(seed))) == facts(read(PLAIN))


@pytest.mark.parametrize("mask", ["xx:xx:xx:xx:xx:xx", "02:00:00:**:**:**", "[REDACTED]", "<MAC C-01>"])
def test_a_mask_changes_no_figure(mask: str) -> None:
    def values(report: CountersReport) -> list[tuple[str, object]]:
        return [(figure.code, figure.value) for figure in report.figures]

    text = specimens.STATION_BEFORE + "\n--\n" + specimens.STATION_AFTER
    assert values(read(text.replace("02:00:00:aa:bb:01", mask))) == values(read(text))


LINES = PLAIN.split("\n")
ODD = st.sampled_from(
    [*LINES, "", "9" * 400, "\x00", "\u202e", "Station (on )", "NIC statistics:", ":", "a: -1", "[ 1.0]"]
)


@settings(max_examples=120, deadline=None)
@given(before=st.lists(ODD, max_size=60), after=st.lists(ODD | st.text(max_size=60), max_size=60))
def test_any_text_gives_a_report(before: list[str], after: list[str]) -> None:
    report = analyse(split("a", before), split("b", after))
    assert CountersReport.model_validate_json(report.model_dump_json()) == report
    for figure in report.figures:
        assert figure.value is not None or figure.reason is not None
        if figure.unit == "percent" and figure.value is not None:
            assert 0 <= figure.value <= 100


def test_a_survey_twice_without_anything_between() -> None:
    report = read(specimens.SURVEY_BEFORE + specimens.SURVEY_AFTER)
    assert [part.kind for part in report.parts] == ["iw-survey", "iw-survey"]
    busy = [figure for figure in report.figures if figure.code == "channel-busy-percent"]
    assert [(figure.value, figure.window) for figure in busy] == [(83, "difference")]
    first, second = report.parts
    assert (first.last_line, second.first_line) == (12, 13)


GREP = "root@OpenWrt:~# iw dev wlan0 station dump | grep tx\n"
TX = "\ttx bytes:\t{}\n\ttx packets:\t{}\n\ttx retries:\t{}\n"


def test_a_station_dump_through_grep() -> None:
    report = read(f"Idle:\n{GREP}{TX.format(100, 10, 2)}Load:\n{GREP}{TX.format(900, 40, 12)}")
    values = {figure.code: figure.value for figure in report.figures}
    assert (values["tx-packets"], values["tx-retries"], values["tx-retry-percent"]) == (30, 10, 25)
    (pairing,) = report.pairings
    assert (pairing.subject.interface, pairing.unpaired) == ("wlan0", None)


def test_several_peers_through_grep_are_not_told_apart() -> None:
    report = read(f"{GREP}{TX.format(100, 10, 2)}{TX.format(900, 40, 12)}")
    assert report.figures == []
    assert report.lines_not_read == 6
    assert not report.readable


def test_what_measures_is_named() -> None:
    report = read(
        "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=1 ms\n"
    )
    (part,) = report.parts
    assert (part.kind, part.command) == ("measurement", "txop import")
    assert not report.readable
