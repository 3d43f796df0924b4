"""Files and modules of a crate that import each other in a circle are found, however they name each other."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "rust_circles.py"
REPORT = runpy.run_path(str(SCRIPT))["report"]


def listed(folder: Path) -> tuple[int, str]:
    ran = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def crate(folder: Path, **files: str) -> tuple[list[str], int]:
    """What is said of a crate of these files, whose names have `_in_` for a slash."""
    for name, text in files.items():
        path = folder / "one" / "src" / (name.replace("_in_", "/") + ".rs")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    lines, read = REPORT(folder)
    return lines, read


CIRCLES = {
    "use": {
        "lib": "mod a;\nmod b;\n",
        "a": "use crate::b::B;\npub struct A(B);\n",
        "b": "use crate::a::A;\npub struct B(Option<Box<A>>);\n",
    },
    "braces, an alias and super": {
        "lib": "mod a; mod b;",
        "a": "use crate::{b::{self, B as Other}, c};\npub struct A(Other);\n",
        "b": "use super::a::{A};\npub struct B;\n",
    },
    "paths in code": {
        "lib": "mod a; mod b;",
        "a": "pub const ONE: u8 = crate::b::two() - 1;\n",
        "b": "pub const fn two() -> u8 { 2 }\npub fn three() -> u8 { super::a::ONE + 2 }\n",
    },
    "an imported module": {
        "lib": "mod a; mod b;",
        "a": "use crate::b;\npub struct A(b::B);\n",
        "b": "use crate::a;\npub struct B(Option<Box<a::A>>);\n",
    },
    "a re-export": {
        "lib": "mod a; mod b;\npub use a::A;\npub use b::*;\n",
        "a": "use crate::B;\npub struct A(B);\n",
        "b": "use crate::A;\npub struct B(Option<Box<A>>);\n",
    },
    "a glob": {
        "lib": "mod a; mod b;",
        "a": "use crate::b::*;\npub struct A(B);\n",
        "b": "use super::*;\nuse a::A;\npub struct B(Option<Box<A>>);\n",
    },
    "a parent that does more than declare": {
        "lib": "mod a;",
        "a_in_mod": "mod b;\npub struct A;\npub fn make() -> b::B { b::B(A) }\n",
        "a_in_b": "use super::A;\npub struct B(pub A);\n",
    },
    "a macro": {
        "lib": "mod a; mod b;",
        "a": "macro_rules! one { () => { $crate::b::B } }\npub(crate) use one;\npub struct A;\n",
        "b": "use crate::a::one;\npub struct B;\npub fn make() -> B { one!() }\n",
    },
    "three": {
        "lib": "mod a; mod b; mod c;",
        "a": "use crate::b::B;\npub struct A(B);\n",
        "b": "use crate::c::C;\npub struct B(C);\n",
        "c": "use crate::a::A;\npub struct C(Option<Box<A>>);\n",
    },
    "behind a literal": {
        "lib": "mod a; mod b;",
        "a": "const Q: char = '\\'';\nconst T: &str = r#\"//\"#; use crate::b::B;\npub struct A<'a>(&'a B);\n",
        "b": "use crate::a::A;\npub struct B;\n",
    },
}


@pytest.mark.parametrize("files", CIRCLES.values(), ids=CIRCLES.keys())
def test_a_circle_is_listed_with_the_lines_that_make_it(tmp_path, files):
    lines, _ = crate(tmp_path, **files)
    assert lines[0].endswith(f"a circle of {3 if 'c' in files else 2} files"), lines
    assert any("b.rs:" in line for line in lines[1:])


MODULES = {
    "through a re-export": {
        "lib": "pub mod a; pub mod b;",
        "a_in_mod": "mod one;\nmod two;\npub use one::One;\npub use two::Two;\n",
        "a_in_one": "use crate::b::B;\npub struct One(B);\n",
        "a_in_two": "pub struct Two;\n",
        "b": "use crate::a::Two;\npub struct B(Two);\n",
    },
    "through a re-export at the root": {
        "lib": "mod a; mod b;\npub use a::*;\npub use b::B;\n",
        "a_in_mod": "mod one;\nmod two;\npub use one::One;\npub use two::Two;\n",
        "a_in_one": "use crate::B;\npub struct One(B);\n",
        "a_in_two": "pub struct Two;\n",
        "b": "pub struct B(crate::Two);\n",
    },
    "by full paths": {
        "lib": "pub mod a; pub mod b;",
        "a_in_mod": "pub mod one;\npub mod two;\n",
        "a_in_one": "pub struct One(crate::b::B);\n",
        "a_in_two": "pub struct Two;\n",
        "b": "pub struct B(crate::a::two::Two);\n",
    },
    "below a parent": {
        "lib": "pub mod p;",
        "p_in_mod": "pub mod a;\npub mod b;\n",
        "p_in_a_in_mod": "pub mod one;\npub mod two;\n",
        "p_in_a_in_one": "pub struct One(crate::p::b::B);\n",
        "p_in_a_in_two": "pub struct Two;\n",
        "p_in_b": "use super::a::two::Two;\npub struct B(Two);\n",
    },
}


@pytest.mark.parametrize("files", MODULES.values(), ids=MODULES.keys())
def test_a_circle_of_modules_is_listed_where_no_files_are_in_one(tmp_path, files):
    (first, *rest), _ = crate(tmp_path, **files)
    parent = "p::" if "p_in_b" in files else ""
    assert first == f"one/src/lib.rs: a circle of 2 modules: {parent}a, {parent}b"
    assert len(rest) == 2
    assert sum("/a/one.rs:1 uses " in line for line in rest) == 1
    assert sum("/b.rs:1 uses " in line and line.endswith("/a/two.rs") for line in rest) == 1


def test_a_circle_of_modules_fails(tmp_path):
    crate(tmp_path, **MODULES["through a re-export"])
    code, said = listed(tmp_path)
    assert code == 1
    assert "a circle of 2 modules: a, b\n" in said


NO_CIRCLES = {
    "modules that use each other's parent": {
        "lib": "pub mod a; pub mod b;",
        "a_in_mod": "pub mod one;\npub mod two;\n",
        "a_in_one": "use super::two::Two;\npub struct One(Two, crate::b::B);\n",
        "a_in_two": "pub struct Two;\n",
        "b": "pub struct B;\n",
    },
    "a name of another crate that is called like it": {
        "lib": "mod a; mod b;",
        "a": "use words::{words, Word};\npub struct A;\n",
        "b": "use words::words;\nuse crate::a::A;\npub struct B(A);\n",
    },
    "one way": {"lib": "mod a; mod b;", "a": "use crate::b::B;\npub struct A(B);\n", "b": "pub struct B;\n"},
    "tests": {
        "lib": "mod a; mod b;",
        "a": "use crate::b::B;\npub struct A(B);\n",
        "b": "pub struct B;\n#[cfg(test)]\nuse crate::a::A;\n"
        "#[cfg(all(test, unix))]\nfn made<T, U>() -> crate::a::A { A }\n"
        "#[cfg(test)]\n#[allow(dead_code)]\nmod tests {\n use crate::a::A;\n}\n",
    },
    "comments and literals": {
        "lib": "mod a; mod b;",
        "a": "use crate::b::B;\npub struct A(B);\n",
        "b": '//! See [`crate::a::A`].\n/* crate::a::A */\npub struct B;\nconst S: &str = "crate::a::A";\n',
    },
    "a parent that declares and re-exports": {
        "lib": "mod a;",
        "a_in_mod": "mod b;\nmod c;\npub use b::B;\npub use c::C;\n",
        "a_in_b": "use super::C;\npub struct B(C);\n",
        "a_in_c": "pub struct C;\n",
    },
    "a name of another crate": {
        "lib": "mod a; mod b;",
        "a": "use crate::b::B;\npub struct A(B);\n",
        "b": "use other::a::A;\npub struct B(A);\n",
    },
}


@pytest.mark.parametrize("files", NO_CIRCLES.values(), ids=NO_CIRCLES.keys())
def test_what_is_no_circle_is_not_listed(tmp_path, files):
    assert crate(tmp_path, **files) == ([], len(files))


def test_a_circle_fails(tmp_path):
    crate(tmp_path, **CIRCLES["use"])
    code, said = listed(tmp_path)
    assert code == 1
    assert "  one/src/b.rs:1 uses crate::a::A of one/src/a.rs\n" in said


def test_a_folder_without_crates_does_not_pass(tmp_path):
    assert listed(tmp_path)[0] == 2
