"""What can go wrong with a scenario."""

from __future__ import annotations

from txop.core.errors import UserError


class ScenarioError(UserError):
    """A scenario, setting or sweep that is invalid.

    ``where`` is the place: a file with its line, or a dotted key.

    >>> error = ScenarioError("dut.mcs: 99 is not in the range from 0 to 31")
    >>> error.where, error.what
    ('dut.mcs', '99 is not in the range from 0 to 31')
    """

    def __init__(self, message: str) -> None:
        place, colon, problem = message.partition(": ")
        super().__init__(problem if colon else message, where=place if colon else None)
