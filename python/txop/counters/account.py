"""Where figures and findings of all subjects are put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from txop.counters import report
from txop.counters.meanings import MEANINGS
from txop.counters.readings import Subject
from txop.counters.report import Field, Figure, Window

WRAP = 2**32
"""Where counters of 32 bits start again."""


@dataclass(frozen=True)
class Fact:
    """A finding before it has words."""

    code: str
    subject: Subject | None
    fields: dict[str, Field]


@dataclass
class Account:
    """Everything found."""

    figures: list[Figure] = field(default_factory=list)
    implausible: list[Fact] = field(default_factory=list)
    conclusions: list[Fact] = field(default_factory=list)

    def put(
        self,
        subject: Subject,
        code: str,
        value: float | int | None,
        window: Window,
        *,
        n: int | None = None,
        name: str | None = None,
        reason: str | None = None,
        unit: str | None = None,
    ) -> None:
        """A figure; one that is neither known nor has a reason is left out."""
        if value is None and reason is None:
            return
        self.figures.append(
            Figure(
                code=code,
                name=name,
                subject=model_of(subject),
                value=value,
                unit=MEANINGS[code].unit if unit is None else unit,
                n=n,
                window=window,
                reason=reason,
            )
        )

    def doubt(self, code: str, subject: Subject | None, **fields: Field) -> None:
        """Something that cannot be true, or is not what it looks like."""
        self.implausible.append(Fact(code, subject, fields))

    def conclude(self, code: str, subject: Subject | None, **fields: Field) -> None:
        """Something that the figures explain."""
        self.conclusions.append(Fact(code, subject, fields))

    def step(
        self, subject: Subject, counter: str, before: int | None, after: int | None, *, narrow: bool
    ) -> int | None:
        """How much a counter grew. One that went back has no difference and is named: as wrapped where it is
        ``narrow`` (32 bits) and was in the upper half of its range."""
        if before is None or after is None:
            return None
        if after >= before:
            return after - before
        wrapped = narrow and WRAP // 2 <= before < WRAP and after < WRAP // 2
        self.doubt("wrapped" if wrapped else "went-back", subject, counter=counter, before=before, after=after)
        return None


def model_of(subject: Subject) -> report.Subject:
    """The subject as the report has it."""
    return report.Subject(
        kind=subject.kind,
        interface=subject.interface,
        station=subject.station,
        frequency_mhz=subject.frequency_mhz,
        ordinal=subject.ordinal,
    )


def percent(part: float | int | None, whole: float | int | None) -> float | None:
    """``part`` in percent of ``whole``; ``None`` without a whole."""
    return None if part is None or not whole else 100 * part / whole


def grown(before: Mapping[str, int | None], after: Mapping[str, int | None]) -> bool:
    """Whether any counter differs."""
    return any(before.get(name) != value for name, value in after.items())
