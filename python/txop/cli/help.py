"""How ``--help`` shows examples, the same way for every command."""

from __future__ import annotations

from collections.abc import Iterable


def epilog(examples: Iterable[tuple[str, str]], notes: Iterable[str] = ()) -> str:
    """The text under a command's options: one line per example (command line, what it is for), then notes.

    Blank lines separate what typer must keep on separate lines.
    """
    lines = ["[bold]Examples[/bold]"]
    lines += [f"  [cyan]{_escaped(command)}[/cyan]  [dim]# {_escaped(purpose)}[/dim]" for command, purpose in examples]
    lines += [_escaped(note) for note in notes]
    return "\n\n".join(lines)


def _escaped(text: str) -> str:
    if "[" not in text:  # as in nearly every text; rich takes its time to load
        return text
    from rich.markup import escape

    return escape(text)
