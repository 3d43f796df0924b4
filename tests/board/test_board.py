"""States of a board beside evidence: each kind with a yes, a no and a can't-be-told; and hostile boards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from txop.air.report import AirReport
from txop.archive.layout import Layout
from txop.board import exports
from txop.board.boards import LocatedBoard, find, read, shipped
from txop.board.certificate import check as check_certificate
from txop.board.checks import CHECKS, run
from txop.board.judge import standing
from txop.board.model import CHECK_NAMES, Board
from txop.board.outcome import Outcome
from txop.board.weigh import weigh
from txop.core.errors import UserError
from txop.report.exports.markup import DOKUWIKI, GITHUB

DATA = Path(__file__).parents[1] / "data"
ARCHIVE = DATA / "archive-v1"
DONGLE = "08:be:ac:0b:14:c4"
HEAD = {"format": "txop-board", "version": 1, "title": "t"}


def never(name: str) -> AirReport:
    raise AssertionError(f"{name} is not a capture")


def board_of(tmp_path, *tasks, **more):
    board = Board.model_validate({**HEAD, "task": list(tasks), **more})
    return LocatedBoard(board, "board.toml", tmp_path)


def weighed(tmp_path, evidence, claims=None, **task):
    """The one row of a board with that evidence."""
    made = {"task": "a", "state": "s", "claims": claims, "evidence": [evidence], **task}
    (row,) = weigh(board_of(tmp_path, made), [], never).rows
    return row


@pytest.fixture(scope="session")
def scene(tmp_path_factory):
    """The report of a capture made by rule."""
    from txop import _native
    from txop.air import analyze

    made = {}

    def report(name: str) -> AirReport:
        if name not in made:
            path = tmp_path_factory.mktemp("scene") / "air.pcapng"
            _native.write_specimen(str(path), seed=1, seconds=2.0, scene=name)
            made[name] = analyze(path)
        return made[name]

    return report


def test_the_shipped_board_is_the_pages_board():
    board = find("rtl8xxxu-gardena").board
    assert [task.line for task in board.task] == list(range(53, 72))
    assert [task.priority for task in board.task[:3]] == [1, 2, "unknown"]
    assert sum(task.optional for task in board.task) == 10
    assert [each.line for each in board.certificate] == [4, 5]
    assert set(board.certificate[1].certified) - set(board.certificate[0].certified) == {
        "Greenfield Preamble",
        "STAUT Power Management",
    }


def test_what_of_the_shipped_board_has_evidence():
    judged = weigh(find("rtl8xxxu-gardena"), [], never)
    shown = [row.task.task for row in judged.rows if row.standing == "shown"]
    assert shown == ["Firmware upload failure", "RX IQK failed"]
    assert judged.count("claimed, without evidence") == 17


@pytest.mark.parametrize(
    ("claims", "answers", "expected"),
    [
        ("works", ["pass"], "shown"),
        ("works", ["fail", "can't be determined"], "contradicted"),
        ("does not work", ["fail"], "shown"),
        ("does not work", ["pass"], "works"),
        (None, ["fail"], "does not work"),
        ("works", ["pass", "fail"], "evidence disagrees"),
        ("works", ["pass", "not there"], "evidence not there"),
        ("works", ["can't be determined"], "can't be determined"),
        ("works", [], "claimed, without evidence"),
    ],
)
def test_standings(claims, answers, expected):
    assert standing(claims, [Outcome(answer, "") for answer in answers]) == expected


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\ttx bitrate:\t65.0 MBit/s MCS 7\n", "pass"),
        ("\ttx bitrate:\t(unknown)\n", "fail"),
        ("\ttx bitrate:\t65.0 MBit/s\n\ttx bitrate:\t(unknown)\n", "fail"),
        ("Station 02:00:00:00:00:01 (on wlan0)\n", "can't be determined"),
        ("", "can't be determined"),
    ],
)
def test_lines_of_iw(tmp_path, text, answer):
    (tmp_path / "iw.txt").write_text(text)
    row = weighed(
        tmp_path, {"kind": "text", "file": "iw.txt", "fails": "tx bitrate:\t(unknown)", "works": "tx bitrate:"}, "works"
    )
    assert row.outcomes[0].answer == answer
    if answer != "can't be determined":
        assert "line " in row.outcomes[0].sentence


def test_a_log_that_has_neither_tells_nothing(tmp_path):
    (tmp_path / "log").write_text("[    1.0] usb 1-1: Firmware revision 88.2 (signature 0x88c1)\n")
    evidence = {"kind": "log", "file": "log", "fails": "rtl8xxxu-firmware-block", "works": "wifi-associated"}
    assert weighed(tmp_path, evidence, "works").standing == "can't be determined"
    (tmp_path / "log").write_text("[    1.0] wlan0: associated\n")
    row = weighed(tmp_path, evidence, "works")
    assert row.standing == "shown", row.outcomes


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("nothing.txt", "no such file"),
        ("../outside.txt", "outside"),
        ("/etc/passwd", "outside"),
        ("link.txt", "outside"),
        ("folder", "cannot be read"),
        ("pipe", "cannot be read"),
        ("a\0b", "not a file name"),
    ],
)
def test_evidence_is_within_the_folder_of_the_board(tmp_path, file, words):
    import os

    (tmp_path / "outside.txt").write_text("yes")
    inside = tmp_path / "board"
    (inside / "folder").mkdir(parents=True)
    (inside / "link.txt").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(inside / "pipe")
    row = weighed(inside, {"kind": "text", "file": file, "fails": "no", "works": "yes"}, "works")
    assert row.standing == "evidence not there"
    assert words in row.outcomes[0].sentence


def test_a_figure_of_runs(tmp_path):
    shutil.copytree(ARCHIVE, tmp_path / "campaign")
    common = {"kind": "runs", "archive": "campaign", "test": "tx", "metric": "throughput_mbit_s"}

    def outcome(arm, **bounds):
        return weighed(tmp_path, {**common, "arm": arm, **bounds}).outcomes[0]

    high = outcome("vendor", at_least=30)
    assert (high.answer, high.origin) == ("pass", "emulated")
    assert high.n
    assert high.n > 1
    assert f"n = {high.n}" in high.sentence
    assert outcome("vanilla", at_least=30).answer == "fail"
    runs = [json.loads(path.read_text()) for path in sorted((ARCHIVE / "runs").glob("*-vanilla-tx/run.json"))]
    values = sorted(run["metrics"]["throughput_mbit_s"]["value"] for run in runs if run["state"] == "valid")
    middle = (values[0] + values[-1]) / 2
    assert outcome("vanilla", at_least=middle).answer == "can't be determined"
    assert outcome("nobody", at_least=1).answer == "not there"
    (tmp_path / "not-an-archive").mkdir()
    assert weighed(tmp_path, {**common, "archive": "not-an-archive", "arm": "x", "at_least": 1}).standing == (
        "evidence not there"
    )


def test_faults_of_runs(tmp_path):
    shutil.copytree(ARCHIVE, tmp_path / "campaign")
    runs = [json.loads(path.read_text()) for path in sorted((ARCHIVE / "runs").glob("*/run.json"))]
    having = next(run for run in runs if run.get("faults"))
    evidence = {"kind": "faults", "archive": "campaign", "arm": having["arm"], "fault": having["faults"][0]["key"]}
    assert weighed(tmp_path, evidence, "works").standing == "contradicted"
    absent = {**evidence, "fault": "rtl8xxxu-urb"}
    assert weighed(tmp_path, absent, "works").standing == "can't be determined", "none of these runs has a kernel log"
    for path in (tmp_path / "campaign" / "runs").glob(f"*-{having['arm']}-*/run.json"):
        run = json.loads(path.read_text())
        path.write_text(json.dumps({**run, "files": {"kernel-log.txt": "what the kernel logged"}}))
    assert weighed(tmp_path, absent, "works").standing == "shown"


def test_every_check_says_what_it_shows():
    assert set(CHECKS) == set(CHECK_NAMES)


@pytest.mark.parametrize(
    ("name", "check", "answer"),
    [
        ("late-block-ack", "block-ack-complete", "fail"),
        ("healthy", "block-ack-complete", "pass"),
        ("lossy", "block-ack-complete", "can't be determined"),
        ("ack-by-rate", "ack-every-rate", "fail"),
        ("healthy", "ack-every-rate", "can't be determined"),
        ("upload", "a-mpdu-tx", "pass"),
        ("healthy", "a-mpdu-rx", "pass"),
        ("ack-by-rate", "a-mpdu-rx", "can't be determined"),
        ("no-ampdu-status", "bar-rx", "can't be determined"),
        ("healthy", "a-msdu-rx", "can't be determined"),
        ("healthy", "stbc-rx", "can't be determined"),
        ("healthy", "greenfield", "fail"),
        ("healthy", "pmf", "fail"),
        ("healthy", "wmm", "can't be determined"),
        ("upload", "high-mcs", "pass"),
        ("healthy", "40-mhz", "fail"),
    ],
)
def test_checks_of_captures_made_by_rule(scene, name, check, answer):
    found = run(check, scene(name), DONGLE)
    assert found.answer == answer, found
    assert ("because" in found.sentence) == (answer == "can't be determined")


@pytest.mark.parametrize("check", CHECK_NAMES)
def test_a_station_that_is_not_there(scene, check):
    assert run(check, scene("healthy"), "02:00:00:00:00:99").answer == "can't be determined"


def test_a_deaf_sniffer_is_no_failure(scene):
    for check in ("ack-every-rate", "bar-rx", "a-msdu-rx", "block-ack-complete"):
        assert run(check, scene("deaf-sniffer"), DONGLE).answer != "fail"


def report_with(report: AirReport, **changes) -> AirReport:
    return report.model_copy(update=changes)


def test_amsdus_and_block_ack_requests(scene):
    """Frames that no scene has: counted in a changed report."""
    report = scene("healthy")
    flows = [
        flow.model_copy(update={"amsdu_mpdus": flow.mpdus}) if flow.ra == DONGLE else flow
        for flow in report.aggregation
    ]
    assert run("a-msdu-rx", report_with(report, aggregation=flows), DONGLE).answer == "pass"
    some = [flow.model_copy(update={"amsdu_mpdus": 30}) if flow.ra == DONGLE else flow for flow in report.aggregation]
    assert run("a-msdu-rx", report_with(report, aggregation=some), DONGLE).answer == "can't be determined"

    def exchanges(answered, resent):
        changed = []
        for exchange in report.exchanges:
            if exchange.ra == DONGLE:
                row = exchange.by_rate[0].model_copy(
                    update={"frames": "control", "ppdus": 40, "answered": answered, "missing_resent": resent}
                )
                data = exchange.data.model_copy(update={"ppdus": 40, "answered": answered, "missing_resent": resent})
                changed.append(exchange.model_copy(update={"by_rate": [row], "data": data}))
        return changed

    unanswered = report_with(report, aggregation=flows, exchanges=exchanges(0, 40))
    assert run("a-msdu-rx", unanswered, DONGLE).answer == "fail"
    half = report_with(report, aggregation=flows, exchanges=exchanges(20, 20))
    assert run("a-msdu-rx", half, DONGLE).answer == "can't be determined"
    asked = [each.model_copy(update={"requests": 40}) for each in report.block_acks]
    for answered, answer in ((40, "pass"), (20, "can't be determined"), (0, "fail")):
        changed = report_with(report, block_acks=asked, exchanges=exchanges(answered, 40 - answered))
        assert run("bar-rx", changed, DONGLE).answer == answer
    refusing = {"addba_requests": 3, "addba_refused": 3, "addba_accepted": 0, "block_acks": 0}
    changed = report_with(report, block_acks=[each.model_copy(update=refusing) for each in report.block_acks])
    assert run("a-mpdu-rx", changed, DONGLE).answer == "fail"
    deaf = report.hearing.model_copy(update={"silence_is_evidence": False})
    changed = report_with(report, block_acks=asked, exchanges=exchanges(0, 40), hearing=deaf)
    assert run("bar-rx", changed, DONGLE).answer == "can't be determined"


def test_certificates(scene):
    certificate = find("rtl8xxxu-gardena").board.certificate[1]
    checked = check_certificate(certificate, 1, scene("healthy"), DONGLE, "air.pcapng")
    answers = {line.text: line.answer for line in checked.lines}
    assert answers["2,4 GHz"] == answers["STA"] == answers["b/g/n"] == answers["WMM"] == "shown"
    assert answers["1 Spatial Stream 2.4 GHz"] == "shown"
    assert answers["STBC Receive"] == "claimed, not seen used"
    assert answers["Greenfield Preamble"] == "not claimed"
    legacy = check_certificate(certificate, 1, scene("legacy"), None, "air.pcapng")
    assert {line.text: line.answer for line in legacy.lines}["b/g/n"] == "not claimed"
    nobody = check_certificate(certificate, 1, scene("healthy"), "02:00:00:00:00:99", "air.pcapng")
    assert {line.answer for line in nobody.lines} == {"can't be determined"}


HOSTILE = "<script>alert(1)</script> | **b** %% \x1b[31m [[x]] `rm -rf`"


def test_text_of_a_board_acts_nowhere(tmp_path):
    (tmp_path / "iw.txt").write_text(f"{HOSTILE} yes\n")
    placed = board_of(
        tmp_path,
        {
            "task": HOSTILE,
            "state": HOSTILE,
            "test_case": HOSTILE,
            "optional_note": HOSTILE,
            "evidence": [{"kind": "text", "file": "iw.txt", "fails": "never", "works": "yes"}],
        },
        title=HOSTILE,
        about=HOSTILE,
        certificate=[{"product": HOSTILE, "certified": [HOSTILE]}],
    )
    judged = weigh(placed, [], never)
    page = exports.page(judged, "txop")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    for lines in (exports.lines(judged, GITHUB), exports.lines(judged, DOKUWIKI)):
        text = "\n".join(lines)
        assert "\x1b" not in text
        rows = [line for line in text.splitlines() if line.startswith("| unknown")]
        assert len(rows) == 1
    (row,) = [line for line in exports.lines(judged, GITHUB) if line.startswith("| unknown")]
    assert "<script>" not in row.replace("\\<", "")
    assert row.replace("\\|", "").count("|") == 7
    (row,) = [line for line in exports.lines(judged, DOKUWIKI) if line.startswith("| unknown")]
    assert "%%<script>" in row


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not toml", "not TOML"),
        ('format = "txop-board"\nversion = 2\ntitle = "t"', "version"),
        ('format = "txop-board"\nversion = 1\ntitle = "t"\ntask = []', "task"),
        (
            'format = "txop-board"\nversion = 1\ntitle = "t"\n[[task]]\ntask = "a"\nstate = "s"\nclaims = "maybe"',
            "claims",
        ),
        (
            'format = "txop-board"\nversion = 1\ntitle = "t"\n[[task]]\ntask = "a"\nstate = "s"\n'
            'evidence = [{kind = "believe"}]',
            "evidence",
        ),
        (
            'format = "txop-board"\nversion = 1\ntitle = "t"\n[[task]]\ntask = "a"\nstate = "s"\n'
            'evidence = [{kind = "runs", archive = "a", arm = "b", test = "c", metric = "d"}]',
            "at_least",
        ),
        ("a = " + "[" * 5000, "not TOML"),
    ],
)
def test_boards_that_are_wrong(tmp_path, text, words):
    path = tmp_path / "board.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=words):
        read(path)


def test_the_board_of_an_archive_and_of_a_plan(tmp_path):
    shutil.copytree(ARCHIVE, tmp_path / "campaign")
    plan = tmp_path / "plan.toml"
    shutil.copy(ARCHIVE / "plan.toml", plan)
    for word in (str(tmp_path / "campaign"), str(plan)):
        with pytest.raises(UserError, match="no board"):
            find(word)
    text = 'format = "txop-board"\nversion = 1\ntitle = "mine"\n[[task]]\ntask = "a"\nstate = "s"\n'
    (tmp_path / "board.toml").write_text(text)
    (tmp_path / "campaign" / "board.toml").write_text(text)
    assert find(str(plan)).archive is None
    assert find(str(tmp_path / "campaign")).archive.root == tmp_path / "campaign"
    named = find(str(tmp_path / "campaign"), Path("rtl8xxxu-gardena"))
    assert (len(named.board.task), named.archive.root) == (19, tmp_path / "campaign")
    with pytest.raises(UserError, match="no such board"):
        find("rtl8xxxu-gardens")
    with pytest.raises(UserError, match="neither"):
        find(str(DATA))


def test_captures_of_a_campaign_arm_by_arm(tmp_path, scene):
    """What a campaign left is put to the checks: here its captures are empty files, and what they show is given."""
    shutil.copytree(ARCHIVE, tmp_path / "campaign")
    board = Board.model_validate(
        {**HEAD, "task": [{"task": "a", "state": "s", "claims": "works", "check": "block-ack-complete"}]}
    )
    placed = LocatedBoard(board, "b", tmp_path, archive=Layout(tmp_path / "campaign"))
    good, late = scene("healthy"), scene("late-block-ack")
    judged = weigh(placed, [], lambda name: late if "vanilla" in name else good)
    (row,) = judged.rows
    assert row.standing == "evidence disagrees"
    by_arm = {outcome.sentence.split(":")[0]: outcome for outcome in row.outcomes}
    assert by_arm["vanilla"].answer == "fail"
    assert by_arm["vendor"].answer == "pass"
    assert by_arm["vanilla"].n == len([*ARCHIVE.glob("runs/*-vanilla-*/air.pcapng")])
    assert "001-vanilla-" in by_arm["vanilla"].sentence
    only = weigh(placed, [], lambda name: late if "vanilla" in name else good, arm="vanilla")
    assert only.rows[0].standing == "contradicted"


def test_the_command(txop, tmp_path):
    shown = txop("board", "rtl8xxxu-gardena")
    assert shown.returncode == 0, shown.stderr
    assert "19 tasks: 2 shown by evidence, 17 claimed, without evidence." in shown.stdout
    said = json.loads(txop("board", "rtl8xxxu-gardena", "--capture", str(DATA / "air-v2-good.json"), "--json").stdout)
    assert (said["format"], said["version"]) == ("txop-board-report", 1)
    assert {each["source"] for each in said["certificates"]} == {str(DATA / "air-v2-good.json")}
    for name, words in (("html", "<h1>"), ("markdown", "| Priority |"), ("dokuwiki", "| **Priority** |")):
        target = tmp_path / name
        assert txop("board", "rtl8xxxu-gardena", "--format", name, "-o", str(target)).returncode == 0
        assert words in target.read_text()


def test_exit_codes(txop, tmp_path):
    (tmp_path / "iw.txt").write_text("tx bitrate: (unknown)\n")
    board = tmp_path / "b.toml"
    text = (
        'format = "txop-board"\nversion = 1\ntitle = "t"\n[[task]]\ntask = "a"\nstate = "fixed"\nclaims = "works"\n'
        'check = "wmm"\n'
        '[[task.evidence]]\nkind = "text"\nfile = "iw.txt"\nfails = "(unknown)"\nworks = "tx bitrate"\n'
    )
    board.write_text(text)
    assert txop("board", str(board)).returncode == 1
    broken = tmp_path / "broken.pcap"
    broken.write_bytes(b"no capture")
    done = txop("board", str(board), "--capture", str(broken))
    assert done.returncode == 4
    assert "cannot be read" in done.stderr
    assert txop("board", str(board), "--capture", "nowhere.pcap").returncode == 2
    assert txop("board", "rtl8xxxu-gardens").returncode == 2
    assert txop("board", str(board), "--format", "htm", "-o", "x").returncode == 2


def test_shipped_boards_are_whole():
    for name in shipped():
        assert weigh(find(name), [], never).count("evidence not there") == 0
