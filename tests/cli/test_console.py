"""Text from outside is harmless on a terminal and in JSON, and loses nothing."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from txop.cli import console

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_visible_text_holds_nothing_a_terminal_acts_on(text):
    shown = console.visible(text)
    assert all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in shown)


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_visible_text_leaves_printable_text_alone(text):
    assert console.visible(text) == text


def test_escapes_are_shown_not_obeyed():
    assert console.visible("\x1b[2J\r\n\u202eevil\x9b31m") == r"\x1b[2J\r\n\u202eevil\x9b31m"


def test_markup_in_text_is_text(capsys):
    console.stdout().print(console.safe_text("[bold red]ssid[/] [link=x]"))
    assert capsys.readouterr().out == "[bold red]ssid[/] [link=x]\n"


@given(ANY_TEXT)
def test_json_is_plain_ascii_and_reads_back_the_same(text):
    import contextlib
    import io

    for document in ({"ssid": text}, json.dumps({"ssid": text}, ensure_ascii=False)):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            console.write_json(document)
        assert all(c == "\n" or " " <= c <= "~" for c in out.getvalue())
        assert json.loads(out.getvalue()) == {"ssid": text}


def test_json_bytes_from_the_native_module_pass_through(capsys):
    console.write_json('{"ssid": "café \x7f 😀"}\n'.encode())
    assert capsys.readouterr().out == '{"ssid": "caf\\u00e9 \\u007f \\ud83d\\ude00"}\n'
