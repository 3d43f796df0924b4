"""The fake keeps the contract it stands in for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fake_target import FakeTarget, answer
from txop.targets.contract import CommandTimeoutError, Target, TargetLostError


def test_answers_and_losses(tmp_path: Path) -> None:
    async def story() -> None:
        target = FakeTarget()
        assert isinstance(target, Target)
        target.answer("uname", stdout="a")
        target.answer("uname", "-r", stdout="first")
        target.answer("uname", "-r", stdout="then")
        target.answer("echo", script=lambda argv, _: answer(stdout=argv[1]))
        target.answer("dmesg", "-w", stdout="0123456789", forever=True)
        target.files["/proc/stat"] = [b"1", b"2"]
        with pytest.raises(TargetLostError):
            await target.run(["uname"])
        await target.connect()
        outputs = [(await target.run(argv)).stdout for argv in (["uname", "-r"], ["uname", "-r"], ["uname", "-r"])]
        assert outputs == ["first", "then", "then"]
        assert (await target.run(["uname", "-a"])).stdout == "a"
        assert (await target.run(["echo", "x"])).stdout == "x"
        assert (await target.run(["nothing"])).status == 127
        assert [await target.read("/proc/stat") for _ in range(3)] == [b"1", b"2", b"2"]
        assert await target.read("/none") is None
        with pytest.raises(CommandTimeoutError):
            await target.run(["dmesg", "-w"], timeout_s=0.01)
        running = await target.start(["dmesg", "-w"], stdout=tmp_path / "log")
        assert await running.wait(0.01) is None
        assert (await running.stop()).status == 130
        cut = await target.start(["dmesg", "-w"], stdout=tmp_path / "cut", limit_bytes=4)
        ran = await cut.wait(1)
        assert ran is not None
        assert ran.cut
        assert (tmp_path / "cut").read_bytes() == b"0123"
        target.lose_at(target.count + 2)
        lost = await target.start(["dmesg", "-w"], stdout=tmp_path / "lost")
        with pytest.raises(TargetLostError):
            await target.run(["uname"])
        with pytest.raises(TargetLostError):
            await lost.wait(1)
        await target.connect()
        assert (await target.run(["uname"])).ok

    asyncio.run(story())
