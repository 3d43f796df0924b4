"""``txop version`` and ``txop --version``: the version, and what it was built from."""

from __future__ import annotations

import platform

import typer

from txop.cli import console
from txop.cli.console import JsonFlag
from txop.cli.examples import epilog


def register(app: typer.Typer) -> None:
    """Add ``txop version``."""
    app.command(
        name="version",
        epilog=epilog([("txop version --json", "version, build and Python, for a bug report")]),
    )(version)


def version(json: JsonFlag = False) -> None:
    """Print the version of txop, its native module and Python."""
    from txop import _native
    from txop.core.version import program_version

    facts = {
        "version": program_version(),
        "native": _native.version(),
        "native_profile": _native.build_profile(),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    if json:
        console.write_json(facts)
        return
    out = console.stdout()
    out.print(f"txop {facts['version']}")
    out.print(f"native module {facts['native']} ({facts['native_profile']} build)")
    out.print(f"Python {facts['python']} on {facts['machine']}")


def print_and_exit(requested: bool) -> None:
    """Callback of the ``--version`` option."""
    if requested:
        from txop.core.version import program_version

        console.stdout().print(f"txop {program_version()}")
        raise typer.Exit
