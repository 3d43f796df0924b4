"""Counters of drivers and kernel, from what people paste: figures, what cannot be true in them, what they explain.

| module | |
|---|---|
| `paste` | a text to its parts: which lines are the output of which tool |
| `readings` | parts read, each with what it is about: a peer, a channel, an interface |
| `pairing` | the earlier and the later reading of one subject |
| `meanings` | what each figure means, and the kernel file that says so |
| `account` | where figures and findings are put together |
| `of_station`, `of_channel`, `of_rates`, `of_driver` | the figures of each kind of reading |
| `conclusions` | what the figures explain, as codes with fields |
| `words` | the sentences for codes: once, for the terminal and the JSON |
| `analysis` | all of it |

Everything is pure: text in, a :class:`~txop.counters.report.CountersReport` out.
"""

from __future__ import annotations

from txop.counters.analysis import analyse
from txop.counters.paste import Paste, split
from txop.counters.report import CountersReport

__all__ = ["CountersReport", "Paste", "analyse", "split"]
