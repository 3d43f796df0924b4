"""What documents show being run prints what they show. `scripts/document_examples.py --write` updates them."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = {
    "README.md", "bus.md", "compare.md", "gallery.md", "how-to-compare-drivers.md", "how-to-explain-a-capture.md",
    "simulate.md", "tutorial.md", "why.md",
}  # fmt: skip
"""Documents that must have examples: a block whose fence is mistyped is not run and would not be missed."""


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


document_examples = _script("document_examples")
diagrams = _script("diagrams")
pictures = _script("pictures")


def _with_examples(*, slow: bool) -> list[Path]:
    return [
        document
        for document in DOCUMENTS
        if any(example.slow == slow for example in document_examples.examples(document.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("document", _with_examples(slow=False), ids=lambda path: path.name)
def test_examples_print_what_the_document_shows(document):
    assert "\n\n".join(document_examples.wrong(document, slow=False)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("document", _with_examples(slow=True), ids=lambda path: path.name)
def test_slow_examples_print_what_the_document_shows(document):
    needed = "gdb" if document.name == "why.md" else "iperf3"
    if shutil.which(needed) is None:
        pytest.skip(f"NOT CHECKED: {needed} is missing")
    assert "\n\n".join(document_examples.wrong(document, slow=True)) == ""


def test_documents_that_should_have_examples_have_some():
    assert {document.name for document in _with_examples(slow=False)} >= SHOWN


def test_a_difference_is_found_and_written(tmp_path):
    document = tmp_path / "page.md"
    document.write_text(
        "```console\n$ echo right\nright\n$ echo one; echo two\nwrong\n```\n\n"
        "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n\n```python\nnot run, for no text follows\n```\n",
        encoding="utf-8",
    )
    found = document_examples.wrong(document, slow=False, write=True)
    assert [line.partition(": ")[0] for line in found] == ["page.md:4", "page.md:8"]
    assert "$ echo one; echo two\none\ntwo\n```" in document.read_text(encoding="utf-8")
    assert "```text\n42\n```" in document.read_text(encoding="utf-8")
    assert document_examples.wrong(document, slow=False) == []


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("", "", True),
        ("", "a\n", False),
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        (".\n", "x\n", False),
        ("a\n...\n", "a\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("1 ... 3\n", "1 2 3\n", True),
        ("1 ... 3\n", "1 2\n3\n", False),
    ],
)
def test_three_dots_stand_for_anything(shown, printed, same):
    assert document_examples.matches(shown, printed) is same


def _texts(svg: str) -> list[str]:
    """What a picture says: its texts, and the labels of its marks; places depend on the fonts of the machine."""
    return re.findall(r">([^<>]+)</text>", svg) + re.findall(r'aria-label="([^"]*)"', svg)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(pictures.ALL))
def test_pictures_are_what_txop_draws(name):
    stored = (pictures.PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    assert len(_texts(stored)) > 5
    assert _texts(pictures.draw(name)) == _texts(stored), "run: make pictures"


def test_every_picture_is_drawn_and_used():
    used = {
        name
        for document in DOCUMENTS
        for name in re.findall(r"pictures/([\w-]+)\.svg", document.read_text(encoding="utf-8"))
    }
    assert used == {*pictures.ALL, *diagrams.ALL} == {path.stem for path in pictures.PICTURES.iterdir()}


@pytest.mark.parametrize("name", list(diagrams.ALL))
def test_diagrams_are_what_their_tables_say(name):
    stored = (diagrams.PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    assert diagrams.ALL[name]().svg() == stored, "run: make pictures"
