"""The blocks of a module, and the counts of a guest."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny_module import LISTING
from txop.guest.coverage.blocks import CALLED, OPTIONS, Block, ModuleBlocks, read_blocks
from txop.guest.coverage.counts import reached, read_counts
from txop.guest.coverage.instrument import INSTRUMENTED
from txop.guest_image.error import GuestError

TINY = ModuleBlocks(
    "tiny",
    {
        ("t", 0x08): Block("tiny", "tiny_read", 0x8),
        ("t", 0x10): Block("tiny", "tiny_read", 0x12),
        ("t", 0x1C): Block("tiny", "tiny_read.cold", 0x5),
        ("i", 0x08): Block("tiny", "tiny_init", 0x8),
        ("t", 0x38): Block("tiny", "tiny_read#2", 0x9),
    },
)
"""Text of 0x26 bytes, then that of .exit.text at the next multiple of 16; that of .init.text is elsewhere."""


def test_blocks_are_where_the_kernel_puts_their_sections() -> None:
    assert read_blocks(LISTING, "tiny") == TINY


def test_a_block_has_its_function_and_its_line() -> None:
    blocks = read_blocks(LISTING, "tiny").blocks
    assert [(block.home, block.source) for block in blocks.values()] == [
        ("tiny_read", "drivers/tiny.c:4"),
        ("tiny_read", "drivers/tiny.c:5"),
        ("tiny_read", None),
        ("tiny_init", "drivers/tiny.c:10"),
        ("tiny_read#2", "drivers/tiny.c:14"),
    ]


def test_a_module_without_blocks_and_a_block_that_does_not_come_back_are_refused() -> None:
    with pytest.raises(GuestError, match="has no block that counts itself"):
        read_blocks(LISTING.replace(CALLED, "printk"), "tiny")
    with pytest.raises(GuestError, match="cannot be told from others: d:"):
        read_blocks(LISTING.replace("d:	call ", "d:	jmp "), "tiny")


TEXT = b"txop-coverage 1\nmodule tiny 4096 4096\nt 8 3\nt 38 1\ni 8 4294967295\nmodule other 0 0\nelsewhere 0\n"


def test_counts_belong_to_blocks() -> None:
    counts = read_counts(TEXT)
    assert counts == {"tiny": {("t", 8): 3, ("t", 0x38): 1, ("i", 8): 2**32 - 1}, "other": {}}
    found = reached({"tiny": TINY}, counts)
    assert {block.name: count for block, count in found.items()} == {
        "tiny tiny_read+0x8": 3,
        "tiny tiny_read#2+0x9": 1,
        "tiny tiny_init+0x8": 2**32 - 1,
    }


@pytest.mark.parametrize("text", [b"", TEXT[:-8], TEXT[16:], TEXT.replace(b"t 8", b"t x"), TEXT[:40], b"\xff" * 99])
def test_counts_that_are_not_whole_are_none(text: bytes) -> None:
    assert read_counts(text) is None


@given(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)), st.binary(max_size=20))
def test_damaged_counts_are_none_or_numbers(begin: int, end: int, other: bytes) -> None:
    counts = read_counts(TEXT[:begin] + other + TEXT[end:])
    for places in (counts or {}).values():
        assert all(kind in "ti" and offset >= 0 and count >= 0 for (kind, offset), count in places.items())


@pytest.mark.parametrize("other", [{"tiny": {("t", 0x0C): 1}}, {"tiny": {("i", 0x10): 1}}, {"large": {("t", 8): 1}}])
def test_a_count_where_no_block_is_is_an_error(other: dict[str, dict[tuple[str, int], int]]) -> None:
    with pytest.raises(GuestError, match="where no block is"):
        reached({"tiny": TINY}, other)


SOURCE = """
static int seen;
int more(int kind);
int less(int kind) { return kind > 3 ? more(kind) : seen; }
__attribute__((section(".init.text"))) int begin(int how) { if (how) more(how); return seen; }
void last(int kind) { if (kind) more(kind); }
int loop(int n) { for (int i = 0; i < n; i++) { if (more(i)) break; seen += i; } return seen; }
"""


def test_every_call_that_the_compiler_made_is_a_block(tmp_path: Path) -> None:
    if not shutil.which("gcc") or not shutil.which("objdump"):
        pytest.skip("no gcc and objdump here")
    source, made = tmp_path / "m.c", tmp_path / "m.o"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "-g1", *INSTRUMENTED.split(), "-fno-pic", "-c", "-o", made, source], check=True)
    listing = subprocess.run(["objdump", *OPTIONS, made], capture_output=True, text=True, check=True).stdout
    blocks = read_blocks(listing, "m").blocks
    relocations = subprocess.run(["objdump", "-r", made], capture_output=True, text=True, check=True).stdout
    assert len(blocks) == len(re.findall(CALLED, relocations)) >= 8
    assert {block.function for block in blocks.values()} == {"less", "begin", "last", "loop"}
    assert {kind for kind, _ in blocks} == {"t", "i"}
    assert all(block.source is not None and "m.c:" in block.source for block in blocks.values())
