"""Writes the tables of docs/scenario.md and docs/emulated-link.md from the doc comments of the settings in crates/link.

What a key means stands there and nowhere else. `python scripts/scenario_reference.py` rewrites the pages; a test runs
it and compares."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINK = ROOT / "crates" / "link" / "src"
DOCS = ROOT / "docs"
MARK = "<!-- generated: scripts/scenario_reference.py -->"

TABLES = (
    ("The top", "", "scenario/settings.rs", "Head"),
    ("`[run]`", "run", "simulation/settings.rs", "SimulationSettings"),
    ("`[path]`", "path", "path.rs", "PathSettings"),
    ("`[[traffic]]`, all kinds", "traffic", "scenario/flow.rs", "FlowHead"),
    ('`[[traffic]]`, `kind = "tcp"`', "traffic tcp", "traffic/tcp/settings.rs", "TcpSettings"),
    ('`[[traffic]]`, `kind = "udp"`', "traffic udp", "traffic/settings.rs", "UdpSettings"),
    ('`[[traffic]]`, `kind = "ping"`', "traffic ping", "traffic/settings.rs", "EchoSettings"),
    ("`[wlan.medium]`", "wlan.medium", "wlan/settings/medium.rs", "Medium"),
    ("`[wlan.ap]`, `[wlan.dut]`, `[[wlan.stations]]`", "wlan.ap", "wlan/settings/station.rs", "Station"),
    ("`usb` of these", "wlan.ap.usb", "wlan/settings/station.rs", "Usb"),
    ("`edca.background`, `.best_effort`, `.video`, `.voice` of these", "", "wlan/settings/edca.rs", "Edca"),
    ("`queueing` of these", "wlan.ap.queueing", "queue/settings.rs", "Queueing"),
    ("`queueing.fifo`", "", "queue/settings.rs", "FifoSettings"),
    ("`queueing.fq_codel`", "", "queue/settings.rs", "FqCodelSettings"),
    ("`queueing.mac_queue`", "", "queue/settings.rs", "MacQueueSettings"),
    ("`queueing.fq_mac`", "", "queue/settings.rs", "FqMacSettings"),
    ("`queueing.airtime`", "", "queue/settings.rs", "AirtimeSettings"),
    ("`queueing.aql`", "", "queue/settings.rs", "AqlSettings"),
    ("`[modem.usb]`", "modem.usb", "modem/settings.rs", "UsbSettings"),
    ("`[modem.driver]`", "modem.driver", "modem/settings.rs", "DriverSettings"),
    ("`[modem.device]`", "modem.device", "modem/settings.rs", "DeviceSettings"),
    ("`[modem.radio]`", "modem.radio", "modem/settings.rs", "RadioSettings"),
    ("`[sdio.bus]`", "sdio.bus", "sdio/settings.rs", "BusSettings"),
    ("`[sdio.host]`", "sdio.host", "sdio/settings.rs", "HostSettings"),
    ("`[sdio.card]`", "sdio.card", "sdio/settings.rs", "CardSettings"),
    ("`[sdio.radio]`", "sdio.radio", "sdio/settings.rs", "AirSettings"),
    ("`[sdio.radio.power_save]`", "", "sdio/settings.rs", "PowerSave"),
    ("`[pipe]`", "pipe", "pipe.rs", "PipeSettings"),
    ("`[pipe.up]`", "", "pipe.rs", "PipeUp"),
)
"""Heading, the table whose defaults are shown, source file and struct."""

OF_A_PLAN = {
    "`[wlan.medium]`": "`[link.medium]`",
    "`[wlan.ap]`, `[wlan.dut]`, `[[wlan.stations]]`": "`[link.dut]`, `[link.ap]`",
}
"""Headings of docs/emulated-link.md where they differ: a plan's link is the `[wlan]` of a scenario."""
PLAN_TABLES = tuple(
    (OF_A_PLAN.get(title, title), *rest)
    for title, *rest in TABLES
    if rest[1].startswith("wlan/") or rest[1] == "queue/settings.rs"
)

PAGES = (("scenario.md", TABLES), ("emulated-link.md", PLAN_TABLES))

DEFAULTS = {
    "wlan": "[wlan]\n[path]\n",
    "modem": "[modem]\n",
    "sdio": "[sdio]\n",
    "pipe": "[pipe]\n",
}
_FIELD = re.compile(r"((?:^    ///.*\n)+)((?:^    #\[.*\n)*)^    pub (\w+): ([^\n]+),\n", re.MULTILINE)
_VARIANT = re.compile(r"((?:^    ///.*\n)+)(?:^    #\[.*\n)*^    (\w+),\n", re.MULTILINE)


def page(text: str, tables: tuple[tuple[str, ...], ...]) -> str:
    """``text`` with the generated part made again."""
    head = text.partition(MARK)[0]
    sections = [f"{head}{MARK}\n"]
    for title, key, file, struct in tables:
        sections.append(f"\n## {title}\n\n{_table(key, (LINK / file).read_text(encoding='utf-8'), struct)}")
    return "".join(sections)


def _table(key: str, source: str, struct: str) -> str:
    body = re.search(rf"^pub struct {struct} \{{\n(.*?)^\}}", source, re.MULTILINE | re.DOTALL)
    if body is None:
        raise SystemExit(f"there is no struct {struct}")
    defaults = _defaults(key)
    lines = ["| key | default | meaning |", "| --- | --- | --- |"]
    for words, attributes, name, kind in _FIELD.findall(body.group(1)):
        if name == "seed" and key != "run":
            continue  # run.seed takes its place
        shown = defaults.get(name)
        default = "" if shown is None or isinstance(shown, dict | list) else f"`{str(shown).lower()}`"
        meaning = _prose(words) + _values(source, kind)
        lines.append(f"| `{name}` | {default} | {meaning} |")
        del attributes
    return "\n".join(lines) + "\n"


def _prose(comment: str) -> str:
    text = " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
    return re.sub(r"\[(`?[\w:]+`?)\](?:\([\w:]+\))?", r"\1", text).replace("|", "\\|")


def _values(source: str, kind: str) -> str:
    """The values of an enum of the same file."""
    inner = re.sub(r"^(?:Option<)?(\w+)>?$", r"\1", kind.strip())
    body = re.search(rf"^pub enum {inner} \{{\n(.*?)^\}}", source, re.MULTILINE | re.DOTALL)
    if body is None:
        return ""
    found = [f"`{_snake(name)}` ({_prose(words).rstrip('.')})" for words, name in _VARIANT.findall(body.group(1))]
    return " " + "; ".join(found) + "." if found else ""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _defaults(key: str) -> dict[str, object]:
    import json

    from txop import _native

    if not key or key in ("traffic", "wlan.ap.queueing"):
        return {}
    if key.startswith(("wlan.ap.usb", "wlan.ap.edca")):
        found = json.loads(_native.check_link_scenario('{"ap": {"usb": {}}}'))
        for part in key.split(".")[1:]:
            found = found[part]
        return dict(found)
    if key.startswith("traffic "):
        text = f"[pipe]\nrate_mbit_s=1\n[[traffic]]\nkind='{key.split()[1]}'\nfrom='dut'\nto='server'\n"
        return dict(json.loads(_native.check_scenario("defaults", lambda _: text))["traffic"][0])
    kind = key.split(".")[0] if key.split(".")[0] in DEFAULTS else "wlan"
    text = f"{DEFAULTS[kind]}[[traffic]]\nkind='ping'\nfrom='dut'\nto='server'\n"
    found = json.loads(_native.check_scenario("defaults", lambda _: text))
    for part in key.split("."):
        found = found[part]
    return dict(found)


if __name__ == "__main__":
    for name, tables in PAGES:
        file = DOCS / name
        before = file.read_text(encoding="utf-8")
        made = page(before, tables)
        if "--check" not in sys.argv[1:]:
            file.write_text(made, encoding="utf-8")
        elif made != before:
            raise SystemExit(f"docs/{name} is not what the sources say")
