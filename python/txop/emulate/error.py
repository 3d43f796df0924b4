"""What can go wrong with an emulated link."""

from __future__ import annotations


class EmulationError(Exception):
    """An emulated link that could not be made, or broke. ``what_to_do`` is one sentence, if something helps."""

    def __init__(self, what: str, *, what_to_do: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.what_to_do = what_to_do


class MissingForEmulation(EmulationError):  # noqa: N818 - something is missing
    """A program, device or permission of this machine that an emulated link cannot do without."""


class ScenarioError(EmulationError):
    """A scenario that cannot be. ``key`` is dotted: ``dut.mcs``."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.key, _, self.problem = message.partition(": ")
