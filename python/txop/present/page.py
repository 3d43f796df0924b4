"""The shell of every HTML report: one file, no network, nothing in it can run but the one script it brings.

Text is made inert twice: characters that do not print become visible escapes, then jinja escapes HTML.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from txop.core.visible import visible


def render(package: str, template: str, **values: Any) -> str:
    """The page made from ``template`` of ``package`` (a template that extends ``shell.html.j2`` of this package)."""
    script = _read("txop.present", "shell.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _templates(package)
        .get_template(template)
        .render(
            style=Markup(_read("txop.present", "shell.css")),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            script_hash=f"sha256-{digest}",
            **values,
        )
    )


@functools.cache
def _templates(package: str) -> jinja2.Environment:
    """The templates of ``package``, which are compiled once."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([_PackageFiles(package), _PackageFiles("txop.present")]),
        autoescape=True,
        finalize=_visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    return environment


class _PackageFiles(jinja2.BaseLoader):
    """Templates inside an installed package."""

    def __init__(self, package: str) -> None:
        self._package = package

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str | None, Any]:
        del environment
        try:
            return _read(self._package, template), None, lambda: True
        except FileNotFoundError:
            raise jinja2.TemplateNotFound(template) from None


def _read(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|pp|µs|ms|[kM]bit/s|[MG]Hz|dBm?|[kM]?B)(?!\w))")
"""The space between a number and its unit, where a line must not end."""


def _visible(value: Any) -> Any:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return Markup(_BEFORE_UNIT.sub("&nbsp;", escape(visible(value))))  # noqa: S704 - escaped here
