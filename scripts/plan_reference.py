"""The keys of a plan as tables for ``docs/plan-keys.md`` and ``docs/plan-guest-keys.md``, from its models."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from txop.plan.schema import ClassDocs, all_descriptions, schema

TABLES = (
    ("Plan", "The top of the file"),
    ("LocalTarget", '`[target.NAME]`, kind = "local"'),
    ("NamespaceTarget", '`[target.NAME]`, kind = "namespace"'),
    ("SshTarget", '`[target.NAME]`, kind = "ssh"'),
    ("LabgridTarget", '`[target.NAME]`, kind = "labgrid"'),
    ("EmulatedTarget", '`[target.NAME]`, kind = "emulated"'),
    ("GuestTarget", '`[target.NAME]`, kind = "guest"'),
    ("GuestSpec", "`[guest]`"),
    ("GuestStation", "`stations` of `[guest]`, each"),
    ("QueueSpec", "`[guest.queues]`, `[arm.guest.queues]`"),
    ("AllowedRates", "`rates` of `[guest.queues]`, `[arm.guest.queues]` and `[[test]]`"),
    ("ModemSpec", "`[guest.modem]`, `[arm.guest.modem]`"),
    ("TxAggregation", "`[guest.modem.tx_aggregation]`"),
    ("NcmSpec", "`[guest.ncm]`, `[arm.guest.ncm]`"),
    ("MbimSpec", "`[guest.mbim]`, `[arm.guest.mbim]`"),
    ("AirSpec", "`[guest.air]`, `[arm.guest.air]`"),
    ("SdioSpec", "`[guest.sdio]`, `[arm.guest.sdio]`"),
    ("Hooks", "`[target.NAME.hooks]`"),
    ("Arm", "`[[arm]]`"),
    ("Published", "`[[arm.published]]`"),
    ("Patch", "`[[arm.patches]]`"),
    ("ModuleSpec", "`[arm.module]`"),
    ("BuildSpec", "`[arm.build]`"),
    ("BootSpec", "`[arm.boot]`"),
    ("FirmwareSpec", "`[arm.firmware]`"),
    ("QdiscSpec", "`[arm.qdisc]`"),
    ("OnTarget", "`[arm.on.NAME]`"),
    ("VerifySpec", "`[arm.verify]`"),
    ("GuestVariant", "`[arm.guest]`"),
    ("BringUp", "`[bring_up]`"),
    ("WpaSupplicant", "`[bring_up.wpa_supplicant]`"),
    ("TcpTest", '`[[test]]`, kind = "tcp-tx", "tcp-rx" or "tcp-both"'),
    ("TtcpTest", '`[[test]]`, kind = "ttcp-tx" or "ttcp-rx"'),
    ("UdpTest", '`[[test]]`, kind = "udp-tx" or "udp-rx"'),
    ("LatencyTest", '`[[test]]`, kind = "latency"'),
    ("RrulTest", '`[[test]]`, kind = "rrul"'),
    ("StationsTest", '`[[test]]`, kind = "stations"'),
    ("ModuleCycleTest", '`[[test]]`, kind = "module-cycle"'),
    ("FaultTrialTest", '`[[test]]`, kind = "fault-trial"'),
    ("SoakTest", '`[[test]]`, kind = "soak"'),
    ("CommandTest", '`[[test]]`, kind = "command"'),
    ("Design", "`[design]`"),
    ("Collect", "`[collect]`"),
    ("Gates", "`[gates]`"),
)
"""Models in the order of the reference, and the table of the plan that each is."""

_REQUIRED = "**required**"
_GUEST = ("GuestSpec", "GuestStation", "QueueSpec", "AllowedRates", "ModemSpec", "TxAggregation", "NcmSpec", "MbimSpec",
          "AirSpec", "SdioSpec", "GuestVariant")  # fmt: skip
_KINDS = {
    "every kind of `[target.NAME]`": tuple(name for name, heading in TABLES if heading.startswith("`[target.NAME]`,")),
    "every kind of `[[test]]`": tuple(name for name, heading in TABLES if heading.startswith("`[[test]]`")),
    "`[guest]` and `[arm.guest]`": ("GuestSpec", "GuestVariant"),
    "`[guest.ncm]` and `[guest.mbim]`": ("NcmSpec", "MbimSpec"),
}
"""Tables that share keys: what most of them have alike is written once, in front of the first."""


def reference() -> str:
    """The Markdown of the keys of everything but guests."""
    return _tables([(name, heading) for name, heading in TABLES if name not in _GUEST])


def guest_reference() -> str:
    """The Markdown of the keys of guests."""
    return _tables([(name, heading) for name, heading in TABLES if name in _GUEST])


def _tables(wanted: list[tuple[str, str]]) -> str:
    described = all_descriptions()
    parts = ["## Keys", ""]
    for name, heading in wanted:
        group = next((title for title, names in _KINDS.items() if name in names), None)
        shared = _shared(described, _KINDS[group]) if group else {}
        if group and name == _KINDS[group][0]:
            title = f"{group[0].upper()}{group[1:]}"
            parts += [f"### {title}", "", *_HEAD, *shared.values(), ""]
        parts += _table(described[name], heading, shared, group)
    return "\n".join(parts)


_HEAD = ("| key | type | default | meaning |", "| --- | --- | --- | --- |")


def _shared(described: dict[str, ClassDocs], names: tuple[str, ...]) -> dict[str, str]:
    """Rows by key that more than half of the tables have alike."""
    rows = [_rows(described[name]) for name in names]
    keys = dict.fromkeys(key for table in rows for key in table)
    most = {key: Counter(table[key] for table in rows if key in table).most_common(1)[0] for key in keys}
    return {key: row for key, (row, times) in most.items() if 2 * times > len(names)}


def _table(about: ClassDocs, heading: str, shared: dict[str, str], group: str | None) -> list[str]:
    rows = _rows(about)
    same = [key for key, row in rows.items() if shared.get(key) == row]
    own = [row for key, row in rows.items() if key not in same]
    lines = [f"### {heading}", "", about.text.replace("``", "`"), ""]
    if same:
        keys = ", ".join(f"`{key}`" for key in same)
        lines += [f"Keys of {group}: {'all' if len(same) == len(shared) else keys}.", ""]
    return [*lines, *_HEAD, *own, ""] if own else lines


def _rows(about: ClassDocs) -> dict[str, str]:
    """The rows of a table by key."""
    name = about.item.__name__
    definition = schema() if name == "Plan" else schema()["$defs"][name]
    required = set(definition.get("required", ()))
    rows = {}
    for key, value in definition["properties"].items():
        default = _REQUIRED if key in required else _default(value.get("default"))
        meaning = (about.field(key) or "").replace("|", "\\|").replace("``", "`")
        rows[key] = f"| `{key}` | {_type(value)} | {default} | {meaning} |"
    return rows


def _default(value: Any) -> str:
    if value is None or value == {} or value == []:
        return "–"
    if isinstance(value, dict):
        return "see its table"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{json.dumps(value)}`"


def _type(node: dict[str, Any]) -> str:
    options = [option for option in _flat(node) if option.get("type") != "null"]
    if len(options) == 2 and {option.get("type") for option in options} == {"string", "array"}:
        return "command"
    return " or ".join(dict.fromkeys(_one(option) for option in options))


def _flat(node: dict[str, Any]) -> list[dict[str, Any]]:
    several = node.get("anyOf")
    return [node] if several is None else [option for sub in several for option in _flat(sub)]


def _one(node: dict[str, Any]) -> str:
    if "$ref" in node or "oneOf" in node:
        return "table"
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return ", ".join(f"`{json.dumps(value)}`" for value in node["enum"])
    kind = node.get("type")
    if kind == "array":
        item = node.get("items", {})
        many = {"table": "tables", "command": "commands", "text": "texts", "whole number": "whole numbers"}
        what = _type(item)
        return f"list of {many.get(what.split(',')[0], what)}"
    if kind == "object":
        return "table"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "true/false"}.get(
        str(kind), "anything"
    ) + _bounds(node)


def _bounds(node: dict[str, Any]) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    parts = []
    if above is not None:
        parts.append(f"above {_number(above)}")
    elif low is not None:
        parts.append(f"from {_number(low)}")
    if below is not None:
        parts.append(f"below {_number(below)}")
    elif high is not None:
        parts.append(f"to {_number(high)}")
    return f", {' '.join(parts)}" if parts else ""


def _number(value: float) -> str:
    return "2^63" if value == 2**63 else f"{value:g}" if abs(value) < 1e6 else f"{value:,.0f}"
