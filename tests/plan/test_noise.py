"""The store of noise: what is kept comes back for the same testbed and test only, and damage costs nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from txop.core.metrics import METRICS
from txop.plan.noise import MAX_TESTBEDS, MOST_CAMPAIGNS, Noise, default_store, recall, remember, smallest_effect
from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import compare_paired, with_holm

NOISE = Noise(sd_d=4.0, n=10, when="2026-03-01T10:00:00+00:00", source="/archives/x", aa=True)
FIGURE = "tx.throughput_mbit_s"


@pytest.fixture
def store(tmp_path):
    return tmp_path / "state" / "noise.json"


def test_what_is_kept_comes_back(parse, good, store):
    plan = parse(good).plan
    assert recall(plan, store=store) == {}
    remember(plan, {FIGURE: NOISE, "nope.rtt_p50_ms": NOISE}, store=store)
    assert recall(plan, store=store) == {FIGURE: NOISE}


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ('title = "two builds"', 'title = "other"', True),
        ('name = "tx"', 'name = "up"', True),
        ("[[arm]]", '[environment]\nremarks = "rain"\n[[arm]]', True),
        ('kind = "local"', 'kind = "local"\nsudo = true', True),
        ("[[test]]", "[design]\nblocks = 20\n[[test]]", True),
        ("[[arm]]", '[environment]\ndistance = "3 m"\n[[arm]]', False),
        ('interface = "wlan0"', 'interface = "wlan1"', False),
        ('host = "10.0.0.1"', 'host = "10.0.0.2"', False),
        ('kind = "tcp-tx"', 'kind = "tcp-tx"\nduration_s = 31', False),
        ('kind = "tcp-tx"', 'kind = "tcp-tx"\nstreams = 2', False),
        ("[[test]]", "[design]\nwarm_up_s = 6\n[[test]]", False),
    ],
)
def test_it_belongs_to_a_testbed_and_a_test(parse, good, store, before, after, same):
    remember(parse(good).plan, {FIGURE: NOISE}, store=store)
    text = good.replace(before, after, 1)
    assert text != good
    assert bool(recall(parse(text).plan, store=store)) is same


def test_noise_of_an_arm_against_itself_is_not_replaced_by_other(parse, good, store):
    plan = parse(good).plan
    remember(plan, {FIGURE: NOISE}, store=store)
    remember(plan, {FIGURE: replace(NOISE, sd_d=9.0, aa=False, source="/archives/y")}, store=store)
    assert recall(plan, store=store)[FIGURE].sd_d == 4.0
    remember(plan, {FIGURE: replace(NOISE, sd_d=5.0)}, store=store)  # the same archive again
    assert recall(plan, store=store)[FIGURE].sd_d == 5.0


def test_campaigns_are_pooled_by_their_degrees_of_freedom(parse, good, store):
    plan = parse(good).plan
    remember(plan, {FIGURE: replace(NOISE, sd_d=2.0, n=6)}, store=store)
    remember(plan, {FIGURE: replace(NOISE, sd_d=0.3, n=2, source="/archives/y", when="2026-04-01")}, store=store)
    found = recall(plan, store=store)[FIGURE]
    assert found.sd_d == pytest.approx(((5 * 2.0**2 + 1 * 0.3**2) / 6) ** 0.5)
    assert (found.n, found.campaigns, found.source) == (8, 2, "/archives/y")


def test_two_blocks_alone_are_no_basis(parse, good, store):
    """Each campaign of two blocks has one degree of freedom; one of six has five."""
    plan = parse(good).plan
    for number, known in enumerate([False, False, False, False, True]):
        remember(plan, {FIGURE: replace(NOISE, n=2, source=f"/archives/{number}")}, store=store)
        assert (FIGURE in recall(plan, store=store)) is known


def test_a_small_campaign_of_one_arm_does_not_hide_what_others_showed(parse, good, store):
    plan = parse(good).plan
    remember(plan, {FIGURE: replace(NOISE, sd_d=1.0, n=20, aa=False)}, store=store)
    remember(plan, {FIGURE: replace(NOISE, sd_d=3.0, n=2, source="/archives/y")}, store=store)
    found = recall(plan, store=store)[FIGURE]
    assert (found.n, found.campaigns) == (22, 2)
    assert found.sd_d == pytest.approx(((19 * 1.0 + 1 * 9.0) / 20) ** 0.5)


def test_only_the_newest_campaigns_are_kept(parse, good, store):
    plan = parse(good).plan
    for number in range(MOST_CAMPAIGNS + 4):
        noise = replace(NOISE, source=f"/archives/{number}", when=f"2026-03-{number + 1:02d}")
        remember(plan, {FIGURE: noise}, store=store)
    found = recall(plan, store=store)[FIGURE]
    assert (found.campaigns, found.n) == (MOST_CAMPAIGNS, 10 * MOST_CAMPAIGNS)


def test_what_is_no_noise_is_not_kept(parse, good, store):
    plan = parse(good).plan
    for wrong in (
        replace(NOISE, n=1),
        replace(NOISE, sd_d=float("nan")),
        replace(NOISE, sd_d=float("inf")),
        replace(NOISE, sd_d=-1.0),
    ):
        remember(plan, {FIGURE: wrong}, store=store)
        assert recall(plan, store=store) == {}


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\xff\x00",
        b"{",
        b"[]",
        b"[" * 100_000,
        b'{"format": "txop-noise", "version": 99, "testbeds": {}}',
        b'{"format": "txop-noise", "version": 1, "testbeds": {"a": [1]}}',
        b'{"format": "txop-noise", "version": 1, "testbeds": {"a": {"b": {"c": {"sd_d": true, "n": 10}}}}}',
    ],
)
def test_damage_is_set_aside_and_costs_nothing_else(parse, good, store, damage):
    plan = parse(good).plan
    store.parent.mkdir()
    store.write_bytes(damage)
    assert recall(plan, store=store) == {}
    remember(plan, {FIGURE: NOISE}, store=store)
    assert recall(plan, store=store) == {FIGURE: NOISE}
    assert store.with_suffix(".damaged").read_bytes() == damage


def test_entries_that_are_damaged_do_not_harm_others(parse, good, store):
    plan = parse(good).plan
    remember(plan, {FIGURE: NOISE, "idle.rtt_p50_ms": NOISE}, store=store)
    document = json.loads(store.read_text())
    ((tests,),) = [document["testbeds"].values()]
    next(metrics for metrics in tests.values() if "rtt_p50_ms" in metrics)["rtt_p50_ms"][0]["sd_d"] = "many"
    store.write_text(json.dumps(document))
    assert recall(plan, store=store) == {FIGURE: NOISE}


def test_the_store_does_not_grow_without_bound(parse, good, store):
    plan = parse(good).plan
    remember(plan, {FIGURE: NOISE}, store=store)
    document = json.loads(store.read_text())
    ((tests,),) = [document["testbeds"].values()]
    for number in range(MAX_TESTBEDS + 50):
        old = json.loads(json.dumps(tests).replace("2026-03-01", f"2020-01-01T{number:06d}"))
        document["testbeds"][f"t{number}"] = old
    store.write_text(json.dumps(document))
    remember(plan, {FIGURE: NOISE}, store=store)
    assert len(json.loads(store.read_text())["testbeds"]) == MAX_TESTBEDS
    assert recall(plan, store=store) == {FIGURE: NOISE}


WRITER = """
import sys
from pathlib import Path
from txop.plan.load import parse_plan
from txop.plan.noise import Noise, remember
text, first, store = sys.argv[1:]
for number in range(int(first), 12, 3):
    plan = parse_plan(text.replace("10.0.0.1", f"10.0.1.{number}").encode(), Path("p")).plan
    remember(plan, {"tx.throughput_mbit_s": Noise(4.0, 10, "2026-03-01", "x", True)}, store=Path(store))
"""


def test_several_writers_at_once_lose_nothing(parse, good, store):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, good, str(first), str(store)]) for first in range(3)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    for number in range(12):
        assert FIGURE in recall(parse(good.replace("10.0.0.1", f"10.0.1.{number}")).plan, store=store)


def test_the_default_place_is_the_state_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_store() == tmp_path / "txop" / "noise.json"
    monkeypatch.setenv("XDG_STATE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_store() == tmp_path / ".local" / "state" / "txop" / "noise.json"


def test_the_smallest_effect_is_in_percent_for_ratios_and_shrinks_with_blocks():
    ratio, difference = METRICS["throughput_mbit_s"], METRICS["retry_percent"]
    ten = smallest_effect(NOISE, ratio, blocks=10, confidence=0.95)
    assert ten is not None
    # 80 % power of the exact signed-rank test at n = 10 is reached at about one standard deviation
    assert 3.8 < ten < 4.4
    thirty = smallest_effect(NOISE, ratio, blocks=30, confidence=0.95)
    assert thirty is not None
    assert thirty < ten
    plain = smallest_effect(NOISE, difference, blocks=10, confidence=0.95)
    assert plain is not None
    assert plain < ten
    assert smallest_effect(NOISE, ratio, blocks=5, confidence=0.95) is None
    assert smallest_effect(replace(NOISE, sd_d=1e7), ratio, blocks=10, confidence=0.95) == float("inf")


def test_the_smallest_effect_is_that_of_a_comparison_of_the_same_noise():
    """The plan's check and the table of effects promise the same, also where several figures are judged together."""
    ratio = METRICS["throughput_mbit_s"]
    rng = np.random.default_rng(1)
    base = np.full(9, 50.0)
    rows = [
        compare_paired(
            base,
            base * np.exp(rng.normal(0.2, 0.03, 9)),
            ComparisonSettings(scale="ratio", better="higher", margin=3.0),
        )
        for _ in range(3)
    ]
    for row in with_holm(rows):
        noise = replace(NOISE, sd_d=row.sd_d)
        promised = smallest_effect(noise, ratio, blocks=9, confidence=0.95, family=3)
        assert promised == pytest.approx(row.smallest_detectable_effect)
