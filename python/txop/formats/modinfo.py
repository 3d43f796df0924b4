"""``modinfo``: what a module file says of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of

_FIELD = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_.]{0,40}): +(?P<value>[^\n]{0,4000})")
_PARAMETER = re.compile(r"(?P<name>[A-Za-z0-9_]{1,80}):(?P<description>.*?)(?: ?\((?P<type>[^()]{1,60})\))?", re.DOTALL)
_LONGEST_VALUE = 65_536


@dataclass(frozen=True, slots=True)
class ModuleParameter:
    """One ``parm:``."""

    name: str
    description: str
    type: str | None
    """``int``, ``bool``, ``array of int``, ..."""


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """One module. ``None``: the file does not say."""

    name: str | None
    """Absent from old modules; then it is the file's name."""

    filename: str | None
    version: str | None
    srcversion: str | None
    """A hash of the module's sources (with ``MODULE_VERSION`` or ``CONFIG_MODULE_SRCVERSION_ALL`` only)."""

    vermagic: str | None
    license: str | None
    description: str | None
    in_tree: bool
    signer: str | None
    depends: tuple[str, ...]
    firmware: tuple[str, ...]
    aliases: tuple[str, ...]
    parameters: tuple[ModuleParameter, ...]
    fields: Mapping[str, tuple[str, ...]]
    """Everything, with repeated fields in order."""


def parse(data: str | bytes) -> ModuleInfo:
    """One module. Raises FormatError, also for modinfo's own errors."""
    what = "modinfo"
    text = text_of(data, what)
    fields: dict[str, list[str]] = {}
    last: list[str] | None = None
    for _, line in lines_of(text):
        if line.startswith("\t") and last:
            # signature: and long descriptions go on in the next line.
            if len(last[-1]) < _LONGEST_VALUE:
                last[-1] += " " + line.strip()
            continue
        found = _FIELD.fullmatch(line[:4100].rstrip() + " " if line.rstrip().endswith(":") else line[:4100])
        if found is None or (found["key"] == "modinfo"):
            last = None
            continue
        last = fields.setdefault(found["key"], [])
        last.append(found["value"].strip())
    if "filename" not in fields and "vermagic" not in fields:
        failed = re.search(r"modinfo: ([^\n]{1,200})", text[:65_536])
        if failed is not None:
            raise FormatError(f"{what} failed: {visible(failed[1])}")
        raise FormatError(f"{what} output expected; {quoted_start(text)}")

    def first(key: str) -> str | None:
        values = fields.get(key)
        return values[0] if values and values[0] else None

    filename = first("filename")
    name = first("name")
    return ModuleInfo(
        name=name,
        filename=filename,
        version=first("version"),
        srcversion=first("srcversion"),
        vermagic=first("vermagic"),
        license=first("license"),
        description=first("description"),
        in_tree=first("intree") == "Y",
        signer=first("signer"),
        depends=tuple(part for part in (first("depends") or "").split(",") if part),
        firmware=tuple(fields.get("firmware", ())),
        aliases=tuple(fields.get("alias", ())),
        parameters=tuple(_parameter(value) for value in fields.get("parm", ())),
        fields={key: tuple(values) for key, values in fields.items()},
    )


def _parameter(value: str) -> ModuleParameter:
    found = _PARAMETER.fullmatch(value[:4000])
    if found is None:
        return ModuleParameter(value[:80], "", None)
    return ModuleParameter(found["name"], found["description"].strip(), found["type"])
