"""How signals end txop."""

from __future__ import annotations

import signal
import threading
from typing import NoReturn

ENDING = (signal.SIGTERM, signal.SIGHUP)


def end_in_order() -> None:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does: files that were begun are removed, guests are ended.

    The exit code is 128 plus the number of the signal. A second one ends it on the spot. A signal that the parent has
    set aside (nohup), or that somebody else listens to, stays as it is.
    """

    def leave(number: int, frame: object) -> NoReturn:
        del frame
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for number in ENDING:
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, leave)
