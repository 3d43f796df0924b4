"""Unified diffs applied to text."""

from __future__ import annotations

import difflib
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.guest_image.emulator.unified import PatchError, apply_hunks, read_patch

lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "-- x\n", "++ y\n", "\n", "@@ -1 +1 @@\n", " \n"]), max_size=20)


def diff(old: list[str], new: list[str], context: int) -> str:
    """A diff as ``diff -u`` writes it, also where the last line has no newline."""
    rows = difflib.unified_diff(old, new, "a/f", "b/f", n=context)
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


@given(lines, lines, st.integers(0, 4), st.sampled_from(["", "last", "-x"]), st.sampled_from(["", "end", "+x"]))
def test_a_diff_applied_to_the_old_text_gives_the_new_one(
    old: list[str], new: list[str], context: int, old_end: str, new_end: str
) -> None:
    before, after = [*old, *([old_end] if old_end else [])], [*new, *([new_end] if new_end else [])]
    changes = read_patch(diff(before, after, context), "x")
    if before == after:
        assert changes == []
        return
    assert [change.name for change in changes] == ["f"]
    assert apply_hunks("".join(before), changes[0].hunks, "f") == "".join(after)


@given(lines.filter(bool), st.integers(1, 30))
def test_lines_may_have_moved(old: list[str], count: int) -> None:
    text = [*old[:-1], "here\n", "old\n", "there\n"]
    (change,) = read_patch(diff(text, [*old[:-1], "here\n", "new\n", "there\n"], 1), "x")
    added = [f"line {number}\n" for number in range(count)]
    assert apply_hunks("".join([*added, *text]), change.hunks, "f").endswith("here\nnew\nthere\n")


def test_lines_that_differ_are_an_error() -> None:
    (change,) = read_patch("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "x")
    with pytest.raises(PatchError, match="f: the old lines of change 1"):
        apply_hunks("one\nanother\n", change.hunks, "f")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("--- a/../../etc/passwd\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "line 1: 'a/../../etc/passwd' is not"),
        ("--- a/x\n+++ b//etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", "line 2: 'b//etc/passwd' is not"),
        ("--- a/x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", "line 2: 'x' is not"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "line 1: it changes no file"),
        ("--- a/x\n+++ b/x\n", "line 3: no lines"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1 @@\n-a\n+b\n", "line 3: the change has not"),
        ("--- a/x\n+++ b/x\n@@ -1 +1,9 @@\n-a\n+b\n", "line 3: the change has not"),
        ("--- a/x\n+++ b/x\n@@ -a +b @@\n-a\n+b\n", "line 3: this is not the head"),
        ("diff --git a/x b/y\nrename from x\nrename to y\n", "line 2: rename is more"),
    ],
)
def test_what_is_no_patch_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(PatchError, match=f"p, {words}"):
        read_patch(text, "p")


def test_a_description_is_no_change() -> None:
    assert read_patch("Subject: x\n\nrename from here\n--- a line\nof text\n", "p") == []


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["--- a/f\n", "+++ b/f\n", "@@ -1 +1 @@\n", "-a\n", "+b\n", " c\n"])).map("".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    refused, changes = None, []
    try:
        changes = read_patch(text, "p")
    except PatchError as error:
        refused = error
    assert refused is None or refused.what.startswith("p, line ")
    assert all(change.hunks for change in changes)


@pytest.mark.skipif(shutil.which("patch") is None, reason="the program patch is not here")
@settings(max_examples=15, deadline=None)
@given(old=lines, new=lines)
def test_the_program_patch_makes_the_same_of_it(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str]
) -> None:
    text = diff(old, new, 3)
    if not text or not old or not new:
        return
    folder = tmp_path_factory.mktemp("patched")
    (folder / "f").write_text("".join(old))
    argv = ["patch", "--silent", "--fuzz=0", "-p1", "-d", str(folder)]
    subprocess.run(argv, input=text, text=True, check=True, capture_output=True)
    (change,) = read_patch(text, "x")
    assert apply_hunks("".join(old), change.hunks, "f") == Path(folder / "f").read_text()
