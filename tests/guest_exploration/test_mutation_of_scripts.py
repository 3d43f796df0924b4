"""Mutated fault scripts: always within the rules of the program that carries them out."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.guest.fault_check import check_faults
from txop.guest.shipped_faults import FaultScript, shipped_faults
from txop.guest_exploration.mutation import ENDPOINTS, MOST_FAULTS, Mutator, Targets
from txop.guest_exploration.reduction import reduction
from txop.guest_exploration.script import (
    ACTIONS_INSIDE,
    ACTIONS_OF_TRANSFERS,
    MOST,
    Fault,
    Script,
    completed,
    read_script,
    written,
)
from txop.guest_image.error import GuestError
from txop.plan.devices import CHIPS, ON_PCI, SDIO_CARDS

SHIPPED = [read_script(script) for script in shipped_faults().values()]
NUMBERS = st.none() | st.sampled_from([0, 1, 2, 1000, 2**31, 2**32, MOST - 1, MOST]) | st.integers(0, MOST)
COUNTS = NUMBERS.map(lambda number: None if number is None else max(1, number))
WORDS = st.none() | st.integers(0, 2**32 - 1)
FAULTS = st.builds(
    Fault,
    action=st.sampled_from((*ACTIONS_OF_TRANSFERS, *ACTIONS_INSIDE)),
    endpoint=st.none() | st.integers(0, 15),
    direction=st.sampled_from([None, "in", "out", "both"]),
    register=st.none() | st.integers(0, 0xFFFF),
    nth=COUNTS,
    times=NUMBERS,
    from_ms=NUMBERS,
    until_ms=NUMBERS,
    for_ms=NUMBERS,
    length=NUMBERS,
    and_=WORDS,
    or_=WORDS,
    xor=st.none() | st.integers(0, 255),
    probability=st.none() | st.floats(0, 1),
    noise_dbm=st.none() | st.integers(-128, 0),
).map(completed)
SCRIPTS = st.lists(FAULTS, max_size=MOST_FAULTS).map(tuple)
TARGETS = Targets(registers=(0x100, 0x1C00, 0xEAC))


def stream(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - no secret


@given(SCRIPTS)
def test_what_is_written_is_read_again(script: Script) -> None:
    assert read_script(FaultScript("x", written(script, "words\nmore words"))) == script


def test_every_shipped_script_is_read(chips: Path) -> None:
    assert all(SHIPPED)
    check_faults([FaultScript(f"{number}", written(script)) for number, script in enumerate(SHIPPED)], "hostapd")


@settings(max_examples=25)
@given(SCRIPTS | st.sampled_from(SHIPPED), st.integers(0, 2**32))
def test_the_program_that_carries_scripts_out_takes_every_mutation(chips: Path, script: Script, seed: int) -> None:
    numbers, mutator = stream(seed), Mutator(TARGETS)
    for _ in range(4):
        script = mutator.mutate(script, SHIPPED, numbers)
        assert len(script) <= MOST_FAULTS
        check_faults([FaultScript("mutated", written(script))], "hostapd")


@settings(max_examples=15)
@given(SCRIPTS.filter(bool), st.data())
def test_it_takes_every_smaller_one_too(chips: Path, script: Script, data: st.DataObject) -> None:
    steps, left = reduction(script), 6
    candidate = next(steps, None)
    while candidate is not None and left:
        check_faults([FaultScript("smaller", written(candidate))], "hostapd")
        left -= 1
        try:
            candidate = steps.send(data.draw(st.booleans()))
        except StopIteration:
            break


@given(SCRIPTS, st.integers(0, 2**32))
def test_mutations_are_those_of_their_seed(script: Script, seed: int) -> None:
    one, other = (Mutator(TARGETS).mutate(script, SHIPPED, stream(seed)) for _ in range(2))
    assert one == other


def test_mutations_reach_every_action_target_and_key() -> None:
    numbers, mutator, script = stream(1), Mutator(TARGETS), SHIPPED[0]
    seen: set[tuple[str, object]] = set()
    for _ in range(4000):
        script = mutator.mutate(script, SHIPPED, numbers)
        for fault in script:
            seen |= {("action", fault.action), ("target", (fault.endpoint, fault.direction))}
            seen |= {("key", key) for key, value in vars(fault).items() if value is not None}
    assert {what for kind, what in seen if kind == "action"} == {*ACTIONS_OF_TRANSFERS, *ACTIONS_INSIDE}
    assert {what for kind, what in seen if kind == "target"} >= set(TARGETS.endpoints)
    assert {what for kind, what in seen if kind == "key"} == set(vars(Fault("stall")))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[fault]]\naction = 'stall'\nendpoint = 1\nnth = " + "9" * 5000, "is not TOML"),
        ("[[fault]]\naction = 'stall'\nendpoint = 1\nnth = " + "9" * 40, "nth is not a number from 1"),
        ("[[fault]]\naction = 'stall'\nendpoint = 1\nnth = true", "nth is not a number"),
        ("[[fault]]\naction = 'stall'\nendpoint = " + "[" * 50_000, "is not TOML"),
        ("[[fault]]\naction = 'loss'\nprobability = nan", "probability is not from 0 to 1"),
        ("[[fault]]\naction = 'crc'\ncommand = 53", "command is of an SDIO card"),
        ("[[fault]]\naction = 'explode'", "the action explode is not explored"),
        ("[[fault]]\naction = 'stall'\nname = 3", "name is no text"),
        ("[[fault]]\n", "has no action"),
        ("fault = 3", "more than faults"),
        ("[network]\nchannel = 6", "more than faults"),
        ("\0", "is not TOML"),
    ],
)
def test_hostile_scripts_are_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(GuestError, match=words):
        read_script(FaultScript("x", text))


@pytest.mark.parametrize("device", sorted(set(CHIPS) - set(SDIO_CARDS) - set(ON_PCI)))
@given(st.integers(0).map(random.Random))
def test_every_dongle_has_endpoints_for_mutations(device: str, generator: random.Random) -> None:
    mutator = Mutator(Targets(ENDPOINTS[device]))
    script: Script = ()
    for _ in range(10):
        script = mutator.mutate(script, [], generator)
        assert {fault.endpoint for fault in script} <= {None, *(endpoint for endpoint, _ in ENDPOINTS[device])}
