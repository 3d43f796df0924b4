"""How ``--help`` shows examples, the same way for every command."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape


def epilog(examples: Iterable[tuple[str, str]], notes: Iterable[str] = ()) -> str:
    """The text under a command's options: one line per example (command line, what it is for), then notes.

    Blank lines separate what typer must keep on separate lines.
    """
    lines = ["[bold]Examples[/bold]"]
    lines += [f"  [cyan]{escape(command)}[/cyan]  [dim]# {escape(purpose)}[/dim]" for command, purpose in examples]
    lines += [escape(note) for note in notes]
    return "\n\n".join(lines)
