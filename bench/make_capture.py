"""Makes a long capture out of short real ones: the same frames again and again, but with time that goes on.

Every record keeps its frame; the capture time and radiotap's TSFT of each pass are shifted behind those of the pass
before, and the passes of several files follow each other, so that no two records of the result are the same bytes.
"""

import struct
import sys
from pathlib import Path

RADIOTAP = 127
# What lies between two passes, microseconds.
PAUSE_US = 1_000
GLOBAL_HEADER = 24
RECORD_HEADER = 16


def tsft_offset(record: bytes | memoryview) -> int | None:
    """Offset of the 8-byte TSFT field in a radiotap header, if the first presence word announces it."""
    if len(record) < 8 or record[0] != 0:
        return None
    at, header_len = 4, struct.unpack_from("<H", record, 2)[0]
    first = word = struct.unpack_from("<I", record, at)[0]
    at += 4
    while word & 0x8000_0000:
        if at + 4 > len(record):
            return None
        word = struct.unpack_from("<I", record, at)[0]
        at += 4
    at = (at + 7) & ~7
    return at if first & 1 and at + 8 <= min(header_len, len(record)) else None


class Passage:
    """The records of one capture in little-endian pcap form, with the places of their times."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        order = {0xA1B2C3D4: ("<", 1), 0xA1B23C4D: ("<", 1000)}.get(struct.unpack_from("<I", data)[0])
        if order is None:
            order = {0xA1B2C3D4: (">", 1), 0xA1B23C4D: (">", 1000)}.get(struct.unpack_from(">I", data)[0])
        if order is None:
            raise ValueError(f"{path}: not a pcap file")
        endian, per_us = order
        link = struct.unpack_from(endian + "I", data, 20)[0] & 0xFFFF
        if link != RADIOTAP:
            raise ValueError(f"{path}: link type {link}, not radiotap")
        self.bytes = bytearray()
        # (offset of the record header, time in us since the first record)
        self.times: list[tuple[int, int]] = []
        # (offset of TSFT, us since the first TSFT)
        self.stamps: list[tuple[int, int]] = []
        first_time = first_stamp = None
        at = GLOBAL_HEADER
        while at + RECORD_HEADER <= len(data):
            seconds, fraction, captured, length = struct.unpack_from(endian + "IIII", data, at)
            record = data[at + RECORD_HEADER : at + RECORD_HEADER + captured]
            at += RECORD_HEADER + captured
            if len(record) < captured:
                break
            time = seconds * 1_000_000 + fraction // per_us
            first_time = time if first_time is None else first_time
            here = len(self.bytes)
            self.times.append((here, time - first_time))
            self.bytes += struct.pack("<IIII", 0, 0, captured, length) + record
            stamp_at = tsft_offset(record)
            if stamp_at is not None:
                stamp = struct.unpack_from("<Q", record, stamp_at)[0]
                first_stamp = stamp if first_stamp is None else first_stamp
                self.stamps.append((here + RECORD_HEADER + stamp_at, stamp - first_stamp))
        self.span_us = max((time for _, time in self.times), default=0) + PAUSE_US

    def shifted(self, start_us: int) -> bytearray:
        """The records as if the capture had begun at `start_us`."""
        out = self.bytes
        pack_time, pack_stamp = struct.Struct("<II").pack_into, struct.Struct("<Q").pack_into
        for offset, time in self.times:
            pack_time(out, offset, *divmod(max(start_us + time, 0), 1_000_000))
        for offset, stamp in self.stamps:
            pack_stamp(out, offset, (start_us + stamp) & 0xFFFF_FFFF_FFFF_FFFF)
        return out


def make(sources: list[Path], out: Path, size: int) -> int:
    """Writes at least `size` bytes of capture to `out`; the number of frames."""
    passages = [Passage(path) for path in sources]
    start_us, written, frames = 1_700_000_000_000_000, GLOBAL_HEADER, 0
    with out.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, RADIOTAP))
        while written < size:
            for passage in passages:
                file.write(passage.shifted(start_us))
                written += len(passage.bytes)
                frames += len(passage.times)
                start_us += passage.span_us
    return frames


def main() -> None:
    """make_capture.py OUT BYTES SOURCE...; prints the number of frames."""
    out, size, *sources = sys.argv[1:]
    print(make([Path(source) for source in sources], Path(out), int(size)))


if __name__ == "__main__":
    main()
