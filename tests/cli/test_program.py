"""The shape every command has: help with examples, exit codes, one clear paragraph for an error, quiet pipes."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from txop import _native
from txop.cli import app as program_module
from txop.cli.console import PLAIN
from txop.core.errors import ExitCode, UserError

ESCAPE = "\x1b"


def command_names() -> list[str]:
    return sorted(typer.main.get_command(program_module.build()).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", command_names())
def test_every_command_has_help_with_examples_that_name_it(txop, name):
    done = txop(name, "--help", env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
    assert done.returncode == 0
    assert "Examples" in done.stdout
    assert f"txop {name}" in done.stdout.split("Examples")[1]
    assert done.stderr == ""
    types = re.findall(r"<(?:bool|path|str|int|float|list)\b[^>]*>", done.stdout)
    assert types == [], "types of Python are no names of values"
    assert txop("help", name, env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}).stdout == done.stdout


WITHOUT_TABLES = {"completion", "help", "man"}
"""Commands that write a script or pages, for a shell, for people and for man."""


@pytest.mark.parametrize("name", sorted(set(command_names()) - WITHOUT_TABLES))
def test_every_command_offers_json(txop, name):
    assert "--json" in txop(name, "--help").stdout


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("air", "txop air [OPTIONS] [FILE...]"),
        ("bus", "txop bus [OPTIONS] FILE [FILE2]"),
        ("compare", "txop compare [OPTIONS] ARCHIVE [ARCHIVE2]"),
        ("trend", "txop trend [OPTIONS] ARCHIVE..."),
        ("import", "txop import [OPTIONS] [ARM=]FILE..."),
        ("emulate", "txop emulate [OPTIONS] [SCENARIO] [-- COMMAND...]"),
    ],
)
def test_the_line_of_usage_names_each_argument_once(txop, command, usage):
    line = next(each for each in txop(command, "--help").stdout.splitlines() if "Usage:" in each)
    assert line.strip() == f"Usage: {usage}"


def test_help_lists_every_command_and_the_exit_codes(txop):
    done = txop("--help")
    assert done.returncode == 0
    for name in command_names():
        assert name in done.stdout
    assert "Exit codes" in done.stdout


def test_help_has_the_commands_in_groups(txop):
    groups: dict[str, list[str]] = {}
    for line in txop("--help").stdout.splitlines():
        if line.startswith("╭─ "):
            found = groups.setdefault(line.split()[1], [])
        elif line.startswith("│ ") and line[2] not in " -":
            found.append(line.split()[1])
    assert list(groups) == ["Options", "Measure", "Explain", "Model", "Guests", "More"]
    assert groups["Model"] == ["simulate", "emulate", "specimen"]
    assert groups["Guests"] == ["guest", "bisect", "ci", "cache"]
    assert {"demo", "plan", "run", "compare", "report"} <= {*groups["Measure"]}
    assert {"air", "bus", "log", "counters"} <= {*groups["Explain"]}
    assert txop("help").stdout.count("╭─ ") == len(groups)


def test_doctor_says_first_what_is_missing(txop):
    capabilities = json.loads(txop("doctor", "--json").stdout)["capabilities"]
    lines = txop("doctor").stdout.splitlines()
    missing = [each for each in capabilities if not each["present"]]
    assert [line.split()[0] for line in lines[1 : 1 + len(missing)]] == ["missing"] * len(missing)
    for each in missing:
        assert f"missing  {each['title']}: {each.get('fix') or each['detail']}" in lines
    (present,) = (line for line in lines if line.startswith("Present: "))
    assert present.count(", ") + 1 >= len(capabilities) - len(missing)


def test_no_arguments_shows_the_help_and_is_wrong_usage(txop):
    done = txop()
    assert done.returncode == ExitCode.BAD_INPUT
    assert "Usage: txop" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--no-such-option"], ["no-such-command"], ["doctor", "--nope"], ["doctor", "x"]]
)
def test_wrong_usage_is_one_paragraph_on_stderr(txop, arguments):
    done = txop(*arguments)
    assert done.returncode == ExitCode.BAD_INPUT
    assert done.stdout == ""
    assert done.stderr.startswith("txop: ")
    assert done.stderr.count("\n") == 1
    assert "--help" in done.stderr


_HEAVY = {
    "altair",
    "asyncio",
    "jinja2",
    "numpy",
    "polars",
    "rich",
    "scipy",
    "vl_convert",
    "txop.air.model",
    "txop.bus.model",
}


def imported(program: Path, *arguments: str) -> set[str]:
    """The modules that a command line loads; of ``typer`` itself pydantic, to take arguments apart."""
    command = [program.with_name("python"), "-X", "importtime", "-m", "txop", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_json_goes_from_the_analyzer_to_stdout_without_models_and_without_tables(program, tmp_path):
    _native.write_specimen(tmp_path / "some.pcap", seed=1, seconds=0.2)
    loaded = imported(program, "air", "--json", str(tmp_path / "some.pcap"))
    assert "txop.air.outline" in loaded
    assert not _HEAVY & loaded
    mon = tmp_path / "usb.txt"
    mon.write_text("ffff8 1 S Bo:1:002:1 -115 4 = 01020304\nffff8 9 C Bo:1:002:1 0 4 >\n", encoding="ascii")
    loaded = imported(program, "bus", "--json", str(mon))
    assert "txop.bus.outline" in loaded
    assert not _HEAVY & loaded


def test_the_version_alone_loads_no_command_line(program):
    loaded = imported(program, "--version")
    assert "txop.cli.entry" in loaded
    assert not (_HEAVY | {"pydantic", "typer"}) & loaded


def test_version_agrees_everywhere(txop):
    text = txop("--version").stdout.split()
    assert txop("--debug", "--version").stdout.split() == text, "without the shortcut"
    facts = json.loads(txop("version", "--json").stdout)
    assert text == ["txop", facts["version"]]
    assert facts["native"] == facts["version"]
    assert facts["native_profile"] == "release", "figures of speed need the release build: make setup"


def test_a_command_line_imports_the_command_it_names_and_no_other(program):
    loaded = "import sys; from txop.cli.app import build; build({only!r}); print(*sorted(m for m in sys.modules))"
    python = program.with_name("python")

    def modules(only: str | None) -> set[str]:
        code = loaded.format(only=only)
        return set(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split())

    log, every = modules("log"), modules(None)
    assert {"txop.cli.log"} == {each for each in log if each in {"txop.cli.log", "txop.cli.air", "txop.cli.guest"}}
    assert {"txop.cli.log", "txop.cli.air", "txop.cli.guest"} <= every
    assert not {"asyncio", "polars", "pydantic", "altair", "txop.machine.capabilities"} & every


def test_the_help_of_all_imports_no_command_and_says_of_each_what_its_own_help_begins_with(program):
    code = "import sys; from txop.cli.app import outline; outline(); print(*sorted(sys.modules))"
    done = subprocess.run([program.with_name("python"), "-c", code], capture_output=True, text=True, check=True)
    commands = {f"txop.cli.{each.module or each.name}" for each in program_module.COMMANDS}
    assert commands & set(done.stdout.split()) <= {"txop.cli.version"}  # its option is one of all commands

    whole = typer.main.get_command(program_module.build()).commands  # type: ignore[attr-defined]
    assert {each.name for each in program_module.COMMANDS} == set(whole)
    for each in program_module.COMMANDS:
        beginning = " ".join((whole[each.name].help or "").split("\n\n")[0].split())
        assert beginning.replace("``", "`") == each.summary


def test_json_is_the_only_thing_on_stdout(txop):
    done = txop("doctor", "--json")
    document = json.loads(done.stdout)
    assert document["format"] == "txop-doctor"
    assert document["core_ready"] is (done.returncode == 0)


def test_hostile_arguments_do_not_reach_the_terminal(txop):
    done = txop("\x1b]0;owned\x07\x1b[2J")
    assert done.returncode == ExitCode.BAD_INPUT
    assert ESCAPE not in done.stderr
    assert "\x07" not in done.stderr


def test_pipe_gets_no_colour(txop):
    assert ESCAPE not in txop("doctor").stdout
    assert ESCAPE not in txop("--help").stdout


@pytest.mark.parametrize(("extra", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_only_on_a_terminal_and_never_with_no_color(program, plain_environment, extra, coloured):
    output = run_on_terminal(
        [str(program), "doctor", "--all"], {**plain_environment, "TERM": "xterm-256color", **extra}
    )
    assert "present" in output
    assert (f"{ESCAPE}[32m" in output) is coloured


def run_on_terminal(command: list[str], environment: dict[str, str]) -> str:
    main_end, program_end = pty.openpty()
    with subprocess.Popen(
        command, stdin=program_end, stdout=program_end, stderr=program_end, env=environment
    ) as running:
        os.close(program_end)
        chunks = []
        while True:
            try:
                chunk = os.read(main_end, 65536)
            except OSError:  # Linux: the other end was closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        running.wait(timeout=60)
    os.close(main_end)
    return b"".join(chunks).decode()


@pytest.mark.parametrize("arguments", ["doctor", "doctor --json", "--help"])
def test_broken_pipe_is_silent(program, plain_environment, arguments):
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    done = subprocess.run(
        [program, *shlex.split(arguments)],
        stdout=writing_end,
        stderr=subprocess.PIPE,
        env=plain_environment,
        timeout=60,
        check=False,
    )
    os.close(writing_end)
    assert done.stderr == b""
    assert done.returncode == ExitCode.BROKEN_PIPE


def test_full_disk_is_reported(program, plain_environment):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [program, "version"], stdout=full, stderr=subprocess.PIPE, env=plain_environment, timeout=60, check=False
        )
    assert done.returncode == ExitCode.BAD_INPUT
    assert done.stderr.startswith(b"txop: ")
    assert done.stderr.startswith(b"txop: stdout: No space left")
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_closed_standard_streams_are_no_reason_to_fail(program, plain_environment):
    command = f"{shlex.quote(str(program))} version >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], env=plain_environment, timeout=60, check=False).returncode == 0


def test_terminal_without_unicode_still_gets_the_table(txop):
    done = txop("doctor", "--all", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"})
    assert done.stdout.isascii()
    assert "present" in done.stdout


def test_bars_and_signs_become_ascii_where_the_encoding_lacks_them():
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=PLAIN)
    out.write("█▓▒░·· 1–2 s, −3, a → b, µs \u202e caf\xe9 ▲▼ ∞")
    out.flush()
    assert out.buffer.getvalue() == b"#%=-.. 1-2 s, -3, a > b, us \\u202e caf\\xe9 +- inf"


def test_ctrl_c_while_the_program_loads_is_quiet(plain_environment):
    interrupted = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from txop.cli.entry import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", interrupted], env=plain_environment, timeout=60, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (ExitCode.INTERRUPTED, b"", b"")


def test_shell_completion_knows_the_commands(txop):
    # typer asks which shell started the program; under make that is sh, which has no completion.
    script = txop("--show-completion", "bash", env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})
    assert "_txop_completion" in script.stdout
    done = txop(env={"_TXOP_COMPLETE": "complete_bash", "COMP_WORDS": "txop doc", "COMP_CWORD": "1"})
    assert done.stdout.split() == ["doctor"]


def add_command_that_raises(monkeypatch, error: BaseException) -> None:
    def register(app: typer.Typer) -> None:
        @app.command(name="raise")
        def command() -> None:
            raise error

    command = program_module.Command("raise", "Fails.", module="raise_for_test")
    monkeypatch.setitem(sys.modules, f"txop.cli.{command.module}", SimpleNamespace(register=register))
    monkeypatch.setattr(program_module, "COMMANDS", (*program_module.COMMANDS, command))


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            UserError("not a capture", where="a.pcap, byte 0", what_to_do="give a pcap file"),
            2,
            "txop: a.pcap, byte 0: not a capture. Give a pcap file.\n",
        ),
        (
            FileNotFoundError(2, "No such file or directory", "x\n.pcap"),
            2,
            "txop: x\\n.pcap: No such file or directory.\n",
        ),
        (UserError("[bold]x", exit_code=ExitCode.PARTIAL), 4, "txop: [bold]x.\n"),
        (KeyboardInterrupt(), 130, ""),
        (typer.Exit(1), 1, ""),
    ],
)
def test_errors_become_one_paragraph_and_an_exit_code(monkeypatch, capsys, error, code, message):
    monkeypatch.delenv(program_module.DEBUG_VARIABLE, raising=False)
    add_command_that_raises(monkeypatch, error)
    with pytest.raises(SystemExit) as leaving:
        program_module.main(["raise"])
    assert leaving.value.code == code
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("debug", [False, True])
def test_a_defect_is_a_short_message_and_a_traceback_only_on_demand(monkeypatch, capsys, debug):
    monkeypatch.setenv(program_module.DEBUG_VARIABLE, "1" if debug else "0")
    add_command_that_raises(monkeypatch, ZeroDivisionError("oops"))
    with pytest.raises(SystemExit) as leaving:
        program_module.main(["raise"])
    text = capsys.readouterr().err
    assert leaving.value.code == ExitCode.INTERNAL
    assert "oops" in text
    assert ("Traceback" in text) is debug


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_it_quietly_and_leaves_no_half_of_a_file(plain_environment, tmp_path, number, code):
    sleeper = (
        "import sys, time; from pathlib import Path; from types import SimpleNamespace; from txop.cli import app\n"
        "from txop.core.whole_file import whole_file\n"
        "def register(a):\n"
        "    @a.command(name='sleep')\n"
        "    def sleep() -> None:\n"
        f"        with whole_file(Path({str(tmp_path / 'page.html')!r})) as out:\n"
        "            print('half', file=out, flush=True); print('ready', flush=True); time.sleep(60)\n"
        "sys.modules['txop.cli.sleep'] = SimpleNamespace(register=register)\n"
        "app.COMMANDS = (*app.COMMANDS, app.Command('sleep', 'Sleeps.'))\n"
        "sys.argv = ['txop', 'sleep']\n"
        "app.main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", sleeper],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=plain_environment,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        assert len(list(tmp_path.iterdir())) == 1
        running.send_signal(number)
        _, errors = running.communicate(timeout=30)
    assert running.returncode == code
    assert errors == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo",),
        ("specimen",),
        ("run", "plan.toml"),
        ("export", "archive", "--format", "flent"),
        ("import", "a.json"),
        ("bisect", "plan.toml"),
        ("ci", "plan.toml"),
        ("guest", "run", "--", "true"),
    ],
)
def test_a_folder_is_not_standard_output(txop, tmp_path, arguments):
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    done = txop(*words[:at], "--output", "-", *words[at:], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (ExitCode.BAD_INPUT, "")
    assert "--output takes a folder here" in done.stderr
    assert not list(tmp_path.iterdir())
