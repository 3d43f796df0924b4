"""Every kind of damage is named, and no run that it concerns counts; a whole archive gives no finding."""

from __future__ import annotations

import json
import os
import shutil
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from txop.archive.counting import counting
from txop.archive.damage import Code
from txop.archive.journal import read_journal
from txop.archive.layout import Layout
from txop.archive.plan_record import plan_record
from txop.archive.reader import Archive, read_archive
from txop.compare.archive import compare

RUN = "002-vanilla-tx"
OTHER = "004-vanilla-tx"
VOID = "003-patch10-tx"

Damage = Callable[[Path], object]


def file_of(root: Path, run: str = RUN) -> Path:
    return root / "runs" / run / "run.json"


def run_with(run: str = RUN, /, **fields: Any) -> Damage:
    """Fields of a run.json set to something else."""

    def damage(root: Path) -> None:
        document = json.loads(file_of(root, run).read_text())
        document.update(fields)
        file_of(root, run).write_text(json.dumps(document))

    return damage


def figure(key: str, value: Any, field: str = "value") -> Damage:
    """A figure of a run set to something else; ``value`` as JSON text may be what no JSON library writes."""

    def damage(root: Path) -> None:
        document = json.loads(file_of(root).read_text())
        document["metrics"][key][field] = "@"
        file_of(root).write_text(json.dumps(document).replace('"@"', value))

    return damage


def in_run(change: Callable[[dict[str, Any]], None], run: str = RUN) -> Damage:
    def damage(root: Path) -> None:
        document = json.loads(file_of(root, run).read_text())
        change(document)
        file_of(root, run).write_text(json.dumps(document))

    return damage


def bytes_of(change: Callable[[bytes], bytes], name: str = f"runs/{RUN}/run.json") -> Damage:
    return lambda root: (root / name).write_bytes(change((root / name).read_bytes())) and None


def journal(change: Callable[[list[str]], list[str]]) -> Damage:
    """The lines of the journal, changed."""

    def damage(root: Path) -> None:
        path = root / "journal.jsonl"
        path.write_text("".join(change(path.read_text().splitlines(keepends=True))))

    return damage


def event(name: str, run: str | None = RUN, /, **fields: Any) -> Damage:
    """Fields of an event set to something else."""

    def change(lines: list[str]) -> list[str]:
        return [
            json.dumps({**document, **fields}) + "\n"
            if document["event"] == name and run in (None, document.get("run"))
            else line
            for line in lines
            for document in [json.loads(line)]
        ]

    return journal(change)


def at(lines: list[str], name: str, run: str | None = None) -> int:
    return next(n for n, line in enumerate(lines) if f'"{name}"' in line and (run is None or f'"{run}"' in line))


def plan(old: str, new: str) -> Damage:
    def damage(root: Path) -> None:
        text = (root / "plan.toml").read_text()
        assert old in text
        (root / "plan.toml").write_text(text.replace(old, new, 1))

    return damage


def replaced(path: Path, by: Callable[[Path], object]) -> None:
    """Something else in the place of a file, which stays beside it as ``kept``."""
    path.rename(path.with_name("kept"))
    by(path)


def in_place_of(kind: str) -> Damage:
    def damage(root: Path) -> None:
        path = file_of(root)
        path.unlink()
        match kind:
            case "pipe":
                os.mkfifo(path)
            case "folder":
                path.mkdir()
            case "link into nothing":
                path.symlink_to(root / "nowhere")
            case "link to itself":
                path.symlink_to(path)
            case "link to another run":
                path.symlink_to(file_of(root, OTHER))
            case "device":
                path.symlink_to("/dev/zero")

    return damage


def copy_of_another(*, all_new: bool) -> Damage:
    """The file of another run under this run's names; with ``all_new`` also at another time."""

    def damage(root: Path) -> None:
        own, other = (json.loads(file_of(root, run).read_text()) for run in (RUN, OTHER))
        names = ["run", "block", "position", "arm", "test", *(["started_at", "seconds"] if all_new else [])]
        file_of(root).write_text(json.dumps({**other, **{name: own[name] for name in names}}))

    return damage


def verified_of(arm: str) -> Damage:
    def damage(root: Path) -> None:
        other = json.loads(file_of(root, f"002-{arm}-tx").read_text())["verified"]
        run_with(verified=other)(root)

    return damage


def without_a_folder(root: Path) -> None:
    shutil.rmtree(file_of(root).parent)


def a_stranger(root: Path) -> None:
    """A run of a block that the campaign does not have."""
    folder = root / "runs" / "012-vanilla-tx"
    shutil.copytree(file_of(root).parent, folder)
    run_with("012-vanilla-tx", run="012-vanilla-tx", block=12, metrics={})(root)


def without_an_arm(root: Path) -> None:
    """The plan lacks an arm that has runs, and the journal knows nothing of it."""
    text = (root / "plan.toml").read_text()
    begin, end = text.index('[[arm]]\nname = "vendor"'), text.index("[[test]]")
    (root / "plan.toml").write_text(text[:begin] + text[end:])


LOST = {RUN}
"""What does not count."""

KINDS: dict[str, tuple[Damage, Code, set[str]]] = {
    # run.json is not what txop writes
    "empty": (bytes_of(lambda data: b""), Code.RUN_MALFORMED, LOST),
    "truncated": (bytes_of(lambda data: data[: len(data) // 2]), Code.RUN_MALFORMED, LOST),
    "garbage": (bytes_of(lambda data: bytes(range(256)) * 9), Code.RUN_MALFORMED, LOST),
    "zeros": (bytes_of(lambda data: bytes(len(data))), Code.RUN_MALFORMED, LOST),
    "byte order mark": (bytes_of(lambda data: b"\xef\xbb\xbf" + data), Code.RUN_MALFORMED, LOST),
    "utf-16": (bytes_of(lambda data: data.decode().encode("utf-16")), Code.RUN_MALFORMED, LOST),
    "deep": (bytes_of(lambda data: b"[" * 100_000), Code.RUN_MALFORMED, LOST),
    "extra key": (run_with(colour="blue"), Code.RUN_MALFORMED, LOST),
    "other format": (run_with(format="other"), Code.RUN_MALFORMED, LOST),
    "newer version": (run_with(version=2), Code.RUN_NEWER, LOST),
    "text for a number": (figure("throughput_mbit_s", '"17.2"'), Code.RUN_MALFORMED, LOST),
    "text for a length": (run_with(seconds="41.2"), Code.RUN_MALFORMED, LOST),
    "true for a number": (figure("throughput_mbit_s", "true"), Code.RUN_MALFORMED, LOST),
    "true for a block": (run_with(block=True), Code.RUN_MALFORMED, LOST),
    "a fraction for a block": (run_with(block=2.5), Code.RUN_MALFORMED, LOST),
    "list for a number": (figure("throughput_mbit_s", "[17.2]"), Code.RUN_MALFORMED, LOST),
    "not a number": (figure("throughput_mbit_s", "NaN"), Code.RUN_MALFORMED, LOST),
    "infinity": (figure("throughput_mbit_s", "Infinity"), Code.RUN_MALFORMED, LOST),
    "more than a number": (figure("throughput_mbit_s", "1e999"), Code.RUN_MALFORMED, LOST),
    # what takes the place of run.json
    "pipe": (in_place_of("pipe"), Code.RUN_UNREADABLE, LOST),
    "folder": (in_place_of("folder"), Code.RUN_UNREADABLE, LOST),
    "link into nothing": (in_place_of("link into nothing"), Code.RUN_UNREADABLE, LOST),
    "link to itself": (in_place_of("link to itself"), Code.RUN_UNREADABLE, LOST),
    "link to another run": (in_place_of("link to another run"), Code.RUN_MISPLACED, LOST),
    "device": (in_place_of("device"), Code.RUN_UNREADABLE, LOST),
    "folder is gone": (without_a_folder, Code.RUN_MISSING, LOST),
    "file is gone": (lambda root: file_of(root).unlink(), Code.RUN_UNREADABLE, LOST),
    "other folder": (run_with(block=3), Code.RUN_MISPLACED, LOST),
    # values that no run has
    "negative rate": (figure("throughput_mbit_s", "-17.2"), Code.RUN_VALUE, LOST),
    "negative round trip": (figure("rtt_p50_ms", "-0.1"), Code.RUN_VALUE, LOST),
    "negative count": (figure("faults", "-1"), Code.RUN_VALUE, LOST),
    "share over 100 %": (figure("air_retry_percent", "367"), Code.RUN_VALUE, LOST),
    "huge": (figure("throughput_mbit_s", "1e308"), Code.RUN_VALUE, LOST),
    "huge explaining figure": (figure("cpu_s_per_gbit", "-1e308"), Code.RUN_VALUE, LOST),
    "number and infinite": (figure("rtt_p50_ms", "true", "infinite"), Code.RUN_VALUE, LOST),
    "quantiles": (figure("rtt_p50_ms", "99999"), Code.RUN_VALUE, LOST),
    "negative length": (run_with(seconds=-1.0), Code.RUN_VALUE, LOST),
    "huge length": (run_with(seconds=1e308, window_s=1e307), Code.RUN_VALUE, LOST),
    "negative window": (run_with(window_s=-27.0), Code.RUN_VALUE, LOST),
    "huge count of a fault": (
        run_with(faults=[{"key": "k", "title": "t", "severity": "error", "target": "dut", "count": 10**30}]),
        Code.RUN_VALUE,
        LOST,
    ),
    "huge in the digest of a capture": (
        in_run(lambda run: run["air"].update(phy_mbit_s=1e308)),
        Code.RUN_VALUE,
        LOST,
    ),
    "share of the air": (in_run(lambda run: run["air"]["waterfall"][0].update(share=1.5)), Code.RUN_VALUE, LOST),
    "window longer than the run": (run_with(window_s=2700.0), Code.RUN_WINDOW, LOST),
    "unit": (figure("throughput_mbit_s", '"kbit/s"', "unit"), Code.RUN_UNIT, LOST),
    # state, gates, causes
    "valid with a cause": (
        run_with(void=[{"gate": "association-lost", "cause": "gone", "target": "dut"}]),
        Code.RUN_STATE,
        LOST,
    ),
    "valid with a void gate": (
        in_run(lambda run: run["gates"].update({"route": "void: nothing passed wlan0"})),
        Code.RUN_STATE,
        LOST,
    ),
    "void without a cause": (run_with(VOID, void=[]), Code.RUN_STATE, set()),
    "void made valid": (run_with(VOID, state="valid", void=[], gates={}), Code.RUN_END, set()),
    "valid made void": (
        run_with(state="void", void=[{"gate": "interrupted", "cause": "stopped"}]),
        Code.RUN_END,
        LOST,
    ),
    "journal has it void": (event("run-finished", event="run-voided", causes=[]), Code.RUN_END, LOST),
    "journal has it finished": (event("run-voided", VOID, event="run-finished"), Code.RUN_END, set()),
    "journal has it lost": (event("run-finished", event="run-lost"), Code.RUN_END, LOST),
    # another run, another arm
    "copy of another run": (copy_of_another(all_new=False), Code.RUN_COPY, {RUN, OTHER}),
    "copy with other times": (copy_of_another(all_new=True), Code.RUN_COPY, {RUN, OTHER}),
    "verified is another arm's": (verified_of("vendor"), Code.RUN_ARM, LOST),
    "verified is another build's": (
        in_run(lambda run: run["verified"].update(srcversion="0" * 23)),
        Code.RUN_ARM,
        LOST,
    ),
    "verified contradicts the plan": (
        plan('[[arm]]\nname = "vendor"', '[[arm]]\nname = "vendor"\nverify = { srcversion = "FFFF" }'),
        Code.RUN_ARM,
        {f"00{n}-vendor-tx" for n in range(1, 8)} | {"008-vendor-tx"},
    ),
    "arm is not in the plan": (without_an_arm, Code.RUN_UNKNOWN, {f"00{n}-vendor-tx" for n in range(1, 9)}),
    "test is not in the plan": (
        plan('name = "tx"', 'name = "up"'),
        Code.RUN_UNKNOWN,
        {f"00{n}-{arm}-tx" for n in range(1, 9) for arm in ("vanilla", "patch10", "vendor")},
    ),
    # blocks and places
    "place in its block": (
        in_run(lambda run: run.update(position=run["position"] % 3 + 1)),
        Code.RUN_BLOCK,
        LOST,
    ),
    "place outside its block": (run_with(position=0), Code.RUN_BLOCK, LOST),
    "repeats a block": (run_with(replaces=1), Code.RUN_BLOCK, LOST),
    "repeats nothing": (run_with("008-vanilla-tx", replaces=None), Code.RUN_BLOCK, {"008-vanilla-tx"}),
    "block beyond the plan": (a_stranger, Code.RUN_BLOCK, set()),
    # the journal
    "journal is gone": (lambda root: (root / "journal.jsonl").unlink(), Code.JOURNAL_UNREADABLE, set()),
    "journal is empty": (lambda root: (root / "journal.jsonl").write_text("") and None, Code.JOURNAL_EMPTY, set()),
    "journal is a folder": (
        lambda root: replaced(root / "journal.jsonl", lambda path: path.mkdir()),
        Code.JOURNAL_UNREADABLE,
        set(),
    ),
    "line repeated": (journal(lambda lines: [*lines[:9], lines[8], *lines[9:]]), Code.JOURNAL_REPEATED, set()),
    "lines in another order": (
        journal(lambda lines: [*lines[:5], *lines[9:13], *lines[5:9], *lines[13:]]),
        Code.JOURNAL_ORDER,
        set(),
    ),
    "run after the end": (
        journal(lambda lines: [*lines[:-1], lines[-1], lines[at(lines, "run-finished")]]),
        Code.JOURNAL_ORDER,
        set(),
    ),
    "line cut": (journal(lambda lines: [*lines[:-1], lines[-1][:30]]), Code.JOURNAL_LINE, set()),
    "line of zeros": (journal(lambda lines: [*lines[:7], "\0" * 500 + "\n", *lines[7:]]), Code.JOURNAL_LINE, set()),
    "line of text": (journal(lambda lines: [*lines[:7], "hello\n", *lines[7:]]), Code.JOURNAL_LINE, set()),
    "time is text": (event("run-finished", monotonic_s="1.0"), Code.JOURNAL_LINE, set()),
    "time is no number": (
        journal(lambda lines: [*lines[:-1], lines[-1].replace('"monotonic_s": ', '"monotonic_s": NaN, "x": ')]),
        Code.JOURNAL_LINE,
        set(),
    ),
    "block of a stranger": (
        event("block-started", None, arms=["stranger"]),
        Code.JOURNAL_STRANGE,
        set(),
    ),
    "block far beyond the plan": (
        journal(lambda lines: [*lines[:-1], lines[at(lines, "block-started")].replace('"block": 1', '"block": 99')]),
        Code.JOURNAL_STRANGE,
        set(),
    ),
    "end of another run": (event("run-finished", run="009-vanilla-tx"), Code.JOURNAL_STRANGE, set()),
    "end is not there": (
        journal(lambda lines: [line for line in lines if not ("run-finished" in line and RUN in line)]),
        Code.JOURNAL_LACKS_END,
        set(),
    ),
    # the plan
    "primary edited": (
        plan('primary = ["tx.throughput_mbit_s"]', 'primary = ["tx.rtt_p50_ms"]'),
        Code.PLAN_EDITED,
        set(),
    ),
    "margin added": (plan("[design]\n", '[design]\nmargins = { "tx.rtt_p50_ms" = 50.0 }\n'), Code.PLAN_EDITED, set()),
    "seed edited": (plan("seed = 10", "seed = 11"), Code.PLAN_EDITED, set()),
    "arm's patch edited": (plan("[[arm.patches]]", '[[arm.patches]]\nfile = "other.patch"'), Code.PLAN_EDITED, set()),
    "overrides edited": (
        bytes_of(lambda data: data.replace(b'"overrides": {}', b'"overrides": {"blocks": 7}'), "archive.json"),
        Code.PLAN_EDITED,
        set(),
    ),
}


def counted(archive: Archive) -> set[str]:
    return {run.run for test in archive.plan.test for run in counting(archive, test.name).runs}


@pytest.fixture(scope="module")
def all_runs(whole: Path) -> set[str]:
    return counted(read_archive(whole))


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_named_and_does_not_count(
    kind: str, copied: Path, all_runs: set[str], started: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    damage, code, lost = KINDS[kind]
    damage(copied)
    archive = read_archive(copied)
    assert code in {finding.code for finding in archive.findings}, archive.findings
    now = counted(archive)
    assert not now & {finding.spoils for finding in archive.findings}
    assert lost & all_runs <= all_runs - now
    # A run may also have lost its partners, or a repeat have taken the place of its block.
    others = {run for run in all_runs - now - lost if run.split("-")[0] not in {name.split("-")[0] for name in lost}}
    assert not others
    assert archive.damage
    assert all(sentence.isprintable() for sentence in archive.damage)
    results = [
        started("compare", copied),
        started("report", copied, "--format", "markdown", "-o", tmp_path / "report.md"),
    ]
    assert [code for code, _ in results] == [4, 4], results
    assert not any("defect" in err or "Traceback" in err for _, err in results)


@pytest.mark.parametrize(
    "kind", ["huge", "huge length", "test is not in the plan", "primary edited", "journal is gone"]
)
def test_the_page_is_made_beside_damage(
    kind: str, copied: Path, started: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    KINDS[kind][0](copied)
    code, err = started("report", copied, "-o", tmp_path / "report.html")
    assert code == 4, err
    assert (tmp_path / "report.html").stat().st_size > 10_000


def spoil_series(root: Path, point: list[Any]) -> None:
    path = root / "runs" / RUN / "series.json"
    document = json.loads(path.read_text())
    document["series"]["throughput_mbit_s"][5] = point
    path.write_text(json.dumps(document))


def test_the_page_is_made_without_an_unreadable_series(
    copied: Path, started: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    spoil_series(copied, [5.0, 1e308])
    code, err = started("report", copied, "-o", tmp_path / "report.html")
    assert (code, "defect" in err) == (4, False), err


@pytest.mark.parametrize("point", [[5.0, 1e308], [1e308, 5.0], [5.0, "5.0"], [5.0, True], [5.0]])
def test_a_series_that_no_run_has_is_named_and_its_run_counts(
    point: list[Any], copied: Path, all_runs: set[str]
) -> None:
    spoil_series(copied, point)
    archive = read_archive(copied)
    assert archive.series(next(run for run in archive.runs if run.run == RUN)).series == {}
    assert [finding.code for finding in archive.findings] == [Code.SERIES_UNREADABLE]
    assert counted(archive) == all_runs


def test_every_reader_of_archives_names_it(
    whole: Path, copied: Path, started: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    KINDS["share over 100 %"][0](copied)
    for command in (
        ["compare", copied, "--json"],
        ["compare", whole, copied, "--arm", "vanilla"],
        ["trend", whole, copied, "--arm", "vanilla"],
        ["export", copied, "-o", tmp_path / "exported"],
        ["report", copied, "--format", "parquet", "-o", tmp_path / "tables"],
    ):
        code, err = started(*command)
        assert code == 4, (command, err)
    assert any("air_retry_percent" in sentence for sentence in read_archive(copied).damage)


UNREADABLE: dict[str, Damage] = {
    "no archive.json": lambda root: (root / "archive.json").unlink(),
    "no plan": lambda root: (root / "plan.toml").unlink(),
    "plan is empty": lambda root: (root / "plan.toml").write_text("") and None,
    "plan is garbage": lambda root: (root / "plan.toml").write_bytes(bytes(range(256))) and None,
    "archive.json is of another version": lambda root: (
        (root / "archive.json").write_text('{"format": "txop-archive", "version": 2}') and None
    ),
    "archive.json is of another format": lambda root: (root / "archive.json").write_text('{"format": "x"}') and None,
    "overrides are wrong": bytes_of(
        lambda data: data.replace(b'"overrides": {}', b'"overrides": {"blocks": "many"}'), "archive.json"
    ),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_at_all_is_refused(
    kind: str, copied: Path, started: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    UNREADABLE[kind](copied)
    assert started("compare", copied)[0] == 2
    assert started("report", copied, "-o", tmp_path / "report.html")[0] == 2


# What is whole gives no finding ------------------------------------------------------------------------------------


def test_a_whole_archive_gives_no_finding(whole: Path, started: Callable[..., tuple[int, str]]) -> None:
    assert read_archive(whole).findings == []
    assert started("compare", whole)[0] == 0


def killed(root: Path, before: str) -> None:
    """The archive as a process left it that was killed before it wrote an event of 005-vendor-tx: what came later is
    not there, and of that run the file only when it was its end that was to be written."""
    lines = (root / "journal.jsonl").read_text().splitlines(keepends=True)
    number = at(lines, before, "005-vendor-tx") + (before == "run-started")
    (root / "journal.jsonl").write_text("".join(lines[:number]))
    there = {json.loads(line).get("run") for line in lines[:number]}
    for folder in (root / "runs").iterdir():
        if folder.name not in there:
            shutil.rmtree(folder)
    if before == "run-started":
        file_of(root, "005-vendor-tx").unlink()


HARMLESS: dict[str, Damage] = {
    "of an older txop": event("campaign-started", None, plan=None),
    "remark": journal(
        lambda lines: [*lines, json.dumps({"event": "note", "at": "x", "monotonic_s": 0.5, "text": "a walk"}) + "\n"]
    ),
    "title of the plan": plan('title = "RTL8188CUS', 'title = "The RTL8188CUS'),
    "comment in the plan": plan("[design]\n", "[design]  # as ever\n"),
    "link of a patch": plan("https://example.org/linux/commit/10", "https://example.org/linux/commit/11"),
    "interrupted run": lambda root: (root / "runs" / "009-vanilla-tx.interrupted-1").mkdir(),
    "link to the same file": lambda root: replaced(
        file_of(root), lambda path: path.symlink_to(shutil.copy(path.with_name("kept"), root / "elsewhere.json"))
    ),
    "killed between a run's file and its line": lambda root: killed(root, "run-finished"),
    "killed within a run": lambda root: killed(root, "run-started"),
}


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_happens_to_whole_archives_gives_no_finding(kind: str, copied: Path) -> None:
    HARMLESS[kind](copied)
    assert read_archive(copied).findings == []


def test_findings_carry_what_they_rest_on(copied: Path) -> None:
    figure("air_retry_percent", "367")(copied)
    verified_of("vendor")(copied)
    (found,) = [each for each in read_archive(copied).findings if each.code is Code.RUN_VALUE]
    assert (found.run, dict(found.facts)) == (RUN, {"metric": "air_retry_percent", "value": 367.0})
    figure("air_retry_percent", "17.5")(copied)
    (found,) = [each for each in read_archive(copied).findings if each.code is Code.RUN_ARM]
    assert (found.facts["key"], found.facts["against"], found.facts["like"]) == ("driver", "most", "vendor")


def test_an_edited_plan_has_no_primary_figures(copied: Path) -> None:
    plan('primary = ["tx.throughput_mbit_s"]', 'primary = ["tx.rtt_p50_ms"]')(copied)
    result = compare(read_archive(copied))
    assert result.design.primary == []
    assert {figure.role for figure in result.figures} == {"exploratory"}
    assert [(found.code, found.run, found.spoils) for found in result.damage_found] == [(Code.PLAN_EDITED, None, False)]
    assert result.damage == read_archive(copied).damage


def test_a_plan_edited_beside_its_design_keeps_its_primary_figures(copied: Path) -> None:
    plan('side = "peer"', 'side = "peer"\nhost = "server"')(copied)
    archive = read_archive(copied)
    (found,) = [each for each in archive.findings if each.code is Code.PLAN_EDITED]
    assert found.facts["tables"] == ["target"]
    assert archive.primary_is_known


def written_otherwise(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The same plan with a default written out, and its fingerprints before and after."""
    before = plan_record(Layout(root))
    plan("[design]\n", "[design]\nconfidence = 0.95\n")(root)
    return before, plan_record(Layout(root))


def test_a_plan_that_resume_found_the_same_may_be_written_otherwise(copied: Path) -> None:
    before, after = written_otherwise(copied)
    assert before != after
    changed = {"event": "plan-changed", "at": "x", "monotonic_s": 1.0, "keys": [], "plan_before": before, "plan": after}
    journal(lambda lines: [*lines, json.dumps(changed) + "\n"])(copied)
    assert read_archive(copied).findings == []


def test_a_plan_that_was_edited_before_resume_took_another_stays_named(copied: Path) -> None:
    _, edited = written_otherwise(copied)
    changed = {"event": "plan-changed", "at": "x", "monotonic_s": 1.0, "plan_before": edited, "plan": edited}
    journal(lambda lines: [*lines, json.dumps(changed) + "\n"])(copied)
    assert [finding.code for finding in read_archive(copied).findings] == [Code.PLAN_EDITED]


def test_a_run_with_another_order_in_most_of_its_block_is_the_journal_s_fault(copied: Path, all_runs: set[str]) -> None:
    def change(lines: list[str]) -> list[str]:
        number = at(lines, "block-started")
        begun = json.loads(lines[number])
        begun["arms"] = [*begun["arms"][1:], begun["arms"][0]]
        return [*lines[:number], json.dumps(begun) + "\n", *lines[number + 1 :]]

    journal(change)(copied)
    archive = read_archive(copied)
    assert [finding.code for finding in archive.findings] == [Code.JOURNAL_ORDER]
    assert counted(archive) == all_runs


def test_half_of_an_arm_s_runs_with_another_build_leaves_none_of_it(copied: Path) -> None:
    runs = sorted(run.run for run in read_archive(copied).runs if run.arm == "vanilla")
    assert len(runs) == 8
    for name in runs[:4]:
        in_run(lambda run: run["verified"].update(build_id="a" * 40), name)(copied)
    for name in runs[4:]:
        in_run(lambda run: run["verified"].update(build_id="b" * 40), name)(copied)
    archive = read_archive(copied)
    assert {finding.run for finding in archive.findings} == set(runs)
    assert {finding.facts["against"] for finding in archive.findings} == {"tie"}


# Bounded time and memory ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_line_of_a_gigabyte_is_one_damaged_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    line = b'{"event": "note", "at": "2026-01-01T00:00:00Z", "monotonic_s": 1.0}\n'
    with path.open("wb") as file:
        file.write(line)
        file.seek(2**30, os.SEEK_CUR)  # a hole
        file.write(b"\n" + line)
    tracemalloc.start()
    begun = time.monotonic()
    reading = read_journal(path)
    took = time.monotonic() - begun
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(reading.events) == 2
    (found,) = reading.findings
    assert dict(found.facts) == {"line": 2, "problem": "long", "bytes": 2**30 + 1}
    assert peak < 64 * 2**20
    assert took < 60


# All kinds ------------------------------------------------------------------------------------------------------------


def test_every_kind_is_tried_and_documented() -> None:
    tried = {code for _, code, _ in KINDS.values()} | {Code.SERIES_UNREADABLE}
    assert tried == set(Code)
    assert len(KINDS) > 60
    table = (Path(__file__).parents[2] / "docs" / "archive.md").read_text(encoding="utf-8")
    assert [code.value for code in Code if f"`{code.value}`" not in table] == []
