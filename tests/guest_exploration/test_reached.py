"""Which blocks an exploration has reached, as a list."""

from __future__ import annotations

from txop.guest.coverage.blocks import Block, ModuleBlocks
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.reached import Reach

READ = [Block("m", "m_read", offset, f"m.c:{line}") for offset, line in ((5, 10), (25, 9), (45, 11))]
COLD = Block("m", "m_read.cold", 5, "m.c:9")
STOP = Block("m", "m_stop", 5, "m.c:30")
INIT = Block("m", "m_init", 5, "m.c:40")
MODULES = {"m": ModuleBlocks("m", {("t", 4 * at): block for at, block in enumerate([*READ, COLD, STOP, INIT])})}


def outcome(*blocks: Block, counted: bool = True) -> Outcome:
    features = frozenset({"verdict unaffected", *(f"block {block.name}" for block in blocks)})
    return Outcome(verdict="unaffected", why="", features=features, blocks=2 + len(blocks) if counted else None)


BEGIN = [outcome(), outcome(READ[1])]
REACH = Reach.of(MODULES, frozenset({INIT, READ[0]}), BEGIN, [*BEGIN, outcome(READ[1], COLD), outcome(counted=False)])


def test_what_is_reached_is_counted_apart() -> None:
    assert REACH.document() == {
        "modules": ["m"],
        "blocks": 6,
        "entered": 5,
        "control": 2,
        "given": 3,
        "reached": 4,
        "uncounted": 1,
    }
    assert REACH.sentence().startswith(
        "6 blocks, 5 of them in functions that were entered; reached without faults: 2, with the scripts to begin "
        "with: 3"
    )


def test_the_list_has_every_function_and_the_lines_that_were_not_reached() -> None:
    assert REACH.text("m").splitlines()[4:] == [
        "Functions reached in part: 1",
        "    1     2     3     4  m m_read",
        "                         m.c:11",
        "",
        "Functions reached not at all: 1",
        "    0     0     0     1  m m_stop",
        "",
        "Functions reached completely: 1",
        "    1     1     1     1  m m_init",
    ]
