"""The base of all errors, of those that users read, and what the exit codes mean.

Every error of txop's own is a :class:`TxopError`. Packages derive those that users read from :class:`UserError`; only
:mod:`txop.cli.app` prints it, and ends with its exit code. ``TargetError``, ``ArmError`` and ``FormatError`` are not
derived from that: no user reads them as they are, the code that catches them says what they mean for a run.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every ``txop`` command."""

    OK = 0
    """Done."""
    VERDICT_NO = 1
    """Done, and the answer is no: a check failed, a figure is worse."""
    BAD_INPUT = 2
    """Wrong usage, or input that cannot be read at all."""
    MISSING = 3
    """A tool, device or permission that the command needs is missing."""
    PARTIAL = 4
    """Done, but the input was damaged or cut short: the result covers what was readable."""
    UNDECIDED = 5
    """Done, and there is no answer: nothing to report on or to compare, or it cannot be determined."""
    INTERNAL = 70
    """A defect of txop itself."""
    NO_TESTBED = 73
    """``txop guest run``: a step that sets up the guest's testbed failed, so the command was not run."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""
    BROKEN_PIPE = 141
    """The reader of the output went away (``txop ... | head``); nothing is printed."""


EXIT_CODE_MEANINGS: tuple[tuple[ExitCode, str], ...] = (
    (ExitCode.OK, "done"),
    (ExitCode.VERDICT_NO, "done, and the answer is no: a check failed, a figure is worse"),
    (ExitCode.BAD_INPUT, "wrong usage, or input that cannot be read"),
    (ExitCode.MISSING, "a tool, device or permission is missing"),
    (ExitCode.PARTIAL, "done, but the input was damaged or cut short"),
    (ExitCode.UNDECIDED, "done, and there is no answer: nothing to report on, or it can't be determined"),
    (ExitCode.INTERNAL, "a defect of txop itself"),
    (ExitCode.INTERRUPTED, "stopped by Ctrl-C"),
    (ExitCode.BROKEN_PIPE, "broken pipe: the program that read the output has ended"),
)
"""The codes a user can meet, in the words of ``txop --help``."""


class TxopError(Exception):
    """Base of every error that txop raises by itself. Files that cannot be opened raise :class:`OSError`."""


class CaptureError(TxopError, ValueError):
    """A capture that cannot be read at all; the message says what is wrong with it and where."""


class KeyFileError(TxopError, ValueError):
    """A key file that cannot be used; the message says what is wrong and in which line, and repeats nothing of it."""


class UserError(TxopError):
    """An error the user can act on: what happened, where, and what to do about it.

    Each part is plain text, one sentence or less, without a final full stop; text from captures or other machines may
    be put in as it is, the printer makes it safe.

    >>> str(UserError("not a capture file", where="notes.txt, byte 0", what_to_do="give a pcap or pcapng file"))
    'notes.txt, byte 0: not a capture file. Give a pcap or pcapng file.'
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        what_to_do: str | None = None,
        exit_code: ExitCode = ExitCode.BAD_INPUT,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.what_to_do = what_to_do
        self.exit_code = exit_code

    @property
    def clause(self) -> str:
        """Place and problem, to be put into a sentence: ``notes.txt, byte 0: not a capture file``."""
        return f"{self.where}: {self.what}" if self.where else self.what

    def __str__(self) -> str:
        text = sentence(self.clause)
        if self.what_to_do:
            text += f" {sentence(capitalised(self.what_to_do))}"
        return text


class MissingToolError(UserError):
    """A program, device or permission that the command cannot do without."""

    def __init__(self, what: str, *, where: str | None = None, what_to_do: str | None = None) -> None:
        super().__init__(what, where=where, what_to_do=what_to_do, exit_code=ExitCode.MISSING)


def sentence(text: str) -> str:
    """``text`` with its full stop.

    >>> sentence("it is empty"), sentence("is it?")
    ('it is empty.', 'is it?')
    """
    return text if text.endswith((".", "!", "?")) else f"{text}."


def capitalised(text: str) -> str:
    """``text`` as the beginning of a sentence. A first word that is a name stays as it is written.

    >>> capitalised("give a file"), capitalised("dBm with commas"), capitalised("mt7610u can be one")
    ('Give a file', 'dBm with commas', 'mt7610u can be one')
    """
    first = text.split(" ", 1)[0].rstrip(",;:")
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
