"""The place of every key: tomllib says which paths and values there are, a search in the text says on which lines."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.plan.locate import MAX_DEPTH, NestingError, Place, nearest, places, shown

KEYS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,4}", fullmatch=True),
    st.sampled_from(["a.b", "", 'q"q', "x = 1", "[t]", "# no", "ä", "\t", "\\", "'"]),
)
SCALAR_STYLES = ["integer", "basic", "literal", "basic-lines", "literal-lines", "date"]


class Writer:
    """Writes a random document; every scalar holds a number that stands nowhere else in the text."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.number = 100_000

    def key(self, key: str) -> str:
        bare = key.isascii() and key != "" and all(c.isalnum() or c in "_-" for c in key)
        if bare and self.draw(st.booleans()):
            return key
        if "'" not in key and "\t" not in key and self.draw(st.booleans()):
            return f"'{key}'"
        return '"' + key.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'

    def gap(self) -> str:
        return self.draw(st.sampled_from(["", "", "# [x]\n", "\n", "  # a = 1\n\n", "\r\n"]))

    def space(self) -> str:
        return self.draw(st.sampled_from(["", " ", "\t", "  "]))

    def scalar(self, *, inline: bool) -> str:
        self.number += 1
        styles = SCALAR_STYLES[:3] if inline else SCALAR_STYLES
        return {
            "integer": f"{self.number}",
            "basic": f'"{self.number} \\" # [x] = 1"',
            "literal": f"'{self.number} \\ \" # ]'",
            "basic-lines": f'"""{self.number}\n[a]\nb = """""',
            "literal-lines": f"'''{self.number} '' \n[[a]]\n'''",
            "date": f"1979-05-27 07:32:00.{self.number}",
        }[self.draw(st.sampled_from(styles))]

    def value(self, depth: int, *, inline: bool) -> str:
        kind = self.draw(st.sampled_from(["scalar", "scalar", "array", "table"])) if depth < 3 else "scalar"
        if kind == "array":
            parts = []
            for _ in range(self.draw(st.integers(0, 3))):
                parts.append(f"{self.gap()}{self.space()}{self.value(depth + 1, inline=inline)}{self.gap()}")
            tail = "," if parts and self.draw(st.booleans()) else ""
            return f"[{','.join(parts)}{tail}{self.gap()}]"
        if kind == "table":
            keys = self.draw(st.lists(KEYS, max_size=3, unique=True))
            inner = (self.pair(key, depth + 1, inline=True) for key in keys)
            return "{ " + ", ".join(inner) + " }"
        return self.scalar(inline=inline)

    def pair(self, key: str, depth: int, *, inline: bool) -> str:
        name = self.key(key)
        for part in self.draw(st.lists(KEYS, max_size=1)):
            name += f"{self.space()}.{self.space()}{self.key(part)}"
        return f"{name}{self.space()}={self.space()}{self.value(depth, inline=inline)}"

    def body(self) -> str:
        text = ""
        for key in self.draw(st.lists(KEYS, max_size=3, unique=True)):
            text += f"{self.gap()}{self.space()}{self.pair(key, 0, inline=False)}{self.space()}\n"
        return text

    def document(self) -> str:
        text = self.body()
        names = self.draw(st.lists(st.lists(KEYS, min_size=1, max_size=3), max_size=5))
        for parts in names:
            header = ".".join(f"{self.space()}{self.key(part)}{self.space()}" for part in parts)
            text += f"[[{header}]]\n" if self.draw(st.booleans()) else f"[{header}]  # b\n"
            text += self.body()
        return text


@st.composite
def documents(draw: Any) -> str:
    return Writer(draw).document()


def walk(value: Any, path: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], Any]:
    found = {path: value} if path else {}
    if isinstance(value, dict | list):
        for key, sub in value.items() if isinstance(value, dict) else enumerate(value):
            found |= walk(sub, (*path, key))
    return found


@settings(max_examples=80, deadline=None)
@given(documents())
def test_every_key_is_found_on_its_line(text):
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # a key twice: not valid, so never asked
    found = places(text)
    expected = walk(parsed)
    assert set(found) == set(expected)
    lines = text.replace("\r\n", "\n").split("\n")
    for path, value in expected.items():
        if isinstance(value, dict | list):
            continue
        digits = f"{value:%f}" if hasattr(value, "microsecond") else "".join(c for c in str(value)[:7] if c.isdigit())
        number = digits[:6]
        (line,) = [index for index, row in enumerate(lines, 1) if number in row]
        assert found[path].line == line, (path, number)
        assert 1 <= found[path].column <= len(lines[line - 1])


def test_documents_of_the_property_test_are_mostly_valid_and_rich():
    from hypothesis import HealthCheck, Phase

    seen = {"valid": 0, "arrays of tables": 0, "paths": 0, "all": 0}

    @settings(max_examples=50, deadline=None, database=None, phases=[Phase.generate], derandomize=True,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(documents())
    def count(text):
        seen["all"] += 1
        try:
            expected = walk(tomllib.loads(text))
        except tomllib.TOMLDecodeError:
            return
        seen["valid"] += 1
        seen["arrays of tables"] += "[[" in text
        seen["paths"] += len(expected)

    count()
    assert seen["valid"] > seen["all"] / 3
    assert seen["arrays of tables"] > 5
    assert seen["paths"] > 100


def test_places_of_all_forms():
    text = 'a = 1\n[t.u]\nb.c = { d = [1,\n  2] }\n[[x]]\n[[x]]\ny = """\n[no]\n"""\n[x.z]\n  e = 2\n'
    found = places(text)
    assert found["a",] == Place(1, 1)
    assert found["t", "u", "b", "c", "d", 1] == Place(4, 3)
    assert found["x", 1, "y"].line == 7
    assert found["x", 1, "z", "e"] == Place(11, 3)
    assert ("no",) not in found


def test_nearest_is_the_innermost_thing_that_has_a_place():
    found = places("[t]\na = 1\n")
    assert nearest(found, ("t", "a", "x", 3)) == Place(2, 1)
    assert nearest(found, ("t", "missing")) == Place(1, 1)
    assert nearest(found, ("other",)) is None


@pytest.mark.parametrize(
    "text", [".".join("a" * (MAX_DEPTH + 1)) + " = 1", "a = " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)]
)
def test_depth_is_bounded(text):
    tomllib.loads(text)
    with pytest.raises(NestingError):
        places(text)


def test_keys_are_shown_as_people_write_them():
    assert shown(("test", 2, "duration_s")) == "test[2].duration_s"
    assert shown(("a", 'b "c')) == 'a."b \\"c"'
