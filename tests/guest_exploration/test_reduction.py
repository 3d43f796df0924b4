"""Scripts made smaller."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from txop.guest_exploration.reduction import reduction
from txop.guest_exploration.script import Fault, Script


def reduced(script: Script, shows: Callable[[Script], bool]) -> tuple[Script, int]:
    """The smallest form, and how many were tried."""
    steps, tries = reduction(script), 0
    try:
        candidate = next(steps)
        while True:
            tries += 1
            candidate = steps.send(shows(candidate))
    except StopIteration as end:
        return end.value, tries


STALL = Fault("stall", endpoint=1, direction="in", nth=201, times=7, from_ms=900, until_ms=7000)
NAK = Fault("nak", endpoint=0, for_ms=2000, from_ms=400)
LOSS = Fault("loss", probability=0.31, from_ms=12_000, for_ms=500)


def test_what_does_not_matter_goes() -> None:
    needs_stall = reduced((LOSS, STALL, NAK), lambda script: any(fault.action == "stall" for fault in script))
    assert needs_stall[0] == (Fault("stall", endpoint=1),)


def test_order_and_both_stay_where_both_are_needed() -> None:
    def shows(script: Script) -> bool:
        return [fault.action for fault in script] == ["stall", "nak"]

    assert reduced((STALL, NAK), shows)[0] == (Fault("stall", endpoint=1), Fault("nak", endpoint=0))


def test_values_become_as_small_as_halves_allow() -> None:
    smallest, tries = reduced((STALL,), lambda script: (script[0].nth or 1) >= 40 and script[0].times is not None)
    assert smallest == (Fault("stall", endpoint=1, nth=50, times=1),)
    assert tries < 20


def test_values_become_plain() -> None:
    smallest, _ = reduced((LOSS,), lambda script: script[0].action == "loss")
    assert smallest == (Fault("loss", probability=1.0),)


@given(st.permutations([STALL, NAK, LOSS, STALL]), st.integers(0, 2**40))
def test_it_ends_whatever_is_answered(script: list[Fault], answers: int) -> None:
    bits = iter(f"{answers:b}" * 20)
    smallest, tries = reduced(tuple(script), lambda _: next(bits, "0") == "1")
    assert 1 <= len(smallest) <= 4
    assert tries < 400
