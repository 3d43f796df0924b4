"""The files of a probe: the document, and what syzkaller takes of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from txop.core.errors import UserError
from txop.core.whole_file import whole_file
from txop.formats.error import FormatError
from txop.guest_probe.description import description
from txop.guest_probe.document import document
from txop.guest_probe.in_guest import Probed
from txop.guest_probe.programs import Seed, seeds

DOCUMENT = "probe.json"
SEEDS = "seeds"
"""Folder of the programs."""


@dataclass(frozen=True)
class Exported:
    """What was written."""

    document: dict[str, Any]
    seeds: tuple[Seed, ...]
    files: tuple[str, ...]
    """Below the folder."""


def export(probed: Probed, folder: Path) -> Exported:
    """Write the document, the description and the programs. Raises :class:`UserError`."""
    made_of = probed.made_of
    heading = (
        f"The virtual {probed.device} of txop, as {probed.facts.get('driver')} of Linux {made_of.get('release')} "
        "probed it.\nMade by `txop guest probe`; probe.json beside it has every reply."
    )
    try:
        text = description(probed.probe, probed.device, heading)
        programs = seeds(probed.probe, probed.device, heading)
    except FormatError as error:
        raise UserError(f"the descriptors of the {probed.device} cannot be described: {error}") from None
    found = document(probed.probe, probed.provenance())
    found["seeds"] = [{"file": f"{SEEDS}/{one.name}.syz", "answered": one.answered, "of": one.of} for one in programs]
    texts = {
        DOCUMENT: json.dumps(found, separators=(",", ":")) + "\n",
        f"{probed.device}.txt": text,
        **{f"{SEEDS}/{one.name}.syz": one.text for one in programs},
    }
    for name, content in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as out:
            out.write(content)
    return Exported(found, programs, tuple(texts))
