"""Modules are built from a copy of the tree with the patches in their order; failures say which hunk or which error."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from txop.arms.build import BuildError, Built, build, recipe
from txop.arms.local_command import run_here
from txop.arms.source_tree import SourceTree
from txop.plan.arm import Arm

SOURCE = "".join(f"line {number}\n" for number in range(1, 41))


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A git work tree with one commit, an ignored file of an earlier build, and a new file."""
    place = tmp_path / "tree"
    (place / "sub").mkdir(parents=True)
    (place / "driver.c").write_text(SOURCE)
    (place / "sub" / "x.h").write_text("x\n")
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("driver.c")
    (place / ".gitignore").write_text("*.o\n")
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "first")
    (place / "stale.o").write_text("old\n")
    (place / "new.c").write_text("new\n")
    return place


def make_patch(tree: Path, name: str, line: int, text: str, *, base: str | None = None) -> Path:
    """A patch against the tree, made by git itself."""
    work = tree.parent / f"work-{name}"
    git(tree.parent, "clone", "-q", str(tree), str(work))
    if base is not None:
        (work / "driver.c").write_text(base)
        git(work, "commit", "-q", "-am", "base")
    rows = (work / "driver.c").read_text().splitlines(keepends=True)
    rows[line - 1] = f"{text}\n"
    (work / "driver.c").write_text("".join(rows))
    git(work, "commit", "-q", "-am", name)
    patch = tree.parent / f"{name}.patch"
    patch.write_text(git(work, "format-patch", "-1", "--stdout"))
    return patch


def arm(tree: Path, module: Path, patches: list[Path] = (), command: list[str] | None = None) -> Arm:  # type: ignore[assignment]
    """An arm whose build copies a real module, and the tree as it was built beside it."""
    return Arm.model_validate(
        {
            "name": "a",
            "patches": [{"file": str(patch)} for patch in patches],
            "build": {
                "source": str(tree),
                "module": "out/rtl8xxxu.ko",
                "command": command
                or ["sh", "-c", f"mkdir out && cp {module} out/rtl8xxxu.ko && cp -r . {tree.parent}/seen"],
            },
        }
    )


def made(arm: Arm, cache: Path, **options: object) -> Built:
    return asyncio.run(build(recipe(arm, Path("/"), None), cache=cache, **options))  # type: ignore[arg-type]


def test_patches_are_applied_in_their_order_to_a_copy(tree, make_module, tmp_path):
    first = make_patch(tree, "first", 5, "one")
    second = make_patch(tree, "second", 5, "two", base=SOURCE.replace("line 5\n", "one\n"))
    built = made(arm(tree, make_module(), [first, second]), tmp_path / "cache")
    assert (tmp_path / "seen" / "driver.c").read_text() == SOURCE.replace("line 5\n", "two\n")
    assert (tree / "driver.c").read_text() == SOURCE
    assert built.module.read_bytes() == make_module().read_bytes()
    assert built.module.name == "rtl8xxxu.ko"
    assert built.info.name == "rtl8xxxu"
    assert not built.cached
    assert "git apply" in built.log.read_text()
    assert built.source == git(tree, "rev-parse", "HEAD").strip()
    with pytest.raises(BuildError, match=r"patch 1 of 2 \(second.patch\) does not apply: driver.c, hunk 1 \(line 2\)"):
        made(arm(tree, make_module(), [second, first]), tmp_path / "cache")


def test_the_copy_has_what_git_knows_and_what_is_new_but_nothing_ignored(tree, make_module, tmp_path):
    made(arm(tree, make_module()), tmp_path / "cache")
    seen = tmp_path / "seen"
    names = {str(path.relative_to(seen)) for path in seen.rglob("*") if not path.is_dir()}
    assert names >= {"driver.c", "sub/x.h", "new.c", "run.sh", "link", ".gitignore"}
    assert "stale.o" not in names
    assert not (seen / ".git").exists()
    assert (seen / "link").is_symlink()
    assert os.access(seen / "run.sh", os.X_OK)


def test_an_unchanged_arm_is_not_built_again_and_a_changed_one_is(tree, make_module, tmp_path):
    cache = tmp_path / "cache"
    patch = make_patch(tree, "first", 5, "one")
    first = made(arm(tree, make_module()), cache)
    shutil.rmtree(tmp_path / "seen")
    again = made(arm(tree, make_module()), cache)
    assert again.cached
    assert (again.key, again.module) == (first.key, first.module)
    assert not (tmp_path / "seen").exists()
    keys = {first.key}
    keys.add(made(arm(tree, make_module(), [patch]), cache).key)
    shutil.rmtree(tmp_path / "seen")
    (tree / "new.c").write_text("newer\n")
    dirty = made(arm(tree, make_module()), cache)
    keys.add(dirty.key)
    shutil.rmtree(tmp_path / "seen")
    (tree / "driver.c").write_text(SOURCE + "x\n")
    dirty = made(arm(tree, make_module()), cache)
    assert dirty.source.endswith("-dirty")
    keys.add(dirty.key)
    shutil.rmtree(tmp_path / "seen")
    keys.add(made(arm(tree, make_module()), cache, environment={**os.environ, "ARCH": "arm"}).key)
    shutil.rmtree(tmp_path / "seen")
    (tree / "run.sh").chmod(0o644)
    keys.add(made(arm(tree, make_module()), cache).key)
    assert len(keys) == 6
    assert sorted(path.name for path in cache.iterdir()) == sorted(keys)


def test_a_damaged_result_is_built_again(tree, make_module, tmp_path):
    first = made(arm(tree, make_module()), tmp_path / "cache")
    first.module.write_bytes(b"damaged")
    shutil.rmtree(tmp_path / "seen")
    again = made(arm(tree, make_module()), tmp_path / "cache")
    assert not again.cached
    assert again.module.read_bytes() == make_module().read_bytes()


def test_a_folder_without_git_is_taken_whole(make_module, tmp_path):
    place = tmp_path / "plain"
    place.mkdir()
    (place / "a.o").write_text("kept\n")
    os.mkfifo(place / "pipe")
    built = made(arm(place, make_module()), tmp_path / "cache")
    assert (tmp_path / "seen" / "a.o").exists()
    assert not (tmp_path / "seen" / "pipe").exists()
    assert built.source.startswith("content-")


def test_a_part_of_a_work_tree_has_its_own_files(tree):
    files = asyncio.run(SourceTree.of(tree / "sub")).files
    assert files == ("x.h",)


def test_patches_apply_inside_a_cache_that_lies_in_somebody_elses_repository(tree, make_module, tmp_path):
    """git apply skips files silently when a repository around them has them elsewhere."""
    home = tmp_path / "home"
    home.mkdir()
    git(home, "init", "-q")
    patch = make_patch(tree, "first", 5, "one")
    made(arm(tree, make_module(), [patch]), home / "cache")
    assert "one\n" in (tmp_path / "seen" / "driver.c").read_text()


@pytest.mark.parametrize("tool", ["git", "patch"])
def test_a_patch_that_does_not_apply_is_named_with_its_hunk(tree, make_module, tmp_path, monkeypatch, tool):
    if not shutil.which(tool):
        pytest.skip(f"no {tool} here")
    good = make_patch(tree, "good", 5, "one")
    text = "".join(f"line {number}\n" for number in range(1, 41)).replace("line 30\n", "thirty\n")
    bad = make_patch(tree, "bad", 31, "x", base=text)
    two_hunks = tmp_path / "two.patch"
    fine = make_patch(tree, "fine", 12, "twelve").read_text().partition("@@")[2].partition("-- \n")[0]
    wrong = bad.read_text().partition("@@")
    two_hunks.write_text(wrong[0] + "@@" + fine + "@@" + wrong[2])
    environment = dict(os.environ)
    if tool == "patch":
        tools = tmp_path / "bin"
        tools.mkdir()
        for name in ("patch", "sh", "mkdir", "cp"):
            (tools / name).symlink_to(shutil.which(name) or name)
        environment["PATH"] = str(tools)
    with pytest.raises(BuildError) as failed:
        made(arm(tree, make_module(), [good, two_hunks]), tmp_path / "cache", environment=environment)
    said = str(failed.value)
    assert "patch 2 of 2 (two.patch) does not apply, after the ones before it: driver.c, hunk 2 (line " in said
    assert "hunk 1" not in said
    assert failed.value.rejected
    assert failed.value.log is not None
    assert failed.value.log.exists()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [failed.value.log.name]
    if tool == "patch":
        made(arm(tree, make_module(), [good]), tmp_path / "cache", environment=environment)
        assert "one\n" in (tmp_path / "seen" / "driver.c").read_text()


def test_a_patch_for_a_file_that_is_not_there_says_so(tree, make_module, tmp_path):
    patch = tmp_path / "other.patch"
    patch.write_text("--- a/no/such.c\n+++ b/no/such.c\n@@ -1 +1 @@\n-a\n+b\n")
    with pytest.raises(BuildError, match=r"there is no no/such\.c"):
        made(arm(tree, make_module(), [patch]), tmp_path / "cache")
    patch.write_text("not a patch\n")
    with pytest.raises(BuildError, match=r"patch 1 of 1 \(other\.patch\) does not apply"):
        made(arm(tree, make_module(), [patch]), tmp_path / "cache")


def test_a_patch_cannot_write_outside_the_copy(tree, make_module, tmp_path):
    patch = tmp_path / "evil.patch"
    patch.write_text("--- /dev/null\n+++ b/../../evil\n@@ -0,0 +1 @@\n+x\n")
    with pytest.raises(BuildError):
        made(arm(tree, make_module(), [patch]), tmp_path / "cache")
    assert not list(tmp_path.rglob("evil"))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["sh", "-c", "echo driver.c:5:1: error: boom >&2; exit 2"], r"driver\.c:5: boom \(.*ended with 2\)"),
        (["sh", "-c", "echo only this; exit 3"], r"only this \(.*ended with 3\)"),
        (["no-such-program"], "program not found: no-such-program"),
        (["true"], r"the build made no out/rtl8xxxu\.ko"),
        (["sh", "-c", "mkdir o; touch o/y.ko"], r"made no out/rtl8xxxu\.ko, but o/y\.ko"),
        (["sh", "-c", "mkdir out; echo x > out/rtl8xxxu.ko"], "not an ELF file"),
    ],
)
def test_a_build_that_fails_says_why_and_keeps_its_log(tree, make_module, tmp_path, command, message):
    with pytest.raises(BuildError, match=message) as failed:
        made(arm(tree, make_module(), command=command), tmp_path / "cache")
    assert not failed.value.rejected
    assert failed.value.log is not None
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [failed.value.log.name]


def test_what_is_not_there_says_so(tmp_path, make_module, tree):
    with pytest.raises(BuildError, match="nowhere: is not a folder"):
        made(arm(tmp_path / "nowhere", make_module()), tmp_path / "cache")
    with pytest.raises(BuildError, match=r"gone\.patch: No such file"):
        made(arm(tree, make_module(), [tmp_path / "gone.patch"]), tmp_path / "cache")


def test_a_build_that_hangs_is_killed_with_its_children(tree, make_module, tmp_path):
    marker = f"{987_000 + os.getpid() % 1000}.5"
    hanging = arm(tree, make_module(), command=["sh", "-c", f"sleep {marker} & sleep {marker}"])
    assert hanging.build is not None
    hanging = hanging.model_copy(update={"build": hanging.build.model_copy(update={"timeout_s": 0.5})})
    started = time.monotonic()
    with pytest.raises(BuildError, match=r"did not end within 0\.5 s"):
        made(hanging, tmp_path / "cache")
    assert time.monotonic() - started < 20
    assert all_gone(marker)


def test_a_build_that_is_given_up_leaves_nothing(tree, make_module, tmp_path):
    marker = f"{988_000 + os.getpid() % 1000}.5"

    async def story() -> None:
        how = recipe(
            arm(tree, make_module(), command=["sh", "-c", f"sleep {marker} & sleep {marker}"]), Path("/"), None
        )
        task = asyncio.create_task(build(how, cache=tmp_path / "cache"))
        while not processes_with(marker):
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(story(), 30))
    assert all_gone(marker)
    assert list((tmp_path / "cache").iterdir()) == []


def all_gone(marker: str) -> bool:
    """Killed processes are seen for a moment longer: they are not ours to wait for."""
    deadline = time.monotonic() + 5
    while processes_with(marker):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def processes_with(marker: str) -> list[str]:
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if b"sleep\0" + marker.encode() in line:
                found.append(place.name)
    return found


def test_remains_of_a_killed_build_are_cleared_away(tree, make_module, tmp_path):
    cache = tmp_path / "cache"
    key = made(arm(tree, make_module()), cache).key
    shutil.rmtree(cache / key)
    shutil.rmtree(tmp_path / "seen")
    dead = subprocess.Popen(["true"])
    dead.wait()
    (cache / f".{key}.{dead.pid}.part" / "tree").mkdir(parents=True)
    (cache / f".another.{dead.pid}.part" / "tree").mkdir(parents=True)
    (cache / f".{key}.1.part").mkdir()  # process 1 lives
    made(arm(tree, make_module()), cache)
    assert sorted(path.name for path in cache.iterdir()) == [f".{key}.1.part", key]


def test_another_compiler_makes_another_result(tree, make_module, tmp_path):
    how = recipe(arm(tree, make_module()), Path("/"), None)
    keys = []
    for number, compiler in enumerate(["gcc 12.2.0", "gcc 12.3.0", "gcc 12.2.0", None]):
        shutil.rmtree(tmp_path / "seen", ignore_errors=True)
        keys.append(asyncio.run(build(replace(how, compiler=compiler), cache=tmp_path / str(number))).key)
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3


def test_the_default_command_is_the_kernels_own(tree, tmp_path):
    plain = Arm.model_validate({"name": "a", "build": {"source": "src", "module": "x.ko"}})
    how = recipe(plain, tmp_path, "6.1.0")
    assert how.command[:4] == ("make", "-C", "/lib/modules/6.1.0/build", "M={tree}")
    assert how.command[-1] == "modules"
    kernel = tmp_path / "linux"
    (kernel / "scripts").mkdir(parents=True)
    for name in ("Kbuild", "Kconfig", "scripts/Kbuild.include"):
        (kernel / name).touch()
    whole = Arm.model_validate({"name": "a", "build": {"source": "linux", "module": "drivers/net/x.ko", "kernel": "k"}})
    assert recipe(whole, tmp_path, None).command[:4] == ("make", "-C", f"{tmp_path}/k", "M={tree}/drivers/net")


def test_the_output_of_a_command_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("txop.arms.local_command.MAX_LOG_BYTES", 1 << 20)
    log = tmp_path / "log"
    ended = asyncio.run(run_here(["yes"], folder=tmp_path, log=log, variables=dict(os.environ), timeout_s=60))
    assert ended.timed_out
    assert len(ended.output) <= 1 << 20


BUILDING = """
import asyncio, os, sys
from pathlib import Path
from txop.arms.local_command import run_here
folder = Path(sys.argv[1])
argv = ["sh", "-c", "sh -c 'echo $$ >part; mv part pid; sleep 1000; true'; true"]
asyncio.run(run_here(argv, folder=folder, log=folder / "log", variables=dict(os.environ), timeout_s=600))
"""


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv here (package util-linux)")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_of_a_command_goes_on_when_this_process_is_killed(tmp_path, number):
    process = subprocess.Popen([sys.executable, "-c", BUILDING, str(tmp_path)])
    while not (tmp_path / "pid").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    process.wait()
    grandchild = Path("/proc") / (tmp_path / "pid").read_text().strip() / "cmdline"
    for _ in range(600):
        try:
            words = grandchild.read_bytes()
        except OSError:  # it is gone, perhaps since a moment ago
            break
        if not words:  # a zombie has none
            break
        time.sleep(0.1)
    else:
        pytest.fail("the command goes on")


def test_a_program_that_is_not_there_is_missing_and_a_status_is_the_commands_own(tmp_path):
    def status(*argv):
        ended = asyncio.run(
            run_here(argv, folder=tmp_path, log=tmp_path / "log", variables=dict(os.environ), timeout_s=60)
        )
        return ended.status, ended.missing, ended.output

    (tmp_path / "own").write_text('#!/bin/sh\necho "$1"; exit 7\n')
    (tmp_path / "own").chmod(0o755)
    assert status("./own", "it's $x") == (7, False, "it's $x\n")
    assert status("true")[:2] == (0, False)
    for name in ("./other", "no-such-program", "./log"):
        assert status(name)[:2] == (127, True)
