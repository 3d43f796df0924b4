"""Man pages and completions: what man and the shells make of them, and that they leave nothing out."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest


@pytest.fixture(scope="module")
def pages(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([program, "man", folder], check=True, capture_output=True)
    return folder


def test_a_page_has_all_options_of_its_command(program, pages):
    for name in ("txop", "txop-air", "txop-compare", "txop-guest-run"):
        page = pages / f"{name}.1"
        words = name.split("-")
        shown = subprocess.run([program, *words[1:], "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"^│ \*?\s*(--[a-z-]+)", shown, re.MULTILINE))
        text = page.read_text(encoding="utf-8").replace("\\-", "-")
        missing = [option for option in options if not re.search(rf"^\\fB.*{option}\b", text, re.MULTILINE)]
        assert options, page
        assert not missing, page
    assert {"txop.1", "txop-air.1", "txop-resume.1", "txop-guest-run.1"} <= {page.name for page in pages.iterdir()}


def test_examples_keep_their_quotation_marks(pages):
    assert '"iperf3 ' in (pages / "txop-emulate.1").read_text(encoding="utf-8")


@pytest.mark.parametrize("reader", [("man", "-l", "--warnings=w"), ("mandoc", "-T", "lint", "-W", "error")])
def test_man_has_nothing_to_say_against_a_page(pages, reader):
    if shutil.which(reader[0]) is None:
        pytest.skip(f"{reader[0]} is not installed")
    for page in pages.iterdir():
        done = subprocess.run([*reader, page], capture_output=True, text=True, check=False, env={"MANWIDTH": "100"})
        if "has been minimized" in done.stdout:
            pytest.skip("man is there in name only: a system without documentation")
        assert (done.returncode, done.stderr) == (0, ""), page
        if reader[0] == "man":
            assert "DESCRIPTION" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_takes_its_completion(program, shell):
    script = subprocess.run([program, "completion", shell], capture_output=True, text=True, check=True).stdout
    assert f"complete_{shell}" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_bash_completes_a_command(program, tmp_path):
    script = subprocess.run([program, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    asked = 'COMP_WORDS=(txop comp) COMP_CWORD=1; _txop_completion txop; echo "${COMPREPLY[@]}"'
    environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    command = ["bash", "-c", f"{script}\n{asked}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["compare", "completion"]
