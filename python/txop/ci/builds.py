"""Builds the two modules of a series, and compares the warnings of the compiler."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from txop.arms.build import Built
from txop.arms.module_code import code_digest

_WARNING = re.compile(r"^(?:\./)?(?P<file>[^\s:]+\.[chS]):\d+(?::\d+)?: warning: (?P<what>.+)$")
MAX_LOG_BYTES = 64 << 20
MAX_WARNINGS = 50


@dataclass(frozen=True)
class Module:
    """A built module."""

    file: Path
    sha256: str
    code: str
    """Hash of what it does: without line numbers (:mod:`txop.arms.module_code`)."""
    build_id: str | None
    warnings: tuple[str, ...]
    """The compiler's, without line numbers, which move."""

    @classmethod
    def of(cls, built: Built) -> Module:
        """From a build. Raises :class:`OSError`."""
        data = built.module.read_bytes()
        with built.log.open("rb") as log:
            text = log.read(MAX_LOG_BYTES).decode("utf-8", "replace")
        digest = hashlib.sha256(data).hexdigest()
        return cls(built.module, digest, code_digest(data), built.info.build_id, tuple(warnings_in(text)))


def warnings_in(log: str) -> list[str]:
    r"""The compiler's warnings, by file, without line numbers.

    >>> warnings_in("a/core.c:12:3: warning: unused variable 'x' [-Wunused-variable]\n  12 | int x;\n")
    ["core.c: unused variable 'x' [-Wunused-variable]"]
    """
    found = (_WARNING.match(row.strip()) for row in log.splitlines())
    return [f"{match['file'].rpartition('/')[2]}: {match['what'][:200]}" for match in found if match]


def new_warnings(base: Module, series: Module) -> list[str]:
    """Warnings that the series brings: those that stand more often in its log."""
    more = Counter(series.warnings) - Counter(base.warnings)
    return list(more)[:MAX_WARNINGS]
