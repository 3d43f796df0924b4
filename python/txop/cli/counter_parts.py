"""Which lines of a file other commands read, for commands that read something else."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

MOST_LINES = 20_000
"""A longer file is a log, and no paste."""
_SHOWN = 5


def other_parts(name: str) -> list[str]:
    """A sentence for each output of a tool that counts or measures; none for a file that cannot be read."""
    from txop.counters import split
    from txop.counters.analysis import COMMANDS
    from txop.counters.paste import COUNTER_KINDS
    from txop.counters.words import TOOLS
    from txop.log.lines import Damage, read_lines

    try:
        with Path(name).open("rb") as stream:
            paste = split(name, read_lines(stream, Damage()))
    except OSError:
        return []
    notes = [
        f"Lines {part.first:,} to {part.last:,}: {TOOLS[part.kind]}. "
        f"It is read by: {COMMANDS.get(part.kind, 'txop counters')} {name}"
        for part in paste.of((*COUNTER_KINDS, "measurement"))
    ]
    more = len(notes) - _SHOWN
    return notes[:_SHOWN] + ([f"{more:,} more of such parts."] if more > 0 else [])


def readers_of_text(name: str) -> list[str]:
    """The commands that read parts of a text; none for what is no text, or cannot be read."""
    from txop.counters import split
    from txop.counters.analysis import COMMANDS
    from txop.log.lines import Damage, read_lines

    try:
        with Path(name).open("rb") as stream:
            if b"\0" in stream.peek(4096)[:4096]:
                return []
            paste = split(name, islice(read_lines(stream, Damage()), MOST_LINES))
    except OSError:
        return []
    commands = dict.fromkeys(COMMANDS.get(part.kind, "txop counters") for part in paste.parts)
    return [f"{command} {name}" for command in commands]
