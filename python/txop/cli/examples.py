"""How ``--help`` shows examples, the same way for every command: each in a line of its own, to be copied and pasted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from txop.cli import console
from txop.cli.archive_place import refuse_address


class Epilog(str):
    """The text under a command's options."""

    examples: tuple[tuple[str, str], ...]
    """Command line, what it is for."""
    notes: tuple[str, ...]
    __slots__ = ("examples", "notes")


def epilog(examples: Iterable[tuple[str, str]], notes: Iterable[str] = ()) -> Epilog:
    """The text under a command's options: examples (command line, what it is for), then notes.

    >>> print(epilog([("txop demo", "a first result")], ["It takes minutes."]))
    Examples
    <BLANKLINE>
      # a first result
      txop demo
    <BLANKLINE>
    It takes minutes.
    """
    examples, notes = tuple(examples), tuple(notes)
    shown = [f"  # {purpose}\n  {line}" for line, purpose in examples]
    made = Epilog("\n\n".join(("Examples", *shown, *notes)))
    made.examples, made.notes = examples, notes
    return made


class Application(typer.Typer):
    """An application: its commands show examples with no line broken, and a terminal that is too narrow wraps them
    itself, and copies them whole."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=_Group, rich_markup_mode="rich", **settings)
        self.panels: dict[str, str] = {}
        """The group of each command in the help."""

    def add_typer(self, typer_instance: typer.Typer, **settings: Any) -> None:
        """See :meth:`typer.Typer.add_typer`."""
        settings.setdefault("rich_help_panel", self.panels.get(settings.get("name", "")))
        super().add_typer(typer_instance, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Any:
        """See :meth:`typer.Typer.command`. What a function takes as a path is refused where it is an address."""
        settings.setdefault("rich_help_panel", self.panels.get(name or ""))
        add = super().command(name, cls=_Command, **settings)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(function)
            def on_this_machine(*arguments: Any, **options: Any) -> Any:
                for value in (*arguments, *options.values()):
                    for each in value if isinstance(value, list) else [value]:
                        if isinstance(each, Path):
                            refuse_address(each, name or function.__name__)
                return function(*arguments, **options)

            add(on_this_machine)
            return function

        return decorate


def _without_types(command: TyperCommand | TyperGroup, ctx: Any) -> None:
    """A flag takes no value, and an argument is named for what it takes: neither shows a type, such as ``<bool>``."""
    for param in command.get_params(ctx):
        if isinstance(param, TyperArgument):
            param.display_type_rich = _no_type  # type: ignore[method-assign]
        elif getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""


def _no_type(ctx: Any) -> None:
    """What the column of types has of an argument."""


def _usage(argument: TyperArgument) -> str:
    """An argument in the line of usage: its name as it is given, in brackets where it may be left out."""
    name = argument.metavar or argument.display_name_raw
    if argument.nargs == -1 and "..." not in name and " " not in name:
        name += "..."
    return name if argument.required or name.startswith("[") else f"[{name}]"


class _Command(TyperCommand):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [_usage(param) for param in self.get_params(ctx) if isinstance(param, TyperArgument)]
        return [self.options_metavar or "", *arguments]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _without_types(self, ctx)
        with _examples_after(self):
            super().format_help(ctx, formatter)


class _Group(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        _without_types(self, ctx)
        with _examples_after(self):
            super().format_help(ctx, formatter)


@contextmanager
def _examples_after(command: TyperCommand | TyperGroup) -> Iterator[None]:
    """Withhold the examples from typer, which would wrap them, and print them behind what it prints."""
    shown, command.epilog = command.epilog, None
    try:
        yield
    finally:
        command.epilog = shown
    _print(shown)


def _print(shown: str | None) -> None:
    if not isinstance(shown, Epilog):
        return
    import shutil

    from rich.padding import Padding

    out = console.stdout()
    out.print(" Examples", style="bold")
    for line, purpose in shown.examples:
        out.print()
        out.print(console.safe_text(f"   # {purpose}", "dim"), soft_wrap=True)
        out.print(console.safe_text(f"   {line}", "cyan"), soft_wrap=True)
    for note in shown.notes:
        out.print()
        out.print(Padding(console.safe_text(note), (0, 1), expand=False), width=shutil.get_terminal_size().columns)
