"""A regression of the public history of rtl8xxxu, found by what the stock kernel says of its memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guests_here import built_chips, built_image
from txop.cli.app import main

PLAN = Path(__file__).parents[2] / "examples/ci/checked.toml"


@pytest.mark.slow
def test_a_write_behind_the_end_of_a_station_is_a_fault(tmp_path, capsys):
    built_image("6.12")
    built_chips()
    with pytest.raises(SystemExit) as left:
        main(
            ["ci", "--series", "txop:rtl8xxxu/sta-data-size.toml", "--plan", str(PLAN), "--blocks", "1",
             "-o", str(tmp_path / "out"), "--json", "--quiet"]
        )  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert (left.value.code, found["state"]) == (1, "faults")
    slab = next(fault for fault in found["new_faults"] if fault["key"] == "kernel-slab")
    assert (slab["runs"], slab["of"]) == (1, 1)
    log = (tmp_path / "out/archive/runs/001-series-tx/kernel-log-leaving.txt").read_text()
    assert "Allocated in __sta_info_alloc" in log
