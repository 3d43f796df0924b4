"""Tables of the fields of a format, made from the models that read and write it, so that they cannot disagree."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import is_dataclass
from pathlib import Path

from pydantic import BaseModel


def field_tables(module: str) -> str:
    """Markdown tables of the models and data classes in ``module``, in its order."""
    loaded = importlib.import_module(module)
    tree = ast.parse(Path(str(loaded.__file__)).read_text(encoding="utf-8"))
    parts = []
    for node in tree.body:
        item = getattr(loaded, node.name) if isinstance(node, ast.ClassDef) else None
        if isinstance(node, ast.ClassDef) and _has_fields(item):
            parts.append(_table(node))
    return "\n".join(parts)


def _has_fields(item: object) -> bool:
    """Whether it is a record of a format: a model, or a data class where there are too many for models."""
    if not isinstance(item, type):
        return False
    return bool(item.model_fields) if issubclass(item, BaseModel) else is_dataclass(item)


def _table(node: ast.ClassDef) -> str:
    about = _plain(ast.get_docstring(node) or "")
    base = node.bases[0].id if node.bases and isinstance(node.bases[0], ast.Name) else ""
    if base and not base.endswith(("Record", "BaseModel")):
        about += f" Has the fields of {base} too."
    lines = [f"### {node.name}", "", about, "", "| field | type | meaning |", "| --- | --- | --- |"]
    for position, statement in enumerate(node.body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            after = node.body[position + 1] if position + 1 < len(node.body) else None
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            meaning = _plain(str(text))
            kind = _kind(ast.unparse(statement.annotation))
            lines.append(f"| `{statement.target.id}` | {kind} | {_cell(meaning)} |")
    return "\n".join([*lines, ""])


def _kind(annotation: str) -> str:
    text = annotation.replace("Finite", "number").replace("float", "number").replace("str", "text")
    text = text.replace("bool", "true/false").replace("int", "integer").replace(" | None", " or null")
    return _cell(re.sub(r"Literal\[(.*?)\]", r"\1", text))


def _plain(docstring: str) -> str:
    """A docstring as Markdown on one line; what is ``None`` in Python is null in a file."""
    text = re.sub(r":[a-z]+:`~?([^`]*)`", r"`\1`", docstring.replace("``", "`"))
    return " ".join(text.replace("`None`", "`null`").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
