"""Targets with a played kernel, and modules made by a real compiler and linker."""

from __future__ import annotations

import pytest

from fake_kernel import FakeKernel
from txop.targets.contract import Targets


@pytest.fixture
def kernel() -> FakeKernel:
    kernel = FakeKernel()
    kernel.connected = True
    return kernel


@pytest.fixture
def targets(kernel: FakeKernel) -> Targets:
    return Targets({"dut": kernel})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits of a second take a hundredth."""
    import asyncio

    sleep = asyncio.sleep

    async def short(seconds: float) -> None:
        await sleep(seconds / 100)

    for module in ("module", "steps", "bring_up"):
        monkeypatch.setattr(f"txop.arms.{module}.asyncio.sleep", short)
