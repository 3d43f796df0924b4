"""A driver's source out of a git repository: a kernel tree, or the driver's own with its Makefile at the top."""

from __future__ import annotations

import pytest
from driver_history import commit_all, git

from txop.arms.repository import GitError, Repository
from txop.guest.driver_history import driver_folders, source_of


def own_repository(root):
    root.mkdir()
    git(root, "init", "-q")
    (root / "Makefile").write_text("ifneq ($(KERNELRELEASE),)\nobj-m := radio.o\nradio-y := core.o\nendif\n")
    (root / "core.c").write_text("/* one */\n")
    first = commit_all(root, "first")
    (root / "core.c").write_text("/* two */\n")
    second = commit_all(root, "second")
    git(root, "rm", "-q", "--cached", "core.c")
    (root / "core.c").unlink()
    return first, second


def test_a_driver_at_the_top_of_its_repository(tmp_path):
    first, second = own_repository(tmp_path / "radio")
    repository = Repository.at(tmp_path / "radio")
    folders = driver_folders(repository, (first, second), "radio")
    assert folders == ("",)
    places = [source_of(repository, commit, folders, cache=tmp_path / "cache") for commit in (first, second)]
    assert [(place / "core.c").read_text() for place in places] == ["/* one */\n", "/* two */\n"]
    assert places[0] != places[1]
    assert source_of(repository, first, folders, cache=tmp_path / "cache") == places[0]


def test_a_repository_without_the_driver(tmp_path):
    first, _ = own_repository(tmp_path / "radio")
    with pytest.raises(GitError, match=r"no Makefile that makes other\.o"):
        driver_folders(Repository.at(tmp_path / "radio"), (first,), "other")
