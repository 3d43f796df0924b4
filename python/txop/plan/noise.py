"""Records the noise of a testbed from earlier campaigns, from which a plan states the smallest effect it can show.

Kept in ``txop/noise.json`` of the user's state folder (``$XDG_STATE_HOME``, else ``~/.local/state``). An entry belongs
to a testbed (targets, link, environment, origin) and to a test as it is defined, so that the noise of a 30 s window is
never taken for that of a 5 s one. The store is a convenience: damage costs its contents and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from txop.core.metrics import Metric
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.plan.stored import Stored, rewriting, state_folder

STORED = Stored("txop-noise", 1, "testbeds", max_bytes=16 << 20)
MAX_TESTBEDS = 200
"""The testbeds measured longest ago are forgotten beyond this many."""

MOST_CAMPAIGNS = 5
"""Of each figure the newest campaigns of one arm against itself, and of others, are kept, and their noise is pooled."""
LEAST_BLOCKS = 6
"""Fewer blocks say too little about noise: a standard deviation from two of them is off by a factor of 2.5 half of the
time."""

_REMARKS = frozenset({"remarks", "remark", "notes", "note", "date", "time", "operator"})
"""Keys of ``[environment]`` that do not make it another testbed."""


@dataclass(frozen=True)
class Noise:
    """How much one figure differs between two runs of the same thing within a block."""

    sd_d: float
    """Standard deviation of the differences within blocks: of 100 times the logarithm of the ratio (about percent) for
    a metric compared by ratio, in the metric's unit for others; as ``Row.sd_d`` of a comparison."""
    n: int
    """Blocks that it was estimated from, in all."""
    when: str
    """Date of the campaign, ISO 8601; of several the newest."""
    source: str
    """The archive it came from; of several the newest."""
    aa: bool = False
    """From a campaign of one arm against itself; otherwise from the arms of a comparison, without the mean of their
    effects."""
    campaigns: int = 1
    """How many it was pooled from."""


def testbed(plan: Plan) -> str:
    """Fingerprint of where a plan measures."""
    targets = {
        name: target.model_dump(
            mode="json", exclude={"hooks", "sudo", "key", "known_hosts", "config", "connect_timeout_s", "jump"}
        )
        for name, target in plan.target.items()
    }
    environment = {key: value for key, value in plan.environment.items() if key.lower() not in _REMARKS}
    return _digest({"targets": targets, "link": plan.link, "environment": environment, "origin": plan.origin.value})


def test_key(plan: Plan, test: Test) -> str:
    """Fingerprint of what a test measures; its name is not part of it."""
    definition = test.model_dump(mode="json", exclude={"name", "warm_up_s"})
    return _digest({"test": definition, "warm_up_s": plan.warm_up_s(test), "reload": plan.design.reload})


def remember(plan: Plan, figures: Mapping[str, Noise], *, store: Path | None = None) -> None:
    """Keep the noise of a finished campaign beside that of the last few; the same archive replaces what it gave before.

    Args:
        plan: The campaign's plan.
        figures: By ``TEST.METRIC``. Figures of unknown tests, and those with noise that is not a finite number or comes
            from fewer than two blocks, are left out.
        store: The file; default: in the state folder.

    Raises:
        OSError: the file cannot be written.
    """
    path = store or default_store()
    tests = {test.name: test_key(plan, test) for test in plan.test}
    with rewriting(path, _read) as testbeds:
        mine = testbeds.setdefault(testbed(plan), {})
        for name, noise in figures.items():
            test, _, metric = name.rpartition(".")
            if test not in tests or noise.n < 2 or not math.isfinite(noise.sd_d) or noise.sd_d < 0:
                continue
            of_test = mine.setdefault(tests[test], {})
            others = [known for known in of_test.get(metric, []) if known.source != noise.source]
            kept = sorted([*others, noise], key=lambda each: each.when)
            of_test[metric] = [
                each for aa in (False, True) for each in [one for one in kept if one.aa is aa][-MOST_CAMPAIGNS:]
            ]
        newest = sorted(testbeds, key=lambda key: _latest(testbeds[key]), reverse=True)[:MAX_TESTBEDS]
        table = {
            key: {
                test: {metric: [asdict(noise) for noise in of] for metric, of in metrics.items()}
                for test, metrics in testbeds[key].items()
            }
            for key in newest
        }
        STORED.write(path, table)


def recall(plan: Plan, *, store: Path | None = None) -> dict[str, Noise]:
    """What is known of the figures of a plan, by ``TEST.METRIC``: pooled over campaigns, those of one arm against
    itself if there are any. Never raises: an unreadable store knows nothing."""
    mine = _read(store or default_store()).get(testbed(plan), {})
    pooled = {
        f"{test.name}.{metric}": _pooled(of)
        for test in plan.test
        for metric, of in mine.get(test_key(plan, test), {}).items()
    }
    return {name: noise for name, noise in pooled.items() if noise is not None}


def _pooled(campaigns: Sequence[Noise]) -> Noise | None:
    """One noise of several: of campaigns of one arm against itself where they are enough, else of all; ``None`` where
    these are too little, by their degrees of freedom: as many as one campaign of :data:`LEAST_BLOCKS` has."""
    of_itself = [each for each in campaigns if each.aa]
    enough = [of for of in (of_itself, campaigns) if sum(each.n - 1 for each in of) >= LEAST_BLOCKS - 1]
    if not enough:
        return None
    campaigns = enough[0]
    blocks = sum(each.n for each in campaigns)
    freedom = sum(each.n - 1 for each in campaigns)
    largest = max(each.sd_d for each in campaigns) or 1.0
    squares = math.fsum((each.n - 1) * (each.sd_d / largest) ** 2 for each in campaigns)
    newest = max(campaigns, key=lambda each: each.when)
    return replace(newest, sd_d=largest * math.sqrt(squares / freedom), n=blocks, campaigns=len(campaigns))


def smallest_effect(noise: Noise, metric: Metric, *, blocks: int, confidence: float, family: int = 1) -> float | None:
    """Effect that a campaign of this many blocks shows in 4 of 5 cases, judged in a ``family`` of so many comparisons:
    in percent for a metric compared by ratio, else in its unit. ``None`` when they can never show one, or no table has
    the confidence."""
    from txop.stats.power import as_change, smallest_detectable_effect

    effect = smallest_detectable_effect(blocks, noise.sd_d, confidence=confidence, family=family)
    return as_change(effect, ratio=metric.scale == "ratio")


def default_store() -> Path:
    """The file in the user's state folder."""
    return state_folder() / "noise.json"


_Testbeds = dict[str, dict[str, dict[str, list[Noise]]]]


def _read(path: Path) -> _Testbeds:
    found: _Testbeds = {}
    for key, tests in STORED.read(path).items():
        for test, metrics in _tables(tests):
            for metric, entry in _tables(metrics):
                entries = entry[-2 * MOST_CAMPAIGNS :] if isinstance(entry, list) else [entry]
                if known := [noise for each in entries if (noise := _noise(each)) is not None]:
                    found.setdefault(key, {}).setdefault(test, {})[metric] = known
    return found


def _tables(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()


def _noise(entry: Any) -> Noise | None:
    if not isinstance(entry, dict):
        return None
    sd_d, n, when, source = entry.get("sd_d"), entry.get("n"), entry.get("when"), entry.get("source")
    if isinstance(sd_d, bool) or not isinstance(sd_d, int | float) or not math.isfinite(sd_d) or sd_d < 0:
        return None
    if not isinstance(n, int) or n < 2 or not isinstance(when, str) or not isinstance(source, str):
        return None
    return Noise(float(sd_d), n, when[:40], source[:4096], entry.get("aa") is True)


def _latest(tests: Mapping[str, Mapping[str, Sequence[Noise]]]) -> str:
    return max((noise.when for metrics in tests.values() for of in metrics.values() for noise in of), default="")


def _digest(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
