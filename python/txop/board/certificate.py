"""A certificate beside the capability audit of a capture: what of it the device claims, and what frames show."""

from __future__ import annotations

import re
from collections.abc import Sequence

from txop.air.model import CapabilityAudit, CapabilityRow
from txop.air.report import AirReport
from txop.board.checks import busiest
from txop.board.judge import CertifiedLine, CheckedCertificate
from txop.board.model import Certificate

_ROLES = {"STA": "station", "AP": "ap"}
_OTHER_NAMES = {"STAUT Power Management": "Power Management"}
"""Lines of certificates that the audit calls otherwise."""
_AMENDMENTS = re.compile(r"(a|b|g|n|ac|ax|be)(/(a|b|g|n|ac|ax|be)){0,6}")
_STREAMS = re.compile(r"[1-8] Spatial Streams? (2\.4|5|6) GHz")


def unchecked(certificate: Certificate, number: int) -> CheckedCertificate:
    """A certificate without a capture."""
    lines = [CertifiedLine(text, "can't be told", "no capture was given") for text in certificate.certified]
    return CheckedCertificate(number, "", None, None, lines)


def check(
    certificate: Certificate, number: int, report: AirReport, station: str | None, source: str
) -> CheckedCertificate:
    """Each line of the certificate beside the audit of ``station`` (``None``: the one with most data)."""
    chosen = station or busiest(report)
    audit = next((each for each in report.capabilities if each.address == chosen), None)
    if audit is None:
        because = f"the capture has no capabilities of {chosen}" if chosen else "no station in it exchanges data"
        lines = [CertifiedLine(text, "can't be told", because) for text in certificate.certified]
    else:
        lines = [_line(text, audit) for text in certificate.certified]
    return CheckedCertificate(number, source, chosen, report.origin, lines)


def _line(text: str, audit: CapabilityAudit) -> CertifiedLine:
    wanted = _OTHER_NAMES.get(text, text).replace("2,4 GHz", "2.4 GHz")
    if wanted in _ROLES:
        right = audit.role == _ROLES[wanted]
        return CertifiedLine(text, "shown" if right else "not claimed", f"it is a {audit.role} here", audit.frames)
    if _AMENDMENTS.fullmatch(wanted):
        return _amendments(text, wanted, audit)
    if _STREAMS.fullmatch(wanted):
        row = next((row for row in audit.rows if _STREAMS.fullmatch(row.capability)), None)
        if row is not None and row.capability != wanted:
            return CertifiedLine(text, "not claimed", f"the audit says: {row.capability}", row.seen)
    else:
        row = _row(audit.rows, wanted)
    if row is None:
        return CertifiedLine(text, "can't be told", "the capability audit has no such row")
    return _answer(text, row)


def _amendments(text: str, wanted: str, audit: CapabilityAudit) -> CertifiedLine:
    row = next((row for row in audit.rows if _AMENDMENTS.fullmatch(row.capability)), None)
    if row is None:
        return CertifiedLine(text, "can't be told", "neither its rates nor its elements were captured")
    missing = sorted(set(wanted.split("/")) - set(row.capability.split("/")))
    if missing and row.claimed != "not_available":
        return CertifiedLine(text, "not claimed", f"{row.capability} is claimed, {', '.join(missing)} is not", row.seen)
    return _answer(text, row)


def _answer(text: str, row: CapabilityRow) -> CertifiedLine:
    detail = "; ".join(part for part in (row.claimed_detail, row.seen_detail) if part)
    note = f" ({row.note.text})" if row.note is not None else ""
    used = bool(row.seen)
    if row.claimed == "yes" and used:
        answer = "shown"
    elif row.claimed == "yes":
        answer = "claimed, not seen used" if row.seen == 0 else "claimed, use can't be told"
    elif row.claimed == "no":
        answer = "used, not claimed" if used else "not claimed"
    else:
        answer = "shown" if used else "can't be told"
    return CertifiedLine(text, answer, (detail or "no detail") + note, row.seen)


def _row(rows: Sequence[CapabilityRow], name: str) -> CapabilityRow | None:
    return next((row for row in rows if row.capability == name), None)
