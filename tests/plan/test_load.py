"""A wrong plan is refused with every mistake at once, each with its line and key."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from txop.plan.load import MAX_BYTES, MAX_LINE, load_plan, parse_plan
from txop.plan.problem import PlanError


def problems(parse, text: str) -> list[str]:
    with pytest.raises(PlanError) as raised:
        parse(text)
    return [problem.text("plan.toml") for problem in raised.value.problems]


def test_a_good_plan_loads_with_its_hash_and_folder(tmp_path, good):
    import hashlib

    file = tmp_path / "my.toml"
    file.write_text(good)
    loaded = load_plan(file)
    assert loaded.plan.title == "two builds"
    assert loaded.sha256 == hashlib.sha256(good.encode()).hexdigest()
    assert loaded.file("x/y.ko") == tmp_path / "x/y.ko"
    assert loaded.file("/x").is_absolute()
    assert load_plan(file) == loaded


def test_every_problem_at_once_with_line_and_key(parse):
    text = """\
title = 3
descripton = "y"
[target.dut]
kind = "locale"
[target.peer]
kind = "ssh"
port = 70000
[[arm]]
name = "Vanilla!"
module = { name = "a", file = "b" }
load = ["iw dev", ["ip", 3], "foo 'bar"]
[[test]]
kind = "tcp-tx"
straems = 3
duration_s = 0
[[test]]
name = "u"
kind = "udp-tx"
warm_up_s = nan
latency = "pin"
[design]
blocks = "10"
idle_s = true
margins = { "tx" = 3 }
"""
    assert problems(parse, text) == [
        "plan.toml, line 1, title: must be a text.",
        'plan.toml, line 2, descripton: no such key. Did you mean "description"?',
        'plan.toml, line 4, target.dut.kind: unknown kind of target "locale". Did you mean "local"? '
        "The kinds are emulated, guest, labgrid, local, namespace, ssh.",
        "plan.toml, line 5, target.peer.host: is missing.",
        "plan.toml, line 7, target.peer.port: must be at most 65535.",
        "plan.toml, line 9, arm[0].name: must be lower-case letters and digits, with - and _ between them.",
        "plan.toml, line 10, arm[0].module: give either name (modprobe) or file (insmod).",
        "plan.toml, line 11, arm[0].load[1][1]: must be a text.",
        "plan.toml, line 11, arm[0].load[2]: No closing quotation.",
        "plan.toml, line 12, test[0].name: is missing.",
        'plan.toml, line 14, test[0].straems: no such key. Did you mean "streams"?',
        "plan.toml, line 15, test[0].duration_s: must be more than 0.",
        "plan.toml, line 16, test[1].rate_mbit_s: is missing.",
        "plan.toml, line 19, test[1].warm_up_s: must be a finite number.",
        'plan.toml, line 20, test[1].latency: "pin" is not allowed. Did you mean "ping"?',
        "plan.toml, line 22, design.blocks: must be a whole number.",
        "plan.toml, line 23, design.idle_s: must be a number.",
        "plan.toml, line 24, design.margins.tx: a key here must be TEST.METRIC, as in tx.throughput_mbit_s.",
    ]


def test_a_target_named_like_a_kind_is_no_confusion(parse, good):
    text = good + '[target.local]\nkind = "local"\ninterfaces = "x"\n'
    assert problems(parse, text) == [
        'plan.toml, line 23, target.local.interfaces: no such key. Did you mean "interface"?'
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'title = "x\n', "line 1: it is not TOML"),
        (b"a = 1\na = 2\n", "line 2: it is not TOML"),
        (b"\xff\n", "line 1: it is not UTF-8"),
        (b"a = 1\nb = '\xe4'\n", "line 2: it is not UTF-8"),
        (b"# " + b"x" * MAX_BYTES, "larger than"),
        (b"\n" + b"a" * (MAX_LINE + 1), "line 2: the line has more than"),
        (b"\n" + b"a." * 4000 + b"a = 1", "line 2: a key has more than 64 parts"),
        (b"\n" + b"{x = {'a b' ." + b"'a b' ." * 1000 + b"a = 1}", "line 2: a key has more than 64 parts"),
        (b"a = " + b"[" * 3000 + b"]" * 3000, "deep"),
        (b"a = " + b"9" * 5000, "it is not TOML"),
        (b"", "title: is missing"),
    ],
)
def test_what_is_no_plan_says_so(tmp_path, data, message):
    with pytest.raises(PlanError) as raised:
        parse_plan(data, tmp_path / "p")
    assert message in str(raised.value)


def test_the_end_of_the_document_has_a_line(tmp_path):
    with pytest.raises(PlanError) as raised:
        parse_plan(b"a = 1\nb = [1,\n", tmp_path / "p")
    assert raised.value.problems[0].line == 3


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path, good):
    plan = parse_plan(b"\xef\xbb\xbf" + good.replace("\n", "\r\n").encode(), tmp_path / "p").plan
    assert plan.title == "two builds"


def test_problems_are_bounded(parse, good):
    found = problems(parse, good + "[gates]\n" + "".join(f"x{n} = 1\n" for n in range(500)))
    assert len(found) == 101
    assert found[-1].endswith("and 400 more problems.") or "and 400 more problems." in found[0]


def test_many_long_dotted_keys_do_not_take_long(tmp_path):
    import time

    line = b"%d" + b'."a b.c d"' * (MAX_LINE // 10 - 1) + b" = 1\n"
    data = b"".join(line % n for n in range(40))
    assert len(data) > MAX_BYTES * 0.35
    started = time.monotonic()
    with pytest.raises(PlanError):
        parse_plan(data, tmp_path / "p")
    assert time.monotonic() - started < 20


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
@example(b"[a]\n[a.b]\n[[a.b]]")
@example(b'title=""\n[target]\n[[arm]]\n[[test]]\nkind=[1]')
@example(b"target=1\narm=1\ntest=[1]\ndesign=[]\n")
@example(b"target={dut=1}\narm=[[1]]\ntest=[{kind=1}]\nlink=2020-01-01\nenvironment={a=[1]}")
def test_any_bytes_give_a_plan_or_a_plan_error(data):
    from pathlib import Path

    with contextlib.suppress(PlanError):
        parse_plan(data, Path("p"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def mutated(draw, value, values):
    """``value`` with something inside it replaced, or a key added."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: mutated(draw, value[key], values)}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], mutated(draw, value[index], values), *value[index + 1 :]]
    if isinstance(value, dict) and draw(st.booleans()):
        return {**value, draw(st.text(max_size=8)): draw(values)}
    return draw(values)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_wrong_value_anywhere_is_explained(data):
    """A good document with one value replaced: the explanation never fails, and names a path that is in it."""
    import tomllib

    from pydantic import ValidationError

    from txop.plan.explain import explain
    from txop.plan.model import Plan

    raw = mutated(data.draw, tomllib.loads(data.draw(st.sampled_from(TEMPLATE_TEXTS))), VALUES)
    try:
        Plan.model_validate(raw, strict=True)
    except ValidationError as error:
        for path, message, _ in explain(error.errors(include_url=False), raw):
            assert message
            inside = raw
            for part in path[:-1]:
                inside = inside[part]


def _template_texts() -> list[str]:
    from txop.plan.templates import templates

    return [template.text for template in templates().values()]


TEMPLATE_TEXTS = _template_texts()
