"""The typed report mirrors the analyzer's document, field for field."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from txop.air import AirReport, FormatError
from txop.air.model import reference

ROOT = Path(__file__).parents[2]
REPORT_SOURCES = sorted((ROOT / "crates/air/src").rglob("*.rs"))


def rust_structs() -> dict[str, dict[str, bool]]:
    """Fields of every serialised struct of the analyzer's report, each with whether it may be null."""
    found: dict[str, dict[str, str]] = {}
    flattened: dict[tuple[str, str], str] = {}
    for path in REPORT_SOURCES:
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"derive\([^)]*Serialize[^)]*\)\]\s*pub struct (\w+) \{\n(.*?)\n\}", text, re.S):
            told = re.sub(r"#\[serde\(skip\)\]\s*\w+: .*,", "", match[2])
            found[match[1]] = dict(re.findall(r"^\s*(?:pub )?(\w+): (.*),$", told, re.M))
            for name, kind in re.findall(r"serde\(flatten\)\]\s*pub (\w+): (\w+),", match[2]):
                flattened[match[1], name] = kind
    for (struct, field), kind in flattened.items():
        del found[struct][field]
        found[struct] |= found[kind]
    return {struct: {n: kind.startswith("Option<") for n, kind in fields.items()} for struct, fields in found.items()}


def test_round_trip_keeps_every_field(document):
    assert json.loads(AirReport.parse(json.dumps(document)).model_dump_json()) == document


def test_models_have_exactly_the_fields_of_the_analyzer():
    structs = rust_structs()
    assert len(structs) > 25
    models = {item.__name__: item for item, _ in reference.classes()}
    models["Report"] = models.pop("AirReport")
    for name, fields in structs.items():
        if name not in models:
            continue
        mine = {n: "None" in str(models[name].__annotations__[n]) for n in models[name].model_fields}
        assert mine == fields, name
    assert set(models) - set(structs) <= {"Head"}


def test_newer_fields_are_ignored(document):
    document["of_tomorrow"] = {"x": 1}
    document["summary"]["of_tomorrow"] = 2
    assert AirReport.parse(json.dumps(document)).frames == document["frames"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 1}, "version 1 is not known"),
        ({"format": "pcap"}, 'its format is "pcap"'),
        ({"frames": "many"}, "frames"),
        ({"summary": None}, "summary"),
    ],
)
def test_wrong_documents_are_refused_with_the_place(document, change, message):
    with pytest.raises(FormatError, match=re.escape(message)):
        AirReport.parse(json.dumps(document | change))


def test_waterfall_shares_sum_to_one(report):
    for fall in report.waterfalls:
        assert sum(step.share for step in fall.steps) == pytest.approx(1, abs=1e-9)


def test_reference_is_up_to_date():
    text = (ROOT / "docs/air-json.md").read_text(encoding="utf-8")
    _, marker, written = text.partition(reference.MARKER)
    assert marker
    assert written.strip() == reference.reference().strip(), "run: python -m txop.air.model.reference docs/air-json.md"


def test_every_field_is_documented_with_words():
    text = (ROOT / "docs/air-json.md").read_text(encoding="utf-8")
    for item, docs in reference.classes():
        for name in item.model_fields:
            assert f"| `{name}` |" in text
            assert len(docs[name]) > 3, f"{item.__name__}.{name}"
