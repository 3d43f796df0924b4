"""``txop cache``: what is kept, and what of it goes."""

from __future__ import annotations

import json
import os
from pathlib import Path

from txop.guest.inputs import Inputs
from txop.guest.results import Event
from txop.guest.run_store import RunStore
from txop.guest.running import Ended


def keep(folder: Path, number: int) -> None:
    left = folder / "left"
    left.mkdir(exist_ok=True)
    (left / "console").write_bytes(bytes(1000))
    store = RunStore.at(str(folder / "runs"))
    for seed in range(number):
        made = Inputs({"seed": seed})
        store.put(made, left, Ended(0, (Event("end", 1.0, "0"),), (), 1.0), checked=False)
        os.utime(folder / "runs" / made.key[:2] / f"{made.key}.run", (1e9 + seed, 1e9 + seed))


def said(txop, *arguments: str) -> dict:
    done = txop("cache", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_there_and_what_goes(txop, tmp_path):
    keep(tmp_path, 3)
    place = ("--cache", str(tmp_path / "runs"))
    shown = said(txop, "show", *place)
    assert (shown["format"], shown["version"], shown["runs"]) == ("txop-cache", 1, 3)
    runs = said(txop, "list", *place)["runs"]
    assert sum(run["size_bytes"] for run in runs) == shown["size_bytes"] > 3000
    assert [run["key"] for run in runs] == [Inputs({"seed": seed}).key for seed in range(3)]
    assert said(txop, "prune", "--keep", "0.000002", *place)["removed"] == 2
    assert said(txop, "prune", "--unused", "30", *place)["removed"] == 1
    assert said(txop, "show", *place)["runs"] == 0
    assert said(txop, "show", *place)["oldest_days"] is None


def test_words_say_the_same(txop, tmp_path):
    keep(tmp_path, 2)
    done = txop("cache", "show", "--cache", str(tmp_path / "runs"))
    assert "2 runs" in done.stdout
    assert len(txop("cache", "list", "--cache", str(tmp_path / "runs")).stdout.splitlines()) == 2


def test_wrong_use_is_refused(txop, tmp_path):
    assert txop("cache", "prune").returncode == 2
    assert txop("cache", "show", "--cache", "no-such-store://x").returncode in (2, 3)
    assert txop("run", "plan.toml", "--no-cache", "--cache", "x").returncode == 2
    assert txop("cache", "verify", str(tmp_path / "none.toml")).returncode == 2
