"""Temperature and power, where sensors are."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from instrument_bench import UPTIME_S, facts_of, make_plan
from txop.measure.probes.sensors import POWER, TEMPERATURE, Sensors, file_of
from txop.targets.local import LocalTarget

ZONE = "/sys/class/thermal/thermal_zone0/temp"
CHIP = "/sys/class/hwmon/hwmon1/temp1_input"
WATT = "/sys/class/hwmon/hwmon2/power1_input"


def recorded(folder: Path, rows: list[dict[str, str]]) -> None:
    text = ""
    for number, row in enumerate(rows):
        text += f"@@ {UPTIME_S + 10 + 5 * number:.2f}\n" + "".join(f"@{path}\n{said}\n" for path, said in row.items())
    (folder / file_of("dut")).write_text(text + "@@ 99999\n")


def test_the_hottest_sensor_and_the_power(tmp_path):
    recorded(
        tmp_path,
        [
            {ZONE: "41000\ncpu-thermal", CHIP: "60500\nmt7921_phy0", WATT: "2500000\nina231"},
            {ZONE: "42000\ncpu-thermal", CHIP: "71250\nmt7921_phy0", WATT: "3500000\nina231"},
        ],
    )
    reading = Sensors().read(facts_of(make_plan(), tmp_path))
    assert reading.metrics[TEMPERATURE].value == 71.25
    assert reading.metrics[POWER].value == 3.0
    assert reading.series[TEMPERATURE] == [(0.0, 60.5), (5.0, 71.25)]
    assert reading.provenance["dut"]["sensors"] == [
        {"sensor": "cpu-thermal (thermal_zone0/temp)", "celsius_first": 41.0, "celsius_highest": 42.0},
        {"sensor": "mt7921_phy0 (hwmon1/temp1_input)", "celsius_first": 60.5, "celsius_highest": 71.25},
        {"sensor": "ina231 (hwmon2/power1_input)", "watt_mean": 3.0},
    ]


@pytest.mark.parametrize(
    ("row", "temperature", "power"),
    [
        ({}, "the target has no such sensor", "the target has no such sensor"),
        ({ZONE: "nonsense"}, "the target has no such sensor", "the target has no such sensor"),
        ({ZONE: "-274000\nx"}, "the target has no such sensor", "the target has no such sensor"),
        ({WATT: "1000000\na", WATT.replace("hwmon2", "hwmon3"): "1\nb"}, "no sensor of temperature", "may overlap"),
    ],
)
def test_what_is_not_known_says_why(tmp_path, row, temperature, power):
    recorded(tmp_path, [row, row])
    metrics = Sensors().read(facts_of(make_plan(), tmp_path)).metrics
    assert (metrics[TEMPERATURE].value, metrics[POWER].value) == (None, None)
    assert temperature in (metrics[TEMPERATURE].reason or "")
    assert power in (metrics[POWER].reason or "")


def test_without_a_file_there_are_none(tmp_path):
    assert Sensors().read(facts_of(make_plan(), tmp_path)).metrics[POWER].value is None


@pytest.mark.parametrize("sensors", [True, False])
def test_the_script_reads_what_is_there(tmp_path, sensors):
    root = tmp_path / "class"
    if sensors:
        (root / "thermal/thermal_zone0").mkdir(parents=True)
        (root / "thermal/thermal_zone0/temp").write_text("45000\n")
        (root / "thermal/thermal_zone0/type").write_text("soc\n")
    plan = make_plan()
    target = LocalTarget("dut")

    async def record() -> None:
        await target.connect()
        probe = Sensors(root=str(root))
        run = SimpleNamespace(
            test=plan.test[0], seconds_left=60.0, folder=tmp_path, targets=SimpleNamespace(by_name={"dut": target})
        )
        await probe.start(run)  # type: ignore[arg-type]
        await asyncio.sleep(2.0)
        await probe.stop(run)  # type: ignore[arg-type]
        await target.close()

    asyncio.run(record())
    said = (tmp_path / file_of("dut")).read_text()
    assert (f"@{root}/thermal/thermal_zone0/temp\n45000\nsoc\n" in said) is sensors
    assert bool(said) is sensors
