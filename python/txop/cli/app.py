"""The ``txop`` program: the list of commands, the options common to all, and what happens to errors.

A command is one module in this package with a function ``register(app)`` that adds it; it is listed in
:data:`COMMANDS` and nowhere else. A command line that names a command imports that module only; ``txop --help``, which
lists them all, imports every one. So modules import what is heavy (asyncio, polars, altair) inside the functions that
need it.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from txop.cli import console, version
from txop.cli.examples import Application, epilog
from txop.core.errors import EXIT_CODE_MEANINGS, ExitCode, UserError
from txop.core.visible import visible


@dataclass(frozen=True)
class Command:
    """A command that is imported when it is registered: ``register`` of the module ``txop.cli.NAME``."""

    name: str
    module: str | None = None
    """The module, where no module can be called as the command is."""

    def __call__(self, app: typer.Typer) -> None:
        """Add the command to ``app``."""
        import_module(f"txop.cli.{self.module or self.name}").register(app)


COMMANDS: tuple[Callable[[typer.Typer], None], ...] = (
    Command("demo"),
    Command("plan"),
    Command("run"),
    Command("watch"),
    Command("compare"),
    Command("note"),
    Command("report"),
    Command("import", "import_files"),
    Command("export"),
    Command("history"),
    Command("air"),
    Command("bus"),
    Command("log"),
    Command("simulate"),
    Command("emulate"),
    Command("specimen"),
    Command("guest"),
    Command("doctor"),
    Command("help"),
    Command("man"),
    Command("version"),
)
"""Every command, in the order of ``txop --help``."""

DEBUG_VARIABLE = "TXOP_DEBUG"
"""Environment variable that, when set to anything but "" or "0", shows tracebacks (``--debug`` sets it)."""


def build(only: str | None = None) -> typer.Typer:
    """The application with all its commands, or with the one named ``only``, without importing the others."""
    app = Application(
        name="txop",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=epilog(
            examples=(
                ("txop doctor", "what this machine has and lacks"),
                ("txop demo", "a first result, without any hardware"),
            ),
            notes=("Exit codes: " + "; ".join(f"{int(code)} {meaning}" for code, meaning in EXIT_CODE_MEANINGS) + ".",),
        ),
    )
    app.callback()(_common_options)
    for register in COMMANDS:
        if only is None or not isinstance(register, Command) or register.name == only:
            register(app)
    return app


def _named(arguments: Sequence[str]) -> str | None:
    """The command that ``arguments`` name; ``None``: none of them, and every command has to be known to say so."""
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    known = any(isinstance(each, Command) and each.name == first for each in COMMANDS)
    return first if known else None


def _common_options(
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Show tracebacks of errors (also: {DEBUG_VARIABLE}=1).")
    ] = False,
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=version.print_and_exit),
    ] = False,
) -> None:
    """Measures, explains and compares Linux wireless drivers."""
    del show_version
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


_ENDING = (signal.SIGTERM, signal.SIGHUP)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``txop`` with ``arguments`` (default: ``sys.argv[1:]``) and exit with one of :class:`ExitCode`."""
    _make_streams_safe()
    if arguments is None:  # it is the whole process, and not a test's
        end_in_order()
    raise SystemExit(int(_run(arguments)))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        only = _named(sys.argv[1:] if arguments is None else arguments)
        result = typer.main.get_command(build(only))(args=arguments, prog_name="txop", standalone_mode=False)
        sys.stdout.flush()
    except UserError as error:
        _report(str(error))
        return error.exit_code
    except typer.TyperException as error:  # wrong usage, found by typer itself
        if error.format_message():  # empty: no arguments, and typer has shown the help instead
            _report(_usage_message(error))
        return ExitCode.BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # typer turns a broken pipe into exit code 1
            console.leave_broken_pipe()
        raise
    except BrokenPipeError:
        console.leave_broken_pipe()
    except MemoryError:
        _report("Out of memory. Give the command less at once, or more memory.")
        return ExitCode.MISSING
    except OSError as error:
        place = "stdout" if error.errno in _FULL else None  # files are written with their name in the error
        try:
            sys.stdout.flush()
        except OSError:
            place = "stdout"
            console.discard_stdout()
        _report(str(_from_os_error(error, place)))
        return ExitCode.BAD_INPUT
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        _report(f"A defect in txop, sorry: {what}. With --debug the traceback is shown; please report it with that.")
        return ExitCode.INTERNAL
    # typer returns the code of `typer.Exit(code)`, otherwise what the command returned (None).
    return result if isinstance(result, int) else ExitCode.OK


def _report(message: str) -> None:
    """One paragraph on stderr: ``txop: ...``, and above it the traceback when asked for."""
    if os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0"):
        traceback.print_exc()
    text = console.safe_text("txop: ", style="bold red")
    text.append(visible(message), style="not bold default")
    console.stderr().print(text, soft_wrap=True)


def _usage_message(error: typer.TyperException) -> str:
    message = " ".join(error.format_message().split())
    if message and message[-1] not in ".!?":
        message += "."
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "txop"
    return f"{message} See `{command} --help`."


def _from_os_error(error: OSError, place: str | None) -> UserError:
    """``error`` for the user; ``place`` is where it must have been when the error itself names no file."""
    where = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes, os.PathLike)) else place
    return UserError(error.strerror or str(error), where=where)


def end_in_order() -> None:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does: files that were begun are removed, guests are ended.

    The exit code is 128 plus the number of the signal. A second one ends it on the spot. A signal that the parent has
    set aside (nohup), or that has another handler, stays as it is.
    """

    def leave(number: int, frame: object) -> NoReturn:
        del frame
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, leave)


def _make_streams_safe() -> None:
    """Give closed standard streams a place to go, and never fail on a character the terminal's encoding lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent: `txop >&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - lives with the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=console.PLAIN)
