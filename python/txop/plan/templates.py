"""Plans to start from: the TOML files in ``templates``, which ``examples/plans`` links to."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Template:
    """A plan to start from."""

    name: str
    title: str
    text: str


def templates() -> dict[str, Template]:
    """Every template, by name."""
    found = {}
    for file in sorted((resources.files("txop.plan") / "templates").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            text = file.read_text(encoding="utf-8")
            name = file.name.removesuffix(".toml")
            found[name] = Template(name, str(tomllib.loads(text).get("title", "")), text)
    return found
