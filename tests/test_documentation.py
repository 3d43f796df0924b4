"""What the documentation and the help tell people to type is understood, and what it points to is there."""

from __future__ import annotations

import functools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from documentation_links import anchors, broken, links
from txop.cli.app import build

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("crates/*/README.md")])


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


@functools.cache
def _program() -> Any:
    """The command of the program, built once."""
    return typer.main.get_command(build())


def _understood(arguments: list[str]) -> None:
    """Parse ``arguments`` as the program would, without running anything."""
    command = _program()
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
    assert broken(document) == []


def test_links_to_missing_files_and_anchors_are_found(tmp_path):
    (tmp_path / "there.md").write_text("# Some `code`, twice\n\n## Twice\n\n## Twice\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md#some-code-twice) [b](there.md#twice-1) [c](there.md#thrice) [d](gone.md) [e](#here)\n"
        "![f](gone.svg) `[g](gone.md)` [h](https://example.org/#x)\n\n```\n[i](gone.md)\n```\n",
        encoding="utf-8",
    )
    assert broken(page) == ["there.md#thrice", "gone.md", "#here", "gone.svg"]
    assert anchors("# Retry %\n## `[[arm]]`\n## rx, tx") == {"retry-", "arm", "rx-tx"}


def test_any_page_is_two_steps_from_the_readme():
    """A stranger finds any room: README, contents or ARCHITECTURE, page."""
    first = {
        (ROOT / link.partition("#")[0]).resolve() for link in links((ROOT / "README.md").read_text(encoding="utf-8"))
    }
    second = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in first
        if page.suffix == ".md"
        for link in links(page.read_text(encoding="utf-8"))
    }
    pages = [*(ROOT / "docs").glob("*.md"), *ROOT.glob("crates/*/README.md")]
    assert [page for page in pages if page.resolve() not in first | second] == []
