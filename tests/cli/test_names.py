"""Names from a closed set: what is near a mistyped one is said, and the shell completes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop.core.errors import ExitCode
from txop.core.nearest import did_you_mean, nearest

ARCHIVE = str(Path(__file__).parents[1] / "data" / "archive-v1")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["ari"], "'air'"),
        (["compare", ARCHIVE, "--baseline", "vanila"], '"vanilla"'),
        (["compare", ARCHIVE, "--without", "vendr"], '"vendor"'),
        (["compare", ARCHIVE, "--figure", "tx.throughput"], '"tx.throughput_mbit_s"'),
        (["compare", ARCHIVE, "--fail-on-worse-in", "rtt_p95_ms"], '"tx.rtt_p95_ms"'),
        (["report", ARCHIVE, "--format", "mial"], '"mail"'),
        (["report", ARCHIVE, "--baseline", "patch-10"], '"patch10"'),
        (["note", ARCHIVE, "--arm", "Vanila", "x"], '"vanilla"'),
        (["note", ARCHIVE, "--run", "001-vanila-tx", "x"], '"001-vanilla-tx"'),
        (["plan", "new", "-", "--template", "guest-fautls"], '"guest-faults"'),
        (["simulate", "ap-airtme"], "ap-airtime"),
        (["emulate", "ap-airtme"], "ap-airtime"),
        (["emulate", "two-stations", "--in", "servr", "--", "true"], '"server"'),
        (["simulate", "ap-fifo", "--csv", "-", "--table", "flws"], '"flows"'),
        (["simulate", "ap-fifo", "--set", "wlan.ap.queing.kind=fifo"], "queueing"),
        (["air", "none.pcap", "--section", "statons"], '"stations"'),
        (["bus", "none.pcap", "--section", "endpoint"], '"endpoints"'),
        (["specimen", "--scene", "gosts"], '"ghosts"'),
        (["guest", "survey", "--faults", "bulk-in-stal"], '"bulk-in-stall"'),
    ],
)
def test_what_is_near_a_mistyped_name_is_said(txop, tmp_path, line, meant):
    done = txop(*line, cwd=tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT
    assert done.stdout == ""
    assert f"id you mean {meant}?" in " ".join(done.stderr.split())


def test_a_name_that_is_near_none_lists_them():
    assert (
        did_you_mean("zzz", [f"arm{i}" for i in range(14)])
        == f"choose from {', '.join(f'arm{i}' for i in range(12))}, ..."
    )
    assert did_you_mean("zzz", []) is None


def test_a_long_name_and_an_empty_one_are_no_trouble():
    assert nearest("x" * 1_000_000, ["vanilla"]) is None
    assert nearest("", ["tx.", "vanilla"]) is None


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("txop simulate ap-f", {"ap-fifo", "ap-fq-codel", "ap-fq-mac"}),
        ("txop emulate two", {"two-stations"}),
        ("txop specimen --scene gh", {"ghosts"}),
        (f"txop compare {ARCHIVE} --baseline v", {"vanilla", "vendor"}),
        ("txop compare nowhere --without v", set()),
        (f"txop note {ARCHIVE} --arm pa", {"patch10"}),
        ("txop report x --format ma", {"mail", "mail-ascii", "markdown"}),
        ("txop plan new --template guest-t", {"guest-two-drivers"}),
        ("txop guest survey --faults unpl", {"unplug", "unplug-in-probe"}),
        ("txop guest explore --faults unpl", {"unplug", "unplug-in-probe"}),
        (f"txop compare {ARCHIVE} --figure tx.thr", {"tx.throughput_mbit_s"}),
        (f"txop trend {ARCHIVE} --figure latency.rtt_p9", {"latency.rtt_p95_ms", "latency.rtt_p99_ms"}),
    ],
)
def test_the_shell_completes_names(txop, line, offered):
    words = line.split()
    done = txop(env={"_TXOP_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}, cwd="/")
    assert set(done.stdout.split()) == offered
