"""``txop log`` as a user runs it."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from txop.core.errors import ExitCode
from txop.log import LogReport, shipped_rules
from txop.log import report as models

WIKI = Path(__file__).parents[2] / "examples" / "boards" / "rtl8xxxu-gardena"
FAILURE = WIKI / "firmware-upload-failure.txt"
IQK = WIKI / "rx-iqk-failed.txt"
DOCUMENT = Path(__file__).parents[2] / "docs" / "kernel-log.md"


@pytest.fixture
def here(tmp_path):
    """An environment without rules of the user."""
    return {"XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "200"}


def test_table_and_explanation(txop, here):
    done = txop("log", str(FAILURE), env=here)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "1  error    Firmware block could not be written - usb 1-1.5.4, rtl8xxxu" in lines
    at = lines.index("1  error    Firmware block could not be written - usb 1-1.5.4, rtl8xxxu")
    assert lines[at + 1].strip() == "Line 30: rtl8xxxu_writeN: Failed to write block at addr: 1c00 size: 0080"
    assert lines[at + 2].strip().startswith("To do: ")
    assert sum("With details and lines of the log: --all" in line for line in lines) == 1
    assert "USB device found" not in done.stdout
    everything = txop("log", str(FAILURE), "--all", env=here).stdout
    assert "address 1c00; size 0080" in everything
    assert "errno -11 EAGAIN" in everything
    assert "To do:" in everything
    assert "USB device found" in everything


def test_a_kernel_warning_shows_its_place_without_folders(txop, here, tmp_path):
    log = tmp_path / "dmesg.txt"
    place = "/build/linux-6.6/mt76/usb.c:345"
    log.write_text(
        f"[    8.900000] rx urb mismatch\n[    8.915372] WARNING: CPU: 0 PID: 0 at {place} mt76_rx+0x90/0x100 [mt76]\n"
    )
    lines = [line.strip() for line in txop("log", str(log), env=here).stdout.splitlines()]
    (shown,) = [line for line in lines if line.startswith("Line 2: ")]
    assert shown.startswith("Line 2: usb.c:345, mt76_rx")


def test_many_faults_are_counted_and_the_worst_are_listed(txop, here, tmp_path):
    log = tmp_path / "dmesg.txt"
    lines = [f"[{at:12.6f}] usb 1-{at}: USB disconnect, device number 4\n" for at in range(1, 51)]
    log.write_text("".join(lines) + "[   99.000000] usb 9-1: device descriptor read/64, error -71\n")
    listed = txop("log", str(log), env=here).stdout.splitlines()
    rows = [line for line in listed if line.split()[1:2] in (["error"], ["warning"])]
    assert len(rows) == 30
    assert rows[0].split()[:2] == ["1", "error"]
    assert "21 more: --all" in listed
    assert sum(line.strip().startswith("To do: ") for line in listed) <= 2


def test_json_is_a_report(txop, here):
    done = txop("log", str(IQK), "--json", env=here)
    report = LogReport.model_validate_json(done.stdout)
    assert (report.format, report.version, report.source) == ("txop-log", 1, str(IQK))
    assert report.faults[0].count == 2


def test_json_of_several_logs(txop, here):
    document = json.loads(txop("log", str(FAILURE), str(IQK), "--json", env=here).stdout)
    assert (document["format"], document["version"]) == ("txop-logs", 1)
    assert [log["source"] for log in document["logs"]] == [str(FAILURE), str(IQK)]


def test_stdin(txop, here):
    done = txop("log", "-", stdin=None, input=FAILURE.read_text(encoding="utf-8"), env=here)
    assert "EAGAIN" in done.stdout


@pytest.mark.parametrize(("file", "code"), [(FAILURE, ExitCode.VERDICT_NO), (IQK, ExitCode.OK)])
def test_exit_code_on_request(txop, here, file, code):
    assert txop("log", str(file), env=here).returncode == 0
    assert txop("log", str(file), "--exit-code", env=here).returncode == code


def test_hostile_log_does_not_reach_the_terminal(txop, here, tmp_path):
    file = tmp_path / "x.txt"
    file.write_bytes(
        b"[ 1.0] usb 1-1: \x1b]0;owned\x07rtl8xxxu_iqk_path_a: Path A IQK failed!\n"
        b"<3>[ 2.0] \x1b[2J[bold red]unnamed\xe2\x80\xae\n"
        b"kernel: rtl8xxxu: probe of \x1b[31m[link=x]y failed with error -11\n"
    )
    done = txop("log", str(file), "--all", env=here)
    assert done.returncode == 0
    assert "[bold red]unnamed" in done.stdout
    for bad in ("\x1b", "\x07", "\u202e"):
        assert bad not in done.stdout
    assert "\\u001b" in txop("log", str(file), "--json", env=here).stdout


def test_rules_of_the_user(txop, here, tmp_path):
    rule = shipped_rules().rules["probe-failed"]
    bad = tmp_path / "bad.toml"
    bad.write_text('[[rule]]\nkey = "x"\n')
    done = txop("log", str(FAILURE), "--rules", str(bad), env=here)
    assert done.returncode == ExitCode.BAD_INPUT
    assert done.stderr.startswith(f'txop: {bad}: rule "x": ')
    assert done.stderr.count("\n") == 1
    listed = json.loads(txop("log", "--list-rules", "--json", env=here).stdout)
    assert listed["format"] == "txop-log-rules"
    assert rule.pattern in [entry["pattern"] for entry in listed["rules"]]
    assert "probe-failed" in txop("log", "--list-rules", env=here).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["log"], "no log given"),
        (["log", "-", "-"], "only once"),
        (["log", "/no/such/file"], "No such file"),
        (["log", "--list-rules", str(IQK)], "reads no log"),
        (["log", "/"], "directory"),
    ],
)
def test_wrong_usage(txop, here, arguments, says):
    done = txop(*arguments, env=here)
    assert (done.returncode, done.stdout) == (ExitCode.BAD_INPUT, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_damaged_and_empty_logs(txop, here, tmp_path):
    broken = tmp_path / "kern.log.gz"
    broken.write_bytes(gzip.compress(FAILURE.read_bytes() * 20)[:-20])
    done = txop("log", str(broken), env=here)
    assert done.returncode == ExitCode.PARTIAL
    assert "damaged" in done.stderr
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    done = txop("log", str(empty), env=here)
    assert done.returncode == ExitCode.UNDECIDED
    assert "no line that is known to be a kernel message" in done.stderr


@pytest.mark.parametrize(
    "text", ["Dear list,\nthe driver is slow: see below.\n", "a,b\n1,2\n", "int main(void)\n{\n}\n"]
)
def test_text_that_is_no_kernel_log_is_not_called_free_of_faults(txop, here, tmp_path, text):
    other = tmp_path / "mail.txt"
    other.write_text(text)
    done = txop("log", str(other), env=here)
    assert done.returncode == ExitCode.UNDECIDED
    assert "no line that is known to be a kernel message" in done.stderr
    assert "No faults found" not in done.stdout
    assert json.loads(txop("log", str(other), "--json", env=here).stdout)["recognised"] is False


@pytest.mark.parametrize(
    "line", ["rtl8xxxu 1-1:1.0: up", "wlan0: associated", "Linux version 6.12.1 (x)", "kernel: hello"]
)
def test_one_line_of_a_kernel_is_enough(txop, here, tmp_path, line):
    log = tmp_path / "dmesg.txt"
    log.write_text(f"copied from a page\n{line}\n")
    done = txop("log", str(log), env=here)
    assert (done.returncode, done.stderr) == (ExitCode.OK, "")
    assert "No faults found" in done.stdout


def test_quiet_log_is_no_reason_to_fail(txop, here, tmp_path):
    file = tmp_path / "x.txt"
    file.write_text("[    1.0] all is well\n")
    done = txop("log", str(file), "--exit-code", env=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert "No faults found" in done.stdout


@pytest.mark.parametrize(
    "model",
    [
        models.LogReport,
        models.Fault,
        models.Value,
        models.Moment,
        models.Boot,
        models.Gap,
        models.Lines,
        models.Unnamed,
        models.Rate,
        models.Cause,
    ],
    ids=lambda model: model.__name__,
)
def test_every_field_is_documented(model):
    text = DOCUMENT.read_text(encoding="utf-8")
    for field in model.model_fields:
        assert f"`{field}`" in text, f"{model.__name__}.{field}"


def test_the_rule_in_the_documentation_works(txop, here, tmp_path):
    text = DOCUMENT.read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "documented.toml"
    file.write_text(example)
    assert txop("log", "--list-rules", "--rules", str(file), env=here).returncode == 0
    for key in re.findall(r"^\| `([a-z_]+)` \| (?:yes|no) \|", text, re.MULTILINE):
        assert key in shipped_rules().rules["probe-failed"].model_dump()
    for key in shipped_rules().rules["probe-failed"].model_dump():
        assert f"`{key}`" in text


def test_no_reassurance_over_what_looks_like_an_error(txop, here, tmp_path):
    log = tmp_path / "dmesg.txt"
    log.write_text("[    1.0] usb 1-1: Product: x\n[    1.1] foo 1-1:1.0: mailbox 7 timed out\n")
    done = txop("log", str(log), env=here)
    assert done.returncode == 0
    assert "No faults found" not in done.stdout
    assert "foo 1-1:1.0: mailbox 7 timed out" in done.stdout
    log.write_text("[    1.0] usb 1-1: Product: x\n[    1.1] foo 1-1:1.0: mailbox 7 is up\n")
    done = txop("log", str(log), env=here)
    assert "No faults found" in done.stdout
    assert "2 lines" in done.stdout


def test_a_cause_is_shown_first_and_a_consequence_names_it(txop, here, tmp_path):
    log = tmp_path / "dmesg.txt"
    log.write_text(
        "[   10.0] pcieport 0000:00:1c.4: pciehp: Slot(4): Link Down\n"
        "[   10.5] rtw89_8852be 0000:04:00.0: c2h reg timeout\n"
    )
    text = " ".join(txop("log", str(log), env=here).stdout.split())
    assert text.count("Probably because of ") == 1
    assert text.index("To do: ") < text.index("Probably because of ")
    text = txop("log", str(log), "--all", env=here).stdout
    assert text.index("pcie-link-down") < text.index("rtw89-firmware")
    assert "(pcie-link-down), which is probably its cause" in text


def test_the_rate_of_a_storm_and_whole_messages_are_shown(txop, here, tmp_path):
    log = tmp_path / "dmesg.txt"
    lines = [f"[{10 + n / 10:12.6f}] rtw89_8852be 0000:04:00.0: FW status = 0x9000{n % 10}\n" for n in range(101)]
    log.write_text("".join(lines))
    text = txop("log", str(log), "--all", env=here).stdout
    assert "101 times in 10 s" in text
    assert "FW status = 0x90000" in text
