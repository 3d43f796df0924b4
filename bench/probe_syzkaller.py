#!/usr/bin/env python3
"""Does syzkaller take what `txop guest probe` writes, and does a program send what was recorded?

Usage: `bench/probe_syzkaller.py CHECKOUT FOLDER...`, with a checkout of syzkaller and folders of probes. Go has to be
installed; the checkout is not changed. Each description is compiled with all others of Linux, for linux/amd64; each
program is read in strict mode, and the bytes that it puts into memory are compared with probe.json. Exit code 1: they
differ, or something is not taken. The first build takes a minute of a processor.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from txop.formats.usb_urbs import Setup
from txop.guest_probe.document import read_probe
from txop.guest_probe.probe import TYPE_BITS, Probe, Reply
from txop.guest_probe.responses import is_get_descriptor

SOURCE = Path(__file__).parent / "probe" / "check.go"
_INSIDE = "tools/txop-probe-check"


def main() -> None:
    """Check the folders."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    checkout, folders = Path(sys.argv[1]).resolve(), [Path(name).resolve() for name in sys.argv[2:]]
    go = shutil.which("go") or "/usr/local/go/bin/go"
    descriptions = [path for folder in folders for path in sorted(folder.glob("*.txt"))]
    programs = [path for folder in folders for path in sorted(folder.glob("seeds/*.syz"))]
    with tempfile.TemporaryDirectory() as scratch:
        overlay, program = Path(scratch) / "overlay.json", Path(scratch) / "check"
        overlay.write_text(json.dumps({"Replace": {str(checkout / _INSIDE / "main.go"): str(SOURCE.resolve())}}))
        build = [go, "build", "-overlay", str(overlay), "-o", str(program), f"./{_INSIDE}"]
        subprocess.run(build, cwd=checkout, check=True)
        words = [str(program), str(checkout / "sys" / "linux"), *map(str, (*descriptions, *programs))]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr[-4000:])
    answers: dict[str, list[str]] = {}
    for row in ran.stdout.splitlines():
        if row.startswith("answer "):
            _, name, number, words_of_it = row.split(" ", 3)
            answers.setdefault(name, []).append(f"{number} {words_of_it}")
        else:
            print(row)
    wrong = 0
    for folder in folders:
        probe = read_probe((folder / "probe.json").read_bytes())
        for path in sorted(folder.glob("seeds/*.syz")):
            sent = answers[str(path)]
            calls = len({row.split(" ", 1)[0] for row in sent})
            expected = _expected(probe, calls)
            same = sent == expected
            wrong += not same
            print(f"{folder.name}/{path.name}: {calls} calls send {'what was recorded' if same else 'something else'}")
            for one, other in zip(sent, expected, strict=False):
                if one != other:
                    print(f"  sent {one[:150]}\n  recorded {other[:150]}")
                    break
    sys.exit(1 if wrong else 0)


def _expected(probe: Probe, calls: int) -> list[str]:
    """What a program with so many calls has to send, from the document alone."""
    rows = [f"0 syz_usb_connect device {(probe.device + probe.configuration).hex()}"]
    rows += [
        f"0 syz_usb_connect string{index} {probe.strings.get(index, b'').hex()}"
        for index in range(max(probe.strings, default=-1) + 1)
    ]
    replies = {f"r{number}": _flat(one.replies) for number, one in enumerate(probe.requests)}
    replies |= {f"e{one.address}": _flat(one.replies) for one in probe.endpoints}
    number = 0
    configured = False
    for event in probe.order:
        for _ in range(event.times):
            key = f"e{event.endpoint}" if event.request is None else f"r{event.request}"
            reply = replies[key].pop(0) if replies[key] else Reply(0, b"")
            if configured:
                number += 1
                if number >= calls:
                    return rows
                rows.append(f"{number} {_sent(probe, event.request, event.endpoint, reply)}")
            if event.request is not None:
                setup = probe.requests[event.request].setup
                configured |= (setup.request_type, setup.request) == (0, 9)
    return rows


def _flat(replies: tuple[Reply, ...]) -> list[Reply]:
    return [reply for reply in replies for _ in range(reply.times)]


def _sent(probe: Probe, request: int | None, endpoint: int | None, reply: Reply) -> str:
    if request is None:
        address = endpoint or 0
        if not address & 0x80:
            return f"syz_usb_ep_read {address:02x}"
        return f"syz_usb_ep_write {address:02x} {'' if reply.status else reply.data.hex()}"
    setup: Setup = probe.requests[request].setup
    if not setup.is_in or reply.status:
        return "syz_usb_control_io nothing"
    number = setup.value >> 8 if is_get_descriptor(setup) else setup.request
    return f"syz_usb_control_io {setup.request_type & TYPE_BITS:02x} {number:02x} {reply.data.hex()}"


if __name__ == "__main__":
    main()
