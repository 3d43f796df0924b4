"""What a bisection is asked for, checked and made a :class:`~txop.bisect.request.Request`."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.arms.repository import Commit, Repository
from txop.arms.series import read_series
from txop.bisect.engine import Bisection
from txop.bisect.judge import LookingFor
from txop.bisect.request import Candidate, Place, Request
from txop.bisect.search import least_blocks
from txop.core.errors import UserError
from txop.core.metrics import describe
from txop.core.nearest import did_you_mean
from txop.guest.driver_history import driver_folders
from txop.plan.load import LoadedPlan, parse_plan
from txop.plan.model import Plan
from txop.plan_check.exact_guest import exact_guest
from txop.plan_check.figures import figures_of


@dataclass(frozen=True)
class Range:
    """What is bisected."""

    good: str | None = None
    bad: str | None = None
    repository: Path | None = None
    folder: str | None = None
    """The driver's folder in the repository; default: where its Makefiles make the driver."""
    first_parent: bool = False
    series: tuple[Path, ...] = ()


@dataclass(frozen=True)
class JudgementOptions:
    """How it is judged."""

    arm: str | None = None
    figure: str | None = None
    most: int | None = None
    looking_for: LookingFor = "worse"


def begin(loaded: LoadedPlan, what: Range, how: JudgementOptions, place: Place) -> Bisection:
    """Make the folder of a bisection.

    Raises:
        UserError: Something that was asked for is not there, or does not fit together.
    """
    plan = loaded.plan
    spec = exact_guest(plan)
    arm = how.arm or plan.baseline
    names = [each.name for each in plan.arm]
    if arm not in names:
        raise UserError(f"has no arm {arm}", where=str(loaded.path), what_to_do=did_you_mean(arm, names))
    figure = figure_of(plan, how.figure, str(loaded.path))
    place.check_new()
    notes: list[str] = []
    repository: str | None = None
    folders: tuple[str, ...] = ()
    if what.series:
        if what.good or what.bad or what.repository:
            raise UserError(
                "--series excludes --good, --bad and --source: it begins with no patch and ends with all of them"
            )
        if spec.varied(plan.find_arm(arm).guest).reverse:
            raise UserError(f"the arm {arm} takes its patches back (reverse), and a series is applied")
        candidates = _of_series(what.series, place.series, spec.varied(plan.find_arm(arm).guest).builds)
    else:
        if what.good is None or what.bad is None:
            raise UserError("a bisection needs --good and --bad, or --series")
        found = Repository.at(what.repository or Path())
        driver = spec.varied(plan.find_arm(arm).guest).builds
        candidates, folders, notes = _of_commits(found, what, driver)
        repository = str(found.root)
    least = least_blocks(plan.design.confidence)
    most = how.most or max(least, plan.design.blocks)
    if most < least:
        raise UserError(
            f"with {most} runs no verdict is possible at a confidence of {plan.design.confidence:g}: it takes {least}",
            what_to_do=f"give --runs {least} or more, or a lower confidence in [design]",
        )
    from txop.core.version import program_version

    request = Request(
        txop=program_version(),
        plan_folder=str(loaded.folder),
        arm=arm,
        figure=figure,
        looking_for=how.looking_for,
        least=least,
        most=most,
        repository=repository,
        folders=list(folders),
        candidates=candidates,
        notes=notes,
    )
    place.create(request, loaded.text)
    return Bisection(place, request, plan)


def reopen(root: Path) -> Bisection:
    """A bisection that was begun. Raises :class:`~txop.core.errors.UserError`."""
    place = Place(root)
    request = place.read()
    plan = parse_plan(place.plan.read_bytes(), place.plan).plan
    return Bisection(place, request, plan)


def figure_of(plan: Plan, asked: str | None, where: str) -> str:
    """The figure that judges: as asked, else the plan's first primary one, else throughput or the RTT p50 of
    its first test. Raises :class:`~txop.core.errors.UserError`."""
    known = [f"{test.name}.{key}" for test in plan.test for key in figures_of(plan, test)]
    if asked is not None:
        test, _, key = asked.rpartition(".")
        if asked not in known:
            raise UserError(f"has no figure {asked}", where=where, what_to_do=did_you_mean(asked, known))
        own = next(each for each in plan.test if each.name == test)
        directed = (*getattr(own, "higher_is_better", ()), *getattr(own, "lower_is_better", ()))
        if describe(key).better is None and key not in directed:
            raise UserError(f"{key} explains and is never judged", where=where, what_to_do="choose another figure")
        return asked
    if plan.design.primary:
        return plan.design.primary[0]
    first = plan.test[0]
    for key in ("throughput_mbit_s", "throughput_down_mbit_s", "rtt_p50_ms"):
        if f"{first.name}.{key}" in known:
            return f"{first.name}.{key}"
    raise UserError(
        f"does not say which figure of {first.name} counts", where=where, what_to_do="name it with --figure TEST.METRIC"
    )


def _of_series(paths: Sequence[Path], folder: Path, driver: str) -> list[Candidate]:
    patches = read_series(paths, folder)
    found = [Candidate(name="base", title=f"{driver} without the series")]
    files: list[str] = []
    for number, patch in enumerate(patches, 1):
        file = patch.file
        if not file.is_relative_to(folder):  # kept, so that the bisection can go on whatever happens to it
            target = folder / f"{number:04d}-{file.name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            file = target
        files.append(str(file.absolute()))
        found.append(
            Candidate(name=f"patch {number}", title=patch.title, author=patch.author or "", patches=list(files))
        )
    return found


def _of_commits(found: Repository, what: Range, driver: str) -> tuple[list[Candidate], tuple[str, ...], list[str]]:
    assert what.good is not None
    assert what.bad is not None
    good, bad = found.commit(what.good), found.commit(what.bad)
    if what.folder is not None:
        folder = what.folder.strip("/")
        folders: tuple[str, ...] = ("" if folder in ("", ".") else folder,)
    else:
        folders = driver_folders(found, (good, bad), driver)
    shown = ", ".join(folder or "the repository" for folder in folders)
    commits = found.between(good, bad, [folder or "." for folder in folders], first_parent=what.first_parent)
    if not commits:
        raise UserError(
            f"no commit between {good[:12]} and {bad[:12]} changes {shown}",
            where=str(found.root),
            what_to_do="what made it worse is not in the driver; --folder takes another folder in",
        )
    notes = []
    if commits[-1].sha != bad:
        notes.append(f"{bad[:12]} itself does not change {shown}; the last commit that does is {commits[-1].short}.")
    if branches := _branches(commits, good):
        notes.append(
            f"The history is not a line: {branches} of {len(commits)} commits do not follow the one before them, and "
            "lack what is on the branch beside theirs. --first-parent takes the merges instead."
        )
    about = found.about(good)
    return [_candidate(about), *map(_candidate, commits)], folders, notes


def _branches(commits: Sequence[Commit], good: str) -> int:
    """How many commits do not follow the one before them."""
    return sum(
        len(commit.parents) > 1 or (number > 0 and commit.parents != (commits[number - 1].sha,))
        for number, commit in enumerate(commits)
        if commit.parents != (good,) or number > 0
    )


def _candidate(commit: Commit) -> Candidate:
    return Candidate(name=commit.short, title=commit.subject, author=commit.author, date=commit.date, commit=commit.sha)
