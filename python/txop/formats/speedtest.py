"""What testers of an internet connection write: Ookla's ``speedtest`` and ``speedtest-cli`` (JSON and text), and
``librespeed-cli`` (JSON).

Ookla's bandwidth is in bytes per second, that of speedtest-cli in bits per second, that of librespeed-cli in Mbit/s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import json_documents, lines_of, mapping, real, string, text_of, whole

Program = Literal["speedtest (Ookla)", "speedtest-cli", "librespeed-cli"]

_WHAT = "result of a speed test"
_OOKLA = re.compile(r"\s*Speedtest by Ookla")
_LATENCY = re.compile(r" *(?:Idle )?Latency: +(?P<ms>[0-9.]{1,12}) ms(?P<rest>[^\n]{0,200})")
_RATE = re.compile(r" *(?P<way>Download|Upload): +(?P<rate>[0-9.]{1,12}) (?P<unit>[kKMG]?)(?:bps|bit/s)")
_LOSS = re.compile(r" *Packet Loss: +(?P<loss>[0-9.]{1,12})%")
_HOSTED = re.compile(r"Hosted by [^\n]{1,300}: (?P<ms>[0-9.]{1,12}) ms")
_LOW_HIGH = re.compile(r"low: (?P<low>[0-9.]{1,12}) ?ms, high: (?P<high>[0-9.]{1,12}) ?ms")
_CLI = re.compile(r"Testing download speed|Retrieving speedtest\.net configuration")
_LIKE = re.compile(
    rb"Speedtest by Ookla|Testing download speed\.|Retrieving speedtest\.net configuration"
    rb"|^(?:Download|Upload): [0-9.]{1,12} Mbit/s",
    re.MULTILINE,
)
_MBIT = {"": 1e-6, "k": 1e-3, "K": 1e-3, "M": 1.0, "G": 1e3}


@dataclass
class SpeedTest:
    """One result."""

    program: Program
    line: int | None = None
    started_unix_s: float | None = None
    download_mbit_s: float | None = None
    upload_mbit_s: float | None = None
    download_s: float | None = None
    upload_s: float | None = None
    latency_ms: float | None = None
    """What the program calls latency or ping; how it is made of its probes is not documented."""
    low_ms: float | None = None
    high_ms: float | None = None
    loss_percent: float | None = None


def looks_like(head: bytes) -> bool:
    """Whether ``head`` is the text of one of them."""
    return _LIKE.search(head) is not None


def looks_like_json(plain: bytes) -> bool:
    """Whether a JSON document is of one of them."""
    return (b'"bandwidth"' in plain and b'"packetLoss"' in plain) or (
        b'"download"' in plain and b'"upload"' in plain and (b'"ping"' in plain or b'"bandwidth"' in plain)
    )


def parse_json(data: str | bytes) -> tuple[SpeedTest, ...]:
    """Every result in ``data``, which may hold several documents. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    found: list[SpeedTest] = []
    opening = "[" if text.lstrip()[:1] == "[" else "{"
    for document in json_documents(text, _WHAT, opening=opening):
        for each in document if isinstance(document, list) else [document]:
            result = _result(mapping(each))
            if result is not None:
                found.append(result)
    if not found:
        raise FormatError(f"{_WHAT} without a result; {quoted_start(text)}")
    return tuple(found)


def _result(said: Mapping[str, Any]) -> SpeedTest | None:
    download, upload = said.get("download"), said.get("upload")
    if isinstance(download, dict) or isinstance(upload, dict):
        return _ookla(said, mapping(download), mapping(upload))
    if real(download) is None and real(upload) is None:
        return None
    librespeed = "jitter" in said
    scale = 1.0 if librespeed else 1e-6
    made = SpeedTest(
        "librespeed-cli" if librespeed else "speedtest-cli",
        started_unix_s=_moment(said.get("timestamp")),
        latency_ms=real(said.get("ping"), most=1e7),
    )
    down, up = real(download), real(upload)
    made.download_mbit_s = down * scale if down else None
    made.upload_mbit_s = up * scale if up else None
    return made


def _ookla(said: Mapping[str, Any], download: Mapping[str, Any], upload: Mapping[str, Any]) -> SpeedTest | None:
    if said.get("type") not in (None, "result"):
        return None
    ping = mapping(said.get("ping"))
    made = SpeedTest(
        "speedtest (Ookla)",
        started_unix_s=_moment(said.get("timestamp")),
        latency_ms=real(ping.get("latency"), most=1e7),
        low_ms=real(ping.get("low"), most=1e7),
        high_ms=real(ping.get("high"), most=1e7),
        loss_percent=real(said.get("packetLoss"), most=100),
    )
    for way, of in (("download", download), ("upload", upload)):
        rate, elapsed = real(of.get("bandwidth")), whole(of.get("elapsed"), most=10**9)
        setattr(made, f"{way}_mbit_s", rate * 8e-6 if rate else None)
        setattr(made, f"{way}_s", elapsed / 1e3 if elapsed else None)
    return made


def _moment(value: object) -> float | None:
    said = string(value, longest=40)
    if said is None:
        return None
    try:
        return datetime.fromisoformat(said.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return None


def parse_text(data: str | bytes) -> tuple[SpeedTest, ...]:
    """Every result in the text. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    found: list[SpeedTest] = []
    program: Program = "speedtest-cli"
    for number, line in lines_of(text):
        head = line[:1000]
        if _OOKLA.match(head) is not None:
            program = "speedtest (Ookla)"
            found.append(SpeedTest(program, number))
        elif _CLI.match(head) is not None:
            program = "speedtest-cli"
            if not found or found[-1].download_mbit_s is not None:
                found.append(SpeedTest(program, number))
        elif (rate := _RATE.match(head)) is not None:
            value = real(rate["rate"])
            name = f"{rate['way'].lower()}_mbit_s"
            if not found or getattr(found[-1], name) is not None:
                found.append(SpeedTest(program, number))
            setattr(found[-1], name, None if value is None else value * _MBIT[rate["unit"]])
        elif found and (loss := _LOSS.match(head)) is not None:
            found[-1].loss_percent = real(loss["loss"], most=100)
        elif (latency := _LATENCY.match(head)) is not None or (latency := _HOSTED.match(head)) is not None:
            if not found:
                found.append(SpeedTest(program, number))
            found[-1].latency_ms = real(latency["ms"])
            if latency.re is _LATENCY and (spread := _LOW_HIGH.search(latency["rest"])) is not None:
                found[-1].low_ms, found[-1].high_ms = real(spread["low"]), real(spread["high"])
    results = tuple(each for each in found if each.download_mbit_s is not None or each.upload_mbit_s is not None)
    if not results:
        raise FormatError(f"{_WHAT}: no download and no upload; {quoted_start(text)}")
    return results
