"""What a virtual device with its driver is made of, for the testbed in a guest."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import txop.guest_image
from txop.cli.guest_device import CaptureOptions, DeviceOptions
from txop.core.errors import UserError
from txop.guest.chips import FAULTS, IN_GUEST, OUT, Chip
from txop.guest_image.error import GuestError
from txop.plan.devices import CHIPS, DRIVERS, FUNCTIONS

LAB = Path(txop.guest_image.__file__).parent / "lab.sh"


def test_every_device_has_a_stock_driver() -> None:
    assert set(DRIVERS) == {*CHIPS, *FUNCTIONS}


def test_captures_and_faults_become_options(tmp_path: Path) -> None:
    script = tmp_path / "faults.toml"
    script.write_text("")
    chip = Chip(air="air.pcapng", usb="usb.pcapng", usb_snap_bytes=256, faults=script, options=("--signal", "-70"))
    wanted = f"--air {OUT}/air.pcapng --usb {OUT}/usb.pcapng --usb-snap 256 --faults {FAULTS} --signal -70"
    assert chip.variables()["LAB_OPTIONS"] == wanted


def test_what_a_device_captures_is_named_by_its_format() -> None:
    chip = DeviceOptions("rtl8188cus").chip(CaptureOptions(air=True, usb=True))
    assert chip is not None
    assert (chip.air, chip.usb) == ("air.pcapng", "usb.pcapng")


def test_the_commands_of_an_sdio_card_can_be_logged() -> None:
    chip = DeviceOptions("ar6003", ap="builtin").chip(CaptureOptions(command_log=True))
    assert chip is not None
    assert chip.variables()["LAB_OPTIONS"] == f"--command-log {OUT}/sdio.pcapng"
    with pytest.raises(UserError, match="rtl8188cus gets no SDIO commands"):
        DeviceOptions("rtl8188cus").chip(CaptureOptions(command_log=True))


def test_the_script_of_faults_goes_into_the_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, program = tmp_path / "faults.toml", tmp_path / "txop-vusb"
    for path in (script, program):
        path.write_text("#!/bin/sh\n")
    monkeypatch.setenv("TXOP_VUSB", str(program))
    assert Chip(faults=script).files() == {IN_GUEST: program, FAULTS: script}
    assert Chip().files() == {IN_GUEST: program}


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"device": "rtl9999"}, "rtl9999"),
        ({"device": "ncm", "air": "air.pcapng"}, "no air"),
        ({"faults": Path("/nowhere/faults.toml")}, "/nowhere/faults.toml is not a file"),
        ({"options": ("--air $(reboot)",)}, "cannot be passed on"),
        ({"channel": 14}, "14"),
        ({"device": "mt7610u", "channel": 52}, "52 is not a channel here"),
        ({"device": "mt7610u", "width_mhz": 80}, "a channel of 80 MHz is in 5 GHz, and 6 is not"),
        ({"device": "mt7610u", "channel": 36, "width_mhz": 160}, "160 MHz is not a width"),
        ({"channel": 36}, "the rtl8188cus is not in 5 GHz"),
        ({"device": "mt7601u", "channel": 149, "width_mhz": 80}, "the mt7601u is not in 5 GHz"),
        (
            {"device": "mt7610u", "channel": 36, "ap": "builtin", "security": "open"},
            "the built-in access point is in 2.4 GHz",
        ),
        ({"stations": (-45,)}, "the rtl8188cus is not an access point"),
        (
            {"device": "mt7610u", "stations": (-45,), "ap": "builtin", "security": "open"},
            "the chip is the access point",
        ),
        ({"device": "mt7610u", "stations": (-45,) * 17}, "there are 17 signals"),
        ({"device": "mt7610u", "stations": (-45, 20)}, "20 dBm is not a signal of a station"),
        ({"access_points": (-45, 20)}, "20 dBm is not a signal of an access point"),
        ({"access_points": (-45,) * 17}, "there are 17 signals"),
        ({"access_points": (-60,)}, "two or more"),
        ({"device": "ncm", "driver": "cdc_ncm", "access_points": (-45, -50)}, "ncm has no radio"),
        ({"access_points": (-45, -50), "ap": "builtin", "security": "open"}, "several hostapd"),
        ({"device": "mt7610u", "stations": (-45,), "access_points": (-45, -50)}, "several hostapd"),
        ({"device": "mt7610u", "security": "wpa2-tkip"}, "no cipher for wpa2-tkip"),
        ({"device": "mt7601u", "stations": (-45,)}, "the mt7601u is not an access point"),
        ({"device": "mt7610u", "stations": (-45,), "power_save": False}, "an access point does not save power"),
        ({"device": "ncm", "driver": "cdc_ncm", "power_save": True}, "ncm, which has no radio, does not save power"),
    ],
)
def test_what_cannot_be_is_said(keys: dict[str, object], words: str) -> None:
    with pytest.raises(GuestError, match=words.replace("$", r"\$").replace("(", r"\(")):
        Chip(**keys)  # type: ignore[arg-type]


def test_a_channel_of_5_ghz_comes_to_the_testbed() -> None:
    chip = DeviceOptions("mt7610u", width=80, channel=149).chip()
    assert chip is not None
    assert (chip.variables()["LAB_CHANNEL"], chip.variables()["LAB_WIDTH"]) == ("149", "80")
    assert chip.is_in_5_ghz
    assert not Chip(channel=13).is_in_5_ghz


@pytest.mark.parametrize(
    ("channel", "width_mhz", "side", "centre"),
    [
        (1, 40, "+", None),
        (11, 40, "-", None),
        (36, 20, None, None),
        (40, 40, "-", None),
        (44, 80, "+", 42),
        (48, 80, "-", 42),
        (149, 80, "+", 155),
        (161, 80, "-", 155),
        (157, 40, "+", None),
    ],
)
def test_the_access_point_is_configured_for_its_channel(
    channel: int, width_mhz: int, side: str | None, centre: int | None
) -> None:
    """Secondary channel and centre by IEEE 802.11-2020, table E-4."""
    settings = hostapd_settings(channel, width_mhz, "RX HT20 SGI RX HT40 SGI VHT Capabilities")
    in_5_ghz = channel > 14
    assert (settings["channel"], settings["hw_mode"]) == (str(channel), "a" if in_5_ghz else "g")
    assert settings.get("ht_capab", "").startswith(f"[HT40{side}]" if side else "")
    assert ("ht_capab" in settings) == (side is not None)
    assert settings.get("ieee80211ac") == ("1" if in_5_ghz else None)
    assert settings.get("vht_oper_centr_freq_seg0_idx") == (None if centre is None else str(centre))
    assert settings.get("vht_oper_chwidth") == ("1" if width_mhz == 80 else None)
    assert ("[SHORT-GI-80]" in settings.get("vht_capab", "")) == (width_mhz == 80)


def hostapd_settings(channel: int, width_mhz: int, radio: str) -> dict[str, str]:
    """What hostapd is told, of a radio of which iw says this."""
    functions = LAB.read_text().split("\nload()")[0].split("\nstage()")[1]
    script = (
        f"channel={channel} width={width_mhz} security=open run=/run NAME=n\nstage(){functions}\n"
        f"radio_of() {{ echo '{radio}'; }}\nhostapd_conf ap0\n"
    )
    dash = shutil.which("dash") or "sh"
    said = subprocess.run([dash, "-eu"], input=script, capture_output=True, text=True, check=True).stdout
    return dict(row.split("=", 1) for row in said.splitlines())


def test_the_access_point_offers_what_its_radio_has() -> None:
    """An AR9280: no 802.11ac, and the short guard interval in 40 MHz alone."""
    settings = hostapd_settings(36, 40, "HT20/HT40 RX HT40 SGI")
    assert settings["ht_capab"] == "[HT40+][SHORT-GI-40]"
    assert not {"ieee80211ac", "vht_capab"} & settings.keys()
    with pytest.raises(subprocess.CalledProcessError):
        hostapd_settings(36, 80, "HT20/HT40 RX HT40 SGI")


def test_a_chip_can_be_the_access_point_of_stations() -> None:
    options = DeviceOptions("mt7610u", stations="-45,-88")
    chip = options.chip()
    assert chip is not None
    assert (chip.driver, chip.variables()["LAB_STATIONS"]) == ("mt76x0u", "-45,-88")
    assert Chip().variables()["LAB_STATIONS"] == ""


def test_there_can_be_several_access_points() -> None:
    chip = DeviceOptions("rtl8188cus", access_points="-45,-60").chip()
    assert chip is not None
    assert chip.variables()["LAB_ACCESS_POINTS"] == "-45,-60"
    assert Chip().variables()["LAB_ACCESS_POINTS"] == ""
    with pytest.raises(UserError, match="'near' is not a list of signals"):
        DeviceOptions("rtl8188cus", access_points="near").chip()
    with pytest.raises(UserError, match="go with --device"):
        DeviceOptions(None, access_points="-45,-60").chip()


@pytest.mark.parametrize(("power_save", "word"), [(None, ""), (True, "on"), (False, "off")])
def test_power_save_is_as_asked_for(power_save: bool | None, word: str) -> None:
    chip = DeviceOptions("ar6003", power_save=power_save).chip()
    assert chip is not None
    assert chip.variables()["LAB_POWER_SAVE"] == word
    if power_save is not None:
        with pytest.raises(UserError, match=r"--power-save.* go with --device"):
            DeviceOptions(None, power_save=power_save).chip()


@pytest.mark.parametrize("options", [{"width": 20}, {"channel": 6}])
def test_a_channel_without_a_device_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(UserError, match="go with --device"):
        DeviceOptions(None, **options).chip()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("device", "stations", "words"),
    [
        ("mt7610u", "near", "not a list of signals"),
        ("mt7610u", "", "not a list of signals"),
        (None, "-45", "go with --device"),
    ],
)
def test_signals_that_cannot_be_are_said(device: str | None, stations: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        DeviceOptions(device, stations=stations).chip()


def test_radios_are_taken_in_the_order_they_were_made(tmp_path: Path) -> None:
    lab = (Path(txop.guest_image.__file__).parent / "lab.sh").read_text()
    function = lab[lab.index("wireless() {") : lab.index("\nmove() {")].replace("/sys/class/net", str(tmp_path))
    names = {"wlan2": 5, "wlan10": 13, "ap0": 20}

    def first() -> str:
        shell = shutil.which("dash") or "sh"
        return subprocess.run([shell, "-uc", f"{function}\nwireless"], capture_output=True, text=True).stdout.strip()

    assert first() == ""
    for name, index in names.items():
        (tmp_path / name / "phy80211").mkdir(parents=True)
        (tmp_path / name / "ifindex").write_text(f"{index}\n")
    (tmp_path / "lo").mkdir()
    (tmp_path / "lo" / "ifindex").write_text("1\n")
    assert first() == "wlan2"
    shutil.rmtree(tmp_path / "wlan2")
    assert first() == "wlan10"
