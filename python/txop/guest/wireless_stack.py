"""The wireless stack of a guest's kernel rebuilt with the debugfs files that a distribution leaves out: unmodified, or
with the patches of an arm.

Debian's kernels have ``CONFIG_MAC80211_DEBUGFS`` off, and without it nothing can switch airtime fairness or airtime
queue limits (AQL), or look at queues and airtime of a station. The option changes structures that drivers share with
mac80211 (``struct ieee80211_ops``, ``struct ieee80211_vif``; Linux include/net/mac80211.h), so every wireless driver of
the guest is rebuilt with it, from the same source.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from txop.arms.build import BuildError, Recipe, build
from txop.guest.driver import check_compiler, check_tools, is_kept, keep
from txop.guest_image.cache import default_cache, new_folder
from txop.guest_image.compiler import compiler_folder, variables_of
from txop.guest_image.error import GuestError
from txop.guest_image.kernel_tree import build_folder, source_folder
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock

STACK_TIMEOUT_S = 3 * 3600.0
"""Some 190 files: two minutes on two idle cores, six beside other work, and an hour on busy ones."""
_MT76 = "drivers/net/wireless/mediatek/mt76"
VIRTUAL = "drivers/net/wireless/virtual"

FOLDERS = ("net/wireless", "net/mac80211", _MT76, VIRTUAL)
"""What is built, in one go: each module has to be checked against the symbols of those before it."""

MODULES = (
    "net/mac80211/mac80211.ko",
    "net/wireless/cfg80211.ko",
    f"{_MT76}/mt76.ko",
    f"{_MT76}/mt76-usb.ko",
    f"{_MT76}/mt76x02-lib.ko",
    f"{_MT76}/mt76x02-usb.ko",
    f"{_MT76}/mt76x0/mt76x0-common.ko",
    f"{_MT76}/mt76x0/mt76x0u.ko",
    f"{VIRTUAL}/mac80211_hwsim.ko",
)
"""What comes of it: mac80211 first."""

NAMES = tuple(Path(module).stem for module in MODULES)
"""Their names."""

DRIVERS = ("mt76x0u",)
"""Drivers under test among them."""

_ON = ("CONFIG_CFG80211_DEBUGFS", "CONFIG_MAC80211_DEBUGFS")
_OFF = (
    "CONFIG_MT76_CONNAC_LIB", "CONFIG_MT76_SDIO", "CONFIG_MT7603E", "CONFIG_MT7615_COMMON",
    "CONFIG_MT7663_USB_SDIO_COMMON", "CONFIG_MT76x2_COMMON", "CONFIG_MT7915E", "CONFIG_MT7921_COMMON",
    "CONFIG_MT7925_COMMON", "CONFIG_MT792x_LIB", "CONFIG_MT7996E", "CONFIG_MT76x0E", "CONFIG_VIRT_WIFI",
)  # fmt: skip
"""Drivers in these folders that no virtual device needs."""


@dataclass(frozen=True)
class StackBuild:
    """What is built."""

    patches: tuple[Path, ...] = ()
    """As those of a driver (:class:`~txop.guest.driver.DriverBuild`); they may only change :data:`FOLDERS`."""
    reverse: bool = False


async def build_with_debugfs(
    lock: Lock, what: StackBuild, *, cache: Path | None = None, progress: Progress = lambda _: None
) -> tuple[Path, ...]:
    """The modules, mac80211 first, or what the cache has of them.

    Raises:
        GuestError: It cannot be built; the message has the patch and hunk, or the compiler's first errors.
        MissingGuestToolError: No compiler.
    """
    check_tools(own_compiler=bool(lock.of_role("compiler")))
    folder = cache or default_cache()
    kernel = build_folder(lock, cache=folder, progress=progress)
    variables = variables_of(compiler_folder(lock, cache=folder, progress=progress))
    compiler = check_compiler(kernel, variables)
    whole = source_folder(lock, cache=folder, progress=progress)
    source = folder / "kernels" / f"{whole.name}_wireless-stack"
    if not source.is_dir():
        with new_folder(source) as work:
            for inside in FOLDERS:
                copied(whole, inside, work)
            (work / "Kbuild").write_text(f"obj-m := {' '.join(f'{inside}/' for inside in FOLDERS)}\n")
    flags = [*(f"-D{name}=1" for name in _ON), "-ffile-prefix-map={tree}/=", "-g0"]
    if not was_built_with_debugfs(lock, what, cache=folder):
        progress(f"building mac80211 and its drivers with debugfs for {lock.release}")
    recipe = Recipe(
        arm="mac80211",
        source=source,
        patches=what.patches,
        reverse=what.reverse,
        command=(
            *("make", "-C", str(kernel), "M={tree}"),
            *(f"{name}=y" for name in _ON),
            *(f"{name}=n" for name in _OFF),
            *(f"KCFLAGS={' '.join(flags)}", f"-j{os.cpu_count() or 1}", "modules"),
        ),
        module=MODULES[0],
        kernel=kernel,
        timeout_s=STACK_TIMEOUT_S,
        compiler=compiler,
        beside=MODULES[1:],
    )
    try:
        built = await build(recipe, cache=folder / "modules", environment=variables)
        keep(folder, asked(lock, what), built)
        return (built.module, *built.beside)
    except BuildError as error:
        log = f" (all of it: {error.log})" if error.log is not None else ""
        raise GuestError(f"{error.what}{log}") from None


def was_built_with_debugfs(lock: Lock, what: StackBuild, *, cache: Path | None = None) -> bool:
    """Whether they would come from the cache, as far as is known without fetching anything."""
    return is_kept(cache or default_cache(), asked(lock, what))


def copied(whole: Path, inside: str, work: Path) -> None:
    """A folder of the kernel's source. mac80211_hwsim was one of many drivers in the folder above until 6.2."""
    if (whole / inside).is_dir() or inside != VIRTUAL:
        shutil.copytree(whole / inside, work / inside)
        return
    (work / inside).mkdir(parents=True)
    for name in ("mac80211_hwsim.c", "mac80211_hwsim.h"):
        shutil.copyfile((whole / inside).parent / name, work / inside / name)
    (work / inside / "Makefile").write_text("obj-$(CONFIG_MAC80211_HWSIM) += mac80211_hwsim.o\n")


def asked(lock: Lock, what: StackBuild) -> str:
    """A hash of what a build is made of, as far as is known before anything is fetched."""
    packages = [package.sha256 for package in lock.packages if package.role in ("build", "compiler")]
    patches = [hashlib.sha256(path.read_bytes()).hexdigest() for path in what.patches]
    parts = [packages, MODULES, _ON, _OFF, patches, what.reverse]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
