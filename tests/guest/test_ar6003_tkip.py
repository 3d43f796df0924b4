"""TKIP by the firmware of a virtual AR6003 or AR6004, between the stock ath6kl_sdio and the real hostapd."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cards_here import run
from txop.guest.chips import OUT, Chip

PINGS = 20
GROUP_PINGS = 3
PASSPHRASE, NETWORK = "a passphrase of txop", "txop-lab"
TRAFFIC = f"""\
dut ping -c {PINGS} -i 0.05 10.80.210.1
peer ping -b -c {GROUP_PINGS} -i 0.2 10.80.210.255 || true
dut cat /proc/net/netstat
dut wpa_cli -p /run/txop-lab/wpa -i wlan0 status"""


def decrypted(capture: Path) -> list[int]:
    """Direction of each ICMP packet that tshark decrypts in a capture of the air: 1 from the station, 2 to it."""
    words = ["tshark", "-r", str(capture), "-o", "wlan.enable_decryption:TRUE", "-Y", "icmp && wlan.fc.protected == 1"]
    key = f'uat:80211_keys:"wpa-pwd","{PASSPHRASE}:{NETWORK}"'
    ran = subprocess.run(
        [*words, "-o", key, "-T", "fields", "-e", "wlan.fc.ds"], capture_output=True, text=True, check=True
    )
    return [int(word, 0) for word in ran.stdout.split()]


def broadcasts(said: str) -> int:
    """IP packets to a broadcast address that the card's host has received (/proc/net/netstat)."""
    names, numbers = (line.split() for line in said.splitlines() if line.startswith("IpExt:"))
    return int(dict(zip(names, numbers, strict=True))["InBcastPkts"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "security", "pairwise", "group"),
    [
        ("ar6003", "wpa", "TKIP", "TKIP"),
        ("ar6004", "wpa2-tkip", "TKIP", "TKIP"),
        ("ar6003", "mixed", "CCMP", "TKIP"),
    ],
)
def test_it_encrypts_as_hostapd_does(tmp_path: Path, device: str, security: str, pairwise: str, group: str) -> None:
    """Echo requests and answers, which tshark decrypts too; and group-addressed requests."""
    chip = Chip(device, "ath6kl_sdio", security=security, options=("--air", f"{OUT}/air.pcapng"))
    counted = run(tmp_path, chip, TRAFFIC)
    said = (tmp_path / "stdout").read_text()
    assert f"{PINGS} received, 0% packet loss" in said
    assert f"pairwise_cipher={pairwise}" in said
    assert f"group_cipher={group}" in said
    tx, rx = counted["tx"], counted["rx"]
    assert tx["encrypted"] >= PINGS
    assert rx["decrypted"] >= PINGS + GROUP_PINGS
    # Nothing else here sends IP to a broadcast address, and it comes with the group key.
    assert broadcasts(said) == GROUP_PINGS
    assert (rx["integrity_errors"], rx["michael_errors"], counted["htc"]["malformed"]) == (0, 0, 0)
    # 802.11n has no TKIP
    assert (counted["air"]["chip"]["ampdus"] > 0) is (pairwise == "CCMP")
    if shutil.which("tshark"):
        ways = decrypted(tmp_path / "files" / "air.pcapng")
        assert ways.count(1) >= PINGS
        assert ways.count(2) >= PINGS
