"""The blocks of an instrumented module: where each is, in which function, and of which line it was made.

Read from what ``objdump`` says of the module file: a block is a call of :data:`CALLED`. Where the kernel puts the
sections of a module follows from their order, size and alignment (Linux kernel/module/main.c, ``__layout_sections``):
those that can be executed, one after the other, and those with names that begin with ``.init`` apart. The counts of
a trial without faults verify this: a count at an address where there is no block is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from txop.guest_image.error import GuestError

CALLED = "__sanitizer_cov_trace_pc"
"""What the compiler has every block call."""
OPTIONS = ("-h", "-d", "-l", "-r", "-w", "--no-show-raw-insn")
"""With which objdump says what is read here."""
COMPILED_IN = "/kernel/"
"""What stands in place of the kernel's folders in names of source files."""
GRAIN = 4
"""Places are counted by this many bytes (txop_coverage.c, ``CALL_BYTES``)."""
_CALL_BYTES = 5
"""A call with a 32-bit displacement."""

_SECTION = re.compile(
    r"\s*\d+ (?P<name>\S+)\s+(?P<size>[0-9a-f]+)(?:\s+[0-9a-f]+){3}\s+2\*\*(?P<align>\d+)\s+(?P<flags>.*)"
)
_DISASSEMBLY = re.compile(r"Disassembly of section (?P<name>\S+):")
_FUNCTION = re.compile(r"(?P<start>[0-9a-f]{8,16}) <(?P<name>[^>]+)>:")
_PLACE = re.compile(r"(?P<file>[^\s:]+\.[chS]):(?P<line>\d+)(?: \(discriminator \d+\))?")
_CALL = re.compile(rf"\s*(?P<at>[0-9a-f]+):\s+call\S*\s.*\s{CALLED}(?:-0x[0-9a-f]+)?\s*")
_CALLED = re.compile(rf"R_X86_64_\S+\s+{CALLED}\b")


@dataclass(frozen=True, order=True)
class Block:
    """A block of a module's object code. A function that is inlined into several has its blocks in each."""

    module: str
    function: str
    """As its symbol; where several symbols of a module have one name, all but the first with a number."""
    offset: int
    """Within the function."""
    source: str | None = field(default=None, compare=False)
    """File and line; ``None``: not known."""

    @property
    def name(self) -> str:
        """The same for the same block of the same build.

        >>> Block("rtl8xxxu", "rtl8xxxu_read8", 28).name
        'rtl8xxxu rtl8xxxu_read8+0x1c'
        """
        return f"{self.module} {self.function}+{self.offset:#x}"

    @property
    def home(self) -> str:
        """The function of the source: parts that the compiler has split off (``.cold``, ``.isra.0``) belong to it."""
        return self.function.partition(".")[0]


Place = tuple[str, int]
"""``t`` or ``i`` (text that goes after init), and the offset in it, a multiple of :data:`GRAIN`."""


@dataclass(frozen=True)
class ModuleBlocks:
    """All blocks of a module."""

    module: str
    blocks: Mapping[Place, Block]


def read_blocks(listing: str, module: str) -> ModuleBlocks:
    """The blocks in what objdump says of a module.

    Raises:
        GuestError: It has none, or one that does not call and come back: the place would not be its own.
    """
    starts: dict[str, Place] = {}
    sizes = {"t": 0, "i": 0}
    blocks: dict[Place, Block] = {}
    names: dict[str, int] = {}
    section, function, start, source = "", "", 0, None
    for row in listing.splitlines():
        if (match := _CALL.fullmatch(row)) is not None and section in starts:
            after = int(match["at"], 16) + _CALL_BYTES
            kind, base = starts[section]
            place = (kind, (base + after) // GRAIN * GRAIN)
            blocks[place] = Block(module, function, after - start, source)
        elif _CALLED.search(row) is not None:
            raise GuestError(f"{module} has a block that cannot be told from others: {row.strip()[:100]}")
        elif (match := _PLACE.fullmatch(row)) is not None:
            source = f"{match['file'].removeprefix(COMPILED_IN)}:{match['line']}"
        elif (match := _FUNCTION.fullmatch(row)) is not None:
            start, source = int(match["start"], 16), None
            times = names[match["name"]] = names.get(match["name"], 0) + 1
            function = match["name"] if times == 1 else f"{match['name']}#{times}"
        elif (match := _DISASSEMBLY.fullmatch(row)) is not None:
            section = match["name"]
        elif (match := _SECTION.fullmatch(row)) is not None and "CODE" in match["flags"]:
            kind = "i" if match["name"].startswith(".init") else "t"
            base = _aligned(sizes[kind], int(match["align"]))
            starts[match["name"]] = (kind, base)
            sizes[kind] = base + int(match["size"], 16)
    if not blocks:
        raise GuestError(f"the module {module} has no block that counts itself")
    return ModuleBlocks(module, blocks)


def _aligned(size: int, power: int) -> int:
    """The next multiple of a power of two."""
    return -(-size >> power) << power
