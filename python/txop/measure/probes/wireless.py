"""What a target's wireless driver reports: link, peers, channel use, airtime; sampled all through the run by ``iw``.

Nothing is sent on the air for it: ``iw link`` and ``iw survey dump`` read what the kernel has. The survey is asked less
often, because some firmware takes its time to answer; the tables of minstrel, which are long, are read with it. Files
of mac80211 in debugfs are copied at the end.
"""

from __future__ import annotations

import json
from dataclasses import replace

from txop.core.whole_file import whole_file
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.probes import sampler
from txop.measure.probes.wireless_reading import ABOUT, AFTER, SAMPLES, read_wireless
from txop.measure.recording import Phase, Recording, Snapshot, begin
from txop.plan.guest_function import CHIP_INTERFACE
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.targets.contract import Running

SURVEY_S = 5.0
"""From one survey to the next, or a quarter of the window when that is shorter."""
SHORTEST_INTERVAL_S = 1.0
MAX_COPIES_BYTES = 4 << 20

_LOOP = (
    'iw=$1 dev=$2 n=$3 pause=$4 every=$5; k=0; sleep "$pause" 2>/dev/null || pause=1; '
    'while [ "$k" -lt "$n" ]; do read -r up _ < /proc/uptime && echo "@@ $up"; '
    'echo "@/iw/info"; "$iw" dev "$dev" info 2>&1; echo "@/iw/link"; "$iw" dev "$dev" link 2>&1; '
    'echo "@/iw/station"; "$iw" dev "$dev" station dump 2>&1; '
    '[ $((k % every)) -ne 0 ] || { echo "@/iw/survey"; "$iw" dev "$dev" survey dump 2>&1; '
    'for f in /sys/kernel/debug/ieee80211/*/netdev:"$dev"/stations/*/rc_stats_csv; do '
    '[ ! -r "$f" ] || { echo "@$f"; cat "$f" 2>/dev/null; }; done; }; '
    'for f in /sys/kernel/debug/ieee80211/*/netdev:"$dev"/stations/*/airtime '
    '/sys/kernel/debug/ieee80211/*/netdev:"$dev"/stations/*/aqm '
    '/sys/kernel/debug/ieee80211/*/netdev:"$dev"/stations/*/aql; do '
    '[ ! -r "$f" ] || { echo "@$f"; cat "$f" 2>/dev/null; }; done; k=$((k + 1)); sleep "$pause"; done'
)
_MOUNT = "mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null; "
"""What has to come first in a network namespace of a guest, where `ip netns exec` has mounted a /sys of its own."""
_COPY = (
    'for f in /sys/kernel/debug/ieee80211/*/netdev:"$1"/stations/*/airtime '
    '/sys/kernel/debug/ieee80211/*/netdev:"$1"/stations/*/aqm '
    '/sys/kernel/debug/ieee80211/*/netdev:"$1"/stations/*/aql '
    '/sys/kernel/debug/ieee80211/*/netdev:"$1"/stations/*/rc_stats_csv; do '
    '[ ! -r "$f" ] || { echo "@$f"; cat "$f"; }; done'
)


class Wireless:
    """The wireless interface of one target. That of the device under test gives figures and gates; that of another
    station only gates; that of an access point what it counts of the device, and the fairness of airtime."""

    essential = False

    def __init__(self, target: str = "dut") -> None:
        self._target = target
        self.name = f"wireless of {target}"
        self._running: Running | None = None

    def recordings(self, run: RunContext) -> list[Recording | Snapshot]:
        """The loop, all through the run, and the copies at its end where mac80211 has debugfs; nothing where the guest
        has no radio."""
        guest = run.plan.guest_of(run.arm)
        if guest is not None and guest.is_function:
            return []
        loop = self._loop(run, "/usr/sbin/iw", CHIP_INTERFACE)
        if guest is None or not guest.needs_debugfs:
            return [loop]
        script = loop.argv.index(_LOOP)
        mounted = (*loop.argv[:script], _MOUNT + _LOOP, *loop.argv[script + 1 :])
        copy = ("sh", "-c", _COPY, "txop-debugfs", CHIP_INTERFACE)
        file = AFTER.format(self._target)
        return [replace(loop, argv=mounted), Snapshot(self._target, copy, file, Phase.END, MAX_COPIES_BYTES)]

    def _loop(self, run: RunContext, program: str, interface: str) -> Recording:
        argv = command(run.plan, run.test, program, interface, run.seconds_left)
        file, limit_bytes = SAMPLES.format(self._target), sampler.MAX_SAMPLES_BYTES
        return Recording(self._target, argv, file, Phase.UP, limit_bytes, root=True)  # root: for debugfs

    async def prepare(self, run: RunContext) -> None:
        """Start the loop, or note why there is none."""
        target = run.targets.by_name[self._target]
        program = await target.find("iw") if target.interface is not None else None
        missing = None
        if target.interface is None:
            missing = f"the plan names no interface of {self._target}"
        elif program is None:
            missing = f"{self._target} has no iw"
        elif self._target == "peer" and not (await target.run([program, "dev", target.interface, "info"])).ok:
            missing = f"{target.interface} of {self._target} is no wireless interface"
        with whole_file(run.folder / ABOUT.format(self._target)) as out:
            out.write(json.dumps({"interface": target.interface, "missing": missing}) + "\n")
        if missing is not None or target.interface is None or program is None:
            return
        self._running = await begin(run, self._loop(run, program, target.interface))

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Stop the loop, and copy what mac80211 has in debugfs."""
        if self._running is None:
            return
        await self._running.stop(grace_s=1.0)
        target = run.targets.by_name[self._target]
        if target.interface is None:
            return
        argv = ["sh", "-c", _COPY, "txop-debugfs", target.interface]
        ran = await target.run(argv, timeout_s=20, root=True)
        if ran.stdout_bytes:
            (run.folder / AFTER.format(self._target)).write_bytes(ran.stdout_bytes[:MAX_COPIES_BYTES])

    def read(self, facts: RunFacts) -> Reading:
        """See :mod:`txop.measure.probes.wireless_reading`."""
        return read_wireless(facts, self._target, gated=self._target != "peer")


def command(plan: Plan, test: Test, program: str, interface: str, longest_s: float) -> tuple[str, ...]:
    """The loop as a command; :func:`~txop.measure.probes.wireless_reading.read_wireless` reads what it prints."""
    interval_s = sampler.interval_for(max(SHORTEST_INTERVAL_S, plan.collect.counters_interval_s), longest_s)
    every = max(1, round(min(SURVEY_S, test.duration_s / 4) / interval_s))
    count = int(longest_s / interval_s) + 2
    return ("sh", "-c", _LOOP, "txop-wireless", program, interface, str(count), f"{interval_s:g}", str(every))
