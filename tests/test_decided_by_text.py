"""Code that decides by what a sentence says is found, and nothing else."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "decided_by_text.py"
COMPLAINTS = runpy.run_path(str(SCRIPT))["complaints"]


def said(folder: Path, code: str, name: str = "report/x.py") -> list[str]:
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text(code, encoding="utf-8")
    (folder / "other.py").write_text('GONE = "does not answer any more"\nNAME: str = "plain"\n', encoding="utf-8")
    return list(COMPLAINTS(folder))


@pytest.mark.parametrize(
    "code",
    [
        'reason.startswith("not available: ")\nreason.startswith("no run")',
        'reason.endswith("any more") or 1\nreason.partition(" (all of it: ")',
        'x = "does not apply" in error.what\ny = "no such" not in text',
        "reason.endswith(GONE)\nreason.startswith(words.GONE)",
        'reason.startswith(f"{name} is lost")\nreason.startswith(("Yes", "No run"))',
    ],
)
def test_a_text_that_is_asked_for_words_is_found(tmp_path: Path, code: str) -> None:
    found = said(tmp_path, code)
    assert [each.split(":")[:2] for each in found] == [["report/x.py", "1"], ["report/x.py", "2"]]


@pytest.mark.parametrize(
    "code",
    [
        'name.startswith("air_") or name.endswith((".pcap", " ")) or text.split(", ")',
        'answer in ("can\'t be determined", "not claimed")',
        'answer == "not claimed"',
        "name.startswith(NAME) or name.startswith(unknown) or text.startswith(one + two)",
        'said = "no run counts" if lost else f"{text} in all"',
        're.split(r"a b", text)',
    ],
)
def test_names_values_and_sentences_that_are_made_are_none(tmp_path: Path, code: str) -> None:
    assert said(tmp_path, code) == []


def test_parsers_of_what_other_tools_print_may_ask(tmp_path: Path) -> None:
    assert said(tmp_path, 'row.startswith("Link quality")', "formats/x.py") == []
