"""Temperature and power of the device under test, from every sensor that its kernel has, while the run goes on.

Thermal zones and hwmon: ``Documentation/ABI/testing/sysfs-class-thermal`` and ``sysfs-class-hwmon`` of the kernel. A
temperature is in thousandths of a degree Celsius there, a power in microwatts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from txop.archive.window import is_counted
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.probes import sampler
from txop.measure.recording import Phase, Recording, begin
from txop.targets.contract import Running

TEMPERATURE, POWER = "temperature_c", "power_w"
INTERVAL_S = 5.0
LIMIT_BYTES = 64 * 1024 * 1024
MOST_SENSORS = 32
_PLAUSIBLE = (-100.0, 300.0)
"""Degrees; a sensor that is not connected says something else."""

_SCRIPT = (
    'n=$1 pause=$2 t=$3; set -- "$t"/thermal/thermal_zone*/temp "$t"/hwmon/hwmon*/temp*_input '
    '"$t"/hwmon/hwmon*/power*_input "$t"/hwmon/hwmon*/power*_average; some=; '
    'for f in "$@"; do [ -r "$f" ] && some=y; done; [ "$some" ] || exit 0; '
    'while [ "$n" -gt 0 ]; do read -r up _ < /proc/uptime && echo "@@ $up"; for f in "$@"; do [ -r "$f" ] || continue; '
    'echo "@$f"; cat "$f" 2>/dev/null; d=${f%/*}; cat "$d/type" 2>/dev/null || cat "$d/name" 2>/dev/null; done; '
    'n=$((n - 1)); sleep "$pause"; done'
)
"""``$1`` samples at most, ``$2`` pause in whole seconds, ``$3`` ``/sys/class``. Without a sensor it ends at once."""


@dataclass
class _Sensor:
    name: str
    values: list[tuple[float, float]] = field(default_factory=list)
    """Seconds from the start of the window, and °C or W."""

    @property
    def highest(self) -> float:
        return max(value for _, value in self.values)

    @property
    def mean(self) -> float:
        return sum(value for _, value in self.values) / len(self.values)


class Sensors:
    """Temperatures and power of one target."""

    essential = False

    def __init__(self, target: str = "dut", *, root: str = "/sys/class") -> None:
        """``root``: where the classes of devices are."""
        self._target = target
        self._root = root
        self.name = f"sensors of {target}"
        self._running: Running | None = None

    async def prepare(self, run: RunContext) -> None:
        """Nothing: it begins with the load."""

    async def start(self, run: RunContext) -> None:
        """Start reading."""
        pause_s = max(1.0, min(sampler.interval_for(INTERVAL_S, run.seconds_left), run.test.duration_s / 5))
        count = int(run.seconds_left / pause_s) + 2
        argv = ("sh", "-c", _SCRIPT, "txop-sensors", str(count), f"{pause_s:.0f}", self._root)
        self._running = await begin(run, Recording(self._target, argv, file_of(self._target), Phase.LOAD, LIMIT_BYTES))

    async def stop(self, run: RunContext) -> None:
        """Stop reading."""
        del run
        if self._running is not None:
            await self._running.stop(grace_s=1.0)

    def read(self, facts: RunFacts) -> Reading:
        """The hottest sensor, and the power where one sensor measures it; each sensor in the provenance."""
        reading = Reading()
        hot, power = self._read(facts)
        source = "thermal zones and hwmon"
        if not hot and not power:
            for key in (TEMPERATURE, POWER):
                reading.put(key, None, source, "the target has no such sensor, or none was read within the window")
            return reading
        reading.files[file_of(self._target)] = f"sensors of {self._target}"
        rows: list[dict[str, object]] = [
            {"sensor": s.name, "celsius_first": s.values[0][1], "celsius_highest": s.highest} for s in hot
        ]
        rows += [{"sensor": s.name, "watt_mean": round(s.mean, 3)} for s in power]
        reading.provenance[self._target] = {"sensors": rows}
        if hot:
            hottest = max(hot, key=lambda sensor: sensor.highest)
            reading.put(TEMPERATURE, hottest.highest, source)
            reading.series[TEMPERATURE] = [(round(t, 3), value) for t, value in hottest.values]
        else:
            reading.put(TEMPERATURE, None, source, "the target has no sensor of temperature")
        if len(power) == 1:
            reading.put(POWER, power[0].mean, source)
            reading.series[POWER] = [(round(t, 3), value) for t, value in power[0].values]
        else:
            why = "several sensors of power, which may overlap" if power else "the target has no sensor of power"
            reading.put(POWER, None, source, why)
        return reading

    def _read(self, facts: RunFacts) -> tuple[list[_Sensor], list[_Sensor]]:
        """Sensors of temperature and of power, with what they said within the window."""
        window_s = facts.marks.window_s
        found: dict[str, _Sensor] = {}
        try:
            for at_s, sample in sampler.timed(facts, self._target, facts.folder / file_of(self._target)):
                if window_s is None or not is_counted(at_s, window_s):
                    continue
                for path, text in list(sample.files.items())[:MOST_SENSORS]:
                    self._take(found, at_s, path, text)
        except OSError:
            return [], []
        known = {path: sensor for path, sensor in found.items() if sensor.values}
        power = [sensor for path, sensor in known.items() if _is_power(path)]
        return [sensor for path, sensor in known.items() if not _is_power(path)], power

    @staticmethod
    def _take(found: dict[str, _Sensor], at_s: float, path: str, text: str) -> None:
        value, _, name = text.partition("\n")
        try:
            number = int(value) / (1e6 if _is_power(path) else 1e3)
        except ValueError:
            return
        if not _is_power(path) and not _PLAUSIBLE[0] < number < _PLAUSIBLE[1]:
            return
        shown = f"{name.strip()[:60] or 'unnamed'} ({'/'.join(path.rsplit('/', 2)[-2:])})"
        found.setdefault(path, _Sensor(shown)).values.append((at_s, number))


def file_of(target: str) -> str:
    """Raw file of the readings, in the run's folder."""
    return f"sensors-{target}.txt"


def _is_power(path: str) -> bool:
    return path.rpartition("/")[2].startswith("power")
