"""A monitor interface without a radio: ``mon0``, a TUN device of link type radiotap, in the network namespace this runs
in. It gives the frames of a pcap file, slowly, once a program captures on it, and then interrupts that program.

    unshare -Urn python monitor_interface.py CAPTURE.pcap FRAMES COMMAND...
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

TUNSETIFF, TUNSETLINK, SIOCSIFFLAGS, SIOCGIFFLAGS = 0x400454CA, 0x400454CD, 0x8914, 0x8913
IFF_TUN, IFF_UP = 1, 1
ARPHRD_IEEE80211_RADIOTAP = 803


def make(name: str) -> int:
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN))
    fcntl.ioctl(device, TUNSETLINK, ARPHRD_IEEE80211_RADIOTAP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ask:
        fcntl.ioctl(ask, SIOCSIFFLAGS, struct.pack("16sH22x", name.encode(), IFF_UP))
    return device


def frames(capture: Path, most: int) -> list[bytes]:
    data, at = capture.read_bytes(), 24
    found: list[bytes] = []
    while at < len(data) and len(found) < most:
        (size,) = struct.unpack_from("<I", data, at + 8)
        found.append(data[at + 16 : at + 16 + size])
        at += 16 + size
    return found


def main() -> int:
    capture, most, *command = sys.argv[1:]
    device = make("mon0")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # it may have been started with it ignored, and hands that on
    with subprocess.Popen(command) as running:
        until = time.monotonic() + 60
        while len(Path("/proc/net/packet").read_text().splitlines()) < 2 and time.monotonic() < until:
            if running.poll() is not None:
                return running.returncode
            time.sleep(0.05)
        time.sleep(0.5)
        for number, frame in enumerate(frames(Path(capture), int(most))):
            os.write(device, struct.pack(">HH", 0, 0x0019) + frame)
            if number % 100 == 0:
                time.sleep(0.1)
        time.sleep(3)
        running.send_signal(signal.SIGINT)
        try:
            return running.wait(timeout=60)
        finally:
            running.kill()


if __name__ == "__main__":
    raise SystemExit(main())
