"""Types of the native module; what the functions do is documented in crates/python."""

import os
from collections.abc import Callable, Sequence

def version() -> str: ...
def build_profile() -> str: ...
def analyze_air(
    path: str | os.PathLike[str],
    *,
    pair: tuple[str, str] | None = None,
    bssid: str | None = None,
    channel: int | None = None,
    interface: int | None = None,
    start: tuple[bool, int] | None = None,
    end: tuple[bool, int] | None = None,
    block_acks: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    follow: bool = False,
    snapshot: Callable[[bytes], None] | None = None,
    snapshot_seconds: float = 1.0,
    key_file: str | os.PathLike[str] | None = None,
    packets: bool = False,
) -> bytes: ...
def analyze_bus(
    path: str | os.PathLike[str],
    *,
    start: tuple[bool, int] | None = None,
    end: tuple[bool, int] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> bytes: ...
def specimen_scenes() -> list[tuple[str, str]]: ...
def write_specimen(path: str | os.PathLike[str], *, seed: int, seconds: float, scene: str = "healthy") -> bytes: ...
def check_link_tables(tables: str, read: Callable[[str], str]) -> bytes: ...
def scenario_hosts(scenario: str) -> list[str]: ...
def emulate_link(
    scenario: str,
    hosts: str,
    *,
    ready: Callable[[], None],
    stop_fds: Sequence[int],
    air: str | os.PathLike[str] | None = None,
    usb: str | os.PathLike[str] | None = None,
    snap_bytes: int = 128,
    usb_snap_bytes: int | None = None,
    limit_bytes: int | None = None,
) -> bytes: ...
def check_scenario(name: str, read: Callable[[str], str], *, settings: Sequence[tuple[str, str]] = ()) -> bytes: ...
def check_link(name: str, read: Callable[[str], str], *, settings: Sequence[tuple[str, str]] = ()) -> bytes: ...
def simulate_scenario(
    name: str,
    read: Callable[[str], str],
    *,
    settings: Sequence[tuple[str, str]] = (),
    sweeps: Sequence[str] = (),
    seeds: int = 1,
    threads: int = 0,
    air: str | os.PathLike[str] | None = None,
    usb: str | os.PathLike[str] | None = None,
    waterfall: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> bytes: ...
