"""Where the ``txop`` program starts: quiet and with the right exit code even when Ctrl-C comes while it still loads."""

from __future__ import annotations

from typing import NoReturn

_INTERRUPTED = 130
"""``ExitCode.INTERRUPTED``, without importing anything for it."""


def main() -> NoReturn:
    """Load ``txop`` and run it with ``sys.argv[1:]``."""
    try:
        from txop.cli.app import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
