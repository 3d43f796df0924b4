"""A board with everything that was given beside it: its own evidence, captures, the runs of an archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from txop.archive.layout import Layout
from txop.archive.reader import read_archive
from txop.archive.run_file import RunFile
from txop.board import certificate
from txop.board.boards import LocatedBoard
from txop.board.evidence import Analyze, Evidences, checked
from txop.board.judge import CheckedCertificate, JudgedBoard, judge
from txop.board.model import Board, CheckName, Task
from txop.board.outcome import Outcome, undecided
from txop.present.format import plural

CAPTURES = ("air.pcapng", "air.pcap")
"""Where the capture of a run may be."""


@dataclass(frozen=True)
class GivenCapture:
    """A capture that was named on its own."""

    path: Path
    named: str
    """As it is called, where ``path`` is a copy."""


@dataclass
class _Found:
    """What captures say, by the check."""

    outcomes: dict[CheckName, list[tuple[str, Outcome]]] = field(default_factory=dict)
    """With the arm, of an archive."""
    certificates: list[CheckedCertificate] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)

    def add(self, check: CheckName, outcome: Outcome, arm: str = "") -> None:
        self.outcomes.setdefault(check, []).append((arm, outcome))

    def of(self, task: Task, arm: str) -> Iterator[Outcome]:
        """What captures say of a task: of an archive, those of ``arm`` (empty: of every one)."""
        if task.check is None:
            return
        found = self.outcomes.get(task.check, [])
        mine = [outcome for of, outcome in found if not of or of == arm or not arm]
        yield from mine
        if arm and found and not mine:
            yield undecided(f"no capture of a valid run of {arm} was checked")


def weigh(
    placed: LocatedBoard,
    captures: Sequence[Path | GivenCapture],
    analyze: Analyze,
    *,
    station: str | None = None,
    arm: str = "",
    folder: Path | None = None,
) -> JudgedBoard:
    """Look everything up.

    Args:
        placed: The board. Of an archive, the captures of its runs are put to the checks, too.
        captures: Captures that every task with a check, and every certificate, is put to; or documents of
            ``txop air --json``.
        analyze: Makes the report of a capture.
        station: The device in all of them; default: the board's, else the station with most data.
        arm: The arm with runs that count; default: that of the task, the board's, else every arm.
        folder: Where the evidence is that the board names; default: beside the board.

    Raises:
        UserError: the archive cannot be read.
    """
    board = placed.board
    evidences = Evidences(folder or placed.folder, analyze, placed.archive)
    device = station or board.station
    asked = list(dict.fromkeys(task.check for task in board.task if task.check is not None))
    found = _Found()
    for given in (each if isinstance(each, GivenCapture) else GivenCapture(each, str(each)) for each in captures):
        report = evidences.report(given.path)
        if isinstance(report, Outcome):
            said = report.sentence.replace(str(given.path), given.named)
            for check in asked:
                found.add(check, replace(report, source=given.named, sentence=said))
            found.damage.append(f"{given.named}: {said}")
            continue
        if report.summary.damage is not None:
            found.damage.append(f"{given.named}: damaged at byte {report.summary.damage.offset:,}")
        for check in asked:
            found.add(check, replace(checked(report, check, device), source=given.named))
        found.certificates += [
            certificate.check(each, number, report, device, given.named)
            for number, each in enumerate(board.certificate)
        ]
    if placed.archive is not None:
        arms = {arm} if arm else {board.arm, *(task.arm for task in board.task)} if board.arm else set()
        _of_archive(placed.archive, board, asked, evidences, device, arms, found)

    def look_up(task: Task) -> Iterator[Outcome]:
        for evidence in task.evidence:
            yield evidences.look_up(evidence, task.check, device)
        yield from found.of(task, task.arm or arm or board.arm)

    rows = judge(board, lambda task: list(look_up(task)))
    certificates = found.certificates or [
        certificate.unchecked(each, number) for number, each in enumerate(board.certificate)
    ]
    return JudgedBoard(board, rows, certificates, found.damage)


@dataclass
class _OfArm:
    """What the captures of the runs of one arm say."""

    checks: dict[CheckName, list[tuple[RunFile, Outcome]]] = field(default_factory=dict)
    certificates: dict[int, list[tuple[str, CheckedCertificate]]] = field(default_factory=dict)


def _of_archive(
    layout: Layout,
    board: Board,
    asked: Sequence[CheckName],
    evidences: Evidences,
    device: str | None,
    arms: Set[str],
    found: _Found,
) -> None:
    archive, root = read_archive(layout), layout.root
    found.damage += archive.damage
    if not asked and not board.certificate:
        return
    runs = [run for run in archive.runs if run.state == "valid" and (not arms or run.arm in arms)]
    by_arm: dict[str, _OfArm] = {}
    named = ", ".join(sorted(arms - {""}))
    for run in runs:
        path = next((p for p in (archive.layout.run(run.run) / name for name in CAPTURES) if p.is_file()), None)
        if path is None:
            continue
        report = evidences.report(path)
        if isinstance(report, Outcome):
            found.damage.append(f"{path.relative_to(root)}: {report.sentence}")
            continue
        if report.summary.damage is not None:
            found.damage.append(f"{path.relative_to(root)}: damaged at byte {report.summary.damage.offset:,}")
        mine = by_arm.setdefault(run.arm, _OfArm())
        for check in asked:
            mine.checks.setdefault(check, []).append((run, checked(report, check, device)))
        for number, each in enumerate(board.certificate):
            of_run = certificate.check(each, number, report, device, str(path))
            mine.certificates.setdefault(number, []).append((run.run, of_run))
        evidences.forget(path)
    for name, answers in by_arm.items():
        for check, outcomes in answers.checks.items():
            found.add(check, replace(_together(name, outcomes), source=layout.named), name)
    for number, each in enumerate(board.certificate):
        found.certificates += [
            certificate.together(each, number, name, answers.certificates[number], source=layout.named)
            for name, answers in by_arm.items()
        ] or [certificate.together(each, number, named, [], source=layout.named)]
    if not by_arm:
        found.damage.append(
            f"{layout.named}: no valid run{f' of {named}' if named else ''} has a capture that can be read"
        )


def _together(arm: str, outcomes: Sequence[tuple[RunFile, Outcome]]) -> Outcome:
    """The answers of the runs of one arm as one: they pass when each with evidence does."""
    telling = [(run, each) for run, each in outcomes if each.answer in ("pass", "fail")]
    failing = [(run, each) for run, each in telling if each.answer == "fail"]
    chosen_run, chosen = (failing or telling or list(outcomes))[0]
    answer = chosen.answer
    n = len(telling)
    if answer == "can't be determined":
        text = f"{arm}: none of {plural(len(outcomes), 'run')} shows it"
    else:
        agreeing = len(failing) if failing else n
        text = f"{arm}: {answer} in {agreeing} of {plural(n, 'run')} that {'shows' if n == 1 else 'show'} it"
        if n < len(outcomes):
            text += f" ({len(outcomes) - n} do not)"
    disagreeing = n - len(failing) if failing else 0
    sentence = f"{text}; {chosen_run.run}: {chosen.sentence}"
    return Outcome(answer, sentence, origin=chosen_run.origin.value, n=n, disagreeing=disagreeing)
