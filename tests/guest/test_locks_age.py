"""Whether Debian's archive still has what the shipped locks pin: it keeps a package for months."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from program_server import RunTxop
from txop.guest_image import locks

LOCKS = sorted(Path(locks.__file__).parent.glob("debian-*.lock"))


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_the_archive_has_what_the_shipped_lock_pins(txop: RunTxop, lock: Path) -> None:
    done = txop("guest", "build", "--check", "--lock", str(lock), "--json")
    if done.returncode not in (0, 1):
        pytest.skip(f"NOT CHECKED: {done.stderr.strip()[-300:]}")
    document = json.loads(done.stdout)
    packages = [*document["packages"], *document["emulator"]["packages"], document["emulator"]["source"]]
    assert len(document["packages"]) > 50
    assert len(document["emulator"]["packages"]) > 50
    gone = [f"{row['name']} {row['version']} (now: {row['newest']})" for row in packages if not row["offered"]]
    assert gone == [], "the archive has dropped pinned packages; `make guest-locks` pins what it has now"
