"""What the documentation and the help tell people to type is understood, and what it points to is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from txop.cli.app import build

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("crates/*/README.md")])
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def _commands(text: str) -> list[str]:
    """Lines of shell blocks that call txop; what follows a pipe or a comment is left out."""
    found = []
    for block in re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            match = re.search(r"(?:^|[|$;]\s*|sudo )((?:\.venv/bin/)?txop .*)$", line.strip())
            if match and "..." not in match.group(1):
                found.append(match.group(1))
    return found


def _split(line: str) -> list[str]:
    words = shlex.split(line, comments=True)
    for end in ("|", "&&", ";", ">", "<", "2>&1"):
        if end in words:
            words = words[: words.index(end)]
    return words[1:]


def _understood(arguments: list[str]) -> None:
    """Parse ``arguments`` as the program would, without running anything."""
    command = typer.main.get_command(build())
    context = command.make_context("txop", list(arguments), resilient_parsing=False)
    while hasattr(command, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        if not rest:
            return
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_documents_are_understood(document):
    for line in _commands(document.read_text(encoding="utf-8")):
        try:
            _understood(_split(line))
        except SystemExit:
            continue  # --help, --version
        except Exception as error:
            pytest.fail(f"{document.name}: {line}: {error}")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document):
    missing = [
        link for link in _LINK.findall(document.read_text(encoding="utf-8")) if not (document.parent / link).exists()
    ]
    assert not missing
