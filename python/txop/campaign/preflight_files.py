"""Preflight checks of a plan's files: modules, kernels to build for; and of the disk of this machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from txop.arms.build import recipe
from txop.arms.module_file import NotAModuleError, read_module_info
from txop.campaign.preflight_row import THIS_MACHINE, Row, State, not_checked
from txop.plan.arm import Arm
from txop.plan.model import Plan
from txop.plan.named_file import named_file

ARCHIVE_MB = 1000
RELEASE_FILE = "include/generated/utsrelease.h"
"""Has the release that modules built with a kernel's build folder name (``scripts/mod/modpost.c``). The file
``include/config/kernel.release`` may have another one, as Debian's has."""
_RELEASE = re.compile(r'^#define UTS_RELEASE "([^"\n]{1,100})"', re.MULTILINE)


def files_of(plan: Plan, folder: Path, release: str | None) -> Iterator[Row]:
    """Rows of the modules of arms, built ones and others. ``folder``: of the plan; ``release``: of the kernel that the
    device under test runs."""
    for arm in plan.arm:
        wanted = arm.boot.release if arm.boot is not None else release
        for spec in arm.loads:
            if spec.file is not None:
                yield _module(arm, named_file(folder, spec.file), wanted)
        if arm.build is not None:
            yield _kernel(arm, folder, wanted)
            yield not_checked(THIS_MACHINE, f"build of {arm.name}", "only the campaign builds, before its first run")


def _module(arm: Arm, path: Path, release: str | None) -> Row:
    """For which kernel a module was made."""
    what = f"{path.name} of {arm.name}"
    try:
        info = read_module_info(path)
    except (OSError, NotAModuleError) as error:
        return Row(THIS_MACHINE, what, "fails", str(error), "give a kernel module (.ko)")
    made_for = info.kernel_release
    if made_for is None or release is None:
        missing = "the file does not name its kernel" if made_for is None else "the target's kernel is not known"
        return not_checked(THIS_MACHINE, what, missing)
    if made_for != release:
        found = f"made for Linux {made_for}, and the device under test runs {release}"
        return Row(THIS_MACHINE, what, "fails", found, f"build it for {release}")
    return Row(THIS_MACHINE, what, "ok", f"made for Linux {made_for}, which is the target's")


def _kernel(arm: Arm, folder: Path, release: str | None) -> Row:
    """The folder that an arm is built with."""
    assert arm.build is not None
    what = f"kernel of {arm.name}"
    kernel = recipe(arm, folder, release).kernel
    if not kernel.is_dir():
        if arm.build.kernel is None and release is None:
            return not_checked(THIS_MACHINE, what, "the target's release is not known")
        to_do = f"install the headers here (on Debian: linux-headers-{release}), or set build.kernel"
        return Row(THIS_MACHINE, what, "fails", f"there is no folder {kernel}", to_do)
    try:
        found = _RELEASE.search((kernel / RELEASE_FILE).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        found = None
    if found is None:
        return not_checked(THIS_MACHINE, what, f"{kernel}/{RELEASE_FILE} does not name a release; is it configured?")
    made_for = found[1]
    if release is not None and made_for != release:
        said = f"{kernel} is of {made_for}, and the device under test runs {release}"
        return Row(THIS_MACHINE, what, "fails", said, "set build.kernel to the folder of that kernel")
    return Row(THIS_MACHINE, what, "ok", f"{kernel}, of {made_for}")


def on_this_machine(plan: Plan) -> Iterator[Row]:
    """Room for the archive."""
    free_mb = shutil.disk_usage(Path.cwd()).free / 1e6
    captures = sum((plan.collect.air, plan.collect.usbmon)) * plan.collect.max_capture_mb
    state: State = "limited" if free_mb < ARCHIVE_MB + captures else "ok"
    to_do = "make room, or put the archive elsewhere (-o)" if state == "limited" else None
    yield Row(THIS_MACHINE, "disk", state, f"{free_mb:,.0f} MB free in this folder", to_do)
