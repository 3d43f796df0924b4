"""The tutorial of two machines, typed as it stands: its commands run against a real SSH server in a namespace."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ssh_server import Server
from txop.archive.reader import read_archive
from txop.plan.load import parse_plan
from txop.plan_check.check import check

PAGE = (Path(__file__).parents[2] / "docs/tutorial-two-machines.md").read_text(encoding="utf-8")
NOT_TYPED = (
    "mkdir desk",
    "ssh-keygen ",  # the server lets the tests' own key in
    "ssh-copy-id ",
    "sudo ",
    "txop run first.toml -o first",  # the same as with --blocks 1, for longer
    "txop plan check driver.toml --connect",  # there is no radio
    "txop run driver.toml",
)
"""Beginnings of the commands that cannot be run here, or are not worth the time."""


def plan(name: str) -> str:
    (found,) = (text for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if text.startswith(f"# {name}"))
    return str(found)


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def test_what_is_not_typed_is_there():
    for beginning in NOT_TYPED:
        assert any(line.startswith(beginning) for line in commands()), beginning


@pytest.mark.parametrize("name", ["first.toml", "driver.toml"])
def test_its_plans_are_right(name: str, tmp_path: Path) -> None:
    loaded = parse_plan(plan(name).encode(), tmp_path / name)
    assert not check(loaded, files=False).problems


@pytest.mark.slow
def test_its_commands_do_what_it_says(
    busybox_sshd: Callable[..., Server], program: Path, tmp_path: Path, plain_environment: dict[str, str]
) -> None:
    server = busybox_sshd(programs=["iperf3"], interface="eth0")

    def here(text: str) -> str:
        return text.replace("192.0.2.20", server.address).replace("192.0.2.1", server.near_address)

    # One machine plays both parts: its CPU is not a gate.
    (tmp_path / "first.toml").write_text(
        here(plan("first.toml")).replace("[gates]\n", "[gates]\nmax_peer_cpu_percent = 100\n")
    )
    key = tmp_path / "lab_key"
    key.write_bytes(server.keys.user.read_bytes())
    key.chmod(0o600)
    environment = plain_environment | {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    typed = {}
    for line in commands():
        if line.startswith(NOT_TYPED):
            continue
        done = subprocess.run(
            ["sh", "-c", here(line)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        typed[shlex.join(shlex.split(line)[:3])] = done.stdout
    assert typed["ssh -i lab_key"].strip() == os.uname().release
    assert "nothing that was checked would void the runs" in typed["txop plan check"]
    assert [run.state for run in read_archive(tmp_path / "try").runs] == ["valid", "valid"]
    assert (tmp_path / "try/report.html").exists()
    assert "Finished" in typed["txop watch try"]
    assert "mtu-600" in typed["txop compare try"]
    assert "mtu-600" in typed["txop report try"]
