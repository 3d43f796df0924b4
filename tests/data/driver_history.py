"""A git repository with a driver of the distribution's kernel, in which one commit makes it slower."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from txop.arms.edits.apply import apply_script
from txop.arms.edits.script import read_script
from txop.guest_image.kernel_tree import source_folder
from txop.guest_image.locks import find_lock
from txop.plan.named_file import named_file

FOLDER = "drivers/net/wireless/realtek/rtl8xxxu"


def git(root: Path, *arguments: str) -> str:
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in WHO.items()}
    argv = ["git", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main", "-C", str(root), *arguments]
    ran = subprocess.run(argv, check=True, capture_output=True, env={**os.environ, **who})
    return ran.stdout.decode().strip()


WHO = {"NAME": "A. Developer", "EMAIL": "dev@example.org", "DATE": "2026-01-02T03:04:05+00:00"}


def commit_all(root: Path, subject: str) -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", subject)
    return git(root, "rev-parse", "HEAD")


def history(
    root: Path, changes: Sequence[tuple[str, Callable[[Path], None]]], first: Callable[[Path], None]
) -> list[str]:
    """The commits of a new repository: ``first``, then a commit for each change."""
    root.mkdir(parents=True)
    git(root, "init", "-q")
    first(root)
    commits = [commit_all(root, "as it was")]
    for subject, change in changes:
        change(root)
        commits.append(commit_all(root, subject))
    return commits


def comment(words: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        file = root / FOLDER / "core.c"
        file.write_text(f"{file.read_text()}\n/* {words} */\n")

    return change


def unused_string(words: str) -> Callable[[Path], None]:
    """Another module, which does the same."""

    def change(root: Path) -> None:
        file = root / FOLDER / "core.c"
        file.write_text(f'{file.read_text()}\nMODULE_INFO(remark, "{words}");\n')

    return change


def broken(root: Path) -> None:
    file = root / FOLDER / "core.c"
    file.write_text(f"{file.read_text()}\n#error it does not build\n")


def mended(root: Path) -> None:
    file = root / FOLDER / "core.c"
    file.write_text(file.read_text().replace("\n#error it does not build\n", ""))


def without_aggregation(root: Path) -> None:
    """No frame is marked for an A-MPDU any more: sending takes twice as long."""
    apply_script(root, read_script(named_file(Path(), "txop:rtl8xxxu/0007-tx-ampdu-off.toml")))


def as_distributed(root: Path) -> None:
    """The driver of the distribution's kernel."""
    shutil.copytree(source_folder(find_lock("6.12")) / FOLDER, root / FOLDER)


def slower_rtl8xxxu(root: Path) -> list[str]:
    """Nine commits of rtl8xxxu, of which the seventh (number 6) is the first slow one and number 4 does not build."""
    return history(
        root,
        [
            ("a comment", comment("one")),
            ("a remark in the module", unused_string("two")),
            ("another comment", comment("three")),
            ("a mistake", broken),
            ("the mistake is taken back", mended),
            ("wifi: rtl8xxxu: simplify the descriptor", without_aggregation),
            ("another remark", unused_string("seven")),
            ("a last comment", comment("eight")),
        ],
        as_distributed,
    )


def long_history(root: Path, commits: int, slow: int) -> list[str]:
    """That many commits of rtl8xxxu, each another module; the one numbered ``slow`` takes the aggregation away."""
    changes = [
        ("wifi: rtl8xxxu: simplify the descriptor", without_aggregation)
        if number == slow
        else (f"remark {number}", unused_string(str(number)))
        for number in range(1, commits + 1)
    ]
    return history(root, changes, as_distributed)
