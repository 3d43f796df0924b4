"""``--key-file`` and ``--packets``: what is shown, what is refused, and that no key comes out anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from txop import air
from txop.air.view import sections
from txop.core.errors import KeyFileError

CAPTURES = Path(os.environ.get("TXOP_CAPTURES", Path(__file__).parents[2] / "../shared/captures")) / "wlan"
COHERER = CAPTURES / "wireshark_wpa-Induction.pcap.gz"
SECRET = "correct-horse-battery"  # noqa: S105 - of no network


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from txop import _native

    path = tmp_path_factory.mktemp("capture") / "air.pcapng"
    _native.write_specimen(path, seed=1, seconds=0.5, scene="healthy")
    return path


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys.txt"
    path.write_text(f'psk "my network" {SECRET}\npsk Coherer Induction\n')
    path.chmod(0o600)
    return path


def txop(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "txop", "air", *arguments], capture_output=True, text=True, timeout=120
    )


def test_without_being_asked_nobody_looks(capture: Path) -> None:
    report = air.analyze(capture)
    assert report.traffic is None
    assert report.decryption is None
    assert "packets" not in [section.name for section in sections(report)]
    (asked,) = sections(report, only=("packets",))
    assert "--packets" in str(asked.blocks)


def test_every_output_has_the_section_and_no_key(capture: Path, key_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    shown = txop(capture, "--key-file", key_file, "--section", "packets")
    document = txop(capture, "--key-file", key_file, "--json")
    drawn = txop(capture, "--key-file", key_file, "--html", page)
    assert (shown.returncode, document.returncode, drawn.returncode) == (0, 0, 0), shown.stderr
    assert "Decryption" in shown.stdout
    assert json.loads(document.stdout)["decryption"]["keys"] == 2
    assert "protected data MPDUs" in page.read_text()
    texts = [shown.stdout, shown.stderr, document.stdout, document.stderr, drawn.stdout, drawn.stderr, page.read_text()]
    assert not [text for text in texts if SECRET in text]
    assert "Warning" not in shown.stderr


def test_a_key_file_that_others_can_read_is_reported(capture: Path, key_file: Path) -> None:
    key_file.chmod(0o644)
    done = txop(capture, "--key-file", key_file, "--json")
    assert done.returncode == 0
    assert "can be read or changed by other users (mode 0644)" in done.stderr
    assert "chmod 600" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"psk home {SECRET} more", "line 1: there is more than the key"),
        (f"\n{SECRET}\n", "line 2: a line begins with psk, pmk, msk, tk or wep"),
        (f"pmk {SECRET}", "line 1: a PMK has 64, 96 or 128"),
        ("# none\n", "line 2: there is no key in the file"),
    ],
)
def test_a_wrong_key_file_is_refused_without_what_it_says(capture: Path, key_file: Path, text: str, said: str) -> None:
    key_file.write_text(text)
    with pytest.raises(KeyFileError) as raised:
        air.analyze(capture, key_file=key_file)
    assert said in str(raised.value)
    assert SECRET not in str(raised.value)
    done = txop(capture, "--key-file", key_file)
    assert done.returncode == 2
    assert f"{key_file}: {said}" in " ".join(done.stderr.split())
    assert SECRET not in done.stdout + done.stderr


def test_a_key_file_that_is_not_there_is_named(capture: Path, tmp_path: Path) -> None:
    done = txop(capture, "--key-file", tmp_path / "none.txt")
    assert done.returncode == 2
    assert "none.txt: No such file" in " ".join(done.stderr.split())


@pytest.mark.skipif(not COHERER.is_file(), reason="SKIPPED: no captures (set TXOP_CAPTURES)")
def test_a_real_capture_is_decrypted(key_file: Path) -> None:
    report = air.analyze(COHERER, key_file=key_file)
    assert report.decryption is not None
    assert report.traffic is not None
    assert (report.decryption.decrypted, report.decryption.protected) == (276, 279)
    assert report.decryption.pairs[0].state == "keys"
    assert report.decryption.groups[0].decrypted == 73, "TKIP"
    # The access point relays the broadcast request to the group, with TKIP.
    assert [message.message for message in report.traffic.dhcp] == ["REQUEST", "ACK", "REQUEST"]
    first, _, relayed = report.traffic.dhcp
    assert (first.ra, relayed.ra) == (relayed.ta, "ff:ff:ff:ff:ff:ff")
    assert "Induction" not in report.model_dump_json().replace("wpa-Induction.pcap", "")
    for name in ("decrypted_pairs", "decrypted_groups", "packet_flows", "dhcp"):
        assert len(report.table(name)) > 0
