"""Certificates beside the captures of a campaign, and certificates of files, hostile ones among them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from txop.air.report import AirReport
from txop.archive.layout import Layout
from txop.board import exports
from txop.board.boards import LocatedBoard
from txop.board.certificate_file import read_certificates
from txop.board.model import Board
from txop.board.weigh import weigh
from txop.core.errors import UserError
from txop.report.exports.markup import DOKUWIKI, GITHUB

ARCHIVE = Path(__file__).parents[1] / "data" / "archive-v1"
DONGLE = "08:be:ac:0b:14:c4"
HEAD = ("Date", "Vendor", "Certificate", "Hardware", "Driver (version)", "Certified")
WIKI = f"""====== Certified ======

| {" | ".join(f"**{name}**" for name in HEAD)} |
| 2019 | Aeon | [[http://x.invalid/p|Yardian Pro]] PRO1902 | ? | [[//y.invalid|mt76]] (old) | 2,4 GHz, STA, WMM |
"""
LINES = ["STA", "b/g/n", "STBC Receive", "Greenfield Preamble", "TX power by rate"]


@pytest.fixture
def campaign(tmp_path):
    shutil.copytree(ARCHIVE, tmp_path / "campaign")
    return tmp_path / "campaign"


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """The report of a capture made by rule."""
    from txop import _native
    from txop.air import analyze

    def report(name: str) -> AirReport:
        path = tmp_path_factory.mktemp("scene") / "air.pcapng"
        _native.write_specimen(str(path), seed=1, seconds=2.0, scene=name)
        return analyze(path)

    return report


def placed(campaign: Path, lines=LINES) -> LocatedBoard:
    board = {
        "format": "txop-board",
        "version": 1,
        "title": "t",
        "station": DONGLE,
        "task": [{"task": "a", "state": "s"}],
        "certificate": [{"product": "gateway", "certified": lines}],
    }
    return LocatedBoard(Board.model_validate(board), "b", campaign.parent, archive=Layout(campaign))


def test_every_run_of_an_archive_is_evidence(campaign, scene):
    healthy = scene("healthy")
    judged = weigh(placed(campaign), [], lambda _: healthy)
    captures = {arm: len([*ARCHIVE.glob(f"runs/*-{arm}-*/air.pcapng")]) for arm in ("vanilla", "patch10", "vendor")}
    assert {each.arm: each.runs for each in judged.certificates} == captures
    first = judged.certificates[0]
    assert (first.source, first.station, first.origin) == (str(campaign), DONGLE, "simulated")
    lines = {line.text: line for line in first.lines}
    assert lines["STA"].answer == lines["b/g/n"].answer == "shown"
    assert (lines["STA"].n, lines["STA"].run) == (2, f"001-{first.arm}-rx")
    assert lines["STA"].sentence.startswith(f"shown in 2 of 2 runs that show it; 001-{first.arm}-rx: ")
    assert lines["STBC Receive"].answer == "claimed, not seen used"
    assert lines["Greenfield Preamble"].answer == "not claimed"
    assert lines["TX power by rate"].answer == "can't be determined"
    assert lines["TX power by rate"].n == 0
    because = "can't be determined here, because none of 2 captures shows it; 001-"
    assert lines["TX power by rate"].sentence.startswith(because)


def test_one_run_that_shows_it_is_enough_and_runs_may_disagree(campaign, scene):
    healthy = scene("healthy")

    def changed(**change) -> AirReport:
        audits = [
            audit.model_copy(
                update={
                    "rows": [
                        row.model_copy(update=change) if row.capability == "STBC Receive" else row for row in audit.rows
                    ]
                }
            )
            for audit in healthy.capabilities
        ]
        return healthy.model_copy(update={"capabilities": audits})

    def line(*reports):
        of_run = dict(
            zip(sorted(str(path) for path in campaign.glob("runs/*-vanilla-*/air.pcapng")), reports, strict=True)
        )
        judged = weigh(placed(campaign), [], lambda name: of_run[name], arm="vanilla")
        (certificate,) = judged.certificates
        return {each.text: each for each in certificate.lines}["STBC Receive"]

    used = line(healthy, changed(seen=40))
    assert (used.answer, used.run) == ("shown", "001-vanilla-tx")
    assert used.sentence.startswith("shown in 1 of 2 runs that show it; 001-vanilla-tx: ")
    differing = line(changed(claimed="no"), changed(seen=40))
    assert differing.answer == "runs disagree"
    assert "001-vanilla-rx: " in differing.sentence
    assert "001-vanilla-tx: " in differing.sentence
    silent = line(changed(claimed="not_available", seen=None), healthy)
    assert (silent.n, silent.run) == (1, "001-vanilla-tx")
    assert "1 of 1 run that shows it (1 do not)" in silent.sentence


def test_an_archive_without_captures_can_tell_nothing(campaign, scene, txop):
    for path in campaign.glob("runs/*/air.pcapng"):
        path.unlink()
    judged = weigh(placed(campaign), [], lambda _: scene("healthy"), arm="vanilla")
    (certificate,) = judged.certificates
    assert certificate.runs == 0
    because = "can't be determined here, because no valid run of vanilla has a capture that can be read"
    assert {line.sentence for line in certificate.lines} == {because}
    assert any("no valid run of vanilla" in sentence for sentence in judged.damage)
    (campaign / "board.toml").write_text(
        'format = "txop-board"\nversion = 1\ntitle = "t"\n[[task]]\ntask = "a"\nstate = "s"\n'
    )
    (campaign.parent / "page.txt").write_text(WIKI)
    done = txop("board", str(campaign), "--certificate", str(campaign.parent / "page.txt"))
    assert done.returncode == 4
    assert "can't be determined here, because no valid run has a capture" in done.stdout.replace("\n", " ")


@pytest.mark.parametrize("broken", ["cut", "empty", "no capture", "folder", "link"])
def test_a_half_written_archive(campaign, txop, broken):
    """A capture that cannot be read costs itself, is named, and the exit code says so."""
    from txop import _native

    captures = sorted(campaign.glob("runs/*-vanilla-*/air.pcapng"))
    for path in captures:
        _native.write_specimen(str(path), seed=1, seconds=1.0, scene="healthy")
    bad = captures[0]
    data = bad.read_bytes()
    bad.unlink()
    if broken == "folder":
        bad.mkdir()
    elif broken == "link":
        bad.symlink_to("/dev/zero")
    else:
        bad.write_bytes({"cut": data[: len(data) // 2], "empty": b"", "no capture": b"\x00<script>" * 50}[broken])
    with (campaign / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"event": "run-fin')
    (campaign.parent / "page.txt").write_text(WIKI)
    done = txop(
        *("board", str(campaign), "--board", "rtl8xxxu-gardena", "--arm", "vanilla", "--station", DONGLE),
        *("--certificate", str(campaign.parent / "page.txt"), "--json"),
    )
    assert done.returncode == 4, done.stderr
    said = json.loads(done.stdout)
    assert any("cut short after 18 bytes" in sentence for sentence in said["damage"])
    if broken in ("cut", "empty", "no capture"):
        assert any(bad.parent.name in sentence for sentence in said["damage"])
    (given,) = [each for each in said["certificates"] if each["driver"] == "mt76 (old)"]
    assert {line["text"]: line["answer"] for line in given["lines"]}["STA"] == "shown"


def test_the_table_of_a_wiki_page(tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(WIKI)
    (certificate,) = read_certificates(path).certificates
    assert (certificate.product, certificate.driver) == ("Yardian Pro PRO1902", "mt76 (old)")
    assert (certificate.vendor, certificate.date, certificate.line) == ("Aeon", "2019", 4)
    assert certificate.certified == ["2,4 GHz", "STA", "WMM"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("| 2019 | Aeon | x |", "line 5: it has 3 cells of 6"),
        ("| 2019 | Aeon | x | h | d |  |", "line 5: certified: "),
        ("| 2019 | Aeon |  | h | d | STA |", "line 5: product: "),
        ("| 2019 | Aeon | " + "x" * 600 + " | h | d | STA |", "line 5: product: "),
        ("| 2019 | Aeon | x | h | d | " + "STA, " * 200 + " |", "line 5: certified: "),
    ],
)
def test_rows_with_missing_cells_are_named(tmp_path, row, words):
    path = tmp_path / "page.txt"
    path.write_text(WIKI + row + "\n")
    found = read_certificates(path)
    assert len(found.certificates) == 1
    (sentence,) = found.damage
    assert words in sentence
    path.write_text(WIKI.replace(WIKI.splitlines()[3], row))
    with pytest.raises(UserError, match="no certificate in it can be read"):
        read_certificates(path)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("page.txt", "no table\n", "no certificate"),
        ("page.toml", "[[certificate]\n", "not TOML"),
        ("page.toml", "certificate = 3\n", "no certificate"),
        ("page.toml", '[[certificate]]\nproduct = "x"\n', "certified: Field required"),
        ("page.toml", '[[certificate]]\nproduct = "x"\ncertified = [1]\n', "certified"),
        ("page.toml", "a = " + "[" * 5000, "not TOML"),
    ],
)
def test_files_that_are_wrong(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UserError, match=words):
        read_certificates(path)


HOSTILE = "<img src=x onerror=alert(1)> \x1b]0;x\x07 ../../etc/passwd %%x%% `$(id)` \u202egnp"


def test_text_of_a_certificate_acts_nowhere(tmp_path, campaign, scene, txop):
    path = tmp_path / "page.txt"
    path.write_text(
        WIKI + f"| {HOSTILE} | {HOSTILE} | [[javascript:alert(2)|{HOSTILE}]] | {HOSTILE} | d | {HOSTILE} |\n"
    )
    given = read_certificates(path).certificates
    assert len(given) == 2
    base = placed(campaign)
    board = base.board.model_copy(update={"certificate": given})
    judged = weigh(replace(base, board=board), [], lambda _: scene("healthy"))
    page = exports.page(judged, "txop")
    assert "<img" not in page
    assert 'href="javascript' not in page
    for text in (
        page,
        *("\n".join(lines) for lines in (exports.lines(judged, GITHUB), exports.lines(judged, DOKUWIKI))),
    ):
        assert not set("\x1b\x07\u202e") & set(text)
    for line in exports.lines(judged, GITHUB):
        assert "<img" not in line.replace("\\<", "")
    shown = txop("board", "rtl8xxxu-gardena", "--certificate", str(path))
    assert shown.returncode == 0
    assert not set("\x1b\x07\u202e") & set(shown.stdout + shown.stderr)
