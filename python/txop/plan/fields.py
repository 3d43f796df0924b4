"""The types of a plan's values.

Commands are lists of arguments (``["iw", "dev"]``) or one string, which is split as a POSIX shell would split it but
never handed to a shell.
"""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints


def _argv(value: Any) -> Any:
    return shlex.split(value) if isinstance(value, str) else value


Argument = Annotated[str, StringConstraints(max_length=4096, pattern=r"^[^\x00]*$")]

Argv = Annotated[
    list[Argument],
    BeforeValidator(_argv, json_schema_input_type=str | list[Argument]),
    Field(min_length=1, max_length=256),
]
"""One command: a list of arguments, or a string that is split into one."""

Module = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=64)]
Interface = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][^\s/:]*$", max_length=15)]
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\[][A-Za-z0-9._:%\[\]-]*$", max_length=255)]
NamespaceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", max_length=64)]
Seconds = Annotated[float, Field(ge=0, le=7 * 86400, allow_inf_nan=False)]

MetricName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*\.[a-z0-9_]+$", max_length=100)]
"""``TEST.METRIC``, as in ``tx.throughput_mbit_s``."""

Text = Annotated[str, StringConstraints(max_length=10_000)]

Congestion = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$", max_length=16)]
"""A TCP congestion control, by the kernel's name."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_]*(-[a-z0-9_]+)*$", max_length=40)]
"""Names of arms, tests and targets: they become folder names. Lower-case letters, digits, ``-`` and ``_``."""
