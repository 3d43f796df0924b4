"""`txop guest shell` on a terminal."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from terminal import WAIT_S, Terminal
from txop.guest import outside
from txop.guest_image.image import Image


@pytest.mark.slow
def test_a_shell_takes_commands_and_ctrl_c_and_leaves_the_terminal_as_it_was(
    image: Image, program: Path, plain_environment: dict[str, str]
) -> None:
    terminal = Terminal([str(program), "guest", "shell"], plain_environment)
    try:
        terminal.read_until(b"guest # ")
        assert terminal.settings_now != terminal.settings  # the guest's line editing counts, not this machine's
        terminal.type("uname -r; stty size; echo $((6 * 7))\n")
        said = terminal.read_until(b"42")
        assert image.release.encode() in said
        assert b"33 99" in said
        terminal.read_until(b"guest # ")
        terminal.type("sleep 1000\n")
        terminal.read_until(b"sleep 1000")
        time.sleep(1)
        terminal.type("\x03")
        terminal.read_until(b"guest # ")
        terminal.type("exit\n")
        assert terminal.process.wait(WAIT_S) == 0
        assert terminal.settings_now == terminal.settings
    finally:
        terminal.close()


@pytest.mark.slow
def test_a_shell_that_is_killed_leaves_the_terminal_as_it_was(
    image: Image, program: Path, plain_environment: dict[str, str]
) -> None:
    del image
    terminal = Terminal([str(program), "guest", "shell"], plain_environment)
    try:
        terminal.read_until(b"guest # ")
        terminal.type("\x01x")  # QEMU's own key
        terminal.process.wait(WAIT_S)
        assert terminal.settings_now == terminal.settings
    finally:
        terminal.close()


STAND_IN = """\
#!/bin/sh
case "$*" in --version) echo "QEMU emulator version 8.2.0"; exit ;; esac
stty raw -echo
echo "guest # "
exec sleep 1000
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_shell_that_is_told_to_end_leaves_the_terminal_as_it_was_and_no_files(
    image: Image, program: Path, plain_environment: dict[str, str], tmp_path: Path, number: int
) -> None:
    (tmp_path / "qemu").write_text(STAND_IN)
    (tmp_path / "qemu").chmod(0o755)
    cache = tmp_path / "cache" / "txop" / "guest"
    cache.mkdir(parents=True)
    for name in ("images", "unpacked", "packages"):
        (cache / name).symlink_to(image.folder.parents[1] / name)
    stand_in = str(tmp_path / "qemu")
    environment = {**plain_environment, outside.VARIABLE: stand_in, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    terminal = Terminal([str(program), "guest", "shell", "--kvm", "no"], environment)
    try:
        terminal.read_until(b"guest # ")
        assert terminal.settings_now != terminal.settings
        terminal.process.send_signal(number)
        assert terminal.process.wait(WAIT_S) == 128 + number
        assert terminal.settings_now == terminal.settings
    finally:
        terminal.close()
    assert list((cache / "runs").iterdir()) == []


def test_without_a_terminal_there_is_no_shell(program: Path) -> None:
    ran = subprocess.run(
        [str(program), "guest", "shell"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "a shell needs a terminal" in ran.stderr
