"""Entries of the systemd journal, and of ``dmesg -J``, as records (man systemd.journal-fields)."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from txop.log.record import Kind, Record


def json_object(text: str) -> dict[str, object] | None:
    """The object in ``text``; None when it is something else."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def from_fields(raw: str, entry: dict[str, object]) -> Record | None:
    """The record of an entry; None when its fields are not those of one."""
    if "msg" in entry and "pri" in entry:
        return _from_dmesg(raw, entry)
    if "__REALTIME_TIMESTAMP" not in entry and "_TRANSPORT" not in entry and "SYSLOG_IDENTIFIER" not in entry:
        return None
    record = Record(Kind.KERNEL, raw, _journal_text(entry.get("MESSAGE")), "journal-json")
    writer = entry.get("SYSLOG_IDENTIFIER", entry.get("_TRANSPORT", entry.get("_COMM")))
    if writer != "kernel":
        record.kind = Kind.OTHER_PROGRAM
        record.program = writer[:64] if isinstance(writer, str) else None
    source_us = _number(entry.get("_SOURCE_MONOTONIC_TIMESTAMP"))
    monotonic_us = source_us if source_us is not None else _number(entry.get("__MONOTONIC_TIMESTAMP"))
    if monotonic_us is not None:
        record.time_s = monotonic_us / 1e6
    realtime_us = _number(entry.get("__REALTIME_TIMESTAMP"))
    if realtime_us is not None and realtime_us < 253_402_300_800_000_000:  # the year 10000
        record.clock = datetime.fromtimestamp(realtime_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        record.clock += f".{realtime_us % 1_000_000:06}Z"
    record.level = _number(entry.get("PRIORITY"))
    boot_id, device = entry.get("_BOOT_ID"), entry.get("_KERNEL_DEVICE")
    record.boot_id = boot_id[:64] if isinstance(boot_id, str) else None
    record.device_hint = device[:200] if isinstance(device, str) else None
    return record


def _from_dmesg(raw: str, entry: dict[str, object]) -> Record:
    """An entry of ``dmesg -J`` (sys-utils/dmesg.c of util-linux)."""
    record = Record(Kind.KERNEL, raw, _journal_text(entry["msg"]), "dmesg-json")
    priority, time_s = entry["pri"], entry.get("time")
    if isinstance(priority, int) and 0 <= priority < 4096:
        record.level = priority & 7
        if priority >> 3:
            record.kind = Kind.OTHER_PROGRAM
    if isinstance(time_s, (int, float)) and not isinstance(time_s, bool) and 0 <= time_s < 1e12:
        record.time_s = float(time_s)
    return record


def _journal_text(message: object) -> str:
    if isinstance(message, str):
        return message
    if isinstance(message, list):  # not UTF-8: the journal gives bytes
        numbers = (number for number in message if isinstance(number, int) and 0 <= number < 256)
        return bytes(numbers).decode("utf-8", "backslashreplace")
    return ""


def _number(value: object) -> int | None:
    if isinstance(value, str) and len(value) <= 20 and value.isascii() and value.isdigit():
        return int(value)
    return None
