"""``txop air -i``: a capture that is still being made."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from txop import _native
from txop.core.errors import ExitCode

MONITOR = Path(__file__).with_name("monitor_interface.py")
ON_LOOPBACK = (
    "import sys\nfrom txop.cli import air_interface, app\n"
    "air_interface._MONITOR_TYPES = frozenset({772})\n"  # ARPHRD_LOOPBACK
    "app.main()\n"
)
"""The program, for which the loopback interface is a monitor; dumpcap is a fake."""


@pytest.fixture(scope="module")
def capture(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("air") / "s.pcap"
    _native.write_specimen(file, seed=1, seconds=1.0, scene="healthy")
    return file


@pytest.fixture
def fake(tmp_path, plain_environment):
    """Puts a program called dumpcap in front of the real one; gives the environment."""

    def make(script: str) -> dict[str, str]:
        program = tmp_path / "bin" / "dumpcap"
        program.parent.mkdir()
        program.write_text(f"#!{sys.executable}\nimport sys, time\n{script}")
        program.chmod(0o755)
        return {**plain_environment, "PATH": f"{program.parent}:{plain_environment['PATH']}", "TERM": "xterm"}

    return make


def slowly(capture: Path, *, then: str) -> str:
    return (
        f"assert sys.argv[1:] == ['-q', '-i', 'lo', '-w', '-'], sys.argv\n"
        f"data = open({str(capture)!r}, 'rb').read()\n"
        "for at in range(0, len(data), 1 << 17):\n"
        "    sys.stdout.buffer.write(data[at:at + (1 << 17)]); sys.stdout.buffer.flush(); time.sleep(0.05)\n"
        f"{then}\n"
    )


def test_what_a_capture_program_writes_is_reported_under_the_name_of_the_interface(capture, fake):
    environment = fake(slowly(capture, then=""))
    command = [sys.executable, "-c", ON_LOOPBACK, "air", "-i", "lo", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (ExitCode.OK, "")
    document = json.loads(done.stdout)
    assert document["path"] == "lo"
    assert document["frames"] > 1000


def lines_on_terminal(command: list[str], environment: dict[str, str], marker: bytes) -> Iterator[str]:
    """What stands on the screen in the end, line by line, after Ctrl-C at ``marker``."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "COLUMNS": "120"},
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as running:  # fmt: skip
        os.close(theirs)
        shown, asked = b"", False
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
            if marker in shown and not asked:
                asked = True
                time.sleep(1.0)
                running.send_signal(signal.SIGINT)
        assert running.wait(timeout=120) == ExitCode.OK, shown[-2000:]
    os.close(ours)
    assert asked
    for line in shown.decode().split("\n"):
        yield line.rpartition("\x1b[2K")[2].rstrip("\r")  # what was erased is not there any more


def test_on_a_terminal_the_figures_are_live_and_ctrl_c_prints_the_report(capture, fake):
    environment = fake(slowly(capture, then="time.sleep(600)"))
    command = [sys.executable, "-c", ON_LOOPBACK, "air", "-i", "lo"]
    lines = list(lines_on_terminal(command, environment, b"Ctrl-C ends with the whole report"))
    titles = [line for line in lines if "In this capture" in line]
    assert len(titles) == 1
    assert titles[0].startswith("\x1b["), "nothing is glued in front of it"
    assert not [line for line in lines if "waiting for frames" in line], "the live display is gone"
    assert any("Stations" in line for line in lines)


def test_dumpcap_that_may_not_capture_says_why(fake):
    complaint = "dumpcap: You do not have permission to capture on that device."
    environment = fake(f"print({complaint!r}, file=sys.stderr); sys.exit(1)")
    command = [sys.executable, "-c", ON_LOOPBACK, "air", "-i", "lo"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (ExitCode.MISSING, "")
    assert "lo: dumpcap cannot capture: You do not have permission to capture on that device." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-i", "lo"), "not in monitor mode"),
        (("-i", "loo"), 'Did you mean "lo"?'),
        (("-i", "lo", "x.pcap"), "leave one of them out"),
        ((), "no capture given"),
    ],
)
def test_what_cannot_be_captured_is_refused(txop, arguments, said):
    done = txop("air", *arguments)
    assert (done.returncode, done.stdout) == (ExitCode.BAD_INPUT, "")
    assert said.lower() in done.stderr.lower()


def test_a_monitor_interface_of_the_kernel_is_captured_frame_by_frame(program, capture, plain_environment):
    own = ["unshare", "-Urn", sys.executable, MONITOR, capture]
    if shutil.which("dumpcap") is None or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("needs dumpcap and /dev/net/tun")
    if subprocess.run(["unshare", "-Urn", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("network namespaces are not allowed here")
    done = subprocess.run(
        [*own, "500", program, "air", "-i", "mon0", "--json"],
        env=plain_environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == ExitCode.OK, done.stderr
    document = json.loads(done.stdout)
    assert (document["path"], document["frames"]) == ("mon0", 500)
