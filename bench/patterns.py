"""Patterns of section "What happened" against tshark: which real captures have them, and in which txop finds them.

    .venv/bin/python bench/patterns.py [FOLDER...]

What a capture has is decided by tshark's fields and the rules below alone; txop's report is read afterwards. Folders
are searched with all below them: those of TXOP_CAPTURES, unless others are named. Exit code 1 when a pattern is found
in less than 95 % of the captures that have it, or in more than 1 % of the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from txop import air

ROOT = Path(__file__).parents[1]
FIELDS = (
    *("frame.time_epoch", "wlan.fc.type_subtype", "wlan.fc.retry", "wlan.ta", "wlan.ra", "wlan.da", "wlan.sa"),
    *("wlan.bssid", "wlan.seq", "wlan.fcs.status", "wlan.fixed.auth_seq", "wlan.fixed.auth.alg", "wlan.wep.iv"),
    *(
        "radiotap.txflags",
        "radiotap.data_retries",
        "frame.len",
        "radiotap.length",
        "radiotap.flags.fcs",
        "wlan_radio.channel",
    ),
)
BEACON, DISASSOCIATION, AUTHENTICATION, DEAUTHENTICATION = 8, 10, 11, 12
ENDS = {DEAUTHENTICATION: "deauthentication", DISASSOCIATION: "disassociation"}
BROADCAST = "ff:ff:ff:ff:ff:ff"
ARP = {68, 70, 86, 88}
"""Bytes of an ARP request in WEP without FCS: header with QoS or without, padded or not."""
FOUND, FALSE = 0.95, 0.01


@dataclass(frozen=True)
class Frame:
    """What tshark says of a frame that it does not call damaged."""

    at: float
    kind: int
    retry: bool
    ta: str
    ra: str
    da: str
    sa: str
    bssid: str
    seq: str
    first: bool
    sae: bool
    wep: bool
    own: bool
    length: int
    channel: str

    @property
    def is_control(self) -> bool:
        """A control frame."""
        return 16 <= self.kind < 32


@dataclass
class Pattern:
    """A pattern: what it is called here, how captures are labelled, what txop calls it."""

    name: str
    rule: str
    have: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    others: int = 0
    false: list[str] = field(default_factory=list)


PATTERNS = (
    Pattern("beacon flood", "40 BSSIDs with at most 3 beacons, 5 of these in a second, on one channel"),
    Pattern(
        "deauthentication flood",
        "10 first attempts from one address to one in 60 s, or a deauthentication told 10 times",
    ),
    Pattern("authentication flood", "20 requests of one address in 10 s, or of 20 addresses that send nothing else"),
    Pattern("group-bit sources", "10 frames with a group address as transmitter, 5 % of all"),
    Pattern("equal sequence numbers", "of a deauthentication flood, half repeat the number before"),
    Pattern("self-sent frames", "of a deauthentication flood, half have TX flags or data retries"),
    Pattern("ARP replay", "30 WEP broadcasts of one source and an ARP request's length in a second"),
    Pattern("TA = RA", "10 frames with the same transmitter and receiver"),
)


def frames(path: Path) -> Iterator[Frame]:
    """The frames of a capture, by tshark."""
    command = [
        "tshark",
        "-o",
        "wlan.check_checksum:TRUE",
        "-r",
        str(path),
        "-T",
        "fields",
        "-E",
        "occurrence=f",
        "-E",
        "separator=|",
    ]
    for name in FIELDS:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if "Some fields aren't valid" in done.stderr:
        raise RuntimeError(done.stderr)
    for line in done.stdout.splitlines():
        cells = line.split("|")
        if len(cells) != len(FIELDS) or not cells[1] or cells[9] in ("0", "Bad"):
            continue
        (
            at,
            kind,
            retry,
            ta,
            ra,
            da,
            sa,
            bssid,
            seq,
            _,
            step,
            algorithm,
            iv,
            tx_flags,
            retries,
            length,
            header,
            fcs,
            channel,
        ) = cells
        is_set = {"1", "True"}
        trailer = 4 if fcs in is_set else 0
        yield Frame(
            float(at or 0), int(kind, 0), retry in is_set, ta, ra, da, sa, bssid, seq, step in ("0x0001", "1"),
            algorithm == "3", bool(iv), bool(tx_flags or retries),
            int(length) - int((header or "0").split(",")[0]) - trailer, channel,
        )  # fmt: skip


def dense(times: list[float], count: int, seconds: float) -> bool:
    """``count`` of them lie within ``seconds``."""
    times = sorted(times)
    return any(late - early <= seconds for early, late in zip(times, times[count - 1 :], strict=False))


def is_group(address: str) -> bool:
    """A group address."""
    return bool(address) and bool(int(address[:2], 16) & 1)


def labels(all_frames: Iterable[Frame]) -> set[str]:
    """The patterns that a capture has."""
    seen = list(all_frames)
    beacons: dict[str, list[float]] = defaultdict(list)
    ends: dict[tuple[int, str, str], list[Frame]] = defaultdict(list)
    requests: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    arps: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    sent: dict[str, Counter[int]] = defaultdict(Counter)
    channels = {frame.channel for frame in seen if frame.channel}
    own_addressee = group = named = 0
    for frame in seen:
        if frame.ta:
            sent[frame.ta][frame.kind] += 1
        if not frame.is_control and frame.ta:
            named += 1
            group += is_group(frame.ta)
            own_addressee += frame.ta == frame.ra
        if frame.kind == BEACON:
            beacons[frame.bssid].append(frame.at)
        if frame.kind in ENDS and not frame.retry:
            ends[frame.kind, frame.ta, frame.ra].append(frame)
        if frame.kind == AUTHENTICATION and frame.first and not frame.retry:
            requests[frame.kind, frame.ta, frame.ra].append(frame.at)
        if frame.wep and frame.da == BROADCAST and frame.length in ARP:
            arps[frame.sa, frame.ta, frame.length].append(frame.at)
    rare = [times[0] for times in beacons.values() if len(times) <= 3]
    floods = [pair for pair in ends.values() if dense([frame.at for frame in pair], 10, 60)]
    flood = [frame for pair in floods for frame in pair]
    equal = sum(a.seq == b.seq for pair in floods for a, b in pairwise(pair))
    lone = [ta for ta, kinds in sent.items() if set(kinds) == {AUTHENTICATION}]
    has = {
        "beacon flood": len(rare) >= 40 and dense(rare, 5, 1) and len(channels) <= 1,
        "deauthentication flood": bool(floods),
        "authentication flood": len(lone) >= 20 or any(dense(times, 20, 10) for times in requests.values()),
        "group-bit sources": group >= 10 and group * 20 >= named,
        "equal sequence numbers": bool(flood) and equal * 2 >= len(flood),
        "self-sent frames": bool(flood) and sum(frame.own for frame in flood) * 2 >= len(flood),
        "ARP replay": any(dense(times, 30, 1) for times in arps.values()),
        "TA = RA": own_addressee >= 10,
    }
    return {name for name, is_there in has.items() if is_there}


def findings(report: air.AirReport) -> set[str]:
    """The patterns that txop finds."""
    codes = {happening.code for happening in report.happenings}
    marks = {mark for happening in report.happenings for mark in happening.marks}
    has = {
        "beacon flood": "beacon-flood" in codes,
        "deauthentication flood": codes & {"deauthentication-flood", "disassociation-flood", "not-associated"},
        "authentication flood": "authentication-flood" in codes,
        "group-bit sources": "group-sources" in codes,
        "equal sequence numbers": "same-sequence-numbers" in marks,
        "self-sent frames": "sent-by-this-machine" in marks,
        "ARP replay": "arp-replay" in codes,
        "TA = RA": "own-addressee" in codes,
    }
    return {name for name, is_there in has.items() if is_there}


def compare(folders: Iterable[Path]) -> int:
    """Fill the patterns; how many captures were read."""
    count = 0
    for path in sorted(file for folder in folders for file in folder.rglob("*") if file.is_file()):
        try:
            report = air.analyze(path)
        except (ValueError, OSError):
            continue
        if not report.frames:
            continue
        count += 1
        is_there, is_found = labels(frames(path)), findings(report)
        for pattern in PATTERNS:
            if pattern.name in is_there:
                pattern.have.append(path.name)
                pattern.found += [path.name] if pattern.name in is_found else []
            else:
                pattern.others += 1
                pattern.false += [path.name] if pattern.name in is_found else []
    return count


def table() -> str:
    """The patterns as a table."""
    rows = [
        f"| {each.name} | {each.rule} | {len(each.have)} | {len(each.found)} | {each.others} | {len(each.false)} |"
        for each in PATTERNS
    ]
    head = "| pattern | labelled by tshark's fields as | captures that have it | found | others | found there |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows])


def default_folders() -> list[Path]:
    """Where the real captures are."""
    captures = Path(os.environ.get("TXOP_CAPTURES", ROOT.parent / "shared/captures"))
    return [folder for folder in (captures / "wlan", captures.parent / "cases/air") if folder.is_dir()]


def main() -> int:
    """Compare, and print."""
    folders = [Path(name) for name in sys.argv[1:]] or default_folders()
    count = compare(folders)
    print(table())
    print(f"{count} captures")
    wrong = 0
    for each in PATTERNS:
        for name in sorted(set(each.have) - set(each.found)):
            print(f"{name}: {each.name} is missed")
        for name in each.false:
            print(f"{name}: {each.name} is found, and tshark's fields do not show it")
        wrong += len(each.found) < FOUND * len(each.have) or len(each.false) > FALSE * each.others
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
