"""Where commands write, and how text from outside is made safe to show.

Conventions every command keeps:

* results go to :func:`stdout`, everything else (progress, warnings, errors) to :func:`stderr`;
* ``--json`` writes exactly one JSON document to stdout with :func:`write_json`, and nothing else there;
* colour appears on a terminal only, never with ``NO_COLOR`` set; a pipe gets plain text as wide as the table needs;
* text that came from a capture, a file name or another machine goes through :func:`safe_text` (rich renderables) or
  :func:`~txop.core.visible.visible` (plain strings) before it is shown.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from txop.core.errors import ExitCode
from txop.core.visible import visible

if TYPE_CHECKING:  # what writes JSON does without
    from rich.console import Console
    from rich.text import Text

JsonFlag = Annotated[bool, typer.Option("--json", help="Write one JSON document instead of tables.")]
"""The ``--json`` option, the same for every command."""

_WIDTH_WITHOUT_TERMINAL = 160
"""Columns used when the output is a pipe or file and ``COLUMNS`` is not set: tables are then not folded at 80."""


@cache
def _pipe_console() -> type[Console]:
    from rich.console import Console

    class PipeConsole(Console):
        """A console that leaves a broken pipe to :func:`txop.cli.app.main` instead of exiting with 1."""

        def on_broken_pipe(self) -> NoReturn:
            if self.stderr:  # who reads stdout may still be there
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            leave_broken_pipe()

    return PipeConsole


def _console(*, to_stderr: bool) -> Console:
    stream = sys.stderr if to_stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH_WITHOUT_TERMINAL
    return _pipe_console()(stderr=to_stderr, width=width, highlight=False, emoji=False)


def stdout() -> Console:
    """The console for results. Made at each call, so that it follows a replaced ``sys.stdout``."""
    return _console(to_stderr=False)


def stderr() -> Console:
    """The console for progress, warnings and errors."""
    return _console(to_stderr=True)


def safe_text(text: str, style: str = "") -> Text:
    """``text`` as a rich renderable: :func:`visible`, and never read as rich markup."""
    from rich.text import Text

    return Text(visible(text), style=style)


def warn(text: str) -> None:
    """Print a warning to stderr. ``text``: sentences, which may hold text from outside."""
    stderr().print(safe_text(f"Warning: {text}", "yellow"), soft_wrap=True)


def write_json(document: object) -> None:
    """Write one JSON document and a newline to stdout.

    ``document`` is anything :func:`json.dumps` takes, or ``bytes`` / ``str`` that already hold JSON (as the native
    module returns them). The output is pure ASCII: other characters become ``\\uXXXX`` escapes, so no string in it
    can act on a terminal.
    """
    if isinstance(document, bytes):
        text = document.rstrip(b"\n")
        decode = codecs.getincrementaldecoder("utf-8")().decode
    else:
        whole = document if isinstance(document, str) else json.dumps(document, indent=2, allow_nan=False)
        text = whole.rstrip("\n").encode("utf-8", "surrogatepass")
        decode = codecs.getincrementaldecoder("utf-8")("surrogatepass").decode
    for start in range(0, len(text), _PIECE):  # large documents never exist twice
        piece = text[start : start + _PIECE]
        written = decode(piece)
        sys.stdout.write(_NOT_PLAIN.sub(_escape, written) if piece.translate(None, _PLAIN_BYTES) else written)
    sys.stdout.write("\n")


_PIECE = 1 << 18
"""Bytes of JSON made plain at a time."""


_PLAIN_BYTES = bytes([*b"\n", *range(0x20, 0x7F)])
_NOT_PLAIN = re.compile("[^\n\x20-\x7e]")


def _escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


PLAIN = "txop-plain"
"""Error handler of streams that cannot encode a character: txop's own signs and bars become ASCII, others escapes."""

_ASCII = dict(zip("█▓▒░·–\N{MINUS SIGN}→×µ±…▲▼", "#%=-.-->xu~.+-", strict=True)) | {"∞": "inf"}


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    shown = (_ASCII.get(c) or c.encode("ascii", "backslashreplace").decode("ascii") for c in lost)
    return "".join(shown), error.end


codecs.register_error(PLAIN, _plain)


def discard_stdout() -> None:
    """Send what is still buffered for stdout nowhere, so that the interpreter's own last flush cannot complain."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def leave_broken_pipe() -> NoReturn:
    """End quietly after the reader of stdout went away."""
    discard_stdout()
    raise SystemExit(int(ExitCode.BROKEN_PIPE))
