"""How numbers are written for people."""

from __future__ import annotations

import pytest

from txop.present import format as fmt


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 µs"),
        (10.6, "10.6 µs"),
        (10.0, "10 µs"),
        (180.4, "180 µs"),
        (1_600, "1.60 ms"),
        (250_000, "250 ms"),
        (30e6, "30.0 s"),
        (7200e6, "120.0 min"),
        (None, "–"),
    ],
)
def test_times_read_best_in_their_unit(value, text):
    assert fmt.duration_us(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.6241, "0.624"), (24.53, "24.5"), (866.7, "867"), (0.00001, "below 0.001"), (12345.6, "12,346")],
)
def test_rates(value, text):
    assert fmt.mbit_s(value) == f"{text} Mbit/s"


def test_nothing_available_is_never_a_zero():
    numbers = (fmt.count, fmt.number, fmt.percent, fmt.share, fmt.mbit_s, fmt.dbm, fmt.duration_us, fmt.size_bytes)
    functions = (*numbers, fmt.signed)
    assert {function(None) for function in functions} == {fmt.NOT_AVAILABLE}


@pytest.mark.parametrize(("value", "text"), [(1.25, "+1.2"), (-0.31, "−0.3"), (0.01, "0.0"), (-0.01, "0.0")])
def test_differences_have_a_sign_unless_they_vanish(value, text):
    assert fmt.signed(value) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0 B"), (999, "999 B"), (148_220_114, "148 MB"), (1_540, "1.54 kB")])
def test_sizes(value, text):
    assert fmt.size_bytes(value) == text
