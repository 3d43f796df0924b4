"""Notifications: what is sent, and that nothing the command does holds a campaign up."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

from txop.campaign import notify
from txop.campaign.engine import Campaign
from txop.campaign.notify import Notifier, Notifying, notifications
from txop.cli.run import notify_command
from txop.core.errors import UserError

from .conftest import Noted

WRITE = (
    "import json, os, sys; "
    "row = {key: os.environ[key] for key in ('TXOP_EVENT', 'TXOP_TEXT', 'TXOP_ARCHIVE', 'TXOP_TITLE')}; "
    "row['stdin'] = sys.stdin.read(); "
    "open(sys.argv[1], 'a').write(json.dumps(row) + '\\n')"
)


def command(file: Path) -> list[str]:
    return [sys.executable, "-c", WRITE, str(file)]


def rows(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_void_runs_and_notices_are_sent(bench, tmp_path):
    file = tmp_path / "sent"
    said: list[str] = []
    with notifications(command(file), bench.layout.root, "a\ntitle", said.append) as notifier:
        assert notifier is not None
        told = Notifying(Noted([]), notifier)
        bench.testbed.mishap = lambda run: "gate" if run == "001-new-rx" else None
        asyncio.run(Campaign(bench.layout, bench.plan, bench.testbed, told).go())
        told.notice("dut was lost, and\x1b[31m answers; again $(touch no)")
        notifier.send("finished", "finished")
    sent = rows(file)
    assert [row["TXOP_EVENT"] for row in sent] == ["void", "notice", "finished"]
    assert sent[0]["TXOP_TEXT"].startswith("001-new-rx is void: ")
    assert sent[1]["TXOP_TEXT"] == "dut was lost, and [31m answers; again $(touch no)"
    assert all(row["stdin"] == row["TXOP_TEXT"] + "\n" for row in sent)
    assert {(row["TXOP_ARCHIVE"], row["TXOP_TITLE"]) for row in sent} == {(str(bench.layout.root), "a title")}
    assert said == []


def test_an_error_that_ends_the_campaign_is_sent(tmp_path):
    file = tmp_path / "sent"
    with pytest.raises(UserError), notifications(command(file), tmp_path, "t", print):
        raise UserError("it does not answer", where="dut")
    assert [(row["TXOP_EVENT"], row["TXOP_TEXT"]) for row in rows(file)] == [("failed", "it does not answer")]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["sh", "-c", "echo no mail >&2; exit 3"], "ended with 3: no mail"),
        (["sleep", "60"], "did not end within 0.3 s"),
    ],
)
def test_a_command_that_fails_is_named_once_and_holds_nothing_up(tmp_path, monkeypatch, argv, said):
    monkeypatch.setattr(notify, "COMMAND_S", 0.3)
    complaints: list[str] = []
    notifier = Notifier(argv, tmp_path, "t", complaints.append)
    begun = time.monotonic()
    for number in range(200):
        notifier.send("notice", str(number))
    assert time.monotonic() - begun < 5.0
    notifier.close()
    assert len(complaints) == 1
    assert said in complaints[0]


@pytest.mark.parametrize("text", ["", "'", "no-such-program-here --to me"])
def test_what_is_no_command_is_refused_before_anything_begins(text):
    with pytest.raises(UserError) as raised:
        notify_command(text)
    assert raised.value.where == "--notify"


def test_a_command_is_split_as_a_shell_would():
    assert notify_command("sh -c 'mail me'") == ["sh", "-c", "mail me"]
    assert notify_command(None) is None
