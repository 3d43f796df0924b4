"""The stock libertas_sdio on a virtual SD8686, in the stock ushc's slot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cards_here import run
from txop import bus
from txop.guest.chips import COMMAND_LOG, Chip
from txop.guest.exactness import difference
from txop.guest_image.error import GuestError
from txop.guest_image.firmware import firmware_files

PINGS = 20
WPA = "/run/txop-lab/wpa"


def card(**keys: Any) -> Chip:
    """The card at the built-in access point."""
    return Chip("sd8686", "libertas_sdio", security="open", ap="builtin", **keys)


def test_the_firmware_is_a_helper_and_an_image() -> None:
    """libertas sends both as they are, the image in pieces of an even length (Linux libertas/if_sdio.c)."""
    files = firmware_files()
    helper, image = (files[f"usr/lib/firmware/libertas/sd8686_v9{name}.bin"] for name in ("_helper", ""))
    for data in (helper, image):
        assert data
        assert len(data) % 2 == 0
        assert not any(data), "nothing of a vendor's is in them"


def test_it_has_no_tkip() -> None:
    with pytest.raises(GuestError, match="sd8686 has no cipher for wpa2-tkip"):
        Chip("sd8686", "libertas_sdio", security="wpa2-tkip")


BOTH_WAYS = f"""\
dut ping -q -c {PINGS} -i 0.05 10.80.210.1
dut iw dev wlan0 link
peer iperf3 -s -D >/dev/null
sleep 0.5
for way in '' -R; do dut iperf3 -c 10.80.210.1 -t 1 $way; done"""


@pytest.mark.slow
def test_it_associates_and_moves_data_both_ways(tmp_path: Path) -> None:
    """And the same again, to the byte. The log and the card's own counters agree."""
    counted = run(tmp_path / "one", card(command_log=COMMAND_LOG), BOTH_WAYS)
    printed = (tmp_path / "one" / "stdout").read_text()
    assert f"{PINGS} received, 0% packet loss" in printed
    assert "Connected to" in printed
    assert "signal: -45 dBm" in printed
    rates = re.findall(r"([\d.]+) Mbits/sec .*receiver", printed)
    assert len(rates) == 2
    assert all(float(rate) > 3 for rate in rates), rates
    chip, sdio = counted["chip"], counted["sdio"]
    assert (chip["boots"], chip["associations"], chip["malformed"], chip["empty_reads"]) == (1, 1, 0, 0)
    assert chip["firmware_bytes"] >= 64 * 1024
    assert (sdio["host"]["bus_width"], sdio["host"]["high_speed"]) == (4, True)
    assert sdio["card"]["refused_commands"] == 0
    # One packet with each CMD53, and registers with CMD52 only (if_sdio.c): of a packet from the card its length in two
    # bytes, the status and the cause of the interrupt.
    assert sdio["card"]["cmd53_reads"] == chip["packets_to_host"]
    assert sdio["card"]["cmd52_reads"] >= 4 * chip["packets_to_host"]
    found = bus.analyze(tmp_path / "one" / "files" / COMMAND_LOG).sdio
    assert found is not None
    assert found.card == "02df:9103"
    assert (found.cmd52_reads, found.cmd53_reads) == (sdio["card"]["cmd52_reads"], sdio["card"]["cmd53_reads"])
    assert found.packets is not None
    assert (found.packets.to_card, found.packets.to_host) == (counted["tx"]["frames"], counted["rx"]["delivered"])
    assert (found.packets.per_transfer_to_card, found.packets.per_transfer_to_host) == (1, 1)
    run(tmp_path / "other", card(command_log=COMMAND_LOG), BOTH_WAYS)
    assert difference(tmp_path / "one", tmp_path / "other") is None


@pytest.mark.slow
@pytest.mark.parametrize("log", [None, COMMAND_LOG], ids=["plain", "logged"])
def test_it_associates_with_hostapd_and_encrypts_in_the_card(tmp_path: Path, log: str | None) -> None:
    """WPA2: the supplicant's keys reach the card, for its access point and for groups. With the log, whose time
    in the guest lets the key overtake message 4, and without."""
    chip = Chip("sd8686", "libertas_sdio", command_log=log)
    counted = run(tmp_path, chip, f"dut ping -q -c {PINGS} -i 0.05 10.80.210.1\ndut wpa_cli -p {WPA} -i wlan0 status")
    printed = (tmp_path / "stdout").read_text()
    assert f"{PINGS} received, 0% packet loss" in printed
    assert "key_mgmt=WPA2-PSK" in printed
    assert counted["tx"]["encrypted"] >= PINGS
    assert counted["rx"]["decrypted"] >= PINGS
    assert (counted["rx"]["integrity_errors"], counted["rx"]["dropped"]) == (0, 0)
    assert counted["chip"]["associations"] == 1


@pytest.mark.slow
def test_by_the_key_alone_the_driver_encrypts_message_4(tmp_path: Path) -> None:
    """The driver's thread sends a command that waits before a frame that waits: so the key may reach the card first."""
    chip = Chip("sd8686", "libertas_sdio", command_log=COMMAND_LOG, options=("--assume", "eapol-by-key=1"))
    ping = f"dut ping -q -c {PINGS} -i 0.05 10.80.210.1 || true"
    runs = [run(tmp_path / str(seed), chip, ping, seed=seed) for seed in (1, 2)]
    # a race: not in every guest
    lost = [counted for counted in runs if counted["rx"]["decrypted"] == 0]
    assert lost
    assert all(counted["chip"]["associations"] > 1 for counted in lost)


@pytest.mark.slow
def test_it_leaves_and_comes_back(tmp_path: Path) -> None:
    """Deauthentication, and another association."""
    again = f"""\
dut wpa_cli -p {WPA} -i wlan0 disconnect
sleep 1
dut wpa_cli -p {WPA} -i wlan0 reconnect
sleep 5
dut ping -q -c {PINGS} -i 0.05 10.80.210.1"""
    counted = run(tmp_path, card(), again)
    assert f"{PINGS} received, 0% packet loss" in (tmp_path / "stdout").read_text()
    assert counted["chip"]["associations"] == 2
