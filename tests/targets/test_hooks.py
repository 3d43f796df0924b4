"""Bringing a target back from outside."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fake_target import FakeTarget
from txop.targets import hooks
from txop.targets.contract import CommandFailedError, TargetLostError
from txop.targets.hooks import run_hook

from .conftest import Recorder

BOOT_ID = "/proc/sys/kernel/random/boot_id"


def test_waits_until_it_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "RETRY_S", 0.01)
    recorder = Recorder()
    plug = tmp_path / "plug"

    class Sleepy(FakeTarget):
        async def connect(self) -> None:
            if self.connects and (not plug.exists() or self.refusals < 3):
                self.refusals += 1
                raise TargetLostError(self.name, "connection refused")
            await super().connect()

        refusals = 0

    async def story() -> None:
        target = Sleepy()
        target.files[BOOT_ID] = [b"first", b"second"]
        await target.connect()
        commands = [["sh", "-c", "echo off"], ["touch", str(plug)]]
        recovered = await run_hook(target, commands, settle_s=5, listener=recorder)
        assert recovered.rebooted
        assert 0 < recovered.seconds < 5
        assert target.refusals == 3
        assert target.connected
        assert not (await run_hook(target, [["true"]], settle_s=5)).rebooted
        del target.files[BOOT_ID]
        assert (await run_hook(target, [["true"]], settle_s=5)).rebooted is None
        with pytest.raises(CommandFailedError, match="ended with 3"):
            await run_hook(target, [["sh", "-c", "exit 3"], ["rm", str(plug)]], settle_s=5)
        assert plug.exists()
        plug.unlink()
        with pytest.raises(TargetLostError, match=r"did not come back within 0\.05 s: connection refused"):
            await run_hook(target, [["true"]], settle_s=0.05)

    asyncio.run(story())
    assert [(name, argv) for name, argv, _ in recorder.started] == [
        ("dut-hook", ("sh", "-c", "echo off")),
        ("dut-hook", ("touch", str(plug))),
    ]
