"""The search for what is slow, against a driver that exists only here; and what its inputs and costs are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slow_driver import REST, USUAL, SlowDriver
from txop.guest.shipped_faults import FaultScript
from txop.guest_exploration.cost import Cost, Costs, Metric, costs_of, read_cost
from txop.guest_exploration.exploration import Request
from txop.guest_exploration.memory import Memory
from txop.guest_exploration.mutation import Mutator, Targets
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.script import Fault
from txop.guest_exploration.slow.entry import Input, InputMutator, read_input, smaller_inputs
from txop.guest_exploration.slow.load import Load
from txop.guest_exploration.slow.search import Begin, Slow, SlowFinding, SlowSearch
from txop.guest_image.error import GuestError

STALL = Fault("stall", endpoint=1, direction="in")
SPEED = 1e9
MUTATE = InputMutator(Mutator(Targets(endpoints=((1, "in"), (3, "out")), latest_ms=3_200))).mutate


class Quiet:
    """Hears everything."""

    def __init__(self) -> None:
        self.tries: list[str] = []

    def tried(self, search: SlowSearch, number: int, tried: Input, outcome: Outcome, slow: Slow | None) -> None:
        del search, number, outcome, slow
        self.tries.append(tried.text())

    def found(self, finding: SlowFinding) -> None:
        del finding


def searched(request: Request, driver: SlowDriver | Memory, begin: list[Begin]) -> tuple[SlowSearch, Quiet]:
    quiet = Quiet()
    search = SlowSearch(request, begin, MUTATE, driver, USUAL, REST, SPEED, times=3.0, listener=quiet)
    asyncio.run(search.go())
    return search, quiet


def test_each_cause_is_found_alone_and_with_nothing_beside_it() -> None:
    search, _ = searched(Request(seed=3, tries=400, reductions=40), SlowDriver(), [])
    found = {(finding.metric, finding.slow.input.kinds) for finding in search.findings}
    assert (Metric.AIRTIME, frozenset({"traffic length_bytes"})) in found
    assert any(m is Metric.INSTRUCTIONS and all(k.startswith("stall endpoint 1") for k in kinds) for m, kinds in found)
    rtt = [kinds for metric, kinds in found if metric is Metric.RTT]
    assert rtt == [frozenset({"noise", "lost_c2h"})]
    assert all(finding.smallest and finding.exact for finding in search.findings)
    assert search.stalled > 0
    assert search.troubled > 0


def test_what_contains_a_finding_is_no_other_one() -> None:
    more = Input(Load(streams=4), (STALL, Fault("loss", probability=0.5)))
    begin = [Begin("one", Input(faults=(STALL,))), Begin("more", more)]
    search, _ = searched(Request(tries=0), SlowDriver(), begin)
    assert [(finding.begin, finding.key) for finding in search.findings] == [
        ("one", "instructions_per_packet: stall endpoint 1")
    ]


def test_one_that_costs_otherwise_the_next_time_is_not_exact() -> None:
    search, _ = searched(Request(tries=0), SlowDriver(unsteady=True), [Begin("one", Input(faults=(STALL,)))])
    assert [finding.exact for finding in search.findings] == [False]


@pytest.mark.parametrize("ahead", [1, 3])
def test_a_search_that_was_interrupted_goes_on_with_what_it_knows(tmp_path: Path, ahead: int) -> None:
    request = Request(seed=5, tries=60, ahead=ahead)
    whole, heard = searched(request, SlowDriver(), [])
    with Memory(tmp_path, {}, SlowDriver()) as memory:
        searched(Request(seed=5, tries=25, ahead=ahead), memory, [])
    driver = SlowDriver()
    with Memory(tmp_path, {}, driver) as memory:
        resumed, again = searched(request, memory, [])
    assert again.tries == heard.tries
    assert [finding.key for finding in resumed.findings] == [finding.key for finding in whole.findings]
    assert driver.trials < whole.trials


def test_costs_are_without_what_echo_requests_alone_cost_and_transfer() -> None:
    costs = costs_of(USUAL.model_copy(update={"seconds": 6.0, "busy_s": 1.2}), REST, SPEED)
    assert costs.instructions_per_packet == pytest.approx((1.2 - 0.6) * SPEED / 2_700)
    assert costs.airtime_ns_per_byte == pytest.approx((310e6 - 20e6) / 2_970_000)
    assert costs.rtt_p99_ms == 2.0
    without_air = costs_of(USUAL.model_copy(update={"air_busy_ns": None}), REST, SPEED)
    assert without_air.airtime_ns_per_byte is None
    with pytest.raises(ValueError, match="echo requests alone"):
        costs_of(REST, REST, SPEED)


def test_echo_requests_alone_are_no_traffic() -> None:
    class Silent(SlowDriver):
        async def run(self, text: str, repeat: int) -> Outcome:
            outcome = await super().run(text, repeat)
            return outcome.model_copy(update={"cost": REST.model_copy(update={"packets": 500, "busy_s": 3.0})})

    search, _ = searched(Request(tries=0), Silent(), [Begin("one", Input(faults=(STALL,)))])
    assert (search.findings, search.stalled, search.trials) == ([], 1, 1)


def test_a_trial_of_each_text_counts_once_and_a_finding_has_its_number() -> None:
    both = Input(Load(length_bytes=64), (STALL,))
    search, _ = searched(Request(tries=0, reductions=20), SlowDriver(), [Begin("both", both)])
    assert [(finding.metric, finding.trial) for finding in search.findings] == [
        (Metric.INSTRUCTIONS, 1),
        (Metric.AIRTIME, 1),
    ]
    driver = SlowDriver()
    searched(Request(tries=0, reductions=20), driver, [Begin("both", both)])
    assert search.trials <= driver.trials


def test_what_this_machine_ended_makes_nothing_the_smallest() -> None:
    class Interrupted(SlowDriver):
        async def run(self, text: str, repeat: int) -> Outcome:
            if repeat == 0 and self.trials > 0:
                return Outcome(verdict="not determined", why="for a test", void=True)
            return await super().run(text, repeat)

    search, _ = searched(Request(tries=0), Interrupted(), [Begin("one", Input(Load(streams=2), (STALL,)))])
    assert [finding.smallest for finding in search.findings] == [False]


DEV = "Inter-|   Receive |  Transmit\n lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
DEV += "wlan0: {rx} {n} 0 0 0 0 0 0 {tx} {n} 0 0 0 0 0 0\n"


def files(answers: int = 150, sent: int = 150) -> dict[str, bytes]:
    chip = json.dumps({"device": {"air": {"busy_ns": 5_000}}})
    later = json.dumps({"device": {"air": {"busy_ns": 9_000}}})
    echoes = "PING 10.80.210.1 (10.80.210.1) 56(84) bytes of data.\n"
    for n in range(1, answers + 1):
        echoes += f"64 bytes from 10.80.210.1: icmp_seq={n} ttl=64 time={n / 10} ms\n"
    echoes += "64 bytes from 10.80.210.1: icmp_seq=1 ttl=64 time=0.2 ms (DUP!)\n"
    return {
        "moments": b"begin 10.00 8.00\nend 13.00 10.50\n",
        "dev-begin": DEV.format(rx=100, tx=50, n=2).encode(),
        "dev-end": DEV.format(rx=1_100, tx=550, n=12).encode(),
        "chip-begin.json": chip.encode(),
        "chip-end.json": later.encode(),
        "ping": (
            f"{echoes}\n--- 10.80.210.1 ping statistics ---\n{sent} packets transmitted, {answers} received, "
            "0% packet loss, time 3000ms\n"
        ).encode(),
    }


def test_what_a_guest_writes_is_read_as_costs() -> None:
    cost = read_cost(files(), "wlan0")
    assert cost == Cost(
        seconds=3.0, busy_s=0.5, packets=20, bytes=1_500, air_busy_ns=4_000, echoes=150, answered=150, rtt_p99_ms=14.9
    )  # fmt: skip


def test_more_than_one_percent_without_an_answer_have_no_p99() -> None:
    one, two = (read_cost(files(answers=150 - lost), "wlan0") for lost in (1, 2))
    assert one is not None
    assert two is not None
    assert one.rtt_p99_ms == 14.9
    assert two.rtt_p99_ms is None
    assert Costs().of(Metric.RTT) is None


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(files())), st.binary(max_size=80), st.integers(0, 200))
def test_files_of_a_hostile_guest_are_costs_or_nothing(name: str, data: bytes, at: int) -> None:
    changed = files()
    changed[name] = changed[name][:at] + data
    cost = read_cost(changed, "wlan0")
    if cost is not None:
        with suppress(ValueError):
            assert costs_of(cost, REST, SPEED).instructions_per_packet is not None


FAULTS = st.sampled_from([STALL, Fault("loss", probability=0.3), Fault("nak", endpoint=1, for_ms=500)])


@given(st.integers(0, 2**32), st.lists(FAULTS, max_size=3))
def test_mutated_inputs_are_read_as_they_are_written(seed: int, faults: list[Fault]) -> None:
    random = Random(seed)  # noqa: S311 - no secret
    tried = Input(faults=tuple(faults))
    for _ in range(5):
        tried = MUTATE(tried, [Input(faults=(STALL,))], random)
        assert read_input(FaultScript("x", tried.text("a comment\nof two lines"))) == tried
        assert {kind for kind in tried.kinds if kind.startswith("traffic ")} == {
            f"traffic {key}" for key in tried.load.changes
        }


@given(st.integers(0, 2**32))
def test_without_endpoints_nothing_happens_to_transfers(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - no secret
    mutate = InputMutator(Mutator(Targets(endpoints=()))).mutate
    tried = Input()
    for _ in range(6):
        tried = mutate(tried, [], random)
    assert all(fault.endpoint is None for fault in tried.faults)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[traffic]\nlength_bytes = 5\n", "length_bytes is not a whole number from 16 to 1470"),
        ("[traffic]\nstreams = 1.5\n", "streams is not a whole number"),
        ("[traffic]\nprotocol = 'sctp'\n", "protocol is not udp or tcp"),
        ("[traffic]\nrate_mbit_s = nan\n", "rate_mbit_s is not a number"),
        ("[traffic]\nspeed = 1\n", "speed is not known"),
        ("traffic = 1\n", "not a table"),
        ("[traffic", "not TOML"),
        ("[network]\nchannel = 1\n", "nothing else is explored"),
    ],
)
def test_a_file_that_is_no_input_gets_an_error(text: str, what: str) -> None:
    with pytest.raises(GuestError, match=what):
        read_input(FaultScript("mine", text))


def reduced(slow: Input, shows: Callable[[Input], bool]) -> Input:
    steps = smaller_inputs(slow)
    try:
        candidate = next(steps)
        while True:
            candidate = steps.send(shows(candidate))
    except StopIteration as end:
        smallest: Input = end.value
        return smallest


def test_of_an_input_only_what_is_needed_stays() -> None:
    both = Input(Load(length_bytes=40, streams=4, direction="up"), (STALL, Fault("loss", probability=0.5)))
    assert reduced(both, lambda tried: tried.load.length_bytes == 40) == Input(Load(length_bytes=40))
    assert reduced(both, lambda tried: any(f.action == "stall" for f in tried.faults)) == Input(
        faults=(Fault("stall", endpoint=1),)
    )
    assert reduced(both, lambda tried: tried.load.streams == 4 and len(tried.faults) == 2).load == Load(streams=4)
