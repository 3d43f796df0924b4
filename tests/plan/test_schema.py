"""The schema accepts what the models accept, knows every key with its description, and the documents are current."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from txop.plan.load import load_plan
from txop.plan.schema import HINT, all_descriptions, allowed_keys, schema
from txop.plan.templates import templates
from txop.plan_check.check import check

EXAMPLES = Path(__file__).parents[2] / "examples" / "plans"
DOCUMENT = Path(__file__).parents[2] / "docs" / "plan.md"


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("name", sorted(templates()))
def test_every_template_is_a_plan_that_the_schema_accepts(validator, name):
    loaded = load_plan(EXAMPLES / f"{name}.toml")
    assert loaded.text == templates()[name].text
    validator.validate(tomllib.loads(loaded.text))
    assert check(loaded, files=False).problems == ()
    assert loaded.text.startswith(HINT + "\n")


@pytest.mark.parametrize("name", sorted(templates()))
def test_the_arms_of_every_template_are_different(name):
    plan = load_plan(EXAMPLES / f"{name}.toml").plan
    assert len(plan.arm) >= 2
    assert len({arm.model_dump_json(exclude={"name", "title"}) for arm in plan.arm}) == len(plan.arm)


def test_the_templates_of_the_known_stories_are_there():
    assert {
        "usb-dongle-two-drivers",
        "ssh-gateway",
        "sdio-two-stacks",
        "lte-modem-aggregation",
        "qdisc",
        "soak",
    } <= templates().keys()


def test_the_schema_refuses_what_the_models_refuse(validator, good):
    raw = tomllib.loads(good)
    assert validator.is_valid(raw)
    changes: tuple[dict[str, Any], ...] = (
        {"descripton": ""},
        {"title": 3},
        {"arm": []},
        {"design": {"blocks": 0}},
        {"target": {"dut": {"kind": "locale"}}},
        {"test": [{"name": "x", "kind": "udp-tx"}]},
    )
    for change in changes:
        assert not validator.is_valid({**raw, **change}), change


def test_commands_may_be_text_or_lists(validator, good):
    raw = tomllib.loads(good)
    raw["arm"][0]["load"] = ["iw dev", ["iw", "dev"]]
    assert validator.is_valid(raw)


def test_every_key_of_every_table_is_described():
    described = all_descriptions()
    assert len(described) > 35
    for about in described.values():
        for name in about.item.model_fields:
            assert about.field(name), f"{about.item.__name__}.{name} has no docstring"
    assert set(schema()["$defs"]) <= set(described), "a module with tables is not in all_descriptions()"
    for name, definition in schema()["$defs"].items():
        for key, value in definition.get("properties", {}).items():
            assert value.get("description"), f"{name}.{key}"


def test_the_schema_is_json_of_the_announced_draft():
    assert json.loads(json.dumps(schema())) == schema()
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_schema_knows_which_keys_may_stand_where(good):
    raw = tomllib.loads(good)
    assert "streams" in allowed_keys(("test", 0), raw)
    assert "streams" not in allowed_keys(("test", 1), raw)
    assert "host" in allowed_keys(("target", "peer"), raw)
    assert "parameters" in allowed_keys(("arm", 0, "module"), raw)
    assert allowed_keys(("title",), raw) == []
    assert allowed_keys(("no", 3, "such"), raw) == []


def test_the_plan_in_the_document_is_one(parse):
    text = DOCUMENT.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    assert check(parse(text), files=False).problems == ()
