"""What a machine is: ``uname -a`` and os-release(5)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of

_UNAME = re.compile(
    r"Linux (?P<host>[^ \n]{1,255}) (?P<release>[^ \n]{1,64}) (?P<version>#[^\n]{1,200}?) "
    r"(?P<machine>[A-Za-z0-9_]{2,20})(?: (?:unknown|[A-Za-z0-9_]{2,20})){0,2} (?P<system>GNU/Linux|Linux|Toybox)\s*"
)
_ASSIGNMENT = re.compile(r"(?P<key>[A-Z][A-Z0-9_]{0,63})=(?P<value>[^\n]{0,4000})")


@dataclass(frozen=True, slots=True)
class Uname:
    """``uname -a`` of Linux, GNU or BusyBox."""

    host: str
    kernel_release: str
    """``6.1.0-40-amd64``."""

    kernel_version: str
    """``#1 SMP PREEMPT_DYNAMIC Debian 6.1.153-1 (2025-09-20)``: build number, options, date."""

    machine: str


def parse_uname(data: str | bytes) -> Uname:
    """``uname -a``. Raises FormatError."""
    text = text_of(data, "uname -a")
    found = _UNAME.fullmatch(text[:2000])
    if found is None:
        raise FormatError(f"uname -a of Linux expected; {quoted_start(text)}")
    return Uname(visible(found["host"]), found["release"], visible(found["version"].strip()), found["machine"])


def parse_os_release(data: str | bytes) -> Mapping[str, str]:
    """The variables of os-release(5), unquoted as a shell would. Lines that are none are passed over.

    >>> parse_os_release('ID=debian\\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\\n')
    {'ID': 'debian', 'PRETTY_NAME': 'Debian GNU/Linux 12 (bookworm)'}
    """
    variables: dict[str, str] = {}
    for _, line in lines_of(text_of(data, "os-release", limit_bytes=2**20)):
        found = _ASSIGNMENT.fullmatch(line.strip())
        if found is None:
            continue
        try:
            words = shlex.split(found["value"])
        except ValueError:
            continue
        variables[found["key"]] = visible(words[0]) if words else ""
    if not variables:
        raise FormatError("os-release expected; it has no variable")
    return variables
