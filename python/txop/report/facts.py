"""Facts that every report gives beside its figures: what ran where, and how to run it again."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable

from txop.archive.reader import Archive
from txop.core.origin import Origin

ORIGINS: dict[Origin, str] = {
    Origin.HARDWARE: "measured on real devices",
    Origin.GUEST_EXACT: "real drivers on virtual chips, in instruction-counted time",
    Origin.GUEST_FAST: "real drivers on virtual chips, in the host's time",
    Origin.EMULATED: "real packets of the host's own network stack through a modelled link, in real time",
    Origin.SIMULATED: "a model in virtual time",
    Origin.IMPORTED: "figures of others, taken from a document or a file",
}
"""What an origin means, in words."""

_LONGEST = 200
"""Characters shown of one fact."""

_MOST = 40
"""Facts shown of one target or arm."""


def reproduce(archive: Archive) -> list[str]:
    """The commands that repeat the campaign."""
    overrides = archive.layout.facts().get("overrides")
    changes = overrides if isinstance(overrides, dict) else {}
    options = []
    if isinstance(blocks := changes.get("blocks"), int):
        options += ["--blocks", str(blocks)]
    if changes.get("aa") is True:
        options.append("--aa")
    return [shlex.join(["txop", "run", "plan.toml", *options])]


def plan_sha256(archive: Archive) -> str | None:
    """Digest of the plan as it is in the archive; ``None`` when it cannot be read."""
    try:
        return hashlib.sha256(archive.layout.plan.read_bytes()).hexdigest()
    except OSError:
        return None


def targets(archive: Archive) -> dict[str, list[tuple[str, str]]]:
    """By target: what it was when it was last connected, as (name, text)."""
    return {target: flattened(facts) for target, facts in archive.provenance.items()}


def loaded_arms(archive: Archive) -> dict[str, list[tuple[str, str]]]:
    """By arm: what was found loaded in its runs; a fact that changed from run to run has all its values."""
    found: dict[str, dict[str, list[str]]] = {}
    for run in archive.runs:
        facts = found.setdefault(run.arm, {})
        for name, text in flattened(run.verified):
            values = facts.setdefault(name, [])
            if text not in values:
                values.append(text)
    return {
        arm: [(name, _short(" | ".join(values))) for name, values in list(facts.items())[:_MOST]]
        for arm, facts in found.items()
    }


def flattened(facts: object) -> list[tuple[str, str]]:
    """Nested facts as (dotted name, text); what is not available is marked as that.

    >>> flattened({"kernel": "6.1", "tools": {"iw": None, "ping": "x"}, "parameters": {}})
    [('kernel', '6.1'), ('tools.iw', 'not available'), ('tools.ping', 'x')]
    """
    return [(_short(name), _short(text)) for name, text in _pairs("", facts)][:_MOST]


def _pairs(name: str, value: object) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _pairs(f"{name}.{key}" if name else str(key), inner)
    elif isinstance(value, list):
        yield name, ", ".join(str(item) for item in value)
    elif value is None:
        yield name, "not available"
    else:
        yield name, ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
