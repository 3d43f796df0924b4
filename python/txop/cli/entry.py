"""Where the ``txop`` program starts: quiet and with the right exit code even when Ctrl-C comes while it still loads."""

from __future__ import annotations

import sys
from typing import NoReturn

_INTERRUPTED = 130
"""``ExitCode.INTERRUPTED``, without importing anything for it."""


def main() -> NoReturn:
    """Load ``txop`` and run it with ``sys.argv[1:]``.

    ``txop --version`` alone, which scripts ask for often, loads no command line.
    """
    try:
        if sys.argv[1:] == ["--version"] and _print_version():
            raise SystemExit(0)
        from txop.cli.app import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None


def _print_version() -> bool:
    """Whether the version could be printed; where stdout is full or closed, the program itself reports it."""
    from txop.core.version import program_version

    try:
        print(f"txop {program_version()}", flush=True)  # noqa: T201
    except (OSError, AttributeError, ValueError):
        return False
    return True
