"""Signals that end a command: once, while it clears up, and until a second one insists."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from txop.cli.ending import IMPATIENCE, Ending


@pytest.mark.parametrize(("signals", "cleared"), [(1, True), (IMPATIENCE - 1, True), (IMPATIENCE, False)])
def test_impatience_does_not_disturb_the_clearing_up_until_it_insists(signals: int, cleared: bool) -> None:
    done = []
    told = []

    async def work() -> None:
        asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), signal.SIGTERM)
        try:
            await asyncio.sleep(60)
        finally:
            for _ in range(signals - 1):
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.01)
            done.append("cleared")

    with Ending(lambda: told.append("clearing up")) as ending, pytest.raises(KeyboardInterrupt):
        ending.run(work())
    assert bool(done) is cleared
    assert len(told) == min(signals, IMPATIENCE - 1) - 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_without_a_task_it_is_an_interrupt_and_the_next_one_lets_it_clear_up(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    cleared = []

    def interrupted() -> None:
        try:
            os.kill(os.getpid(), number)
        finally:
            os.kill(os.getpid(), number)
            cleared.append(number)

    with Ending(), pytest.raises(KeyboardInterrupt):
        interrupted()
    assert cleared == [number]
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("at_once", [True, False])
def test_work_that_does_not_wait_is_ended_at_once_only_where_that_is_asked_for(at_once: bool) -> None:
    ended = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        ended.append("unpacked")
        await asyncio.sleep(60)

    with Ending() as ending, pytest.raises(KeyboardInterrupt):
        ending.run(work(), at_once=at_once)
    assert bool(ended) is not at_once


def test_work_that_ends_hands_back_what_it_made() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    with Ending() as ending:
        assert ending.run(work()) + ending.run(work(), at_once=True) == 14


def test_nohup_is_respected() -> None:
    code = (
        "import os, signal\nfrom txop.cli.ending import Ending\n"
        "with Ending():\n    os.kill(os.getpid(), signal.SIGHUP)\n    print('goes on')"
    )
    done = subprocess.run(["nohup", sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "goes on\n"
