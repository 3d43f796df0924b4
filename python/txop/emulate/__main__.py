"""``python -m txop.emulate``: the emulator process.

It makes two TUN devices, prints ``ready``, moves packets until SIGTERM, SIGINT or the end of its standard input (when
that is a pipe: so it ends with the program that started it, even when that is killed), and prints its status as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import stat
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from txop import _native


def main(arguments: Sequence[str] | None = None) -> int:
    """Emulate; exit code 0, 2 for a wrong scenario, 3 when the machine refuses something."""
    options = _parser().parse_args(arguments)
    try:
        scenario = options.json if options.json is not None else _read(options.scenario)
        status = _native.emulate_link(
            scenario,
            ready=lambda: print("ready", flush=True),  # noqa: T201 - this is a program
            stop_fds=_stop_descriptors(),
            dut_namespace=options.dut_namespace,
            ap_namespace=options.ap_namespace,
            interface=options.interface,
            mtu=options.mtu,
            air=options.air,
            air_snap_bytes=options.air_snap_bytes,
            air_limit_bytes=options.air_limit_bytes,
        )
    except ValueError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{where}{error.strerror or error}", file=sys.stderr)  # noqa: T201
        return 3
    print(status.decode(), flush=True)  # noqa: T201
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m txop.emulate", description=(__doc__ or "").partition("\n\n")[2], allow_abbrev=False
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("scenario", nargs="?", type=Path, help="the link, a file in TOML or (named *.json) JSON")
    source.add_argument("--json", metavar="TEXT", help="the link, as JSON")
    for side in ("dut", "ap"):
        text = "network namespace of that end, as /proc/PID/ns/net (default: the one this runs in)"
        parser.add_argument(f"--{side}-namespace", type=Path, metavar="PATH", help=text)
    parser.add_argument("--interface", default="air0", metavar="NAME", help="of both devices, default %(default)s")
    parser.add_argument("--mtu", type=int, default=1500, metavar="BYTES", help="default %(default)s")
    parser.add_argument("--air", type=Path, metavar="FILE", help="pcapng of what a monitor would have captured")
    parser.add_argument("--air-snap-bytes", type=int, default=128, metavar="BYTES", help="default %(default)s")
    parser.add_argument("--air-limit-bytes", type=int, metavar="BYTES", help="the file ends before this")
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
