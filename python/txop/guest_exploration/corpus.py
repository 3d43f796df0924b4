"""Scripts that have shown something new, and which of them is changed next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from txop.guest_exploration.script import Script

BLOCK = "block "
"""With what a feature begins that is a block of the driver's code."""
_LESS = ("chip ", "struck ")
"""Features that say what was done to the driver, or follow from the traffic."""


def block_feature(name: str) -> str:
    """The feature that a block is (``name``: :attr:`txop.guest.coverage.blocks.Block.name`)."""
    return BLOCK + name


def _kind(feature: str) -> str:
    """Features of one kind say the same: blocks of one function are mostly reached together.

    >>> _kind("block rtl8xxxu rtl8xxxu_stop.cold+0x1c"), _kind("verdict warns")
    ('block rtl8xxxu rtl8xxxu_stop', 'verdict warns')
    """
    return feature.rpartition("+")[0].partition(".")[0] if feature.startswith(BLOCK) else feature


def _share(feature: str) -> float:
    return 0.02 if feature.startswith(_LESS) else 1.0


@dataclass
class Entry:
    """A script of the corpus."""

    number: int
    """Number of its trial."""
    script: Script
    features: frozenset[str]
    new: frozenset[str]
    """What no trial had shown before it."""
    blocks: int | None = None
    """How many blocks of the driver it reaches; ``None``: they were not counted."""


class Corpus:
    """The scripts, and how often every feature was seen in any trial."""

    def __init__(self, *, guided: bool = True) -> None:
        """``guided``: false, for comparisons: every script is kept, and each is as likely to be chosen."""
        self._guided = guided
        self.entries: list[Entry] = []
        self.seen: Counter[str] = Counter()
        """By feature: in how many trials it was."""

    def observe(
        self,
        number: int,
        script: Script,
        features: Iterable[str],
        *,
        keep: bool = False,
        blocks: int | None = None,
    ) -> Entry | None:
        """Take in what a trial showed; its entry if it is kept. ``keep``: also without anything new."""
        shown = frozenset(features)
        new = shown - self.seen.keys()
        self.seen.update(shown)
        self._smaller(script, shown, blocks)
        if not new and not keep and self._guided:
            return None
        entry = Entry(number, script, shown, new, blocks)
        self.entries.append(entry)
        return entry

    def _smaller(self, script: Script, shown: frozenset[str], blocks: int | None) -> None:
        """A script of fewer faults takes the place of one if it shows all that this was kept for."""
        for entry in self.entries if self._guided else ():
            if entry.new and entry.new <= shown and len(script) < len(entry.script):
                entry.script, entry.features, entry.blocks = script, shown, blocks

    def weight(self, entry: Entry) -> float:
        """How much an entry is favoured: the sum over its features of 1 / n^2, where n trials have had the feature; a
        fiftieth of that for features that only say what was done to the driver. The blocks of a function count as one
        feature, the rarest of them: a function of fifty blocks that is reached is no more of a find than a log line."""
        if not self._guided:
            return 1.0
        shares: dict[str, float] = {}
        for feature in entry.features:
            kind = _kind(feature)
            shares[kind] = max(shares.get(kind, 0.0), _share(feature) / self.seen[feature] ** 2)
        return sum(shares[kind] for kind in sorted(shares))

    def choose(self, random: Random) -> Entry:
        """The next parent; raises :class:`IndexError` while there is none."""
        weights = [max(self.weight(entry), 1e-9) for entry in self.entries]
        return random.choices(self.entries, weights)[0]
