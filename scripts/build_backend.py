"""Builds wheels of these sources for pip and other front ends (PEP 517): maturin, and before it the virtual chips.

maturin builds the native module only; without this a wheel built from the published sources would lack the
program that runs in guests.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, Any] | None


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build the virtual chips, then a wheel with them."""
    _build_chips()
    return str(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the virtual chips, then a wheel that points at the sources."""
    _build_chips()
    return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))


def _build_chips() -> None:
    """Everything else works without them, so that a system which cannot build them still gets the rest."""
    script = Path(__file__).with_name("build-chips.sh")
    # Published sources have no permissions to execute.
    if subprocess.run(["sh", str(script)], check=False).returncode:
        print("The virtual chips could not be built: `txop guest --device` will not work.", file=sys.stderr)
