"""The ``txop`` program: the list of commands, the options common to all, and what happens to errors.

A command is one module in this package with a function ``register(app)`` that adds it; it is listed in
:data:`COMMANDS` and nowhere else, with the line that ``txop --help`` shows of it. A command line that names a command
imports that module only; ``txop --help`` imports none. Completion and man pages import every one, so modules import
what is heavy (asyncio, polars, altair) inside the functions that need it.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
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
    """A command, in the module ``txop.cli.NAME``, with a function ``register`` that adds it to an application."""

    name: str
    summary: str
    """What ``txop --help`` says of it: the first paragraph of its own help."""
    module: str = ""
    """The module, where none can be called as the command is, or where one has several commands."""

    def register(self, app: typer.Typer) -> None:
        """Import the module and add what it has to ``app``."""
        import_module(f"txop.cli.{self.module or self.name}").register(app)


COMMANDS: tuple[Command, ...] = (
    Command("demo", "Carry out a plan on an emulated link: measure, capture, analyse, compare, report."),
    Command("plan", "Write a plan, check it, and see what it would do."),
    Command(
        "run",
        "Carry out a plan: every arm in every block, in random order, each run checked; then compare and report.",
    ),
    Command(
        "resume",
        "Continue a campaign that was stopped: by Ctrl-C, a crash, a lost target, a full disk.",
        module="run",
    ),
    Command(
        "watch",
        "Show what a campaign does now, from another terminal: run, block, last result, faults, time left.",
    ),
    Command("compare", "Compare the arms of a campaign: effect, exact interval, verdict, and what was not counted."),
    Command("trend", "Follow an arm's figures over several archives: change points, and what else changed there."),
    Command("note", "Add a remark to a campaign: what was going on that no probe records."),
    Command("report", "Write a campaign as one HTML page, or as text, tables, data and pictures."),
    Command(
        "import",
        "Show the figures in other tools' files, and make an archive of them: compared and exported as imported.",
        module="import_files",
    ),
    Command("export", "Write the runs of an archive as data files of other tools."),
    Command("air", "Explain an 802.11 capture: retries, acknowledgements, airtime, and where the throughput went."),
    Command(
        "bus",
        "Explain a USB capture (transfers, aggregation, turnarounds, errors, devices) "
        "or the command log of an SDIO card.",
    ),
    Command("why", "Follow the packets of a guest's run through all stages, or tell the causes of an effect apart."),
    Command(
        "log",
        "Name the faults in kernel logs: firmware, USB, Wi-Fi, SDIO and kernel faults, and what is known of each.",
    ),
    Command(
        "counters",
        "Explain counters of drivers and kernel: retries, rates, airtime, signal, drops; without a monitor.",
    ),
    Command(
        "history",
        "Re-derive what old documents concluded from their own figures, and name where they contradict themselves.",
    ),
    Command("board", "Show a board of tasks: each state beside what its evidence shows."),
    Command("simulate", "Run a link in virtual time: goodput, latency, retries, airtime, bus."),
    Command("emulate", "Run programs over a modelled link in real time: the host's own TCP, real packets."),
    Command("specimen", "Make an 802.11 capture without hardware, analyse it with `txop air`, and show the page."),
    Command("guest", "Run real drivers in a virtual machine, on virtual chips."),
    Command(
        "bisect",
        "Find the commit, or the patch of a series, that made a figure worse: builds and runs in exact guests.",
    ),
    Command("ci", "Build a patch series and its base, run both in exact guests, and write the verdict as a mail."),
    Command("cache", "Show, remove and verify the exact runs that are kept to be reused."),
    Command("doctor", "Show what this machine has and lacks for each capability, and how to fix it."),
    Command("help", "Show what a command does and takes, with examples."),
    Command("man", "Write the man pages of all commands."),
    Command("completion", "Write the completion script of a shell to standard output.", module="man"),
    Command("version", "Print the version of txop, its native module and Python."),
)
"""Every command, in the order of ``txop --help``."""

_GROUPS = (("demo", "Measure"), ("air", "Explain"), ("simulate", "Model"), ("guest", "Guests"), ("doctor", "More"))
"""The first command of each group of ``txop --help``, and how the group is called."""

COMPLETION_VARIABLE = "_TXOP_COMPLETE"
"""Environment variable that a shell's completion script sets (typer's name for it)."""

DEBUG_VARIABLE = "TXOP_DEBUG"
"""Environment variable that, when set to anything but "" or "0", shows tracebacks (``--debug`` sets it)."""


def groups() -> dict[str, str]:
    """The group of each command in ``txop --help``."""
    begins = dict(_GROUPS)
    found: dict[str, str] = {}
    group = ""
    for command in COMMANDS:
        group = begins.get(command.name, group)
        found[command.name] = group
    return found


def build(only: str | None = None) -> typer.Typer:
    """The application with all its commands, or with those of the module of the one named ``only``."""
    app = _application()
    modules = {each.module or each.name: each for each in COMMANDS if only is None or each.name == only}
    for command in modules.values():
        command.register(app)
    return app


def outline() -> typer.Typer:
    """The application as ``txop --help`` shows it: names and summaries, no command that could be run."""
    app = _application()
    for each in COMMANDS:
        app.command(name=each.name, help=each.summary)(_outlined)
    return app


def _outlined() -> NoReturn:
    raise AssertionError("a command line that names a command builds that one")


def _application() -> typer.Typer:
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
    app.panels = groups()
    app.callback()(_common_options)
    return app


def _for(arguments: Sequence[str]) -> typer.Typer:
    """The application with what ``arguments`` need: the command they name, all for a completion, or the outline."""
    if COMPLETION_VARIABLE in os.environ:
        return build()
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    return build(first) if any(each.name == first for each in COMMANDS) else outline()


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
        # Large archives and captures make millions of objects, hardly any of them in cycles.
        gc.set_threshold(200_000, 20, 100)
    raise SystemExit(int(_run(arguments)))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        app = _for(sys.argv[1:] if arguments is None else arguments)
        result = typer.main.get_command(app)(args=arguments, prog_name="txop", standalone_mode=False)
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
