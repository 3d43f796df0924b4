"""The comparison and all runs as one JSON document."""

from __future__ import annotations

import json
from pathlib import Path

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.core.whole_file import whole_file

FORMAT = "txop-campaign"
VERSION = 1


def write_json(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write ``{"format": "txop-campaign", "version": 1, "comparison": ..., "runs": [...]}``, in pure ASCII."""
    with whole_file(target) as out:
        out.write(f'{{"format": {json.dumps(FORMAT)}, "version": {VERSION},\n "comparison": ')
        out.write(json.dumps(result.model_dump(mode="json"), allow_nan=False))
        out.write(',\n "runs": [')
        for number, run in enumerate(archive.runs):
            out.write("\n  " if number == 0 else ",\n  ")
            out.write(json.dumps(run.model_dump(mode="json"), allow_nan=False))
        out.write("\n ]}\n")
