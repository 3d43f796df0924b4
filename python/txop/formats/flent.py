"""flent's data files (``.flent``, ``.flent.gz``, ``.flnt``), versions 1 to 4 of the format; later ones are refused.

What counts is ``raw_values``: ``results`` are the same samples drawn onto a grid, up to five steps beyond where they
were. Before version 4 raw values were in the units of the tool: round trips of netperf's UDP_RR as transactions per
second, HTTP latencies in seconds. Version 1 kept raw values beside the description of a series, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import (
    JSON_LIMIT_BYTES,
    items,
    json_documents,
    mapping,
    real,
    string,
    text_of,
    unpacked,
    whole,
)

NEWEST_VERSION = 4

_WHAT = "a data file of flent"
_MOST_SERIES = 10_000
_COMPUTED = re.compile(r" (?:avg|average|mean|sum|totals?|fairness|std|median)$", re.IGNORECASE)
_COMPUTING = {"average", "sum", "fairness", "diff_min", "smooth_average"}
_MARK = re.compile(r" -Y (0x[0-9a-fA-F]{1,2}|[0-9]{1,3}|[A-Za-z0-9]{2,5})[, ]")
_CLASS = re.compile(r"(?:\b|_)(BE|BK|EF|CS[0-7]|AF[1-4][1-3])(?:[0-9]*|_B[EK])(?: |$)")
_CLASSES = {"BE": 0, "BK": 8, "EF": 46} | {f"CS{n}": 8 * n for n in range(8)} | {
    f"AF{n}{drop}": 8 * n + 2 * drop for n in range(1, 5) for drop in range(1, 4)
}  # fmt: skip
_ONLY_RECORDS = ("stats", "host", "interface", "user")
_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class Sample:
    """One raw value."""

    unix_s: float
    value: float | None
    """``None``: a probe that was lost."""
    seconds: float | None
    """Duration that the value covers, where it is given."""


@dataclass(frozen=True, slots=True)
class Series:
    """One data series."""

    name: str
    units: str | None
    runner: str | None
    mean_value: float | None
    """As the tool itself gave it."""
    samples: tuple[Sample, ...]
    """Raw values; empty for a series that flent computed from others, unless they are drawn onto a grid."""
    computed: bool = False
    """flent made it of other series: an average, a sum, a total, a fairness index."""
    dscp: int | None = None
    """What the flow was marked with, where the file gives it or its name does."""
    congestion: str | None = None


@dataclass(frozen=True)
class FlentData:
    """One data file."""

    version: int
    """The version of the format, from the file."""
    name: str
    """Name of the flent test."""
    title: str
    note: str
    started: str | None
    """As the file says."""
    length_s: float | None
    step_s: float | None
    host: str | None
    local_host: str | None
    flent_version: str | None
    kernel: str | None
    txop: Mapping[str, Any]
    """What txop put into a file that it exported; else empty."""
    parameters: Mapping[str, str]
    """Test parameters that make it another test; those that only say what else is recorded are left out."""
    series: tuple[Series, ...]
    notes: tuple[str, ...] = field(default=())
    """What the reader of the figures must know."""


def looks_like(document: Mapping[str, Any]) -> bool:
    """Whether a JSON document is one of flent."""
    return "metadata" in document and ("x_values" in document or "raw_values" in document)


def parse(data: str | bytes) -> FlentData:
    """The file. Raises FormatError for anything else, a version that is not known, and damaged JSON."""
    if isinstance(data, bytes):
        data = unpacked(data, _WHAT, limit_bytes=JSON_LIMIT_BYTES)
    text = text_of(data, _WHAT)
    for document in json_documents(text, _WHAT):
        said = mapping(document)
        if looks_like(said):
            return _data(said)
    raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")


def _data(said: Mapping[str, Any]) -> FlentData:
    version = 1 if said.get("version") is None else whole(said["version"], least=1)
    if version is None:
        raise FormatError(f"{_WHAT} with a version that is not a number")
    if version > NEWEST_VERSION:
        raise FormatError(
            f"{_WHAT} of version {version}: its units and meaning are not known here, those of versions 1 to "
            f"{NEWEST_VERSION} are"
        )
    about = mapping(said.get("metadata"))
    name = string(about.get("NAME"), longest=_LONGEST_NAME)
    if not name:
        raise FormatError(f"{_WHAT} without the name of its test (metadata.NAME)")
    notes: list[str] = []
    described = mapping(about.get("SERIES_META"))
    raw = _raw_values(version, said, about, described, notes)
    grid = mapping(said.get("results"))
    names = list(dict.fromkeys([*raw, *grid]))
    if len(names) > _MOST_SERIES:
        raise FormatError(f"{_WHAT} with {len(names)} series, refused")
    dropped = [0]
    series = tuple(
        _series(
            each, raw.get(each), mapping(described.get(each)), version=version, drawn="FAKE" in notes, dropped=dropped
        )
        for each in names
    )
    if dropped[0]:
        notes.append(f"{dropped[0]} raw value(s) are not numbers or have no time; they are left out")
    if "FAKE" in notes:
        notes.remove("FAKE")
        notes.append("the file has no raw values: its samples are those that flent drew onto a grid")
    if not any(each.samples for each in series):
        raise FormatError(f"{_WHAT} without a single sample")
    return FlentData(
        version=version,
        name=visible(name),
        title=visible(string(about.get("TITLE"), longest=1000) or ""),
        note=visible(string(about.get("NOTE"), longest=1000) or ""),
        started=_text(about, "T0") or _text(about, "TIME"),
        length_s=real(about.get("LENGTH"), most=1e9),
        step_s=real(about.get("STEP_SIZE"), most=1e6),
        host=_text(about, "HOST"),
        local_host=_text(about, "LOCAL_HOST"),
        flent_version=_text(about, "FLENT_VERSION") or _text(about, "NETPERF_WRAPPER_VERSION"),
        kernel=_text(about, "KERNEL_RELEASE"),
        txop=mapping(about.get("TXOP")),
        parameters=_parameters(mapping(about.get("TEST_PARAMETERS"))),
        series=series,
        notes=tuple(notes),
    )


def _text(about: Mapping[str, Any], key: str) -> str | None:
    said = string(about.get(key), longest=300)
    return visible(said) if said else None


def _raw_values(
    version: int, said: Mapping[str, Any], about: Mapping[str, Any], described: Mapping[str, Any], notes: list[str]
) -> dict[str, list[Any]]:
    """By series; for version 1 from where it kept them, or else what was drawn onto the grid (a note says ``FAKE``)."""
    raw = {name: items(values) for name, values in mapping(said.get("raw_values")).items()}
    if version > 1:
        return raw
    raw = {
        name: items(mapping(each).get("RAW_VALUES"))
        for name, each in described.items()
        if "RAW_VALUES" in mapping(each)
    }
    if any(raw.values()):
        return raw
    start = _unix(_text(about, "T0") or _text(about, "TIME"))
    x_values = [real(x, least=-1e9, most=1e9) for x in items(said.get("x_values"))]
    notes.append("FAKE")
    return {
        name: [
            {"t": start + x, "val": value}
            for x, value in zip(x_values, items(values), strict=False)
            if x is not None and value is not None
        ]
        for name, values in mapping(said.get("results")).items()
    }


def _series(
    name: str, raw: Iterable[Any] | None, described: Mapping[str, Any], *, version: int, drawn: bool, dropped: list[int]
) -> Series:
    units = string(described.get("UNITS"), longest=64)
    mean = real(described.get("MEAN_VALUE"), least=-1e18)
    if version < 4 and units == "bits/s" and mean is not None:
        units, mean = "Mbits/s", mean / 1e6
    samples: list[Sample] = []
    for each in raw or ():
        point = mapping(each)
        if "val" not in point and point.get("lost") is not True:
            continue  # socket statistics and the like
        sample = _sample(name, point, old=version < 4 and not drawn)
        if sample is None:
            dropped[0] += 1
        else:
            samples.append(sample)
    samples.sort(key=lambda sample: sample.unix_s)
    shown, runner = visible(name[:_LONGEST_NAME]), string(described.get("RUNNER"), longest=64)
    command = string(described.get("COMMAND"), longest=4096) or ""
    congestion = string(described.get("CONG_CONTROL"), longest=32)
    return Series(
        shown,
        units,
        runner,
        mean,
        tuple(samples),
        computed=_COMPUTED.search(shown) is not None or (runner or "").lower() in _COMPUTING,
        dscp=_dscp(command, shown),
        congestion=visible(congestion).lower() if congestion else None,
    )


def _parameters(said: Mapping[str, Any]) -> dict[str, str]:
    kept = [(str(key)[:64], string(value, longest=64)) for key, value in list(said.items())[:100]]
    return {
        visible(key): visible(value)
        for key, value in sorted(kept)
        if value and not any(word in key for word in _ONLY_RECORDS)
    }


def _dscp(command: str, name: str) -> int | None:
    """The mark of a flow: of netperf's ``-Y`` (the TOS byte, or a name), else of the class in the name of the series.

    >>> _dscp("netperf -4 -Y 0x20,0x20 -H h", "TCP upload"), _dscp("", "TCP download EF"), _dscp("", "TCP upload BE2")
    (8, 46, 0)
    """
    if (marked := _MARK.search(command)) is not None:
        said = marked[1]
        if said[:1].isdigit():
            number = whole(int(said, 16) if said.lower().startswith("0x") else said, most=255)
            return None if number is None else number >> 2
        return _CLASSES.get(said.upper())
    of_name = _CLASS.search(name)
    return None if of_name is None else _CLASSES.get(of_name[1])


def _sample(name: str, point: Mapping[str, Any], *, old: bool) -> Sample | None:
    moment = real(point.get("t"), least=-1e11, most=1e11)
    if moment is None:
        return None
    if point.get("lost") is True:
        return Sample(moment, None, None)
    value = real(point.get("val"), least=-1e18)
    seconds = real(point.get("dur"), most=1e6)
    if value is None:
        return None
    if old and "UDP" in name and "dur" in point:
        if value <= 0:
            return None  # no transaction came back in that time
        value = 1000 / value
        seconds = None
    elif old and name == "HTTP latency":
        value *= 1000
    return Sample(moment, value, seconds)


def _unix(text: str | None) -> float:
    """The moment of an ISO 8601 text, taken to be UTC where it does not say; 0 where it is not one."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return 0.0
    return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).timestamp()
