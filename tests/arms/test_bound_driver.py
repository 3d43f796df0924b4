"""Which driver an interface has: a module from one's own repository may register itself under the kernel's name."""

from __future__ import annotations

import pytest

from txop.arms.bound_driver import BoundDriver

OWN = "../../../bus/usb/drivers/rtl8xxxu\n../../../../module/rtl8xxxu_git\n"


@pytest.mark.parametrize(
    ("links", "module", "expected"),
    [
        (OWN, "rtl8xxxu_git", True),
        (OWN, "rtl8xxxu", False),  # the kernel's own has the same name on the bus
        ("../drivers/rtl8xxxu\n", "rtl8xxxu", True),  # no link to the module
        ("../drivers/snd-x\n../module/snd_x\n", "snd-x", True),
        ("../drivers/rtl8192cu\n../module/rtl8192cu\n", "rtl8xxxu", False),
    ],
)
def test_the_module_decides(links: str, module: str, expected: bool) -> None:
    bound = BoundDriver.of_links(links)
    assert bound is not None
    assert bound.is_of(module) is expected


def test_words_and_record() -> None:
    bound = BoundDriver.of_links(OWN)
    assert str(bound) == "rtl8xxxu (module rtl8xxxu_git)"
    assert bound is not None
    assert bound.verified() == {"driver": "rtl8xxxu", "driver_module": "rtl8xxxu_git"}
    assert str(BoundDriver.of_links("a/rtl8192cu\nb/rtl8192cu\n")) == "rtl8192cu"
    assert BoundDriver.of_links("\n") is None
    assert BoundDriver.of_links("") is None
