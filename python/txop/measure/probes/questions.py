"""Many small questions to a target in one command: a script for its shell, and the answers by their names.

One command per fact is a round trip and a shell per fact; a slow machine takes a second for each. The script needs
``sh`` and its ``printf`` only: what a question calls that is not there is an answer, too.
"""

from __future__ import annotations

import re
import secrets
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.targets.contract import Target

ONE_S = 10.0
"""For one question. A tool or a file of a driver that hangs is given up, and the others are asked without it."""
_ROUNDS = 4
_LIMIT_BYTES = 4 << 20

# $1: begins the lines that separate answers; $2: questions not to be asked; $3: the only ones to be asked, if any.
_PRELUDE = r"""
token=$1 skip=" $2 " only=" $3 "
shift 3
ask() {
    name=$1
    shift
    case $skip in *" $name "*) return 0 ;; esac
    case $only in "  " | *" $name "*) ;; *) return 0 ;; esac
    printf '\n%s+%s\n' "$token" "$name"
    "$@" </dev/null 2>&1
    printf '\n%s-%s\n' "$token" "$?"
}
"""


@dataclass(frozen=True)
class Answer:
    """What a question gave: standard output and error together."""

    status: int | None
    """``None``: it did not end."""
    text: str

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status == 0

    @property
    def first_line(self) -> str:
        """The first line that is not empty."""
        return next((line.strip() for line in self.text.splitlines() if line.strip()), "")


NOT_ASKED = Answer(None, "")


async def ask(target: Target, script: str, arguments: Sequence[str] = ()) -> dict[str, Answer]:
    """The answers to the questions of ``script``, each ``ask NAME COMMAND...``.

    Questions that are refused for want of permission are asked again as root, where the target may become root.

    Args:
        target: Connected.
        script: For ``sh``; ``$1`` and so on are ``arguments``.
        arguments: See ``script``.

    Raises:
        TargetLostError: the target is gone.
    """
    found = await _ask(target, script, arguments, root=False, only=())
    denied = [name for name, answer in found.items() if not answer.ok and "ermission denied" in answer.text]
    if denied:
        again = await _ask(target, script, arguments, root=True, only=denied)
        found.update({name: answer for name, answer in again.items() if answer.ok})
    return found


async def _ask(
    target: Target, script: str, arguments: Sequence[str], *, root: bool, only: Iterable[str]
) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    for _ in range(_ROUNDS):
        token = secrets.token_hex(8)
        words = ["sh", "-c", _PRELUDE + script, "questions", token, " ".join(found), " ".join(only), *arguments]
        with tempfile.TemporaryDirectory(prefix="txop-") as folder:
            said = Path(folder) / "said"
            running = await target.start(words, stdout=said, limit_bytes=_LIMIT_BYTES, root=root, max_seconds=300.0)
            size, moved = 0, time.monotonic()
            while (ended := await running.wait(0.5)) is None:
                now, before = said.stat().st_size, size
                size = now
                moved = time.monotonic() if now != before else moved
                if time.monotonic() - moved > ONE_S:
                    break
            if ended is None:
                await running.stop(grace_s=1.0)
            answers = answers_of(said.read_bytes(), token)
        found.update(answers)
        if ended is not None or not any(answer.status is None for answer in answers.values()):
            break
    return found


def answers_of(said: bytes, token: str) -> dict[str, Answer]:
    r"""Output of a script so far.

    >>> found = answers_of(b"\nt+a\n6.1\n\nt-0\n\nt+b\nsh: iw: not found\n\nt-127\n\nt+c\nhalf", "t")
    >>> found["a"], found["c"]
    (Answer(status=0, text='6.1\n'), Answer(status=None, text='half'))
    >>> found["b"]
    Answer(status=127, text='sh: iw: not found\n')
    """
    text = said.replace(b"\0", b"").decode("utf-8", "replace")
    found: dict[str, Answer] = {}
    for part in text.split(f"\n{token}+")[1:]:
        name, _, rest = part.partition("\n")
        match = re.search(rf"\n{token}-(\d{{1,3}})\n", rest)
        found[name[:200]] = Answer(int(match[1]), rest[: match.start()]) if match else Answer(None, rest)
    return found
