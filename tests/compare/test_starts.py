"""Figures of guests that booted and of guests that were restored are never compared with each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.compare.archive import compare
from txop.compare.select import CompareError, check_comparable
from txop.core.origin import Origin, Start


def changed(archive: Archive, how: Callable[[RunFile], dict[str, Any]]) -> Archive:
    """Its runs, as guests would have left them."""
    runs = [run.model_copy(update={"origin": Origin.GUEST_EXACT, **how(run)}) for run in archive.runs]
    return replace(archive, runs=runs)


def of(archive: Archive, start: Start | None) -> Archive:
    return changed(archive, lambda _: {"start": start})


def test_one_archive_has_one_start_for_a_test(golden: Archive) -> None:
    compare(of(golden, Start.ASSOCIATED))
    baseline = golden.plan.baseline
    mixed = changed(golden, lambda run: {"start": Start.ASSOCIATED if run.arm == baseline else Start.BOOT})
    with pytest.raises(CompareError, match="two starts"):
        compare(mixed)


def test_tests_may_begin_in_their_own_way(golden: Archive) -> None:
    """A trial boots always."""
    first = golden.plan.test[0].name
    compare(changed(golden, lambda run: {"start": Start.BOOT if run.test == first else Start.ASSOCIATED}))


def test_two_archives_have_to_begin_in_the_same_way(golden: Archive) -> None:
    booted, restored, unsaid = of(golden, Start.BOOT), of(golden, Start.ASSOCIATED), of(golden, None)
    for one, other in ((booted, restored), (restored, booted), (unsaid, restored)):
        with pytest.raises(CompareError, match="two starts"):
            check_comparable(one, other)
    assert check_comparable(booted, unsaid) is Origin.GUEST_EXACT, "runs without a word about it booted"
    assert check_comparable(restored, restored) is Origin.GUEST_EXACT


def test_void_runs_forbid_nothing(golden: Archive) -> None:
    compare(changed(golden, lambda run: {"start": Start.ASSOCIATED if run.state == "valid" else Start.BOOT}))
