"""The answers of R (tests/data/make_r_wilcox.R) and ours."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from txop.stats.drift import drift
from txop.stats.holm import holm
from txop.stats.signed_rank import SignedRank, signed_rank
from txop.stats.two_sample import TwoSample, mann_whitney

sys.path.insert(0, str(Path(__file__).parent))
from r_answers import SCRIPT, Answer, read, stored

TOLERANCE = 1e-9


def ours(answer: Answer) -> SignedRank | TwoSample:
    if answer.kind == "one":
        return signed_rank(answer.x, confidence=answer.confidence)
    return mann_whitney(answer.x, answer.y, confidence=answer.confidence)


def check(answer: Answer) -> bool:
    """Compare one answer; whether there was an interval to compare."""
    found = ours(answer)
    assert answer.conditional_p is not None
    assert answer.estimate is not None
    assert answer.low is not None
    assert answer.high is not None
    # coin's conditional p-value is exact with and without ties.
    assert found.p == pytest.approx(answer.conditional_p, abs=TOLERANCE)
    if answer.exact:
        assert found.p == pytest.approx(answer.p, abs=TOLERANCE)
        assert found.estimate == pytest.approx(answer.estimate, abs=TOLERANCE)
    if math.isinf(found.low):
        assert math.isinf(found.high)
        # R stretches to the whole sample instead and warns; its interval is then less sure than asked for.
        assert found.attained_confidence == 1
        return False
    if answer.exact:
        assert found.low == pytest.approx(answer.low, abs=TOLERANCE)
        assert found.high == pytest.approx(answer.high, abs=TOLERANCE)
    return True


@pytest.mark.parametrize(("kind", "exact", "tied"), [("one", 142, 51), ("two", 235, 49)])
def test_every_stored_answer(kind: str, exact: int, tied: int) -> None:
    answers = stored(kind)
    assert sum(answer.exact for answer in answers) == exact
    assert sum(not answer.exact for answer in answers) == tied
    intervals = sum(check(answer) for answer in answers)
    assert intervals > 0.9 * len(answers)


def test_with_ties_r_approximates_and_we_do_not() -> None:
    """R's interval for ties is a normal approximation on the sample without zeros; ours keeps them, and is not shorter
    than R's by more than the step of the data."""
    differs = 0
    for answer in stored("one") + stored("two"):
        if answer.exact:
            continue
        found = ours(answer)
        differs += abs(found.p - (answer.p or 0)) > 1e-4
        assert found.low <= found.estimate <= found.high
        if answer.kind == "two":
            assert answer.estimate is not None
            assert found.estimate == pytest.approx(answer.estimate, abs=0.01)
            assert found.low == pytest.approx(answer.low, abs=0.01)
            assert found.high == pytest.approx(answer.high, abs=0.01)
    assert differs > 80


def test_spearman() -> None:
    answers = stored("spearman")
    assert len(answers) == 54
    for answer in answers:
        found = drift(answer.x)
        assert found is not None
        assert found.rho == pytest.approx(answer.estimate, abs=TOLERANCE)
        assert found.exact == answer.exact
        # Beyond nine blocks R expands a series (AS 89) and we use Student's t.
        assert found.p == pytest.approx(answer.p, abs=TOLERANCE if answer.exact else 0.013)


def test_holm() -> None:
    answers = stored("holm")
    assert len(answers) == 12
    for answer in answers:
        assert holm(answer.x) == pytest.approx(answer.y, abs=TOLERANCE)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R (apt-get install r-base-core)")
def test_r_still_answers_the_same() -> None:
    text = subprocess.run(["Rscript", str(SCRIPT)], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    live = read(text)
    assert len(live) > 500
    for answer in live:
        if answer.kind in ("one", "two"):
            if answer.conditional_p is None:
                pytest.skip("needs R's package coin (apt-get install r-cran-coin)")
            check(answer)
