"""The check of the words that users read finds them, where they are and nowhere else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("vocabulary", ROOT / "scripts/vocabulary.py")
assert _spec is not None
assert _spec.loader is not None
vocabulary = importlib.util.module_from_spec(_spec)
sys.modules["vocabulary"] = vocabulary
_spec.loader.exec_module(vocabulary)

WORDS = [vocabulary.Word("whose", "with"), vocabulary.Word("(is|are) in order", "normal")]

FILES = [
    ("page.md", "A driver\nwhose `whose` is set.\n```\nwhose\n```\nAll is\nin order.\n", [2, 6]),
    ("code.py", '"""Doc.\n\nOf whose?"""\n# whose\nx = f"a {1} whose"\n', [3, 5]),
    ("lib.rs", '// whose\n/// A thing whose\nconst X: &str = "whose \\" whose"; // whose\n', [2, 3, 3]),
    ("plan.toml", 'title = "whose"  # whose\n', [1, 1]),
]


@pytest.mark.parametrize(("name", "text", "lines"), FILES, ids=[name for name, _, _ in FILES])
def test_words_are_found_in_what_users_read(tmp_path, name, text, lines):
    file = tmp_path / name
    file.write_text(text)
    assert [line for line, _, _ in vocabulary.findings(file, name, WORDS, [])] == lines


def test_a_word_is_allowed_where_the_list_says_so(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("Whose is in order.\n")

    def found(*words: str) -> list[str]:
        allowed = [vocabulary.Allowed("docs/*.md", words)]
        return [text for _, text, _ in vocabulary.findings(file, "docs/page.md", WORDS, allowed)]

    assert found() == ["Whose", "is in order"]
    assert found("whose") == ["is in order"]
    assert found("*") == []


def test_every_exception_has_a_reason(tmp_path):
    words, allowed = vocabulary.read()
    assert len(words) > 20
    assert allowed
    file = tmp_path / "words.toml"
    file.write_text('[[word]]\nfind = "x"\nsay = "y"\n[[allow]]\npath = "*"\nwords = ["*"]\n')
    with pytest.raises(KeyError):
        vocabulary.read(file)
