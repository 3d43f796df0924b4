"""The stock ath6kl_sdio on a virtual AR6003, in the stock ushc's slot."""

from __future__ import annotations

import asyncio
import re
import struct
from pathlib import Path
from statistics import median

import pytest

from cards_here import run
from guests_here import built_chips, built_image
from txop import bus
from txop.guest.chips import COMMAND_LOG, IN_GUEST, Chip
from txop.guest.exactness import difference
from txop.guest.mmc_host import with_mmc_host
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.firmware import firmware_files
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay

PINGS = 20
SLOW_BUS = ("--bus-time", "--card-lines", "1", "--card-mhz", "25")


@pytest.mark.parametrize(
    ("folder", "board_bytes"), [("AR6003/hw2.0", 1024 + 768), ("AR6003/hw2.1.1", 1024 + 768), ("AR6004/hw1.3", 6144)]
)
def test_the_firmware_is_a_chain_of_records(folder: str, board_bytes: int) -> None:
    """ath6kl refuses it else (Linux ath6kl/init.c, ath6kl_fetch_fw_apin)."""
    files = firmware_files()
    folder = f"usr/lib/firmware/ath6k/{folder}"
    firmware, board = files[f"{folder}/fw-5.bin"], files[f"{folder}/bdata.bin"]
    assert firmware.startswith(b"QCA-ATH6KL\0")
    rest, records = firmware[11:], {}
    while rest:
        number, length = struct.unpack_from("<II", rest)
        records[number] = rest[8 : 8 + length]
        assert len(records[number]) == length
        rest = rest[8 + length :]
    assert sorted(records) == [0, 3, 6]
    assert struct.unpack("<I", records[6])[0] >> 4 & 1, "without RSN-CAP-OVERRIDE there is no 802.11n"
    assert len(board) == board_bytes


@pytest.mark.slow
def test_it_associates_with_hostapd_and_encrypts_in_the_card(tmp_path: Path) -> None:
    """WPA2; and the same again, to the byte."""
    command = f"dut ping -c {PINGS} -i 0.2 10.80.210.1"
    counted = run(tmp_path / "one", Chip("ar6003", "ath6kl_sdio"), command)
    assert f"{PINGS} received, 0% packet loss" in (tmp_path / "one" / "stdout").read_text()
    assert counted["tx"]["encrypted"] >= PINGS
    assert counted["rx"]["decrypted"] >= PINGS
    assert counted["rx"]["integrity_errors"] == 0
    sdio = counted["sdio"]
    assert (sdio["host"]["bus_width"], sdio["host"]["high_speed"]) == (4, True)
    assert sdio["card"]["unknown_commands"] > 0, "the host asks for memory cards first"
    assert sdio["card"]["refused_commands"] == 0
    assert sdio["card"]["cmd53_writes"] > PINGS
    assert sdio["card"]["interrupts"] > PINGS
    assert counted["chip"]["bmi_bytes"] >= 64 * 1024
    assert counted["htc"]["underflows"] == 0
    assert counted["htc"]["malformed"] == 0
    run(tmp_path / "other", Chip("ar6003", "ath6kl_sdio"), command)
    assert difference(tmp_path / "one", tmp_path / "other") is None


@pytest.mark.slow
@pytest.mark.parametrize(("options", "lines", "mhz"), [((), 4, 50), (SLOW_BUS, 1, 25)], ids=["fast", "slow"])
def test_the_command_log_has_what_the_card_counted(
    tmp_path: Path, options: tuple[str, ...], lines: int, mhz: int
) -> None:
    """Two accounts of one guest: the card's own, and the log as ``txop bus`` reads it. The driver sets the bus as the
    card can."""
    chip = Chip("ar6003", "ath6kl_sdio", security="open", ap="builtin", command_log=COMMAND_LOG, options=options)
    counted = run(tmp_path, chip, f"dut ping -q -c {PINGS} -i 0.05 10.80.210.1")
    found = bus.analyze(tmp_path / "files" / COMMAND_LOG).sdio
    assert found is not None
    assert found.packets is not None
    card, host = counted["sdio"]["card"], counted["sdio"]["host"]
    assert (found.card, found.bus_width, found.clock_hz) == ("0271:0301", lines, mhz * 1_000_000)
    assert (host["bus_width"], host["clock_hz"]) == (lines, mhz * 1_000_000)
    assert (found.commands, found.unanswered) == (host["commands"], host["timeouts"])
    assert (found.cmd52_reads, found.cmd52_writes) == (card["cmd52_reads"], card["cmd52_writes"])
    assert (found.cmd53_reads, found.cmd53_writes) == (card["cmd53_reads"], card["cmd53_writes"])
    assert (found.read_bytes, found.written_bytes) == (card["cmd53_read_bytes"], card["cmd53_written_bytes"])
    assert found.interrupts == card["interrupts"]
    assert (found.packets.to_card, found.packets.to_host) == (counted["tx"]["frames"], counted["rx"]["delivered"])
    assert found.packets.to_card > PINGS
    assert found.bus_time is bool(options)
    assert found.cmd53_took_us is not None
    if options:
        # 114 clocks of 40 ns are the least that a CMD53 can take.
        assert found.cmd53_took_us.min >= 114 * 0.04


@pytest.mark.slow
def test_linux_6_1_drives_it_too(tmp_path: Path) -> None:
    """The older kernel of Debian 12, with WPA2."""
    counted = run(tmp_path, Chip("ar6003", "ath6kl_sdio"), f"dut ping -c {PINGS} -i 0.2 10.80.210.1", "6.1")
    assert f"{PINGS} received, 0% packet loss" in (tmp_path / "stdout").read_text()
    assert counted["tx"]["encrypted"] >= PINGS
    assert counted["htc"]["malformed"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "interrupts", "least_ms", "most_ms"),
    [("6.12", "thread", 0.0, 2.0), ("6.12", "poll", 2.0, 20.0), ("6.1", "work", 0.0, 2.0)],
)
def test_in_the_slot_of_the_host_in_the_kernel(
    tmp_path: Path, kernel: str, interrupts: str, least_ms: float, most_ms: float
) -> None:
    """Interrupts come at once; a core that polls finds an answer after up to 10 ms, and a little."""
    modules = asyncio.run(with_mmc_host((), "virtual", find_lock(kernel), lambda _: None))
    parameters = (f"interrupts={interrupts}", "bus_time=1", "pio_bytes=64")
    chip = Chip("ar6003", "ath6kl_sdio", security="open", ap="builtin", sdio_host="virtual", host_parameters=parameters)
    grep = "grep . /sys/module/virtual_mmc_host/parameters/*"
    counted = run(tmp_path, chip, f"dut ping -c {PINGS} -i 0.05 10.80.210.1\n{grep}", kernel, modules)
    said = (tmp_path / "stdout").read_text()
    assert f"{PINGS} received, 0% packet loss" in said
    # Not the mean: the first answer waits for a group-addressed frame, which comes after a beacon.
    typical_ms = median(float(ms) for ms in re.findall(r"time=([0-9.]+) ms", said))
    assert least_ms < typical_ms < most_ms
    of_module = dict(re.findall(r"parameters/([a-z0-9_]+):([0-9]+)", said))
    assert int(of_module["commands"]) >= counted["sdio"]["card"]["cmd53_writes"] > PINGS
    assert (int(of_module["signals"]) > 0) is (interrupts != "poll")
    assert int(of_module["pio_interrupts"]) > PINGS
    assert int(of_module["timeouts"]) == 0
    assert counted["sdio"]["card"]["refused_commands"] == 0


# From 3 s after plugging in on the card is associated. (With both within the first scan stock ath6kl refused to scan
# from then on: -EBUSY.)
FAULTS = """\
[[fault]]
name = "crc"
command = 53
function = 1
address = 0x800
direction = "in"
from_ms = 3000
nth = 4
times = 1
action = "crc"

[[fault]]
name = "silence"
command = 53
function = 1
address = 0x400
from_ms = 3000
nth = 20
times = 1
action = "no_answer"
"""


@pytest.mark.slow
def test_the_driver_sees_the_commands_fail_that_a_script_names(tmp_path: Path) -> None:
    """The log and the fault's own counters agree, and the driver goes on."""
    (tmp_path / "faults.toml").write_text(FAULTS, encoding="utf-8")
    chip = Chip(
        "ar6003", "ath6kl_sdio", security="open", ap="builtin", command_log=COMMAND_LOG, faults=tmp_path / "faults.toml"
    )
    counted = run(tmp_path, chip, f"dut ping -q -c {2 * PINGS} -i 0.2 10.80.210.1 || true")
    assert {fault["name"]: fault["struck"] for fault in counted["faults"]} == {"crc": 1, "silence": 1}
    assert all(fault["transfers"] >= PINGS for fault in counted["faults"])
    found = bus.analyze(tmp_path / "files" / COMMAND_LOG).sdio
    assert found is not None
    assert (found.wrong_crc, found.failed_transfers, found.refused) == (1, 2, 0)
    assert found.unanswered == counted["sdio"]["host"]["timeouts"] == counted["sdio"]["card"]["unknown_commands"] + 1
    received = re.search(r"([0-9]+) received", (tmp_path / "stdout").read_text())
    assert received is not None
    assert PINGS <= int(received[1]) <= 2 * PINGS


@pytest.mark.slow
def test_tcp_runs_both_ways_in_bundles(tmp_path: Path) -> None:
    command = "peer iperf3 -s -D >/dev/null; sleep 0.5; for way in '' -R; do dut iperf3 -c 10.80.210.1 -t 2 $way; done"
    counted = run(tmp_path, Chip("ar6003", "ath6kl_sdio", security="open", ap="builtin"), command)
    rates = re.findall(r"([\d.]+) Mbits/sec .*receiver", (tmp_path / "stdout").read_text())
    assert len(rates) == 2
    assert all(float(rate) > 5 for rate in rates), rates
    assert counted["htc"]["bundles_to_host"] > 0
    assert counted["air"]["chip"]["ampdus"] > 0
    assert counted["air"]["ap"]["ampdus"] > 0
    assert counted["rx"]["dropped"] == 0


@pytest.mark.slow
def test_a_command_that_is_ended_pulls_no_card_out(tmp_path: Path) -> None:
    """It is ended with its processes, and the card is none of them: else stock ath6kl waits for itself."""
    chip = Chip("ar6003", "ath6kl_sdio", ap="builtin", security="open")
    overlay = Overlay(
        script="txop-lab up && sleep 300\n",
        environment=chip.variables(),
        files={**chip.files(), IN_GUEST: built_chips()},
    )
    computer = Computer(mode=Mode.EXACT, shift=3, limit_s=60)
    ended = asyncio.run(run_guest(built_image("6.12"), overlay, computer, results=tmp_path, wall_limit_s=600))
    assert ended.status == 124
    events = [line.split() for line in (tmp_path / "events").read_text().splitlines()]
    (ended_s,) = (float(words[1]) for words in events if words[-1] == "124" and words[0] == "stage")
    (end_s,) = (float(words[1]) for words in events if words[0] == "end")
    assert end_s - ended_s < 20
    log = (tmp_path / "files" / "kernel.log").read_text()
    assert "mmc0: card 0001 removed" in log, "the testbed takes the card out at its end"
    # the interface is set down before, which stock ath6kl needs
    assert "req failed (status:-19" not in log
