"""The pinned QEMU, and a device compiled for it, for real."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from guests_here import no_guest
from txop.guest_image.cache import default_cache
from txop.guest_image.emulator.lock import find_emulator_lock
from txop.guest_image.emulator.prepare import Prepared, prepare
from txop.guest_image.emulator.qemu import emulator
from txop.guest_image.emulator.recipe import BUNDLE
from txop.guest_image.emulator.shim import build_shim
from txop.guest_image.error import GuestError, MissingGuestToolError

pytestmark = [pytest.mark.slow, pytest.mark.network]

DEVICE = """\
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/pci/pci_device.h"
#include "hw/sd/sdhci.h"
#include "hw/usb.h"

static void realize(USBDevice *device, Error **error)
{
    error_setg(error, "no device on port %s", device->port->path);
}

static void class_init(ObjectClass *class, void *data)
{
    USB_DEVICE_CLASS(class)->realize = realize;
    USB_DEVICE_CLASS(class)->product_desc = __FILE__;
}

static const TypeInfo info = {
    .name = "txop-of-a-test",
    .parent = TYPE_USB_DEVICE,
    .instance_size = sizeof(USBDevice),
    .class_init = class_init,
};

static void register_types(void)
{
    type_register_static(&info);
}

type_init(register_types)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("device") / "device.c"
    path.write_text(DEVICE)
    return path


@pytest.fixture(scope="module")
def made(source: Path) -> Prepared:
    try:
        return prepare(find_emulator_lock(), source=source)
    except MissingGuestToolError as error:
        no_guest(str(error))
    except GuestError as error:
        if "missing" not in error.what:
            raise
        no_guest(f"its packages cannot be had here: {error}")


def run(made: Prepared, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [*made.emulator.argv([made.shim]), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env={})


def test_qemu_is_the_version_that_is_pinned(made: Prepared) -> None:
    assert run(made, "--version").stdout.splitlines()[0] == find_emulator_lock().description


def test_the_device_is_there_beside_those_of_qemu(made: Prepared) -> None:
    ran = run(made, "-device", "help")
    assert ran.returncode == 0, ran.stderr
    assert {'name "txop-of-a-test", bus usb-bus', 'name "qemu-xhci", bus PCI'} <= set(ran.stdout.splitlines())
    assert ran.stderr == "", "modules of another QEMU that this machine has are not looked at"


def test_the_device_has_the_layout_that_this_qemu_has(made: Prepared) -> None:
    words = ("-accel", "tcg", "-nodefaults", "-display", "none", "-device", "qemu-xhci", "-device", "txop-of-a-test")
    ran = run(made, *words)
    assert ran.returncode == 1
    assert "no device on port 1" in ran.stderr


def test_firmware_and_libraries_are_its_own(made: Prepared) -> None:
    folders = run(made, "-L", "help").stdout.splitlines()
    assert folders
    assert all(Path(folder).is_relative_to(made.emulator.folder.resolve() / BUNDLE) for folder in folders)
    listed = [made.emulator.argv()[0], *made.emulator.argv()[1:-1], "--list", str(made.emulator.program)]
    ran = subprocess.run(listed, capture_output=True, text=True, check=True, env={})
    places = [row.split(" => ")[1].split(" (")[0] for row in ran.stdout.splitlines() if " => " in row]
    assert len(places) > 30
    assert all(Path(place).is_relative_to(made.emulator.folder) for place in places)


def test_another_cache_has_the_same_object_with_no_name_of_a_folder_in_it(
    made: Prepared, source: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "another cache"
    emulator(cache=cache, packages_dir=default_cache() / "packages")
    again = build_shim(source, cache=cache)
    assert again.read_bytes() == made.shim.read_bytes()
    for folder in (tmp_path, default_cache(), source.parent):
        assert str(folder).encode() not in again.read_bytes()
