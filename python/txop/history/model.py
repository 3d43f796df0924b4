"""A document of figures: each with the line where it stands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Line = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(max_length=500)]
Way = Literal["tx", "rx"]
OneOrRange = Positive | Annotated[list[Positive], Field(min_length=2, max_length=2)]
Most = Field(min_length=1, max_length=1000)


class PublishedFigure(_Table):
    """A figure of the text."""

    line: Line
    what: Text
    low: Finite
    high: Finite | None = None
    """Upper end of a range."""
    unit: Text
    kind: Literal["said", "set-up", "goal", "question", "guess", "capability"]
    about: bool = False
    note: Text = ""


class Transfers(_Table):
    """A table of ttcp transfers one way."""

    group: Text
    way: Way
    line: Line
    """Line of the first row."""
    sender_1000b_s: Annotated[list[Positive], Most]
    sender_switches: Annotated[list[Positive], Most]
    receiver_1000b_s: Annotated[list[Positive], Most]
    receiver_switches: Annotated[list[Positive], Most]
    average: Annotated[list[Finite], Field(min_length=4, max_length=4)]
    """As printed: the four columns."""
    average_line: Line

    @model_validator(mode="after")
    def _as_long(self) -> Transfers:
        if len({len(column) for column in self.columns}) != 1:
            raise ValueError("the columns of a table are of different length")
        return self

    @property
    def columns(self) -> tuple[list[float], list[float], list[float], list[float]]:
        """The four columns, in the order of ``average``."""
        return self.sender_1000b_s, self.sender_switches, self.receiver_1000b_s, self.receiver_switches

    @property
    def throughput_mbit_s(self) -> list[float]:
        """The lower of what the two ends report, as in all of txop."""
        return [min(pair) * 8e-3 for pair in zip(self.sender_1000b_s, self.receiver_1000b_s, strict=True)]

    @property
    def switches(self) -> list[float]:
        """Context switches of the device: it receives in ``rx``."""
        return self.receiver_switches if self.way == "rx" else self.sender_switches


class Pings(_Table):
    """What ping said of round trips."""

    group: Text
    way: Way
    line: Line
    min_ms: Positive
    mean_ms: Positive
    max_ms: Positive
    stddev_ms: Positive
    samples: Annotated[int, Field(ge=1)]


class Capture(_Table):
    """What the name of a run's capture says."""

    name: Text
    way: Way
    retries_percent: Positive
    rate: Positive
    unit: Text


class Run(_Table):
    """A row of a table of throughput by driver."""

    line: Line
    by: Text
    device: Text
    access_point: Text
    distance_m: Positive
    sight: Text
    way: Way
    driver: Text
    kernel: Text
    patches: list[int] = []
    mbit_s: OneOrRange
    retries_percent: OneOrRange
    capture: Capture | None = None

    @property
    def shown(self) -> str:
        """The driver with its patches."""
        return self.driver + (f" with patches {', '.join(map(str, self.patches))}" if self.patches else "")

    @property
    def cell(self) -> tuple[str, str, str, float, str, str, tuple[int, ...], Way]:
        """What must be the same for two runs to be runs of the same."""
        return (
            *(self.by, self.device, self.access_point, self.distance_m, self.sight),
            *(self.driver, tuple(self.patches), self.way),
        )


class Chosen(_Table):
    """A driver with patches."""

    driver: Text
    patches: list[int] = []


class _Conclusion(_Table):
    line: Line
    said: Text
    """In short; not the document's words."""
    repeated: Text = ""
    """What runs of txop say of it, with their n, and where they are recorded: no figures of the document."""


class BetweenTables(_Conclusion):
    """A difference between two tables of transfers."""

    rule: Literal["about", "same", "below", "above"]
    quantity: Literal["throughput", "switches"]
    way: Way
    baseline: Text
    group: Text
    percent: Finite
    """``about``, ``below``, ``above``: this change; ``same``: within plus or minus this."""


class BetweenRuns(_Conclusion):
    """A difference between two drivers, the place being the same."""

    rule: Literal["runs"]
    quantity: Literal["throughput", "retries"]
    claim: Literal["more", "less", "not more"]
    way: Way
    device: Text
    distance_m: Positive
    baseline: Chosen
    group: Chosen


class InRange(_Conclusion):
    """A driver's figures lie in a range."""

    rule: Literal["range"]
    driver: Text
    retries_percent: Annotated[list[Positive], Field(min_length=2, max_length=2)]
    mbit_s: Annotated[list[Positive], Field(min_length=2, max_length=2)]


class Share(_Conclusion):
    """A figure as a part of another."""

    rule: Literal["share"]
    part: Text
    whole: Text


class Undecided(_Conclusion):
    """What no figure of the document can show."""

    rule: Literal["undecided"]
    because: Text
    figures: list[Line] = []
    """Lines of figures that are near it."""


Conclusion = Annotated[BetweenTables | BetweenRuns | InRange | Share | Undecided, Field(discriminator="rule")]


class Document(_Table):
    """One document."""

    format: Literal["txop-history"]
    version: Literal[1]
    title: Text
    author: Text = ""
    date: Text = ""
    source: Text
    about: Text
    figure: list[PublishedFigure] = []
    transfers: list[Transfers] = []
    pings: list[Pings] = []
    run: list[Run] = []
    conclusion: list[Conclusion] = []
