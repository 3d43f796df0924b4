"""Symbols of a kernel as a file for debuggers."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from txop.guest.debugging.symbol_file import Symbol, read_kallsyms, symbol_file

KALLSYMS = """\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000020 t helper
ffffffff82000000 D table
ffffffffc0000000 t init_module\t[mt76]
nothing
"""


def read_back(data: bytes) -> list[tuple[str, int, int, bool]]:
    """As a debugger reads it: ``e_shoff``, the table of sections, the symbols and their names."""
    at, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * number) for number in range(count)]
    table = next(section for section in sections if section[1] == 2)
    names = sections[table[6]]
    found = []
    for place in range(table[4] + 24, table[4] + table[5], 24):
        name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", data, place)
        begin = names[4] + name
        found.append((data[begin : data.index(b"\0", begin)].decode(), value, size, info & 15 == 2))
        assert sections[section][3] <= value < sections[section][3] + sections[section][5]
    return found


def test_a_kernels_own_symbols_end_where_the_next_begins():
    found = read_kallsyms(KALLSYMS, slide=0x1000)
    assert [(each.name, each.address, each.is_code) for each in found] == [
        ("_text", 0xFFFFFFFF81001000, True),
        ("helper", 0xFFFFFFFF81001020, True),
        ("table", 0xFFFFFFFF82001000, False),
    ]
    assert found[0].size == 0x20


@given(
    st.lists(
        st.builds(
            Symbol,
            st.text("abc_", min_size=1),
            st.integers(0xFFFF800000000000, (1 << 64) - 8192),
            st.integers(0, 4096),
            st.booleans(),
        )
    )
)
def test_what_is_written_is_read_back(symbols):
    expected = [(each.name, each.address, each.size, each.is_code) for each in symbols]
    assert read_back(symbol_file(symbols)) == expected


@given(st.text())
def test_no_text_is_an_error(text):
    read_kallsyms(text)
