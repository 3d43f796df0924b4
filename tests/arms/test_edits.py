"""Edit scripts: what they change, and what is refused."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.arms.edits.apply import EditError, apply_script, edited
from txop.arms.edits.script import MAX_BYTES, Edit, EditScriptError, parse_script
from txop.arms.edits.tokens import TokenError, find, tokens_of
from txop.arms.patches import NOT_BACKWARDS, NotApplied, apply_patches

SOURCE = """\
#include <linux/x.h>
#define STOP(x) { (x)->on = 0;
/* stop = 1; in a comment */
struct state { int on; int rate; };
static const u8 table[] __maybe_unused = { 1, 2, { 3, 4 }, };
static void start(struct state *s);

static void start(struct state *s)
{
	const char *text = "stop = 1;";
	if (s->on && test(s)) {
		s->rate = 24;
		s->on = 1;
	} else if (s->rate)
		s->rate = 0;
	else
		s->rate = 1;

	list_for_each_entry(a, b, c)
		if (a->x)
			use(a);
	do
		s->rate--;
	while (s->rate);
	switch (s->on) {
	case 1:
		s->rate = 24;
		break;
	default:
		s->on = 0;
	}
	return;
}

static struct ops ops = {
	.start = start,
	.get = get,
	.stop = stop
};
"""


def edit(**keys: object) -> Edit:
    return Edit.model_validate({"file": "x.c", **keys}, strict=True)


def after(**keys: object) -> str:
    return edited(SOURCE, edit(**keys), "x.c")[0]


def words(source: str) -> list[str]:
    return [token.text for token in tokens_of(source)]


def test_words_are_found_in_code_only_and_whatever_the_white_space() -> None:
    changed = after(**{"in": "start", "replace": "s ->rate/**/=   24", "with": "s->rate = 6", "count": 2, "only": 2})
    assert changed == SOURCE.replace("case 1:\n\t\ts->rate = 24", "case 1:\n\t\ts->rate = 6")
    assert after(delete="&& test(s)").count("if (s->on )") == 1
    with pytest.raises(EditError, match="is not there"):
        after(delete="stop = 1")


@pytest.mark.parametrize(
    ("keys", "gone"),
    [
        ({"delete": "test"}, SOURCE[SOURCE.index("\tif (s->on") : SOURCE.index("\n\tlist_for")]),
        ({"delete": "s->on = 1"}, "\t\ts->on = 1;\n"),
        ({"delete": "use"}, "\tlist_for_each_entry(a, b, c)\n\t\tif (a->x)\n\t\t\tuse(a);\n"),
        ({"delete": "s->rate--"}, "\tdo\n\t\ts->rate--;\n\twhile (s->rate);\n"),
        ({"delete": "break"}, "\t\tbreak;\n"),
        ({"delete": ".get"}, "\t.get = get,\n"),
        ({"delete": ".stop"}, "\t.stop = stop\n"),
        ({"delete": "rate", "in": "state"}, " int rate;"),
        ({"delete": "3", "in": "table"}, " 3,"),
    ],
)
def test_a_statement_is_what_depends_on_it_too(keys: dict[str, object], gone: str) -> None:
    if "in" not in keys and SOURCE.count(str(keys["delete"])) > 1:
        keys = {**keys, "in": "start"}
    changed = after(**keys, whole="statement")
    assert words(changed) == words(SOURCE.replace(gone, " ", 1))
    assert "\t\n" not in changed


def test_insertions_take_the_indentation_of_their_place() -> None:
    changed = after(**{"in": "ops", "insert_after": ".get", "whole": "statement", "with": ".put = put,"})
    assert ".get = get,\n\t.put = put,\n\t.stop" in changed
    changed = after(**{"in": "ops", "insert_before": "ops ops", "whole": "definition", "with": "int x;\n\nint y;\n"})
    assert "\nint x;\n\nint y;\nstatic struct ops ops = {" in changed
    changed = after(**{"in": "start", "insert_after": "s->rate--", "whole": "statement", "with": "if (a)\n\tb();"})
    assert "\twhile (s->rate);\n\tif (a)\n\t\tb();\n\tswitch" in changed
    changed = after(**{"in": "start", "delete": "static void start", "whole": "definition"})
    assert "static void start(struct state *s);\n\n\nstatic struct ops" in changed


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"in": "stat", "delete": "on"}, "x.c does not define stat"),
        (
            {"in": "start", "delete": "s->rate = 24"},
            "in start: `s->rate = 24` is there 2 times, not once; line 12 has `s->rate = 24;`; line 27 has",
        ),
        ({"in": "start", "delete": "s->rate = 7"}, "there; line 12 has .*; line 15 has `s->rate = 0;`; and 4 more"),
        ({"in": "ops", "delete": "nothing"}, "in ops: `nothing` is not there.* lines 35 to 39 have no part"),
        ({"delete": "struct ops ops", "whole": "statement"}, "line 35: .*it is in no braces"),
        ({"in": "start", "delete": "s->rate = 24; s->on = 1;", "whole": "statement"}, "more than one statement"),
    ],
)
def test_an_edit_that_does_not_fit_says_what_stands_there(keys: dict[str, object], message: str) -> None:
    with pytest.raises(EditError, match=message):
        after(**keys)


def test_a_statement_cut_by_the_preprocessor_is_left_alone() -> None:
    source = "void f(void)\n{\n\tcall(a,\n#ifdef X\n\t     b,\n#endif\n\t     c);\n\tnext();\n}\n"
    with pytest.raises(EditError, match="line 3: `call`: a preprocessor line cuts"):
        edited(source, edit(delete="call", whole="statement"), "x.c")
    assert "next" not in edited(source, edit(delete="next", whole="statement"), "x.c")[0]


SCRIPT = """\
format = "txop-edits"
title = "Slower"
change = "adds"
folder = "drivers"
[[edit]]
file = ["y.c", "x.c"]
in = "start"
replace = "24"
with = "6"
count = 2
[[edit]]
file = "x.c"
delete = "return"
whole = "statement"
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"txop-edits"', '"txop-edit"', "it is not an edit script"),
        ('with = "6"', "", r"line 5, edit\[0\]: replace needs with"),
        ('replace = "24"', 'replace = "24"\ndelete = "1"', "give one of .* not delete and replace"),
        ('with = "6"', 'with = "(6"', "brackets would no longer match"),
        ('with = "6"', 'with = "6 // more"', "a comment // is not a valid end"),
        ('with = "6"', 'with = "6 /* more"', "a comment does not end"),
        ('with = "6"', "with = '\"6'", "a string does not end"),
        ('with = "6"', 'with = """6\n#include </etc/passwd>"""', "a preprocessor line cannot be edited"),
        ('"drivers"', '"../drivers"', "is not a place below the source"),
        ('"x.c"]', '"/etc/x.c"]', r"line 6, edit\[0\].file: .* is not a place below"),
        ('"x.c"]', '"a/./x.c"]', "is not a place below"),
        ("count = 2", "count = 0", r"line 10, edit\[0\].count: .*greater than or equal to 1"),
        ("count = 2", "count = 2\nonly = 3", "only = 3 is more than count = 2"),
        ("count = 2", "cuont = 2", r"line 10, edit\[0\].cuont: Extra inputs"),
        ('whole = "statement"', 'whole = "definition"', "needs in"),
        ('"Slower"', '"\\u001b[2J"', None),
        ("[[edit]]", "[[edit", "it is not TOML"),
        ('"Slower"', '"' + "x" * MAX_BYTES + '"', "larger than"),
    ],
)
def test_what_is_no_script_is_refused(old: str, new: str, message: str | None) -> None:
    text = SCRIPT.replace(old, new, 1)
    assert text != SCRIPT
    if message is None:
        parse_script(text.encode())
        return
    with pytest.raises(EditScriptError, match=message):
        parse_script(text.encode())


def tree(folder: Path) -> Path:
    (folder / "drivers").mkdir(parents=True)
    (folder / "drivers" / "x.c").write_text(SOURCE)
    return folder


def test_a_script_changes_everything_or_nothing(tmp_path: Path) -> None:
    place = tree(tmp_path / "tree") / "drivers" / "x.c"
    done = apply_script(tmp_path / "tree", parse_script(SCRIPT.encode()))
    assert (done.lines, place.read_text().count("= 6;")) == (("x.c:12", "x.c:27", "x.c:32"), 2)
    assert "-\t\ts->rate = 24;\n+\t\ts->rate = 6;\n" in done.changes
    before = place.read_text()
    bad = SCRIPT.replace('"24"', '"6"').replace('"return"', '"goto"')
    with pytest.raises(EditError, match=r"edit 2 of 2: x.c: `goto` is not there"):
        apply_script(tmp_path / "tree", parse_script(bad.encode()))
    assert place.read_text() == before


def test_a_script_stays_in_its_tree(tmp_path: Path) -> None:
    outside = tmp_path / "outside.c"
    outside.write_text(SOURCE)
    place = tree(tmp_path / "tree") / "drivers" / "x.c"
    place.unlink()
    script = parse_script(SCRIPT.encode())
    with pytest.raises(EditError, match=r"there is no drivers/y.c or drivers/x.c"):
        apply_script(tmp_path / "tree", script)
    place.symlink_to(outside)
    with pytest.raises(EditError, match="a link out of the source"):
        apply_script(tmp_path / "tree", script)
    assert outside.read_text() == SOURCE
    (tmp_path / "tree" / "drivers" / "y.c").write_text(SOURCE)
    with pytest.raises(EditError, match="more than one of"):
        apply_script(tmp_path / "tree", script)


def test_scripts_stand_in_a_series_of_patches_and_go_one_way(tmp_path: Path) -> None:
    folder = tree(tmp_path / "tree")
    script, log = tmp_path / "slower.toml", tmp_path / "log"
    script.write_text(SCRIPT)
    patch = tmp_path / "more.patch"
    patch.write_text(
        "--- a/drivers/x.c\n+++ b/drivers/x.c\n@@ -3,3 +3,3 @@\n"
        " /* stop = 1; in a comment */\n-struct state { int on; int rate; };\n+struct state { int on, rate; };\n"
        " static const u8 table[] __maybe_unused = { 1, 2, { 3, 4 }, };\n"
    )
    log.touch()
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    assert asyncio.run(apply_patches(folder, [patch, script], log, variables)) is None
    text = (folder / "drivers" / "x.c").read_text()
    assert "int on, rate;" in text
    assert "s->rate = 6;" in text
    assert "slower.toml: x.c:12" in log.read_text()
    said = asyncio.run(apply_patches(folder, [script], log, variables, reverse=True))
    assert said == NotApplied(f"patch 1 of 1 (slower.toml) cannot be taken back: {NOT_BACKWARDS}")
    said = asyncio.run(apply_patches(folder, [script], log, variables))
    assert said is not None
    assert "edit 1 of 2: x.c, in start: `24` is not there" in said.text
    assert said.rejected
    (nowhere := tmp_path / "bin").mkdir()
    said = asyncio.run(apply_patches(folder, [patch], log, {"PATH": str(nowhere)}))
    assert said == NotApplied("there is neither git nor patch to apply patches with", rejected=False)


PIECES = [
    "a",
    "b1",
    "f",
    "0x1e",
    "1.5",
    '"s;"',
    "'c'",
    "->",
    ".",
    "+",
    "++",
    "-",
    "/",
    "*",
    ">",
    "=",
    ",",
    "L",
    "u8",
    "<",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=30),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=2),
    st.lists(st.sampled_from(PIECES), max_size=4),
    st.sampled_from(["delete", "replace", "insert_before", "insert_after"]),
    st.sampled_from([" ", "", "\n", " /* ; */ "]),
)
def test_an_edit_changes_the_words_it_names_and_no_others(
    code: list[str], wanted: list[str], new: list[str], operation: str, between: str
) -> None:
    source = f"int f(void)\n{{\n{' '.join(code)};{between}(" + between.join(["x", ",", "y"]) + ");\n}\n"
    tokens = tokens_of(source)
    here = [token.text for token in tokens]
    found = find(tokens, wanted, 5, len(tokens))
    if not found or (operation != "delete" and not new):
        return
    keys: dict[str, object] = {operation: " ".join(wanted), "count": len(found)}
    if operation != "delete":
        keys["with"] = " ".join(new)
    if not all(0 <= at < len(tokens) for at in found) or find(tokens, wanted, 0, 5):
        return
    result = edited(source, edit(**keys), "x.c")[0]
    put = {
        "delete": [],
        "replace": new,
        "insert_before": [*new, *wanted],
        "insert_after": [*wanted, *new],
    }[operation]
    for at in reversed(found):
        here[at : at + len(wanted)] = put
    assert words(result) == here


STATEMENTS = st.recursive(
    st.sampled_from(["x = 1;", "call(a, b);", "return;", "break;", "{ }", ";"]),
    lambda inner: st.one_of(
        st.builds("if (c) {}".format, inner),
        st.builds("if (c) {0} else {1}".format, inner, inner),
        st.builds("if (c) {{ {0} {1} }}".format, inner, inner),
        st.builds("for (i = 0; i < n; i++) {}".format, inner),
        st.builds("do {} while (x);".format, inner),
        st.builds("switch (v) {{ case 1: {0} default: {1} }}".format, inner, inner),
    ),
    max_leaves=12,
)


@given(st.lists(STATEMENTS, min_size=1, max_size=4), st.data())
def test_deleting_a_marked_statement_leaves_its_neighbours(statements: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(statements)))
    rows = [*statements]
    rows.insert(at, "mark(here);")
    source = f"void f(void) {{ {' '.join(rows)} }}"
    result = edited(source, edit(**{"in": "f", "delete": "mark", "whole": "statement"}), "x.c")[0]
    assert words(result) == words(f"void f(void) {{ {' '.join(statements)} }}")


@given(st.text(max_size=200) | st.text(alphabet="ab1\"'/*\\#(){};\n .", max_size=200))
def test_any_text_is_tokens_or_a_reason(text: str) -> None:
    tokens, wrong_at = [], 0
    try:
        tokens = tokens_of(text)
    except TokenError as error:
        wrong_at = error.offset
    assert 0 <= wrong_at <= len(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert all(one.end <= two.start for one, two in pairwise(tokens))


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_a_script_or_a_reason(data: bytes) -> None:
    for content in (data, SCRIPT.encode() + data):
        said = ""
        try:
            parse_script(content)
        except EditScriptError as error:
            said = str(error)
        assert "\x1b" not in said
