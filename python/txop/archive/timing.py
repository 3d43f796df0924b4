"""Where the time of a campaign went: a figure for each part, summed over runs. Guests side by side count each."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from txop.archive.journal import Event
from txop.archive.run_file import RunFile


class Timing(BaseModel):
    """Seconds by the clock of the machine; ``None``: there was no such part."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")

    build_s: float | None = None
    """Images and drivers."""
    start_s: float | None = None
    """Guests that were booted and associated once, to be saved."""
    boot_s: float | None = None
    association_s: float | None = None
    traffic_s: float | None = None
    check_s: float | None = None
    """Second guests, to see that both leave the same."""
    reading_s: float | None = None
    """Figures were read from what guests left."""
    report_s: float | None = None
    """Comparison and page."""
    wall_s: float | None = None
    """All of it, from the beginning to the end of the command."""


OF_RUNS = ("boot_s", "association_s", "traffic_s", "check_s", "reading_s")


def timing_of(
    runs: Iterable[RunFile],
    events: Iterable[Event] = (),
    *,
    build_s: float | None = None,
    report_s: float | None = None,
    wall_s: float | None = None,
) -> Timing:
    """Where it went.

    Args:
        runs: The campaign's.
        events: Its journal; what it says of building counts as well.
        build_s: Of what was built before it.
        report_s: Of comparison and page.
        wall_s: Of all.
    """
    parts: dict[str, float] = {} if build_s is None else {"build_s": build_s}
    for event in events:
        if event.event == "prepared":
            for name in ("build_s", "start_s"):
                _add(parts, name, event.get(name))
    for run in runs:
        for name in OF_RUNS:
            _add(parts, name, None if run.timing is None else getattr(run.timing, name))
    parts |= {name: value for name, value in (("report_s", report_s), ("wall_s", wall_s)) if value is not None}
    return Timing(**{name: round(value, 3) for name, value in parts.items()})


def _add(parts: dict[str, float], name: str, value: object) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        parts[name] = parts.get(name, 0.0) + value
