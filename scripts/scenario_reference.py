"""Writes the tables of docs/scenario.md from docs/schema/scenario.json.

What a key means stands at the settings in crates/link and nowhere else; `cargo run -p txop-contract` makes the schema
of them. `python scripts/scenario_reference.py` rewrites the page; a test runs it and compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "docs" / "schema" / "scenario.json"
PAGE = ROOT / "docs" / "scenario.md"
MARK = "<!-- generated: scripts/scenario_reference.py -->"

TABLES = (
    ("The top", ""),
    ("`[run]`", "SimulationSettings"),
    ("`[path]`", "PathSettings"),
    ("`[[traffic]]`, all kinds", "FlowSettings"),
    ('`[[traffic]]`, `kind = "tcp"`', "TcpSettings"),
    ('`[[traffic]]`, `kind = "udp"`', "UdpSettings"),
    ('`[[traffic]]`, `kind = "ping"`', "EchoSettings"),
    ("`[wlan.medium]`", "Medium"),
    ("`[wlan.ap]`, `[wlan.dut]`, `[[wlan.stations]]`", "Station"),
    ("`usb` of these", "Usb"),
    ("`edca.background`, `.best_effort`, `.video`, `.voice` of these", "Edca"),
    ("`queueing` of these", "Queueing"),
    ("`queueing.fifo`", "FifoSettings"),
    ("`queueing.fq_codel`", "FqCodelSettings"),
    ("`queueing.mac_queue`", "MacQueueSettings"),
    ("`queueing.fq_mac`", "FqMacSettings"),
    ("`queueing.airtime`", "AirtimeSettings"),
    ("`queueing.aql`", "AqlSettings"),
    ("`queueing.device`", "DeviceQueueSettings"),
    ("`[modem.usb]`", "UsbSettings"),
    ("`[modem.driver]`", "DriverSettings"),
    ("`[modem.device]`", "DeviceSettings"),
    ("`[modem.radio]`", "RadioSettings"),
    ("`[sdio.bus]`", "BusSettings"),
    ("`[sdio.host]`", "HostSettings"),
    ("`[sdio.card]`", "CardSettings"),
    ("`[sdio.radio]`", "AirSettings"),
    ("`[sdio.radio.power_save]`", "PowerSave"),
    ("`[pipe]`", "PipeSettings"),
    ("`[pipe.up]`", "PipeUp"),
)
"""Heading and definition of the schema; none is the schema itself."""


def page(text: str) -> str:
    """``text`` with the generated part made again."""
    head = text.partition(MARK)[0]
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    sections = [f"{head}{MARK}\n"]
    for title, name in TABLES:
        item = schema["$defs"][name] if name else schema
        if name != "SimulationSettings":
            item["properties"].pop("seed", None)  # run.seed takes its place
        sections.append(f"\n## {title}\n\n{_table(item, schema['$defs'])}")
    return "".join(sections)


def _table(item: dict[str, Any], known: dict[str, Any]) -> str:
    lines = ["| key | default | meaning |", "| --- | --- | --- |"]
    for name, field in item["properties"].items():
        shown = field.get("default")
        default = "" if shown in (None, "") or isinstance(shown, dict | list) else f"`{str(shown).lower()}`"
        lines.append(f"| `{name}` | {default} | {_meaning(field, known)} |")
    return "\n".join(lines) + "\n"


def _meaning(field: dict[str, Any], known: dict[str, Any]) -> str:
    """What a key means, with the values that it can have."""
    options = [field, *field.get("anyOf", ())]
    values = [value for option in options if "$ref" in option
              for value in known[option["$ref"].rpartition("/")[2]].get("oneOf", ())]  # fmt: skip
    extra = "; ".join(f"`{value['const']}` ({value['description'].rstrip('.')})" for value in values)
    words = str(field["description"]) + (f" {extra}." if extra else "")
    return words.replace("|", "\\|")


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8")
    made = page(before)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made, encoding="utf-8")
    elif made != before:
        raise SystemExit("docs/scenario.md does not match the sources")
