"""Writes the Python models of what the engines write, and the tables of their fields in docs/*.md, from docs/schema.

The structs in Rust decide: `cargo run -p txop-contract` writes their JSON Schema into docs/schema, and the table of
virtual devices as docs/devices.json; `.venv/bin/python scripts/contract.py` writes everything else. A test runs it with
`--check` and compares."""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import device_tables

ROOT = Path(__file__).parents[1]
MARK = "<!-- Below this line: written by scripts/contract.py; change the structs in Rust instead. -->"
MADE = "Made by scripts/contract.py from docs/schema: change the structs in Rust instead."
WIDTH = 117

Schema = dict[str, Any]

SHARED = "txop.present.report_parts"
"""Where the models are that the reports of several engines have."""
PARTS = {"DamageNote": SHARED, "Figure": SHARED, "Sentence": SHARED, "Window": SHARED}
OF_AIR = {"Waterfall": "txop.air.model", "WaterfallStep": "txop.air.model", "Figure": SHARED, "Sentence": SHARED}


@dataclass(frozen=True)
class Document:
    """A document, the package that reads it, and the page that describes it."""

    name: str
    """As in docs/schema."""
    root: str
    """What its model is called."""
    package: str
    """The package with the model."""
    page: str
    """The page in docs."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Models that are in other modules, and which."""
    module: str = "model"
    """The module with the models."""
    has_tables: bool = True
    """The page has tables of all fields."""
    by_hand: tuple[str, ...] = ()
    """Models written by hand that the page describes, too: a module, and classes of it."""


DOCUMENTS = (
    Document("txop-air", "Report", "txop.air", "air-json.md", PARTS,
             by_hand=("txop.air.compare", "Comparison", "Capture", "Difference")),
    Document("txop-bus", "Report", "txop.bus", "bus-json.md", PARTS,
             by_hand=("txop.bus.compare", "Comparison", "Capture", "Difference")),
    Document("txop-simulate", "Document", "txop.simulate", "simulate.md", OF_AIR, has_tables=False),
    Document("txop-emulate", "Status", "txop.emulate", "emulate.md", has_tables=False),
    Document("txop-vusb-statistics", "Statistics", "txop.guest.device_statistics", "vusb-json.md"),
    Document("wlan-counters", "Counters", "txop.emulate", "emulate.md", module="counters", has_tables=False),
    Document("modem-counters", "ModemCounters", "txop.simulate", "simulate.md", module="modem_counters",
             has_tables=False),
    Document("sdio-counters", "SdioCounters", "txop.simulate", "simulate.md", module="sdio_counters",
             has_tables=False),
)  # fmt: skip


def load(document: Document) -> Schema:
    """Its schema."""
    return dict(json.loads((ROOT / "docs" / "schema" / f"{document.name}.json").read_text(encoding="utf-8")))


def definitions(document: Document) -> dict[str, Schema]:
    """The objects of a document by the names of their models, each after those that it is made of."""
    schema = load(document)
    found: dict[str, Schema] = {}

    def visit(name: str, item: Schema) -> None:
        if name in found:
            return
        for used in reversed(list(_references(item.get("properties") or item.get("anyOf")))):
            visit(used, schema["$defs"][used])
        if "properties" in item:
            found[name] = item

    visit(document.root, schema)
    return found


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(target := part.get("$ref"), str):
            yield target.rpartition("/")[2]
        for inner in part.values():
            yield from _references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _references(inner)


def kind(value: Schema, known: dict[str, Schema]) -> str:
    """The Python type of a value."""
    if target := value.get("$ref"):
        name = str(target).rpartition("/")[2]
        if "anyOf" in known[name]:
            return kind(known[name], known)
        return name if "properties" in known[name] else "str"
    if options := value.get("anyOf"):
        return " | ".join(sorted((kind(option, known) for option in options), key=lambda text: text == "None"))
    names = value["type"] if isinstance(value["type"], list) else [value["type"]]
    return " | ".join(_plain_kind(name, value, known) for name in names)


def _plain_kind(name: str, value: Schema, known: dict[str, Schema]) -> str:
    if parts := value.get("prefixItems"):
        return f"tuple[{', '.join(kind(part, known) for part in parts)}]"
    if name == "array":
        return f"list[{kind(value['items'], known)}]"
    if name == "object":
        inner = value["additionalProperties"]
        return f"dict[str, {'Any' if inner is True else kind(inner, known)}]"
    simple = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}
    return simple[name]


def meaning(value: Schema, known: dict[str, Schema]) -> str:
    """What a field means, with the values that it can have."""
    words = str(value.get("description", ""))
    for name in _references({key: part for key, part in value.items() if key != "description"}):
        if values := known[name].get("oneOf"):
            extra = "; ".join(f"`{value['const']}`: {_started(value['description'])}" for value in values)
            words = f"{words.removesuffix('.')}. {extra}."
    return words


def _started(sentence: str) -> str:
    text = sentence.removesuffix(".")
    first = text.partition(" ")[0]
    return text if first[1:] != first[1:].lower() else text[:1].lower() + text[1:]


def model(name: str, item: Schema, known: dict[str, Schema]) -> str:
    """The class of one object."""
    lines = [f"class {name}(Model):", *_docstring(item["description"]), ""]
    for key, value in item["properties"].items():
        default = "" if key in item["required"] else f" = {_default(value.get('default'))}"
        shown, what = key, kind(value, known)
        if not key.isidentifier() or keyword.iskeyword(key):
            given = "" if key in item["required"] else f"default={_default(value.get('default'))}, "
            shown, default = _identifier(key), f' = Field({given}alias="{key}")'
        if default == " = None" and not what.endswith("None"):
            what += " | None"
        line = f"    {shown}: {what}{default}"
        if len(line) > WIDTH:
            line = f"    {shown}: (\n        {what.replace(' | ', chr(10) + '        | ')}\n    ){default}"
        lines += [line, *_docstring(meaning(value, known))]
    return "\n".join(lines)


def _identifier(key: str) -> str:
    name = key.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def _default(value: object) -> str:
    if value == []:
        return "Field(default_factory=list)"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _docstring(text: str) -> list[str]:
    quoted = text.replace("\\", "\\\\")
    lines = textwrap.wrap(
        f'"""{quoted}', WIDTH, initial_indent="    ", subsequent_indent="    ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [*lines[:-1], f'{lines[-1]}"""']


def module(about: str, classes: list[str], elsewhere: Mapping[str, str]) -> str:
    """The text of a module with these classes."""
    body = "\n\n\n".join(classes)
    wanted: dict[str, list[str]] = {"txop.present.document": ["Model"]}
    for name, where in elsewhere.items():
        if re.search(rf"\b{name}\b(?=[^\"]*$)", body, re.MULTILINE):
            wanted.setdefault(where, []).append(name)
    ours = [f"from {where} import {', '.join(sorted(names))}" for where, names in sorted(wanted.items())]
    blocks = ["from __future__ import annotations"]
    blocks += ["from typing import Any"] if "Any]" in body else []
    blocks += ["from pydantic import Field"] if "Field(" in body else []
    blocks.append("\n".join(ours))
    return f'"""{about}\n\n{MADE}\n"""\n\n' + "\n\n".join(blocks) + f"\n\n\n{body}\n"


def files() -> Iterator[tuple[Path, str]]:
    """Every Python file that is written, with its text."""
    parts: dict[str, str] = {}
    for document in DOCUMENTS:
        found, known = definitions(document), load(document)["$defs"]
        texts = {name: model(name, item, known) for name, item in found.items()}
        for name, where in document.elsewhere.items():
            if name in texts:
                text = texts.pop(name)
                parts |= {name: parts.get(name, text)} if where == SHARED else {}
        folder = ROOT / "python" / Path(*document.package.split("."))
        about = f"Typed objects for everything in a `{document.name}` document (docs/{document.page})."
        null = "\n\nNull in the document is ``None`` here and means *not available*, never zero."
        yield folder / f"{document.module}.py", module(about + null, list(texts.values()), document.elsewhere)
        head = found[document.root]["properties"]
        if "format" not in head:
            continue
        yield folder / "layout.py", "\n".join([
            f'"""The name and the layout version of the document.\n\n{MADE}\n"""', "",
            f'FORMAT = "{head["format"]["const"]}"', f"VERSION = {head['version']['const']}", "",
        ])  # fmt: skip
    yield device_tables.python_module()
    about = "What the reports of several engines have in common."
    yield ROOT / "python" / Path(*SHARED.split(".")).with_suffix(".py"), module(about, list(parts.values()), {})


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with its tables made again. The models must have been written."""
    from model_tables import model_table, models_of

    yield device_tables.page()

    for document in DOCUMENTS:
        if not document.has_tables:
            continue
        models = {item.__name__: pair for pair in [
            *models_of(f"{document.package}.model"), *models_of(SHARED)] if (item := pair[0])}  # fmt: skip
        path = ROOT / "docs" / document.page
        before, mark, _ = path.read_text(encoding="utf-8").partition(MARK)
        if not mark:
            raise SystemExit(f"{path} has no line: {MARK}")
        parts = [model_table(*models[name]) for name in reversed(definitions(document))]
        text = ["## Fields", "", *parts]
        if document.by_hand:
            where, *names = document.by_hand
            tables = [model_table(*pair) for pair in models_of(where, names)]
            text += [f"## Fields of `{document.name}-compare`", "", *tables]
        yield path, f"{before}{mark}\n\n" + "\n".join(text)


def main() -> None:
    """Writes everything, or with `--check` says which file differs."""
    for path, text in [*files(), *pages()] if "--check" in sys.argv[1:] else _written():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{path.relative_to(ROOT)} does not match docs/schema: run scripts/contract.py")


def _written() -> list[tuple[Path, str]]:
    for made in (files, pages):
        for path, text in made():
            path.write_text(text, encoding="utf-8")
    return []


if __name__ == "__main__":
    main()
