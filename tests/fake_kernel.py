"""A target whose kernel is played: modules come and go, files are there or not, and everything is recorded."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from fake_target import Answer, FakeTarget, answer
from txop.plan.load import parse_plan
from txop.plan.model import Plan

KMOD = "kmod version 30\n"
BUSYBOX = "BusyBox v1.35.0 multi-call binary.\n"


class FakeKernel(FakeTarget):
    """Modules by name with those that use them; files by path."""

    def __init__(self, *, modprobe: str | None = KMOD, interface: str | None = "wlan0") -> None:
        super().__init__("dut", interface=interface, address="10.0.0.2")
        self.modules: dict[str, list[str]] = {}
        self.known = {"rtl8xxxu", "rtl8192cu", "mac80211", "cfg80211"}
        """Modules that modprobe finds."""
        self.busy: dict[str, int] = {}
        """So often a removal fails because the module is in use."""
        self.folders = {"/lib/firmware", "/run"}
        self.links: dict[str, str] = {}
        self.numbers = itertools.count(1)
        self.log = ""
        if modprobe is not None:
            self.answer("modprobe", script=self._modprobe)
            self.answer("modprobe", "--version", stdout=modprobe)
        for program in ("insmod", "rmmod", "mkdir", "mktemp", "rm", "mv", "test", "readlink", "ls", "chmod", "ip"):
            self.answer(program, script=getattr(self, f"_{program}"))
        self.answer("uname", "-r", stdout="6.1.0-7-amd64\n")
        self.answer("dmesg", script=lambda argv, stdin: answer(stdout=self.log))
        self.add_interface("wlan0", "rtl8xxxu", "rtl8xxxu")
        self._show_modules()

    def add_interface(self, name: str, driver: str, module: str) -> None:
        self.files[f"/sys/class/net/{name}/ifindex"] = b"3\n"
        self.files[f"/sys/class/net/{name}/flags"] = b"0x1002\n"
        self.links[f"/sys/class/net/{name}/device/driver"] = f"../../../../bus/usb/drivers/{driver}"
        self.links[f"/sys/class/net/{name}/device/driver/module"] = f"../../../../module/{module}"

    def load(self, name: str, *users: str) -> None:
        self.modules[name] = list(users)
        self._show_modules()

    def _show_modules(self) -> None:
        rows = (
            f"{name} 16384 {len(users)} {','.join(users) + ',' if users else '-'} Live 0x0000000000000000\n"
            for name, users in self.modules.items()
        )
        self.files["/proc/modules"] = "".join(rows).encode()

    def _remove(self, name: str) -> Answer:
        name = name.replace("-", "_")
        if name not in self.modules:
            return answer(status=1, stderr=f"rmmod: ERROR: Module {name} is not currently loaded\n")
        if self.modules[name] or self.busy.get(name, 0) > 0:
            self.busy[name] = self.busy.get(name, 0) - 1
            return answer(status=1, stderr=f"rmmod: ERROR: Module {name} is in use\n")
        del self.modules[name]
        for users in self.modules.values():
            if name in users:
                users.remove(name)
        self._show_modules()
        return answer()

    def _modprobe(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        if argv[1] == "-r":
            return self._remove(argv[2]) if argv[2] in self.known else answer(status=1, stderr="not found\n")
        if argv[1] not in self.known:
            return answer(status=1, stderr=f"modprobe: FATAL: Module {argv[1]} not found.\n")
        return self._loaded(argv[1], argv[2:])

    def _loaded(self, name: str, parameters: Sequence[str]) -> Answer:
        name = name.replace("-", "_")
        self.load(name)
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            self.files[f"/sys/module/{name}/parameters/{key}"] = value.strip('"').encode() + b"\n"
        return answer()

    def _insmod(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        path = argv[1]
        if path not in self.files:
            return answer(status=1, stderr=f"insmod: ERROR: could not load module {path}: No such file or directory\n")
        return self._loaded(path.rpartition("/")[2].removesuffix(".ko"), argv[2:])

    def _rmmod(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        return self._remove(argv[1])

    def _mkdir(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        self.folders.add(argv[-1])
        return answer()

    def _mktemp(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        path = argv[-1].replace("XXXXXX", f"{next(self.numbers):06d}")
        self.folders.add(path)
        return answer(stdout=path + "\n")

    def _rm(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        for path in argv[2:]:
            for name in [name for name in self.files if name == path or name.startswith(path + "/")]:
                del self.files[name]
            self.folders.discard(path)
        return answer()

    def _mv(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        self.files[argv[-1]] = self.files.pop(argv[-2])
        return answer()

    def _test(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        there = argv[2] in self.folders if argv[1] == "-d" else argv[1] == "-e" and argv[2] in self.files
        return answer(status=0 if there else 1)

    def _readlink(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        return answer(stdout=self.links[argv[1]] + "\n") if argv[1] in self.links else answer(status=1)

    def _ls(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        inside = {path.removeprefix(argv[1] + "/").partition("/")[0] for path in (*self.files, *self.folders)
                  if path.startswith(argv[1] + "/")}  # fmt: skip
        return answer(stdout="".join(f"{name}\n" for name in sorted(inside)))

    def _chmod(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        return answer()

    def _ip(self, argv: Sequence[str], stdin: bytes | None) -> Answer:
        return answer()

    def left_behind(self) -> list[str]:
        """What txop has put there and not taken away."""
        return [path for path in (*self.files, *self.folders) if "txop" in path and path != "/run/txop"]


def commands(target: FakeTarget, *programs: str) -> list[str]:
    """The commands that a target ran, of some programs."""
    return [" ".join(argv) for argv in target.ran if argv[0] in programs]


PLAN = """\
title = "arms"
[target.dut]
kind = "local"
interface = "wlan0"
[target.peer]
kind = "ssh"
host = "10.0.0.1"
address = "10.0.0.1"
{arms}
[[test]]
name = "tx"
kind = "tcp-tx"
"""


def plan_of(arms: str) -> Plan:
    return parse_plan(PLAN.replace("{arms}", arms).encode(), Path("plan.toml")).plan
