"""A transfer of ttcp: what both ends print, as figures; and a real one over this machine's loopback."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guests_here import built_chips
from instrument_bench import carry_out, context_of, facts_of, make_plan, values
from txop.campaign.gates import directions, payload_bytes
from txop.campaign.guest_script import run_script
from txop.formats import ttcp_output
from txop.formats.error import FormatError
from txop.measure.traffic import ttcp
from txop.measure.traffic.ttcp import RECEIVER_FILE, TRANSMITTER_FILE, Ttcp
from txop.plan.measurement import TtcpTest
from txop.targets.local import LocalTarget

TEST = '[[test]]\nname = "t"\nkind = "ttcp-rx"\nduration_s = 60\n'

TRANSMITTER = """\
ttcp-t: buflen=8192, nbuf=2048, align=16384/0, port=5001  tcp  -> 10.0.0.2
ttcp-t: socket
ttcp-t: connect
ttcp-t: 16777216 bytes in 22.00 real seconds = 744.73 KB/sec +++
ttcp-t: 2048 I/O calls, msec/call = 11.00, calls/sec = 93.09
ttcp-t: 0.0user 0.1sys 0:22real 0% 0i+0d 384maxrss 0+2pf 340+8csw
"""
RECEIVER = """\
ttcp-r: buflen=8192, nbuf=2048, align=16384/0, port=5001  tcp
ttcp-r: accept from 10.0.0.1
ttcp-r: 16777216 bytes in 22.50 real seconds = 728.18 KB/sec +++
ttcp-r: 11621 I/O calls, msec/call = 1.98, calls/sec = 516.49
ttcp-r: 0.1user 2.8sys 0:22real 13% 0i+0d 380maxrss 0+1pf 5170+12csw
"""


def read(folder: Path, transmitter: str, receiver: str):
    (folder / TRANSMITTER_FILE).write_text(transmitter)
    (folder / RECEIVER_FILE).write_text(receiver)
    plan = make_plan(TEST)
    assert isinstance(plan.test[0], TtcpTest)
    return Ttcp(plan.test[0]).read(facts_of(plan, folder))


def test_figures_of_both_ends(tmp_path: Path) -> None:
    """The receiver's rate, as the slower one; 16.777216 MB."""
    reading = read(tmp_path, TRANSMITTER, RECEIVER)
    got = values(reading)
    assert got["throughput_mbit_s"] == pytest.approx(16.777216 * 8 / 22.5)
    assert got["transfer_s"] == 22.5
    assert got["sender_voluntary_switches_per_mb"] == pytest.approx(340 / 16.777216)
    assert got["sender_involuntary_switches_per_mb"] == pytest.approx(8 / 16.777216)
    assert got["receiver_voluntary_switches_per_mb"] == pytest.approx(5170 / 16.777216)
    assert got["receiver_involuntary_switches_per_mb"] == pytest.approx(12 / 16.777216)
    machine = reading.metrics["machine_switches_per_mb"]
    assert (machine.value, machine.reason) == (None, "only txop-vusb ttcp counts those of the machine")
    assert not reading.gates


def test_the_machine_is_that_of_the_device(tmp_path: Path) -> None:
    """The receiver's, when the device receives."""
    reading = read(
        tmp_path,
        TRANSMITTER + "ttcp-t: 16777216 csw of the machine\n",
        RECEIVER + "ttcp-r: 33554432 csw of the machine\n",
    )
    assert values(reading)["machine_switches_per_mb"] == pytest.approx(2e6)


@pytest.mark.parametrize(
    ("transmitter", "receiver", "said"),
    [
        ("", RECEIVER, "sender"),
        (TRANSMITTER, "ttcp-r: buflen=8192\n", "receiver"),
        (TRANSMITTER, RECEIVER.replace("16777216 bytes", "8192 bytes"), "8192 of 16777216 bytes arrived"),
        (TRANSMITTER.replace("22.00", "0.00"), RECEIVER.replace("22.50", "0.00"), "less than ttcp's clock shows"),
    ],
)
def test_a_transfer_that_did_not_end_voids_the_run(tmp_path: Path, transmitter: str, receiver: str, said: str) -> None:
    reading = read(tmp_path, transmitter, receiver)
    (gate,) = reading.gates
    assert (gate.gate, gate.state) == ("traffic-failed", "void")
    assert said in gate.words
    assert all(reading.metrics[key].value is None for key in ttcp.FIGURES)


@given(st.text(max_size=300))
def test_any_text_is_an_outcome_or_a_clear_error(text: str) -> None:
    try:
        found = ttcp_output.parse(text)
    except FormatError:
        return
    assert found.bytes >= 0


@pytest.mark.parametrize("kind", ["ttcp-tx", "ttcp-rx"])
def test_in_a_guest_both_ends_are_at_their_places(tmp_path: Path, kind: str) -> None:
    """The receiver listens before the idle phase, at its own end."""
    plan = make_plan(f'[[test]]\nname = "t"\nkind = "{kind}"\n')
    assert isinstance(plan.test[0], TtcpTest)
    script = run_script(context_of(plan, tmp_path, {}), [Ttcp(plan.test[0])])
    receiver, transmitter, to = ("peer", "dut", "10.80.210.1") if kind == "ttcp-tx" else ("dut", "peer", "10.80.210.2")
    assert f"{receiver} txop-vusb ttcp -r -l 8192 -p 5001" in script
    assert f"waiting 10 listening 1389 {receiver} || exit 71" in script
    assert f"{transmitter} txop-vusb ttcp -t {to} -l 8192 -n 2048 -p 5001" in script
    assert script.index("ttcp -r") < script.index("mark idle") < script.index("mark load") < script.index("ttcp -t")


def test_a_real_transfer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over loopback with txop's own, whatever this machine has."""
    monkeypatch.setenv("TXOP_VUSB", str(built_chips()))
    plan = make_plan(TEST)
    assert isinstance(plan.test[0], TtcpTest)
    targets = {"dut": LocalTarget("dut"), "peer": LocalTarget("peer")}
    context = context_of(plan, tmp_path, targets)
    context.peer_address = "127.0.0.1"

    async def go():
        for target in targets.values():
            await target.connect()
        return await carry_out([Ttcp(plan.test[0])], context, window_s=4)

    got = values(asyncio.run(go()))
    assert got["throughput_mbit_s"] > 1
    assert got["receiver_voluntary_switches_per_mb"] >= 0


def test_what_passed_is_asked_for_the_transfer_and_not_for_the_window(tmp_path: Path) -> None:
    """16.8 MB, in 22.5 s of a window of 60."""
    reading = read(tmp_path, TRANSMITTER, RECEIVER)
    facts = facts_of(make_plan(TEST), tmp_path)
    assert payload_bytes(facts, reading) == pytest.approx(16_777_216)
    assert directions(facts, reading) == {"downlink": pytest.approx(16_777_216)}


def test_a_transfer_that_outlasts_its_window_is_void(tmp_path: Path) -> None:
    (tmp_path / TRANSMITTER_FILE).write_text(TRANSMITTER)
    (tmp_path / RECEIVER_FILE).write_text(RECEIVER)
    plan = make_plan(TEST.replace("60", "20"))
    assert isinstance(plan.test[0], TtcpTest)
    (gate,) = Ttcp(plan.test[0]).read(facts_of(plan, tmp_path)).gates
    assert gate.words == "the transfer took 22.5 s, longer than duration_s (20.0 s)"
