"""``--format mail``: short, with the figures of the comparison, harmless; and ``--output -``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from report_campaign.conftest import GOLDEN
from txop.archive.reader import read_archive
from txop.cli.app import _run
from txop.compare import words
from txop.compare.archive import compare
from txop.report.answer.because import because
from txop.report.answer.verdicts import harms, verdicts
from txop.report.exports.mail import LINES, WIDTH, lines


@pytest.fixture(scope="module")
def mail(golden, golden_result):
    return lines(golden, golden_result)


def test_it_is_short_and_narrow(mail):
    assert 25 < len(mail) <= LINES
    prose = [line for line in mail if "  " not in line.strip()]
    assert max(map(len, prose)) <= WIDTH


def test_its_figures_are_those_of_the_comparison(mail, golden, golden_result):
    text = " ".join(" ".join(mail).split())
    for line in verdicts(golden_result, 2).lines:
        assert f"* {line.arm} against {line.against}: {line.text}" in text
    for key, test in (("throughput_mbit_s", "tx"), ("rtt_p95_ms", "tx")):
        figure = golden_result.figure(f"{test}.{key}")
        for row in figure.rows:
            (found,) = (line for line in mail if f" {row.arm} " in line and f"{row.arm_median:.2f}" in line)
            assert f"{words.change(row)} {row.verdict.replace('-', ' ')}" in found
    (first, *_) = because(golden, golden_result, "patch10", "vanilla")
    assert f"patch10 against vanilla, tx: {'; '.join(first.facts)}." in text
    assert first.basis in text
    for head in ("Why", "Set-up", "Caveats", "Attachments"):
        assert any(line.startswith(head) for line in mail)


def test_all_harm_is_counted(golden, golden_result):
    figures = [
        f.model_copy(update={"rows": [row.model_copy(update={"verdict": "worse"}) for row in f.rows]})
        if f.role == "exploratory"
        else f
        for f in golden_result.figures
    ]
    result = golden_result.model_copy(update={"figures": figures})
    text = " ".join(" ".join(lines(golden, result)).split())
    for arm in ("patch10", "vendor"):
        assert f"and {len(harms(result, arm, 'vanilla')) - 2} more (exploratory)" in text


def test_ascii_is_ascii_and_hostile_text_does_not_act(poisoned):
    archive = read_archive(poisoned)
    result = compare(archive)
    assert all(line.isprintable() for line in lines(archive, result))
    plain = lines(archive, result, plain=True)
    assert all(line.isascii() and line.isprintable() for line in plain)
    assert any("\u2212" in line for line in lines(archive, result))


def _stdout(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "txop", "report", str(GOLDEN), *arguments, "-o", "-"]
    return subprocess.run(command, capture_output=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("html", b"<!doctype html>"),
        ("mail", b"RTL8188CUS"),
        ("mail-ascii", b"RTL8188CUS"),
        ("markdown", b"RTL8188CUS"),
        ("dokuwiki", b"="),
        ("csv", b"run,"),
        ("json", b'{"format": "txop-campaign"'),
    ],
)
def test_every_format_can_go_to_stdout(name, begins):
    before = {path.name for path in GOLDEN.iterdir()}
    done = _stdout("--format", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(begins)
    assert {path.name for path in GOLDEN.iterdir()} == before
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
