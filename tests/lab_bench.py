"""A desk for tests: a lab machine, a plan for it, and ``txop`` as a user runs it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from lab_image import PASSPHRASE, SSID
from lab_machine import LabMachine
from txop.archive.reader import Archive, read_archive

PLAN = Path(__file__).with_name("whole_machines") / "plan.toml"
CAMPAIGN_S = 2400.0
"""A guard against hangs."""
STARVED = {"traffic-failed", "probe-starved"}
"""Gates that may void a run on top where this machine is busy: QEMU without KVM then runs far slower than the clock."""


class Bench:
    """See the module."""

    def __init__(self, machine: LabMachine, folder: Path, program: Path, environment: dict[str, str]) -> None:
        self.machine = machine
        self.folder = folder
        self.archive = folder / "archive"
        self._program = program
        self._environment = {**environment, "XDG_STATE_HOME": str(folder / "state")}
        (folder / "wpa_supplicant.conf").write_text(f'network={{\n\tssid="{SSID}"\n\tpsk="{PASSPHRASE}"\n}}\n')

    def plan(self, changes: Mapping[str, str] | None = None) -> Path:
        """The plan of this folder for this machine. ``changes``: what is in it, and what replaces it."""
        return self._written(PLAN.read_text(encoding="utf-8"), changes)

    def plan_of(self, name: str, changes: Mapping[str, str] | None = None) -> Path:
        """Another plan beside it, by its name."""
        return self._written(PLAN.with_name(name).read_text(encoding="utf-8"), changes)

    def short_plan(self, changes: Mapping[str, str] | None = None) -> Path:
        """One arm, one block and no sniffer: what is compared does not matter."""
        head, _, rest = PLAN.read_text(encoding="utf-8").partition('[[arm]]\nname = "paged"')
        text = head + rest[rest.index("[bring_up]") :]
        return self._written(text, {"[collect]\nair = true\n": "", **(changes or {})})

    def _written(self, text: str, changes: Mapping[str, str] | None) -> Path:
        for old, new in (changes or {}).items():
            assert old in text, old
            text = text.replace(old, new)
        text = text.replace("PORT", str(self.machine.port)).replace("KNOWN_HOSTS", str(self.machine.known_hosts))
        path = self.folder / "plan.toml"
        path.write_text(text.replace("KEY", str(self.machine.image.key)), encoding="utf-8")
        return path

    def txop(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        process = self.start(*arguments)
        return self.ended(process)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start it."""
        return subprocess.Popen(
            [self._program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=self._environment,
            cwd=self.folder,
        )

    @staticmethod
    def ended(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
        """Wait for its end."""
        try:
            stdout, stderr = process.communicate(timeout=CAMPAIGN_S)
        except BaseException:
            process.terminate()
            process.communicate()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def read(self) -> Archive:
        """The archive."""
        return read_archive(self.archive)

    def wait_for_command(self, text: str, *, count: int = 1) -> None:
        """Until the campaign has begun so many commands with this text."""
        self.wait(lambda: self.begun(text) >= count, f"`{text}`")

    def begun(self, text: str) -> int:
        """How many commands with this text the campaign has begun."""
        log = self.archive / "commands.log"
        return log.read_text(errors="replace").count(text) if log.exists() else 0

    @staticmethod
    def wait(condition: Callable[[], bool], what: str, seconds: float = CAMPAIGN_S) -> None:
        """Until it is true."""
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, f"waited {seconds:.0f} s for {what}"
            time.sleep(0.2)
