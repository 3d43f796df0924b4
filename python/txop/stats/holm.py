"""Several metrics judged together: Holm's step-down adjustment."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p-values, in the order given: at most alpha where Holm's procedure rejects at a family-wise alpha.

    ``None`` is a comparison that was declared and has no p-value; it stays ``None`` and still counts in the family,
    so that a missing result makes the others no easier. (Holm 1979.)

    >>> holm([0.01, 0.04, None])
    (0.03, 0.08, None)

    Raises:
        ValueError: a p-value outside 0 to 1.
    """
    for p in p_values:
        if p is not None and not 0 <= p <= 1:
            raise ValueError(f"{p} is not a p-value")
    known = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for step, (p, index) in enumerate(known):
        largest = max(largest, min(1.0, (len(p_values) - step) * p))
        adjusted[index] = largest
    return tuple(adjusted)
