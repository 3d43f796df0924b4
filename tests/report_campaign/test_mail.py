"""``--format mail``: short, with the figures of the comparison, harmless; and ``--output -``."""

from __future__ import annotations

import json
import re

import pytest

from report_campaign.conftest import GOLDEN
from txop.archive.reader import read_archive
from txop.cli.app import _run
from txop.compare import words
from txop.compare.answer import answers
from txop.compare.archive import compare
from txop.report.answer.because import because
from txop.report.answer.setup import congestion_control
from txop.report.answer.verdicts import verdicts
from txop.report.exports.mail import LINES, WIDTH, lines


@pytest.fixture(scope="module")
def mail(golden, golden_result):
    return lines(golden, golden_result)


def test_it_is_short_and_narrow(mail):
    assert 25 < len(mail) <= LINES == 48
    assert max(map(len, mail)) <= WIDTH


def test_its_figures_are_those_of_the_comparison(mail, golden, golden_result):
    text = " ".join(" ".join(mail).split())
    for line in named(mail, golden_result):
        assert f"* {line.arm} vs {line.against}: {line.text}" in text
    for at, (key, test) in enumerate((("throughput_mbit_s", "tx"), ("rtt_p95_ms", "tx"))):
        figure = golden_result.figure(f"{test}.{key}")
        for row in figure.rows:
            (place,) = (n for n, line in enumerate(mail) if line.startswith(f"{row.arm} ") and " pp" in line)
            assert f"{row.arm_median:.2f} {words.change(row)}" in mail[place]
            verdicts_below = re.split(r"  +", mail[place + 1].strip())
            assert verdicts_below[at] == words.verdict(row)
    (first, *_) = because(golden, golden_result, "patch10", "vanilla")
    assert f"patch10 vs vanilla, tx: {'; '.join(first.facts)}." in text
    assert first.basis.removesuffix(", emulated") in text
    for head in ("Why", "Set-up", "Caveats", "Attachments"):
        assert any(line.startswith(head) for line in mail)


def test_every_arm_has_a_reason_before_one_has_two(mail, golden, golden_result):
    found = {
        line.arm: len(because(golden, golden_result, line.arm, line.against)) for line in verdicts(golden_result).lines
    }
    assert len(found) > 1
    assert max(found.values()) > 1
    begins = next(n for n, line in enumerate(mail) if line.startswith("Why"))
    reasons = mail[begins : mail.index("", begins)]
    arms = [match[1] for line in reasons if (match := re.match(r"\* (\S+) vs \S+, ", line))]
    assert set(arms) == {arm for arm, count in found.items() if count}


def named(mail, result):
    """The lines of the verdict with as many gains and costs named as the mail has room for."""
    text = " ".join(" ".join(mail).split())
    for most in (2, 1):
        found = verdicts(result, most, details=True).lines
        if all(line.text in text for line in found):
            return found
    raise AssertionError("the verdict is not in the mail")


def test_a_campaign_of_many_arms_is_no_longer(golden, golden_result):
    many = golden_result.model_copy(
        update={
            "arms": [
                *golden_result.arms,
                *(golden_result.arms[-1].model_copy(update={"name": f"variant-{n}-of-the-driver"}) for n in range(12)),
            ]
        }
    )
    written = lines(golden, many)
    assert max(map(len, written)) <= WIDTH
    assert "more arms in report.html" in " ".join(written)


def test_the_mail_has_the_evidence_a_maintainer_asks_for(mail, golden_result):
    """Interval, p, n, congestion control and the length of the window."""
    text = " ".join(" ".join(mail).split())
    for arm in ("patch10", "vendor"):
        row = next(row for row in golden_result.figure("tx.throughput_mbit_s").rows if row.arm == arm)
        assert f"({words.interval(row)}, p = {words.p_value(row.p_adjusted)})" in text
        assert f"(95 % CI, p adjusted, n = {row.n})" in text
    (test,) = [test for test in golden_result.tests if test.name == "tx"]
    assert f"{test.length} after {test.warm_up_s:g} s of warm-up" in text


def test_the_congestion_control_is_that_of_the_senders(golden, golden_result):
    tests = [t.model_copy(update={"congestion": "bbr"}) if t.name == "tx" else t for t in golden.plan.test]
    archive = read_archive(GOLDEN)
    archive.plan = archive.plan.model_copy(update={"test": tests})
    assert "tx (tcp-tx, bbr)" in " ".join(" ".join(lines(archive, golden_result)).split())
    archive.events = [
        event.model_copy(
            update={"provenance": {**event.get("provenance"), "tcp_congestion": f"of-{event.get('target')}"}}
        )
        if event.event == "connected"
        else event
        for event in archive.events
    ]
    assert [congestion_control(archive, name) for name in ("tx", "rx", "latency")] == ["bbr", "of-peer", ""]


def test_every_cost_is_counted(golden, golden_result):
    figures = [
        f.model_copy(update={"rows": [row.model_copy(update={"verdict": "worse"}) for row in f.rows]})
        if f.role == "exploratory"
        else f
        for f in golden_result.figures
    ]
    arms = [arm.name for arm in golden_result.arms]
    found = answers(figures, golden_result.baseline, arms, {(a.arm, a.against) for a in golden_result.answers})
    result = golden_result.model_copy(update={"figures": figures, "answers": found})
    text = " ".join(" ".join(lines(golden, result)).split())
    for answer in found:
        count = len(answer.costs)
        assert count > 2
        assert any(f"and {count - named} more (exploratory: {count} of " in text for named in (1, 2))


def test_ascii_is_ascii_and_hostile_text_does_not_act(poisoned):
    archive = read_archive(poisoned)
    result = compare(archive)
    assert all(line.isprintable() for line in lines(archive, result))
    plain = lines(archive, result, plain=True)
    assert all(line.isascii() and line.isprintable() for line in plain)
    assert any("\u2212" in line for line in lines(archive, result))


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("html", "<!doctype html>"),
        ("mail", "RTL8188CUS"),
        ("mail-ascii", "RTL8188CUS"),
        ("markdown", "RTL8188CUS"),
        ("dokuwiki", "="),
        ("csv", "run,"),
        ("json", '{"format": "txop-campaign"'),
    ],
)
def test_every_format_can_go_to_stdout(txop, small, name, begins):
    before = {path.name for path in small.iterdir()}
    done = txop("report", str(small), "--format", name, "-o", "-")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(begins)
    assert {path.name for path in small.iterdir()} == before
    if name == "json":
        json.loads(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "parquet"], "parquet is a folder"),
        (["--json"], "both write to stdout"),
        (["--open"], "cannot be opened"),
    ],
)
def test_what_cannot_go_to_stdout_is_said(capsys, arguments, said):
    assert _run(["report", str(GOLDEN), *arguments, "-o", "-"]) == 2
    assert said in capsys.readouterr().err
