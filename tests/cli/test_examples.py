"""The examples of ``--help`` can be copied from the screen into a shell: every one is taken by the shell and by the
command line it is of."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from txop.cli import app as program_module
from txop.cli.examples import Epilog

ROOT: Any = typer.main.get_command(program_module.build())
NARROW = {"COLUMNS": "40", "TERMINAL_WIDTH": "40"}


def commands(command: Any = ROOT, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*words, name))


ALL = dict(commands())
LINES = [line for command in ALL.values() for line, _ in command.epilog.examples]


def words_of_txop(line: str) -> Iterator[list[str]]:
    """The arguments of each ``txop`` in a pipeline."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for token in [*lexer, "|"]:
        if words and not words[-1].strip("<>"):
            words.pop()  # and the file behind it
        elif not token.strip("|&;"):
            if words[:1] == ["txop"]:
                yield words[1:]
            words = []
        else:
            words.append(token)


def parse(arguments: list[str]) -> None:
    """What the command line makes of them, without doing anything."""
    command, context = ROOT, None
    while subcommands := getattr(command, "commands", None):
        context = command.make_context("txop", [], parent=context, resilient_parsing=True)
        if not arguments or arguments[0] not in subcommands:
            command.make_context("txop", arguments)
            return
        command, arguments = subcommands[arguments[0]], arguments[1:]
    if set(arguments) & {"--help", "-h"}:
        return
    command.make_context(command.name, list(arguments), parent=context)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_has_examples_of_itself(words):
    shown = ALL[words].epilog
    assert isinstance(shown, Epilog)
    assert any(" ".join(("txop", *words)) in line for line, _ in shown.examples)


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_taken_by_the_shell_and_by_the_command_line(line):
    assert subprocess.run(["bash", "-n", "-c", line], capture_output=True, check=False).stderr == b""
    lines = list(words_of_txop(line))
    assert lines, line
    for arguments in lines:
        parse(arguments)


def test_an_example_that_is_wrong_would_be_found():
    with pytest.raises(typer.TyperException):
        parse(["air", "a.pcap", "--no-such-option"])
    with pytest.raises(typer.TyperException):
        parse(["guest", "run", "--mips", "many"])


@pytest.mark.parametrize("words", [(), ("air",), ("doctor",), ("emulate",), ("guest", "module")], ids=" ".join)
def test_on_the_screen_each_example_is_one_whole_line(txop, words):
    shown = txop(*words, "--help", env=NARROW).stdout.splitlines()
    for line, purpose in ALL[words].epilog.examples:
        place = shown.index(f"   {line}")
        assert shown[place - 1] == f"   # {purpose}", "what it is for is a comment, so all of it can be pasted"
