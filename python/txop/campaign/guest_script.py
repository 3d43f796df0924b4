"""A run as one shell script for a guest: what the instruments of a run would do from outside, done inside.

It leaves the same raw files under the same names, and the times of the phases by the guest's own clock. So the same
code makes figures of them, and an exact guest needs nothing from outside.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from txop.core.whole_file import whole_file
from txop.measure.instrument import Marks
from txop.measure.probes import chip, host, interface, kernel_log, sampler, wireless, wireless_reading
from txop.measure.traffic.command import ERRORS_FILE, OUTPUT_FILE, STATUS_FILE
from txop.measure.traffic.flows import flows_of
from txop.measure.traffic.iperf3 import FIRST_PORT, client_argv, client_file, server_argv, server_file
from txop.measure.traffic.ping import LINGER_S, PING_FILE
from txop.plan.model import CommandTest, Plan, Test

PEER_ADDRESS = "10.80.210.1"
"""Of the access point's host; see ``lab.sh``."""
INTERFACE = kernel_log.GUEST_INTERFACE
"""Under test."""

LAB_FAILED = 70
"""Exit status of the script when the laboratory in the guest could not be made."""
NO_TRAFFIC = 71
"""When no server listened."""

_MARKS, _DEV_BEFORE, _DEV_AFTER, _DRIVER = "marks.txt", "net-dev-before.txt", "net-dev-after.txt", "driver.txt"
_MARK = re.compile(r"(idle|load|window|end|wall) (\d{1,12}(?:\.\d{1,6})?)")

_BEGIN = """\
cd /txop/out || exit 70
mark() { read -r up rest </proc/uptime; echo "$1 $up" >>marks.txt; }
waiting() { # waiting SECONDS COMMAND...
    read -r up rest </proc/uptime; until_s=$((${up%.*} + $1)); shift
    until "$@"; do read -r up rest </proc/uptime; [ "${up%.*}" -lt "$until_s" ] || return 1; sleep 0.1; done
}
listening() { peer cat /proc/net/tcp /proc/net/tcp6 | grep -q ":$1 [0-9A-F]*:0000 0A"; }
ended() { for pid in $clients; do kill -0 "$pid" 2>/dev/null && return 1; done; return 0; }
clients= others= pinging= keeping= chip=
kept() { [ -z "$keeping" ] || wait "$keeping"; }
counted() { # counted FILE: the chip is asked by this shell itself: on a busy processor another program would start late
    kept
    [ -n "$chip" ] && kill -USR1 "$chip" || return
    { waiting 10 test -s chip.json && mv chip.json "$1"; } & keeping=$!
}
@before@
txop-lab up || { @after@; exit 70; }
[ ! -s /run/txop-lab/vusb.pid ] || read -r chip </run/txop-lab/vusb.pid
dut readlink /sys/class/net/wlan0/device/driver >driver.txt
"""


def run_script(plan: Plan, test: Test, seconds: float) -> str:
    """The script. ``seconds``: what the run may take at most."""
    warm_up_s = plan.warm_up_s(test)
    counters = sampler.command(host.PATHS, interval_s=plan.collect.counters_interval_s, longest_s=seconds)
    looks = wireless.command(plan, test, "/usr/sbin/iw", INTERFACE, seconds)
    logs = [kernel_log.BEFORE_FILE, kernel_log.AFTER_FILE, kernel_log.LOADED_FILE]
    before, failed, loaded = (f"dmesg >{name}" if plan.collect.kernel_log else ":" for name in logs)
    rows = [_BEGIN.replace("@before@", before).replace("@after@", failed), loaded]
    rows += [
        f"dut cat /proc/net/dev >{_DEV_BEFORE}",
        _background("dut", counters, host.samples_file("dut"), "others"),
        _background("dut", looks, wireless_reading.SAMPLES.format("dut"), "others"),
    ]
    flows = flows_of(test, warm_up_s)
    for flow in flows:
        port = FIRST_PORT + flow.number
        rows.append(_background("peer", server_argv("iperf3", port, flow.seconds), server_file(flow), "others"))
        rows.append(f"waiting 10 listening {port:04X} || exit {NO_TRAFFIC}")
    rows += ["mark idle", f"sleep {plan.design.idle_s:g}", "mark load", 'echo "wall $(date +%s)" >>marks.txt']
    if test.latency == "ping":
        argv = ["ping", "-D", "-O", "-i", f"{test.latency_interval_s:g}", PEER_ADDRESS]
        rows.append(_background("dut", argv, PING_FILE, "pinging"))
    for flow in flows:
        argv = client_argv("iperf3", flow, PEER_ADDRESS, FIRST_PORT + flow.number)
        rows.append(_background("dut", argv, client_file(flow), "clients", after_s=flow.start_s))
    if isinstance(test, CommandTest):
        rows.append(_command(test))
    rows += [f"sleep {warm_up_s:g}", "mark window", f"counted {chip.WINDOW_FILE}"]
    rows += [f"sleep {test.duration_s:g}", "mark end", f"counted {chip.END_FILE}", "kept", "waiting 15 ended"]
    if isinstance(test, CommandTest):
        rows.append("kill -TERM $commands 2>/dev/null")
    if test.latency == "ping":
        # a probe that is still under way is not lost
        rows.append(f'sleep {LINGER_S:g}; kill -INT $pinging; waiting 3 sh -c "! kill -0 $pinging 2>/dev/null"')
    rows.append("kill $clients $others 2>/dev/null")
    rows.append(f"dut cat /proc/net/dev >{_DEV_AFTER}")
    rows += [f"dut {shlex.join(argv)} >{name} 2>&1" for name, argv in chip.LOOKS.items()]
    if plan.collect.kernel_log:
        rows.append(f"dmesg >{kernel_log.AFTER_FILE}")
    rows.append("exit 0")
    return "\n".join(rows) + "\n"


def take_over(handed_out: Path, folder: Path) -> str | None:
    """Move what the script left into a run's folder, in the form of the instruments; the driver that was bound.

    Raises :class:`OSError`.
    """
    both = {
        "interface": INTERFACE,
        "before": interface.counters_in(_bytes(handed_out / _DEV_BEFORE), INTERFACE),
        "after": interface.counters_in(_bytes(handed_out / _DEV_AFTER), INTERFACE),
    }
    _json(folder / interface.file_name("dut"), both)
    _json(folder / wireless_reading.ABOUT.format("dut"), {"interface": INTERFACE, "missing": None})
    driver = (_bytes(handed_out / _DRIVER) or b"").decode("utf-8", "replace").strip().rpartition("/")[2]
    for path in sorted(handed_out.rglob("*")):
        place = folder / path.name
        if path.is_file() and path.name not in _TAKEN and not place.exists():
            path.replace(place)
    return driver or None


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
    """See :func:`read_marks`."""
    return read_marks((_bytes(handed_out / _MARKS) or b"").decode("ascii", "replace"))


def _command(test: CommandTest) -> str:
    """Start a command test's program, in a process group of its own; how it ended is noted, if it does by itself."""
    argv = [*(["peer"] if test.on == "peer" else ["dut"]), *test.command]
    inside = f"{shlex.join(argv)} >{OUTPUT_FILE} 2>{ERRORS_FILE}; echo $? >{STATUS_FILE}"
    return f'setsid dash -c {shlex.quote(inside)} & commands="-$!"'


_TAKEN = {_MARKS, _DEV_BEFORE, _DEV_AFTER, _DRIVER}


def _background(side: str, argv: Sequence[str], output: str, group: str, *, after_s: float = 0.0) -> str:
    command = f"exec {side} {shlex.join(argv)}"
    inside = f"{{ sleep {after_s:g}; {command}; }}" if after_s > 0 else f"{{ {command}; }}"
    return f'{inside} >{output} 2>&1 & {group}="${group} $!"'


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _json(path: Path, value: object) -> None:
    with whole_file(path) as out:
        out.write(json.dumps(value, indent=1) + "\n")
