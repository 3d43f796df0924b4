"""Plans to start from: the TOML files in ``templates``, which ``examples/plans`` links to."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Template:
    """A plan to start from."""

    name: str
    title: str
    text: str
    group: str
    """What it runs on, in words."""


def templates() -> dict[str, Template]:
    """Every template, by name."""
    found = {}
    for file in sorted((resources.files("txop.plan") / "templates").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            text = file.read_text(encoding="utf-8")
            name = file.name.removesuffix(".toml")
            plan = tomllib.loads(text)
            found[name] = Template(name, str(plan.get("title", "")), text, _group(plan))
    return found


GROUPS = {
    "": "With hardware: on this machine, over SSH",
    "emulated": "Without hardware: emulated links",
    "guest": "Without hardware: real drivers in guests",
}
"""By the kind of their targets."""


def _group(plan: dict[str, Any]) -> str:
    kinds = {target.get("kind") for target in plan.get("target", {}).values()}
    return next((words for kind, words in GROUPS.items() if kind in kinds), GROUPS[""])
