"""Folders of processes that run, and of those that were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from txop.guest.scratch import scratch_folder

HELD = """
import sys, time
from pathlib import Path
from txop.guest.scratch import scratch_folder
with scratch_folder("held", Path(sys.argv[1])) as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(1000)
"""


def test_a_folder_is_gone_with_its_block_and_that_of_a_killed_process_with_the_next(tmp_path: Path) -> None:
    kept = tmp_path / "runs" / "somebody-s"
    kept.mkdir(parents=True)
    process = subprocess.Popen([sys.executable, "-c", HELD, tmp_path], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        held = Path(process.stdout.readline().strip())
        with scratch_folder("mine", tmp_path) as mine:
            assert mine.name.startswith(f"{os.getpid()}-mine-")
            assert sorted((tmp_path / "runs").iterdir()) == sorted([held, kept, mine])
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert (held / "file").read_text() == "x"
    with scratch_folder("mine", tmp_path):
        assert not held.exists()
    assert list((tmp_path / "runs").iterdir()) == [kept]
