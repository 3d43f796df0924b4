"""The table of virtual devices in Python and in docs/virtual-chips.md, from docs/devices.json: part of contract.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BEGIN = "<!-- The devices: written by scripts/contract.py; change their entry.rs in crates/vusb instead. -->"
END = "<!-- End of the devices. -->"

Table = dict[str, Any]


def devices() -> Table:
    """The table of virtual devices."""
    return dict(json.loads((ROOT / "docs" / "devices.json").read_text(encoding="utf-8")))


def python_module() -> tuple[Path, str]:
    """The table of devices as a Python module."""
    table = devices()
    names = [device["name"] for device in table["devices"]]
    rows = []
    for device in table["devices"]:
        values = {key: _literal(value) for key, value in device.items()}
        values["drivers"] = _tuple([_driver(driver) for driver in device["drivers"]])
        values["assumptions"] = _literal([assumption["name"] for assumption in device["assumptions"]])
        values["endpoints"] = _tuple([f'({item["number"]}, "{item["direction"]}")' for item in device["endpoints"]])
        rows += ["    Device(", *(f"        {key}={value}," for key, value in values.items()), "    ),"]
    text = [
        '"""The virtual devices of `txop-vusb`, and what is known of each.', "",
        "Made by scripts/contract.py from docs/devices.json: change the entry of the device in Rust instead",
        "(crates/vusb, entry.rs).", '"""', "", "# fmt: off", "# ruff: noqa: E501", "",
        "from __future__ import annotations", "", "from typing import Literal", "",
        "from txop.plan.device_row import Device, Driver", "",
        f"DeviceName = Literal[{', '.join(map(_literal, names))}]",
        f"SecurityName = Literal[{', '.join(map(_literal, table['securities']))}]", "",
        f"SECURITIES = {_literal(table['securities'])}", '"""Securities of an access point."""',
        f"STATIONS_MAX = {table['stations_max']}",
        '"""Stations of a chip that is an access point, or access points of a chip, at most."""', "",
        "DEVICES = (", *rows, ")", '"""In the order of help."""', "",
    ]  # fmt: skip
    return ROOT / "python/txop/plan/device_table.py", "\n".join(text)


def _literal(value: object) -> str:
    if isinstance(value, list):
        return _tuple([_literal(item) for item in value])
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _driver(driver: Table) -> str:
    more = [f"{key}={_literal(driver[key])}" for key in ("from_kernel", "built_alias") if driver[key] is not None]
    return f"Driver({', '.join([_literal(driver['name']), *more])})"


def page() -> tuple[Path, str]:
    """The page of the chips with its table of devices."""
    path = ROOT / "docs" / "virtual-chips.md"
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{path} has no lines: {BEGIN} and {END}")
    lines = ["| `device` | what it is | drivers | securities |", "|---|---|---|---|"]
    table = devices()
    for device in table["devices"]:
        default = next(driver["name"] for driver in device["drivers"] if driver["built_alias"] is None)
        drivers = sorted(device["drivers"], key=lambda driver: driver["name"] != default)
        shown = ", ".join(f"`{driver['name']}`{_when(driver)}" for driver in drivers)
        securities = "all" if device["securities"] == table["securities"] else ", ".join(device["securities"]) or "—"
        lines.append(f"| `{device['name']}` | {device['about']} | {shown} | {securities} |")
    return path, "\n".join([before + begin, "", *lines, "", end + after])


def _when(driver: Table) -> str:
    if driver["built_alias"] is not None:
        return " (built for it)"
    return f" (from Linux {driver['from_kernel']})" if driver["from_kernel"] is not None else ""
