"""What cannot work in a guest is refused before one boots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from txop.guest.chips import Chip
from txop.guest.driver_check import check_driver
from txop.guest.fault_check import check_options
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image


@pytest.mark.parametrize(
    ("chip", "words", "advice"),
    [
        (Chip(driver="rtl8192cux"), "no driver 'rtl8192cux'", "did you mean rtl8192cu?"),
        (Chip(driver="mac80211"), "mac80211 .* does not know the rtl8188cus", "--module"),
        (Chip("rtl8723au", "rtl8192cu"), "rtl8192cu .* does not know the rtl8723au", "--module"),
        (Chip("rtl8188eu", "rtl8192cu"), "rtl8192cu .* does not know the rtl8188eu", "--module"),
        (Chip("rtl8822bu", "rtl8xxxu"), "rtl8xxxu .* does not know the rtl8822bu", "--module"),
        (Chip("mt7921u", "mt76x0u"), "mt76x0u .* does not know the mt7921u", "--module"),
        (Chip("mt7601u", "mt76x0u"), "mt76x0u .* does not know the mt7601u", "--module"),
        (Chip(parameters=("swencc=1",)), "rtl8192cu has no parameter 'swencc'", "did you mean swenc?"),
        (Chip(parameters=("swenc",)), "'swenc' is not NAME=VALUE", "swenc"),
        (Chip("ncm", "cdc_ncm", ("x=1",)), "cdc_ncm has no parameter 'x'", "It has"),
    ],
)
def test_a_driver_that_cannot_work_is_refused(image: Image, chip: Chip, words: str, advice: str) -> None:
    with pytest.raises(GuestError, match=words) as said:
        check_driver(chip, image)
    assert advice in (said.value.what_to_do or "")


@pytest.mark.parametrize(
    "chip",
    [
        Chip(parameters=("swenc=1", "debug_level=2")),
        Chip(parameters=("dyndbg=+p",)),
        Chip("rtl8723au", "rtl8xxxu", ("ht40_2g=1", "dma_aggregation=1")),
        Chip("rtl8188eu", "rtl8xxxu", ("ht40_2g=1",)),
        Chip("rtl8822bu", "rtw88_8822bu"),
        Chip("rtl8821cu", "rtw88_8821cu"),
        Chip("rtl8822be", "rtw88_8822be"),
        Chip("rtl8822bs", "rtw88_8822bs"),
        Chip("mt7601u", "mt7601u"),
        Chip("mt7921u", "mt7921u"),
        Chip("ncm", "cdc_ncm"),
        Chip("qmi-modem", "qmi_wwan"),
        Chip("qmi-modem", "qmi-wwan"),
    ],
)
def test_drivers_that_work_are_not(image: Image, chip: Chip) -> None:
    check_driver(chip, image)


def test_debians_rtl8xxxu_does_not_know_the_rtl8188cus_and_one_built_for_it_does(image: Image, tmp_path: Path) -> None:
    from guests_here import rebuilt_driver

    chip = Chip(driver="rtl8xxxu")
    with pytest.raises(GuestError, match="does not know the rtl8188cus"):
        check_driver(chip, image)
    module = rebuilt_driver("rtl8xxxu").module
    check_driver(chip, image, (module,))
    with pytest.raises(GuestError, match="has no parameter 'nonsense'"):
        check_driver(replace(chip, parameters=("nonsense=1",)), image, (module,))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--signl", "-70"), "unexpected argument '--signl'"),
        (("--signal",), "a value is required for '--signal <DBM>'"),
        (("--loss", "2"), "invalid value '2' for '--loss <0..1>': give a number from 0 to 1"),
        (("--capture-limit", "3"), "invalid value '3'"),
    ],
)
def test_options_that_the_chips_do_not_take_are_refused(chips: Path, options: tuple[str, ...], words: str) -> None:
    del chips
    with pytest.raises(GuestError, match="does not take these options") as said:
        check_options("rtl8188cus", "hostapd", options)
    assert words in said.value.what


def test_options_that_they_take_are_not(chips: Path) -> None:
    del chips
    check_options("rtl8188cus", "hostapd", ("--signal", "-70", "--loss", "0.1", "--neighbour", "5"))
    check_options("qmi-modem", "hostapd", ("--framing", "qmap"))


def test_a_program_of_another_version_is_not_asked_in_vain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "txop-vusb"
    program.write_text("#!/bin/sh\necho \"error: unrecognized subcommand 'check-options'\" >&2; exit 2\n")
    program.chmod(0o755)
    monkeypatch.setenv("TXOP_VUSB", str(program))
    check_options("rtl8188cus", "hostapd", ("--nonsense",))
