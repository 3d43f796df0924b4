"""Whatever stands in front of a line, and however an address in it is masked, the same faults are named."""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.log import LogReport, Rule, name_faults, shipped_rules
from txop.log.forms import LineParser
from txop.log.record import Kind

RULES = shipped_rules()
KERNEL = [
    (rule.key, sample.strip("\n")) for rule in RULES.rules.values() if not rule.programs for sample in rule.samples
]
PROGRAMS = [(rule, sample) for rule in RULES.rules.values() if rule.programs for sample in rule.samples]

Wrap = Callable[[str], str]

STAMPED: dict[str, Wrap] = {
    "console that stamps, too": lambda line: f"[   15.250] [   12.345678] {line}",
    "ansi": lambda line: f"\x1b[32m[   12.345678] \x1b[0m\x1b[33m{line}\x1b[0m",
    "caret colours": lambda line: f"^[[32m[   12.345678] ^[[0m^[[33m{line}^[[0m",
    "colours as text": lambda line: rf"\x1b[32m[   12.345678] \x1b[0m{line}",
    "colours without escape": lambda line: f"[32m[   12.345678] [0m{line}",
    "cat -n": lambda line: f"     7\t[   12.345678] {line}",
    "grep -n": lambda line: f"7:[   12.345678] {line}",
    "grep -nH": lambda line: f"dmesg.txt:7:[   12.345678] {line}",
    "grep -C": lambda line: f"7-[   12.345678] {line}",
    "github actions": lambda line: f"2026-11-21T10:00:00.1234567Z [   12.345678] {line}",
    "docker compose": lambda line: f"dut-1  | [   12.345678] {line}",
    "kubectl": lambda line: f"[pod/dut-5f/agent] [   12.345678] {line}",
    "html": lambda line: html.escape(f"<3>[   12.345678] {line}", quote=False),
    "html twice": lambda line: html.escape(html.escape(f"<3>[   12.345678] {line}")),
    "html tags": lambda line: f"<span class='x'>[   12.345678] {line}</span><br/>",
    "no-break spaces": lambda line: f"[\u00a0\u00a0\u00a012.345678]\u00a0{line}",
    "quoted": lambda line: f"> > [   12.345678] {line}",
    "markdown code": lambda line: f"`[   12.345678] {line}`",
    "markdown list": lambda line: f"- [   12.345678] {line}",
    "markdown escapes": lambda line: rf"\[   12.345678\] {line}",
    "diff": lambda line: f"+[   12.345678] {line}",
    "minicom": lambda line: f"[10:00:00.123] [   12.345678] {line}",
    "serial with date": lambda line: f"[2026-11-21 10:00:00] [   12.345678] {line}",
    "serial bare time": lambda line: f"10:00:00.123 [   12.345678] {line}",
    "ts": lambda line: f"Nov 21 10:00:00 [   12.345678] {line}",
    "prompt": lambda line: f"root@dut:~# [   12.345678] {line}",
    "unknown": lambda line: f"%%lab-7%% [   12.345678] {line}",
    "android kmsg": lambda line: f"<3>[   12.345678]  [3:   kworker/3:1:  123] {line}",
    "android qcom": lambda line: f"[   12.345678] c1    123 {line}",
    "android mtk": lambda line: f"<6>[   12.345678]  (1)[123:kworker/1:2]{line}",
    "logcat with time": lambda line: f"11-21 10:00:00.001     0     0 W         : [   12.345678] {line}",
    "turris": lambda line: f"2026-11-21T10:00:00+01:00 err kernel[]: [   12.345678] {line}",
    "syslog, one-digit day": lambda line: f"Nov 1 10:00:00 dut kernel: [   12.345678] {line}",
    "openwrt, one-digit day": lambda line: f"Sun Nov 1 10:00:00 2026 kern.err kernel: [   12.345678] {line}",
}

UNSTAMPED: dict[str, Wrap] = {
    "collector of JSON": lambda line: (
        "2025-11-21 10:00:00.001 " + json.dumps({"MESSAGE": line, "_TRANSPORT": "kernel"})
    ),
    "logcat brief": lambda line: f"E/KERNEL  (    0): {line}",
    "logcat time": lambda line: f"11-21 10:00:00.001 W/kernel( 0): {line}",
    "logcat threadtime": lambda line: f"11-21 10:00:00.001     0     0 E {line}",
    "desktop log": lambda line: f"25/11/26 12:10 PM\tkernel\t{line}",
    "collector": lambda line: f"1657009329.471542  WARN  0  0 [kernel]: {line}",
    "kernel in brackets": lambda line: f"[kernel] {line}",
    "turris without time": lambda line: f"2026-11-21T10:00:00+01:00 err kernel[]: {line}",
    "cat -n": lambda line: f"    12\t{line}",
    "docker": lambda line: f"dut-1  | {line}",
    "unknown": lambda line: f"lab/7 $$ {line}",
}


def signature(report: LogReport) -> list[tuple[object, ...]]:
    return sorted(
        (f.key, f.device, f.driver, f.function, f.count, tuple((v.name, v.text, v.meaning) for v in f.values))
        for f in report.faults
    )


def wrapped(sample: str, wrap: Wrap) -> LogReport:
    return name_faults([wrap(line) for line in sample.split("\n")], rules=RULES)


@pytest.mark.parametrize("form", STAMPED)
def test_each_line_of_the_rules_behind_each_prefix(form):
    wrong = [key for key, sample in KERNEL if signature(wrapped(sample, STAMPED[form])) != signature(plain(sample))]
    assert wrong == []


@functools.cache
def plain(sample: str) -> LogReport:
    """A sample with nothing in front of it but a time; all forms are compared with it."""
    return name_faults([f"[   12.345678] {line}" for line in sample.split("\n")], rules=RULES)


@pytest.mark.parametrize("form", UNSTAMPED)
def test_each_line_without_a_time_of_the_kernel(form):
    wrong = []
    for key, sample in KERNEL:
        if "\n" not in sample:
            found = {fault.key for fault in wrapped(sample, UNSTAMPED[form]).faults}
            if found != {fault.key for fault in plain(sample).faults}:
                wrong.append((key, sample, found))
    assert wrong == []


PROGRAM_FORMS: dict[str, Callable[[str, str], str]] = {
    "syslog": lambda program, line: f"Nov 21 10:00:00 dut {program}[77]: {line}",
    "logread": lambda program, line: f"Sat Nov 21 10:00:00 2026 daemon.notice {program}: {line}",
    "logread in markdown": lambda program, line: f"`Sat Nov 21 10:00:00 2026 daemon.notice {program}: {line}`",
    "journal": lambda program, line: json.dumps(
        {"_TRANSPORT": "stdout", "SYSLOG_IDENTIFIER": program, "MESSAGE": line, "PRIORITY": "5"}
    ),
    "logcat": lambda program, line: f"11-21 10:00:00.001 I/{program}( 2952): {line}",
    "logcat threadtime": lambda program, line: f"11-21 10:00:00.001  2952  2952 E {program}: {line}",
    "dmesg -x": lambda program, line: f"daemon:info  : [   12.345678] {program}[77]: {line}",
    "bare": lambda program, line: line,
}


@pytest.mark.parametrize("form", PROGRAM_FORMS)
def test_each_line_of_a_program_in_each_form(form):
    wrong = []
    for rule, sample in PROGRAMS:
        faults = name_faults([PROGRAM_FORMS[form](rule.programs[0], sample)], rules=RULES).faults
        if [fault.key for fault in faults] != [rule.key]:
            wrong.append((rule.key, sample, faults))
    assert wrong == []


ADDRESS = re.compile(r"\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b")
ADDRESSED: list[tuple[Rule, str]] = [
    (rule, sample) for rule in RULES.rules.values() for sample in rule.samples if ADDRESS.search(sample)
]
MASKS = [
    "xx:xx:xx:xx:xx:xx",
    "XX:XX:XX:XX:XX:XX",
    "24:f5:a2:xx:xx:xx",
    "24:f5:a2:XX:XX:XX",
    "xx:xx:xx:c0:4e:b1",
    "**:**:**:**:4e:b1",
    "**:**:**:**:**:**",
    "24:f5:a2:**:**:**",
    "24-f5-a2-c0-4e-b1",
    "24f5a2c04eb1",
    "24:F5:A2:C0:4E:B1",
    "24:f5:a2:…",
    "xx:xx:xx:xx:…",
    "…",
    "???",
    "[REDACTED]",
    "[redacted]",
    "[mac address]",
    "<MAC C-01>",
    "<redacted>",
    "<bssid>",
    "{MAC}",
    "(hidden)",
    "MAC_ADDRESS",
    "$BSSID",
    "REMOVED",
    "xxxx",
    "my-router",
    "aa:bb:cc:dd:ee",
    "24:f5:a2:[...]",
    "24:f5:a2:<redacted>",
    "MY MAC",
]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("form", ["plain", "html", "kmsg"])
def test_a_masked_address_is_an_address(mask, form):
    assert len(ADDRESSED) > 20
    wrap: Wrap = {
        "plain": lambda line: f"[   12.345678] {line}",
        "html": lambda line: html.escape(f"[   12.345678] {line}", quote=False),
        "kmsg": lambda line: f"4,7,12345678,-;{line}",
    }[form]
    wrong = []
    for rule, sample in ADDRESSED:
        line = ADDRESS.sub(mask, sample)
        if rule.programs:
            faults = name_faults([f"Nov 21 10:00:00 dut {rule.programs[0]}[77]: {line}"], rules=RULES).faults
        else:
            faults = wrapped(line, wrap).faults
        of_rule = [fault for fault in faults if fault.key == rule.key]
        if not of_rule or {fault.key for fault in faults} - {rule.key, *rule.also}:
            wrong.append((rule.key, line, [fault.key for fault in faults]))
    assert wrong == []


def test_an_address_is_reported_as_it_stands():
    (fault,) = name_faults(["wlan0: Connection to AP 24:f5:a2:xx:xx:xx lost"]).faults
    assert ("bssid", "24:f5:a2:xx:xx:xx") in [(value.name, value.text) for value in fault.values]


DISCONNECT = "usb 1-1: USB disconnect, device number 4"
CRASHED = "ath10k_pci 0000:02:00.0: firmware crashed! (guid n/a)"

EXPORT = f"""\
__CURSOR=s=1
__REALTIME_TIMESTAMP=1763715600000000
PRIORITY=3
MESSAGE={CRASHED}
_TRANSPORT=kernel

__CURSOR=s=2
__REALTIME_TIMESTAMP=1763715600500000
_TRANSPORT=syslog
SYSLOG_IDENTIFIER=cron
MESSAGE={DISCONNECT}

__CURSOR=s=3
_TRANSPORT=kernel
MESSAGE={DISCONNECT}
"""
VERBOSE = f"""\
Sat 2026-11-21 10:00:00.123456 CET [s=1f2e;i=1;b=2a;m=1;t=1;x=1]
    PRIORITY=3
    _TRANSPORT=kernel
    MESSAGE={CRASHED}
Sat 2026-11-21 10:00:01.123456 CET [s=1f2e;i=2;b=2a;m=1;t=1;x=1]
    _TRANSPORT=kernel
    MESSAGE={DISCONNECT}
"""
PRETTY = f"""\
{{
\t"__REALTIME_TIMESTAMP" : "1763715600000000",
\t"_TRANSPORT" : "kernel",
\t"PRIORITY" : "3",
\t"MESSAGE" : "{CRASHED}"
}}
{{
\t"_TRANSPORT" : "kernel",
\t"MESSAGE" : "{DISCONNECT}"
}}
"""
DMESG_JSON = f"""\
{{
   "dmesg": [
      {{
         "pri": 3,
         "time":     12.345678,
         "msg": "{CRASHED}"
      }},{{
         "pri": 30,
         "time":     12.400000,
         "msg": "systemd[1]: {DISCONNECT}"
      }},{{
         "pri": 6,
         "time":     13.000000,
         "msg": "{DISCONNECT}"
      }}
   ]
}}
"""


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (EXPORT, "journal-entry"),
        (VERBOSE, "journal-entry"),
        (PRETTY, "journal-entry"),
        (DMESG_JSON, "dmesg-json"),
    ],
    ids=["export", "verbose", "json-pretty", "dmesg -J"],
)
def test_entries_of_several_lines(name, text, form):
    report = name(text)
    assert [(fault.key, fault.count) for fault in report.faults] == [
        ("ath10k-firmware-crashed", 1),
        ("usb-disconnect", 1),
    ]
    assert report.forms[0].form == form
    lines = report.lines
    kinds = (lines.kernel, lines.bare, lines.other_programs, lines.marks, lines.empty, lines.not_understood)
    assert sum(kinds) == lines.read
    assert (lines.kernel, lines.not_understood) == (2, 0)


def test_a_journal_entry_whose_text_is_bytes(name):
    size = "\x1a" + "\x00" * 7
    report = name(f"__CURSOR=s=1\n_TRANSPORT=kernel\nMESSAGE\n{size}{DISCONNECT}\nPRIORITY=6\n\n")
    assert [fault.key for fault in report.faults] == ["usb-disconnect"]


def test_a_prefix_that_is_not_known_is_told(name):
    report = name(f"%%lab%% [   1.500000] {DISCONNECT}\n[   2.5] {DISCONNECT}\n@@ {DISCONNECT}\n")
    assert (report.lines.prefix_skipped, report.faults[0].count) == (2, 3)
    for known in (f"     1\t[   1.5] {DISCONNECT}", f"     1\t{DISCONNECT}", f"dut-1  | {DISCONNECT}"):
        report = name(known)
        assert (report.lines.prefix_skipped, report.faults[0].count) == (0, 1)


def test_times_and_levels_in_front_are_kept():
    record = LineParser().parse(f"11-21 10:00:00.001 W/kernel( 0): {DISCONNECT}")
    assert (record.kind, record.level, record.clock) == (Kind.KERNEL, 4, "11-21 10:00:00.001")
    record = LineParser().parse(f"2026-11-21T10:00:00.1Z [   12.5] {DISCONNECT}")
    assert (record.time_s, record.clock, record.message) == (12.5, "2026-11-21T10:00:00.1Z", DISCONNECT)


def test_a_time_in_front_of_a_message_that_names_a_device(name):
    for line in (f"2026-11-21T10:00:00Z {DISCONNECT}", f"Nov 21 10:00:00 {DISCONNECT}"):
        report = name(line)
        assert [fault.key for fault in report.faults] == ["usb-disconnect"]
        assert report.lines.other_programs == 0


@pytest.mark.parametrize(
    "line",
    [
        "Nov 21 10:00:00 dut app[7]: wlan0: deauthenticated from 24:f5:a2:c0:4e:b1 (Reason: 7)",
        "11-21 10:00:00.001  2952  2952 E MyApp   : usb 1-1: USB disconnect, device number 4",
        "I/MyApp (  812): usb 1-1: USB disconnect, device number 4",
    ],
)
def test_what_another_program_says_is_not_the_kernel(name, line):
    report = name(line)
    assert (report.faults, report.lines.other_programs) == ([], 1)


@given(st.text(max_size=80), st.sampled_from([DISCONNECT, CRASHED, "", "[   1.5] x"]))
def test_any_prefix_is_read(prefix, line):
    report = name_faults([prefix + line], rules=RULES)
    assert report.lines.read == 1
