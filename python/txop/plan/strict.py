"""How strict every table of a plan is."""

from __future__ import annotations

from pydantic import ConfigDict

STRICT = ConfigDict(extra="forbid", frozen=True)
"""Unknown keys are errors."""
