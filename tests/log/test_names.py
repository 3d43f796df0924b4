"""Names of numbers, against tables that others keep."""

from __future__ import annotations

import errno
import re
import shutil
import subprocess
import sys

import pytest

from txop.log.names import _tables, errno_name, reason_name, status_name


@pytest.mark.skipif(sys.platform != "linux", reason="errno numbers of Linux")
def test_errno_as_the_c_library_of_this_machine_has_it():
    checked = 0
    for number in range(1, 134):
        found = errno_name(-number)
        if number in errno.errorcode:
            assert found is not None
            assert getattr(errno, found.name, number) == number
            checked += hasattr(errno, found.name)
    assert checked > 120


def test_errno_names_of_both_signs_and_none():
    assert errno_name(110) == errno_name(-110)
    assert str(errno_name(-517)) == "EPROBE_DEFER"
    assert errno_name(0) is None
    assert errno_name(99999) is None


SIGNIFICANT = re.compile(r"[a-z0-9]{4,}")
IGNORED = {
    "reason",
    "status",
    "denied",
    "refused",
    "rejected",
    "disassoc",
    "deauth",
    "unsupported",
    "invalid",
    "unspecified",
}


def wireshark(field: str) -> dict[int, str]:
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("needs tshark")
    done = subprocess.run([program, "-G", "values"], capture_output=True, text=True, timeout=120)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {int(row[2], 0): row[3] for row in rows if len(row) > 3 and row[0] == "V" and row[1] == field}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "field", "least"), [("reason", "wlan.fixed.reason_code", 60), ("status", "wlan.fixed.status_code", 50)]
)
def test_802_11_codes_mean_what_wireshark_says(table, field, least):
    """Each of our codes exists there, and most share a significant word with Wireshark's text for it."""
    theirs = wireshark(field)
    alike = total = 0
    for code, entry in _tables()[table].items():
        assert isinstance(entry, list)
        name, says = entry
        text = theirs.get(int(code), "").lower()
        if not text or text == "reserved":
            continue
        total += 1
        words = set(SIGNIFICANT.findall(f"{name} {says}".lower().replace("_", " "))) - IGNORED
        alike += any(word[:5] in text for word in words)
    assert total >= least - 10
    assert alike / total > 0.85


def test_codes_without_a_name():
    assert reason_name(0) is None
    assert status_name(99999) is None
