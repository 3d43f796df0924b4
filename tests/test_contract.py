"""The models and the pages are what docs/schema says (that it is what the structs say, crates/contract tests)."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from txop.guest import chips, outside
from txop.guest.device_statistics import model
from txop.guest_image import recipe
from txop.plan import devices
from txop.plan.device_table import SECURITIES
from txop.plan.guest import GuestSpec
from txop.simulate import run_json

ROOT = Path(__file__).parents[1]
SCHEMAS = sorted((ROOT / "docs/schema").glob("*.json"))


def test_models_and_pages_are_what_the_schemas_say():
    ran = subprocess.run(
        [sys.executable, ROOT / "scripts" / "contract.py", "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def objects(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield schema["title"], schema
    yield from schema["$defs"].items()


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_everything_is_described_in_words(path):
    for name, item in objects(json.loads(path.read_text(encoding="utf-8"))):
        assert len(item["description"]) > 3, name
        for field, about in item.get("properties", {}).items():
            words = about["description"]
            assert len(words) > 3, f"{name}.{field}"
            assert "::" not in words, f"{name}.{field}"
            assert "`None`" not in words, f"{name}.{field}"


def refused(schema: str, document: object) -> list[str]:
    text = (ROOT / "docs/schema" / f"{schema}.json").read_text(encoding="utf-8")
    return [error.message for error in jsonschema.Draft202012Validator(json.loads(text)).iter_errors(document)]


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_every_schema_is_one(path):
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def test_reports_keep_to_their_schema():
    report = json.loads((ROOT / "tests/data/air-v2.json").read_bytes())
    assert refused("txop-air", report) == []
    assert refused("txop-air", report | {"frames": -1})
    del report["frames"]
    assert refused("txop-air", report)


def test_simulations_keep_to_their_schemas():
    short = [("run.warm_up_s", "0.2"), ("run.duration_s", "0.5")]
    document = json.loads(run_json("two-stations", settings=short, waterfall=True))
    assert refused("txop-simulate", document) == []
    run = document["points"][0]["runs"][0]
    assert refused("wlan-counters", run["counters"]) == []
    assert refused("scenario", document["scenario"]["settings"]) == []
    run["flows"][0]["from"] = None
    assert refused("txop-simulate", document)


@pytest.mark.parametrize(("scenario", "schema"), [("modem-both", "modem-counters"), ("sdio-async", "sdio-counters")])
def test_counters_of_other_links_keep_to_their_schemas(scenario, schema):
    document = json.loads(run_json(scenario, settings=[("run.warm_up_s", "0.2"), ("run.duration_s", "0.5")]))
    counters = document["points"][0]["runs"][0]["counters"]
    assert refused(schema, counters) == []
    assert refused(schema, counters | {"bus_busy_ns": -1})
    del counters["uplink"]["packets_offered"]
    assert refused(schema, counters)


def test_the_table_of_devices_is_what_the_program_prints():
    printed = subprocess.run(
        [chips.find_chips(), "devices", "--json"], capture_output=True, text=True, check=True
    ).stdout
    assert printed == (ROOT / "docs/devices.json").read_text(encoding="utf-8")
    assert refused("txop-vusb-devices", json.loads(printed)) == []
    assert refused("txop-vusb-devices", json.loads(printed) | {"devices": [{}]})


def test_every_device_is_what_plans_guests_and_models_take():
    assert {*devices.CHIPS, *devices.FUNCTIONS} == {*devices.ROWS}
    for name, row in devices.ROWS.items():
        assert GuestSpec(device=name).varied(None).driver == row.stock_driver
        assert row.stock_driver in recipe.DRIVERS
        told = chips.Chip(name, row.stock_driver, security="open").variables()
        assert (told["LAB_DEVICE"], told["LAB_KIND"], told["LAB_BUS"]) == (name, row.kind, row.bus)
        assert (row.bus == "sdio") == (name in devices.SDIO_CARDS)
        assert hasattr(model, row.statistics)
        assert {*row.securities} <= {*SECURITIES}
        assert (row.modalias is None) == (name in devices.FUNCTIONS)


def counted_over_usb_ip(device, folder):
    """What a device has counted that nobody used."""
    file = folder / "stats.json"
    command = ["serve", "--listen", "127.0.0.1:0", "--ap", "none", "--device", device, "--stats", str(file)]
    with subprocess.Popen([chips.find_chips(), *command], stderr=subprocess.PIPE) as chip:
        assert b"127.0.0.1" in chip.stderr.readline()
        chip.terminate()
    return json.loads(file.read_bytes())


def counted_in_a_laboratory(device, folder):
    """The same of one that only a QEMU can have: the library is asked as QEMU asks it."""
    config = outside.write_config(folder, {}, {}, exact=True)
    library = ctypes.CDLL(str(outside.find_library()))
    library.txop_open.restype = ctypes.c_void_p
    laboratory, now = ctypes.c_void_p(library.txop_open(str(config).encode())), ctypes.c_uint64(1_000_000_000)
    words = ["attach", "--device", device, "--ap", "none", "--stats", "stats.json"]
    line = json.dumps({"realtime_ns": 0, "monotonic_ns": 0, "words": words}).encode() + b"\n"
    library.txop_control(laboratory, now, line, ctypes.c_size_t(len(line)))
    library.txop_close(laboratory, now)
    return json.loads((folder / outside.FOLDER / "stats.json").read_bytes())


@pytest.mark.parametrize("device", devices.CHIPS)
def test_counters_of_virtual_chips_keep_to_their_schema(device, tmp_path):
    counted_of = counted_in_a_laboratory if device in devices.ON_PCI else counted_over_usb_ip
    document = counted_of(device, tmp_path)
    assert refused("txop-vusb-statistics", document) == []
    counted = model.Statistics.model_validate(document).device
    assert isinstance(counted, getattr(model, devices.ROWS[device].statistics))
    del document["device"]["tx"]["frames"]
    assert refused("txop-vusb-statistics", document)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "python/txop/simulate/scenarios").glob("[!_]*.toml")), ids=lambda path: path.stem
)
def test_shipped_scenarios_keep_to_the_schema(path):
    scenario = {"traffic": []} | tomllib.loads(path.read_text(encoding="utf-8"))
    assert refused("scenario", scenario) == []


def test_a_key_that_no_traffic_has_is_refused():
    flow = {"kind": "tcp", "from": "dut", "to": "server", "congestion": "cubic"}
    assert refused("scenario", {"traffic": [flow]}) == []
    assert refused("scenario", {"traffic": [flow | {"congestoin": "cubic"}]})
