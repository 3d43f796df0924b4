"""A run as one shell script for a guest: what the instruments of a run would do from outside, done inside. What they
record is made of their own declarations (:mod:`txop.measure.recording`); here are only marks, the testbed in the
guest, the chip and the counters of its interface.

It leaves the same raw files under the same names, and the times of the phases by the guest's own clock. So the same
code makes figures of them, and an exact guest needs nothing from outside.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from txop.arms.bound_driver import BoundDriver
from txop.campaign.guest_places import DUT_ADDRESS, Places, of_stations, peer_address_of, places_of
from txop.campaign.instruments import TRAFFIC
from txop.core.whole_file import whole_file
from txop.formats.qmicli import parse_data_format
from txop.measure.instrument import EarlyInstrument, Instrument, Marks, RunContext
from txop.measure.probes import chip, interface, wireless_reading
from txop.measure.probes.windowed import CLOCK_FILE, epoch_ns
from txop.measure.recording import Phase, Recorded, Recording, Snapshot
from txop.plan.guest import GuestSpec

NO_TRAFFIC = 71
"""Exit status of the script when no server listened. Where the testbed could not be set up, it is
:data:`txop.core.errors.ExitCode.NO_TESTBED`, as of ``lab.sh``."""

_MARKS, _DEV_BEFORE, _DEV_AFTER, _DRIVER = "marks.txt", "net-dev-before.txt", "net-dev-after.txt", "driver.txt"
_MARK = re.compile(r"(idle|load|window|end|wall) (\d{1,12}(?:\.\d{1,6})?)")

_BEGIN = """\
cd /txop/out || exit 73
mark() { read -r up rest </proc/uptime; echo "$1 $up" >>marks.txt; }
waiting() { # waiting SECONDS COMMAND...
    read -r up rest </proc/uptime; until_s=$((${up%.*} + $1)); shift
    until "$@"; do read -r up rest </proc/uptime; [ "${up%.*}" -lt "$until_s" ] || return 1; sleep 0.1; done
}
listening() { # listening PORT PLACE...
    port=$1
    shift
    "$@" cat /proc/net/tcp /proc/net/tcp6 | grep -q ":$port [0-9A-F]*:0000 0A"
}
ended() { for pid in $clients; do kill -0 "$pid" 2>/dev/null && return 1; done; return 0; }
clients= others= lingering= groups= control=
counted() { # counted FILE: the chip is asked by this shell itself: on a busy processor another program would start late
    [ -n "$control" ] || return
    { echo '{"realtime_ns":0,"monotonic_ns":0,"words":["counters","'"$1"'"]}' >&4; read -r said <&4; } 4<>"$control"
}
@before@
txop-lab up || { @after@; exit 73; }
"""
_UP = """\
[ ! -e /run/txop-lab/attached ] || control=$(txop-lab port)
for link in driver driver/module; do dut readlink /sys/class/net/@interface@/device/$link || break; done >driver.txt"""

_SAVED = """\
txop-vusb control checkpoint || exit 74
given=$(txop-vusb control run) || exit 74
eval "$given"
exit 0
"""
"""A guest that is saved after the association asks, wherever it is restored, for what it does then. So one guest is the
start of runs of all tests and seeds."""


def run_script(run: RunContext, instruments: Sequence[Instrument]) -> str:
    """The script of a run that these instruments record."""
    begin, rest = _parts(run, instruments)
    return begin + rest


def saved_script(run: RunContext, instruments: Sequence[Instrument]) -> str:
    """The script of a guest that is saved after the association, and begins runs like this one then."""
    return _parts(run, instruments)[0] + _SAVED


def given_script(run: RunContext, instruments: Sequence[Instrument], seed: int, wait_us: int) -> str:
    """What a restored guest does for a run: it waits, so that runs begin at different moments between the beacons, and
    stirs the kernel's random numbers, which else were those of every other run from there.

    ``seed``: of the run.
    """
    return f"usleep {wait_us}\necho {seed} >/dev/urandom\n{_parts(run, instruments)[1]}"


def _parts(run: RunContext, instruments: Sequence[Instrument]) -> tuple[str, str]:
    """Up to the association, and from then on."""
    spec = run.plan.guest_of(run.arm) or GuestSpec()
    run = replace(run, peer_address=peer_address_of(spec), device_address=DUT_ADDRESS)
    places = places_of(spec)
    recorded = [each for each in instruments if isinstance(each, Recorded)]
    declared = [each for instrument in recorded for each in _where(spec, instrument, instrument.recordings(run))]
    early = [
        each
        for instrument in recorded
        if isinstance(instrument, EarlyInstrument)
        for each in instrument.recordings(run)
    ]
    warm_up_s = run.plan.warm_up_s(run.test)
    begun = _BEGIN.replace("@before@", "\n".join(_begin(declared, Phase.ARM, places)) or ":")
    begun = begun.replace("@after@", "; ".join(_begin(early, Phase.END, places)) or ":")
    rows = [_UP.replace("@interface@", spec.interface), *_addresses(spec)]
    rows += [*_counters(spec, _DEV_BEFORE), *_begin(declared, Phase.UP, places)]
    rows += ["mark idle", f"sleep {run.plan.design.idle_s:g}", "mark load", 'echo "wall $(date +%s)" >>marks.txt']
    rows += _begin(declared, Phase.LOAD, places)
    rows += [f"sleep {warm_up_s:g}", "mark window", f"counted {chip.WINDOW_FILE}"]
    rows += [f"sleep {run.test.duration_s:g}", "mark end", f"counted {chip.END_FILE}"]
    rows += _end([each for each in declared if isinstance(each, Recording)])
    rows += _counters(spec, _DEV_AFTER)
    looks = chip.FUNCTION_LOOKS if spec.is_function else chip.LOOKS
    rows += [f"dut {shlex.join(argv)} >{name} 2>&1" for name, argv in looks.items()]
    rows += [*_begin(declared, Phase.END, places), "exit 0"]
    return begun, "\n".join(rows) + "\n"


def _addresses(spec: GuestSpec) -> list[str]:
    """Names and addresses of the stations, into a file."""
    return [
        f'echo "{name} $({" ".join(place)} cat /sys/class/net/wlan0/address)" >>{chip.STATIONS_FILE}'
        for name, place in of_stations(spec).items()
    ]


def _counters(spec: GuestSpec, file: str) -> list[str]:
    """Counters of the interfaces of all ends, into files."""
    rows = [f"dut cat /proc/net/dev >{file}"]
    return rows + [
        f"{' '.join(place)} cat /proc/net/dev >{_of(name, file)}" for name, place in of_stations(spec).items()
    ]


def _of(name: str, file: str) -> str:
    return f"{file.removesuffix('.txt')}-{name}.txt"


def _where(
    spec: GuestSpec, instrument: Recorded, declared: Sequence[Recording | Snapshot]
) -> Sequence[Recording | Snapshot]:
    """Traffic of a client on a LAN runs there, and not on the device under test, which forwards it."""
    behind = spec.is_function and spec.modem is not None and spec.modem.traffic == "lan"
    if not behind or not isinstance(instrument, TRAFFIC):
        return declared
    return [replace(each, target="lan") if each.target == "dut" else each for each in declared]


def _begin(declared: Sequence[Recording | Snapshot], phase: Phase, places: Places) -> list[str]:
    """What is done at a moment: snapshots first, so that they do not see what begins with them."""
    rows = [
        f"{shlex.join(each.argv)} >{each.file}" for each in declared if isinstance(each, Snapshot) and each.at is phase
    ]
    for each in declared:
        if isinstance(each, Recording) and each.begins is phase:
            rows.append(_in_background(each, places[each.target]))
            if each.listens_on is not None:
                place = shlex.join(places[each.target])
                rows.append(f"waiting 10 listening {each.listens_on:04X} {place} || exit {NO_TRAFFIC}")
    return rows


def _in_background(recording: Recording, place: Sequence[str]) -> str:
    """Begin a recording, and remember its process with those that end as it does."""
    argv = shlex.join([*place, *recording.argv])
    errors = recording.errors_file or "&1"
    if recording.status_file is not None:
        inside = f"{argv} >{recording.file} 2>{errors}; echo $? >{recording.status_file}"
        return f'setsid dash -c {shlex.quote(inside)} & groups="$groups -$!"'
    with_others = "clients" if recording.finish_s else "lingering" if recording.linger_s else "others"
    later = f"sleep {recording.after_s:g}; " if recording.after_s > 0 else ""
    return f'{{ {later}exec {argv}; }} >{recording.file} 2>{errors} & {with_others}="${with_others} $!"'


def _end(recordings: Sequence[Recording]) -> list[str]:
    """End what runs, traffic first."""
    finish_s = max((each.finish_s for each in recordings), default=0.0)
    linger_s = max((each.linger_s for each in recordings), default=0.0)
    rows = [f"waiting {finish_s:g} ended"] if finish_s > 0 else []
    if any(each.status_file is not None for each in recordings):
        rows.append("kill -TERM $groups 2>/dev/null")
    if linger_s > 0:
        rows += [f"sleep {linger_s:g}; kill -INT $lingering", 'waiting 3 sh -c "! kill -0 $lingering 2>/dev/null"']
    return [*rows, "kill $clients $others 2>/dev/null"]


def take_over(handed_out: Path, folder: Path, spec: GuestSpec) -> BoundDriver | None:
    """Move what the script left into a run's folder, in the form of the instruments; the driver that was bound.

    Raises :class:`OSError`.
    """
    both = {
        "interface": spec.interface,
        "before": interface.counters_in(_bytes(handed_out / _DEV_BEFORE), spec.interface),
        "after": interface.counters_in(_bytes(handed_out / _DEV_AFTER), spec.interface),
    }
    _json(folder / interface.file_name("dut"), both)
    for name in of_stations(spec):
        files = [handed_out / _of(name, file) for file in (_DEV_BEFORE, _DEV_AFTER)]
        own = [interface.counters_in(_bytes(file), spec.interface) for file in files]
        of_station = {"interface": spec.interface, "before": own[0], "after": own[1]}
        _json(folder / interface.file_name(name), of_station)
    missing = f"a network function ({spec.device}) has no radio that its driver could see" if spec.is_function else None
    _json(folder / wireless_reading.ABOUT.format("dut"), {"interface": spec.interface, "missing": missing})
    taken = _TAKEN | {_of(name, file) for name in of_stations(spec) for file in (_DEV_BEFORE, _DEV_AFTER)}
    driver = BoundDriver.of_links((_bytes(handed_out / _DRIVER) or b"").decode("utf-8", "replace"))
    for path in sorted(handed_out.rglob("*")):
        place = folder / path.name
        if path.is_file() and path.name not in taken and not place.exists():
            path.replace(place)
    return driver


def data_format(folder: Path) -> dict[str, str | int]:
    """What host and modem of a run agreed on, as qmicli said it; empty where nothing was negotiated."""
    said = _bytes(folder / chip.FORMAT_FILE) or b""
    return parse_data_format(said[:_SAID_BYTES].decode("utf-8", "replace"))


_SAID_BYTES = 64 << 10


def read_marks(text: str) -> Marks:
    """The marks that the script wrote, by the guest's uptime; those that are missing stay ``None``.

    >>> read_marks("idle 10.5\\nload 12.0\\nwall 1767225612\\n").load
    12.0
    """
    found = {match[1]: float(match[2]) for row in text.splitlines() if (match := _MARK.fullmatch(row))}
    marks = Marks(idle=found.get("idle"), load=found.get("load"), window=found.get("window"), end=found.get("end"))
    if "wall" in found and marks.load is not None:
        marks.wall_minus_monotonic_s = found["wall"] - marks.load
    marks.uptime_minus_monotonic_s = {"dut": 0.0, "peer": 0.0}
    return marks


def marks_in(handed_out: Path) -> Marks:
    """See :func:`read_marks`. The date is of whole seconds, so the chip's clock counts where it reported it."""
    marks = read_marks((_bytes(handed_out / _MARKS) or b"").decode("ascii", "replace"))
    with contextlib.suppress(ValueError, OverflowError):
        marks.wall_minus_monotonic_s = epoch_ns(handed_out / CLOCK_FILE) / 1e9
    return marks


_TAKEN = {_MARKS, _DEV_BEFORE, _DEV_AFTER, _DRIVER}


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _json(path: Path, value: object) -> None:
    with whole_file(path) as out:
        out.write(json.dumps(value, indent=1) + "\n")
