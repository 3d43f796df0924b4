"""``python -m txop.emulate``: the emulator process.

It makes a TUN device for each host, prints ``ready``, moves packets until SIGTERM, SIGINT or the end of its standard
input (when that is a pipe: so it ends with the program that started it, even when that is killed), and prints its
status as JSON. When the program that started it is gone, it ends what is left of the emulation.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import stat
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from txop import _native
from txop.emulate.leftovers import VARIABLE, end_marked


def main(arguments: Sequence[str] | None = None) -> int:
    """Emulate; exit code 0, 2 for a wrong scenario, 3 when the machine refuses something."""
    options = _parser().parse_args(arguments)
    parent = os.getppid()
    try:
        return _emulate(options)
    finally:
        if VARIABLE in os.environ and os.getppid() != parent:
            end_marked(os.environ[VARIABLE])


def _emulate(options: argparse.Namespace) -> int:
    try:
        status = _native.emulate_link(
            _read(options.scenario) if options.json is None else options.json.read_text(encoding="utf-8"),
            options.hosts,
            ready=lambda: print("ready", flush=True),  # noqa: T201 - this is a program
            stop_fds=_stop_descriptors(),
            air=options.air,
            usb=options.usb,
            snap_bytes=options.snap_bytes,
            usb_snap_bytes=options.usb_snap_bytes,
            limit_bytes=options.limit_bytes,
        )
    except ValueError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{where}{error.strerror or error}", file=sys.stderr)  # noqa: T201
        return 3
    with contextlib.suppress(BrokenPipeError):  # when its reader is gone
        print(status.decode(), flush=True)  # noqa: T201
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m txop.emulate", description=(__doc__ or "").partition("\n\n")[2], allow_abbrev=False
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("scenario", nargs="?", type=Path, help="the scenario, a file in TOML or (named *.json) JSON")
    source.add_argument("--json", type=Path, metavar="FILE", help="the scenario, a file in JSON")
    text = (
        'the hosts by number, as JSON: [{"name": "server", "namespace": "/proc/PID/ns/net" or null (where this runs), '
        '"device": "link0", "mtu": 1500, "addresses": ["10.80.208.1"]}, ...]'
    )
    parser.add_argument("--hosts", required=True, metavar="JSON", help=text)
    parser.add_argument("--air", type=Path, metavar="FILE", help="pcapng of what a monitor would have captured")
    parser.add_argument("--usb", type=Path, metavar="FILE", help="pcapng of what usbmon would have captured")
    parser.add_argument(
        "--snap-bytes", type=int, default=128, metavar="BYTES", help="of each data frame, default %(default)s"
    )
    parser.add_argument("--usb-snap-bytes", type=int, metavar="BYTES", help="of each transfer, default all")
    parser.add_argument("--limit-bytes", type=int, metavar="BYTES", help="each file ends before this")
    return parser


def _read(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return text if path.suffix == ".json" else json.dumps(tomllib.loads(text), allow_nan=False)


def _stop_descriptors() -> list[int]:
    """What can be read when it is time to stop: a pipe that signals write to, and standard input if it is a pipe."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    mode = os.fstat(0).st_mode
    return [read, 0] if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else [read]


if __name__ == "__main__":
    sys.exit(main())
