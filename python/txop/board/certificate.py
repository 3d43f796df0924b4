"""A certificate beside the capability audit of captures: what of it the device claims, and what frames show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from txop.air.model import CapabilityAudit, CapabilityRow
from txop.air.report import AirReport
from txop.board.checks import busiest
from txop.board.judge import CertifiedLine, CheckedCertificate
from txop.board.model import Certificate
from txop.present.format import plural

UNDETERMINED = "can't be determined"
DISAGREE = "runs disagree"
_STRONGEST = (
    "shown",
    "used, not claimed",
    "claimed, not seen used",
    "claimed, use can't be determined",
    "not claimed",
)
"""Answers, the one that shows most first: of several runs, one that uses a capability is enough to show it."""
_NOT_CLAIMED = ("used, not claimed", "not claimed")
_ROLES = {"STA": "station", "AP": "ap"}
_OTHER_NAMES = {"STAUT Power Management": "Power Management"}
"""Lines of certificates that the audit calls otherwise."""
_AMENDMENTS = re.compile(r"(a|b|g|n|ac|ax|be)(/(a|b|g|n|ac|ax|be)){0,6}")
_STREAMS = re.compile(r"[1-8] Spatial Streams? (2\.4|5|6) GHz")


def unchecked(certificate: Certificate, number: int) -> CheckedCertificate:
    """A certificate without a capture."""
    lines = [_undecided(text, "no capture was given") for text in certificate.certified]
    return CheckedCertificate(number, "", None, None, lines)


def check(
    certificate: Certificate, number: int, report: AirReport, station: str | None, source: str
) -> CheckedCertificate:
    """Each line of the certificate beside the audit of ``station`` (``None``: the one with most data)."""
    chosen = station or busiest(report)
    audit = next((each for each in report.capabilities if each.address == chosen), None)
    if audit is None:
        because = f"the capture has no capabilities of {chosen}" if chosen else "no station in it exchanges data"
        lines = [_undecided(text, because) for text in certificate.certified]
    else:
        lines = [_line(text, audit) for text in certificate.certified]
    return CheckedCertificate(number, source, chosen, report.origin, lines)


def together(
    certificate: Certificate, number: int, arm: str, of_runs: Sequence[tuple[str, CheckedCertificate]], *, source: str
) -> CheckedCertificate:
    """The certificate beside the captures of all runs of an arm.

    Args:
        certificate: What is certified.
        number: Its place on the board.
        arm: The arm.
        of_runs: The name of each run that has a capture, and the certificate beside that capture.
        source: The archive.
    """
    stations = {checked.station for _, checked in of_runs}
    origins = sorted({checked.origin for _, checked in of_runs if checked.origin is not None})
    lines = [
        _of_runs(text, [(run, checked.lines[place]) for run, checked in of_runs], arm)
        for place, text in enumerate(certificate.certified)
    ]
    station = stations.pop() if len(stations) == 1 else None
    return CheckedCertificate(number, source, station, ", ".join(origins) or None, lines, arm, len(of_runs))


def _of_runs(text: str, found: Sequence[tuple[str, CertifiedLine]], arm: str) -> CertifiedLine:
    if not found:
        return _undecided(text, f"no valid run{f' of {arm}' if arm else ''} has a capture that can be read")
    shown = [(run, line) for run, line in found if line.answer != UNDETERMINED]
    if not shown:
        run, line = found[0]
        why = f"none of {plural(len(found), 'capture')} shows it; {run}: {line.because}"
        return replace(_undecided(text, why), n=0, run=run)
    answers = {line.answer for _, line in shown}
    claimed = {line.answer not in _NOT_CLAIMED for _, line in shown}
    best = min(answers, key=_STRONGEST.index)
    run, line = next((run, line) for run, line in shown if line.answer == best)
    alike = sum(each.answer == best for _, each in shown)
    text_of = f"{best} in {alike} of {plural(len(shown), 'run')} that {'shows' if len(shown) == 1 else 'show'} it"
    if len(shown) < len(found):
        text_of += f" ({len(found) - len(shown)} do not)"
    sentence = f"{text_of}; {run}: {line.sentence}"
    if len(claimed) > 1:
        best, odd = DISAGREE, next((run, each) for run, each in shown if each.answer in _NOT_CLAIMED)
        sentence += f"; {odd[0]}: {odd[1].sentence}"
    return CertifiedLine(text, best, sentence, len(shown), run)


def _undecided(text: str, because: str) -> CertifiedLine:
    return CertifiedLine(text, UNDETERMINED, f"can't be determined here, because {because}", because=because)


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
            return CertifiedLine(text, "not claimed", f"the audit shows: {row.capability}", row.seen)
    else:
        row = _row(audit.rows, wanted)
    if row is None:
        return _undecided(text, "no element of a frame and no way of sending one shows it")
    return _answer(text, row)


def _amendments(text: str, wanted: str, audit: CapabilityAudit) -> CertifiedLine:
    row = next((row for row in audit.rows if _AMENDMENTS.fullmatch(row.capability)), None)
    if row is None:
        return _undecided(text, "neither its rates nor its elements were captured")
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
        answer = "claimed, not seen used" if row.seen == 0 else "claimed, use can't be determined"
    elif row.claimed == "no":
        answer = "used, not claimed" if used else "not claimed"
    else:
        if not used:
            return replace(_undecided(text, (detail or "the capture has no detail") + note), n=row.seen)
        answer = "shown"
    return CertifiedLine(text, answer, (detail or "no detail") + note, row.seen)


def _row(rows: Sequence[CapabilityRow], name: str) -> CapabilityRow | None:
    return next((row for row in rows if row.capability == name), None)
