"""What devices of `bench/probe_coverage.py` answer: the same as was recorded, but for some bytes."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st

from made_probes import probes
from probe_capture import whole_capture
from txop.formats.usb_urbs import read_usb_urbs
from txop.guest_probe.document import read_probe
from txop.guest_probe.probe import Probe, collect

ROOT = Path(__file__).parents[2]


def _bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("probe_coverage", ROOT / "bench" / "probe_coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


bench = _bench()


@given(probe=probes(), seed=st.integers(0, 1000))
def test_a_mutation_changes_bytes_and_nothing_else(probe: Probe, seed: int) -> None:
    changed = bench.mutated(probe, str(seed))
    assert changed == bench.mutated(probe, str(seed))
    assert [one.setup for one in changed.requests] == [one.setup for one in probe.requests]
    pairs = [(old.replies, new.replies) for old, new in zip(probe.requests, changed.requests, strict=True)]
    pairs += [(old.replies, new.replies) for old, new in zip(probe.endpoints, changed.endpoints, strict=True)]
    differ = 0
    for old, new in pairs:
        for before, after in zip(old, new, strict=True):
            assert (before.status, before.times, len(before.data)) == (after.status, after.times, len(after.data))
            differ += sum(one != other for one, other in zip(before.data, after.data, strict=True))
    assert differ <= max(bench.CHANGED)


def test_some_mutation_changes_something() -> None:
    probe = collect(read_usb_urbs(whole_capture()))
    assert any(bench.mutated(probe, str(seed)) != probe for seed in range(5))


def test_devices_without_replies_answer_zeros_first_and_then_by_a_seed() -> None:
    probe = collect(read_usb_urbs(whole_capture()))
    first, second = (bench.replies_of(probe, bench.ALONE, number, 7) for number in (0, 1))
    assert (first.get("seed"), second["seed"]) == (None, 7001)
    assert read_probe(json.dumps(second)).requests == ()
    recorded = read_probe(json.dumps(bench.replies_of(probe, bench.SEEDS, 0, 7)))
    assert (recorded.requests, recorded.endpoints) == (probe.requests, probe.endpoints)


def test_the_table_counts_what_only_one_kind_reached() -> None:
    def row(kind: str, number: int, blocks: list[str] | None) -> dict[str, object]:
        return {"driver": "made", "kind": kind, "number": number, "blocks": blocks, "facts": ["1 interface usb0"]}

    rows = [row(bench.ALONE, 0, ["a"]), row(bench.SEEDS, 0, ["b", "c"]), row(bench.SEEDS, 1, ["a", "d"])]
    table = bench.summary([*rows, row(bench.SEEDS, 2, None)], {"made": 9}).splitlines()
    assert table[2] == "| made | 9 | descriptors alone | 1 of 1 | 1 | 1 | 1 | 0 |"
    assert table[3] == "| made | 9 | from the seeds | 2 of 3 | 3 | 2 | 4 | 3 |"
    assert table[4] == "| made | 9 | the model itself | 0 of 0 | 0 | None | 0 | 0 |"
