"""``txop plan`` as users run it."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import time

import jsonschema
import pytest

from txop.cli import app as program_module
from txop.cli.plan_overview import duration
from txop.core.errors import ExitCode
from txop.plan.draft import Answers, DraftArm, Machine, draft
from txop.plan.load import load_plan
from txop.plan.noise import Noise, remember
from txop.plan.templates import templates


@pytest.fixture
def txop(monkeypatch, capsys):
    """Run ``txop`` in this process, which is quicker; stdin has nothing to say."""

    def run(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("COLUMNS", raising=False)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            program_module.main(arguments)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, leaving.value.code, out, err)

    return run


@pytest.fixture
def plan_file(tmp_path, good):
    file = tmp_path / "plan.toml"
    file.write_text(good)
    return file


@pytest.fixture
def state(tmp_path):
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def test_check_says_what_the_plan_amounts_to(txop, plan_file, state):
    done = txop("plan", "check", str(plan_file), env=state)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "40 runs: 10 blocks × 2 arms × 2 tests; figures are hardware" in done.stdout
    assert "a (baseline)" in done.stdout
    assert "rtl8xxxu; debug=1" in done.stdout
    assert "tx.throughput_mbit_s" in done.stdout
    assert "idle.rtt_p50_ms" in done.stdout
    assert f"No A/A noise stored for this testbed yet: run `txop run {plan_file} --aa`" in done.stdout


def test_check_says_what_the_campaign_will_see(txop, plan_file, state, tmp_path):
    noise = Noise(sd_d=4.0, n=10, when="2026-03-01T10:00:00+00:00", source="x", aa=True)
    remember(
        load_plan(plan_file).plan,
        {"tx.throughput_mbit_s": noise},
        store=tmp_path / "state" / "txop" / "noise.json",
    )
    done = txop("plan", "check", str(plan_file), env=state)
    row = next(line for line in done.stdout.splitlines() if line.strip().startswith("tx.throughput_mbit_s"))
    # two figures are judged together: more than the 4.2 % of one
    assert row.split()[:7] == ["tx.throughput_mbit_s", "3", "%", "5", "%", "A/A", "of"]
    assert row.split()[7:] == ["2026-03-01,", "n", "=", "10", "blocks"]
    assert "No A/A noise" not in done.stdout
    document = json.loads(txop("plan", "check", str(plan_file), "--json", env=state).stdout)
    assert document["primary"][0]["smallest_effect"] == pytest.approx(5.0, abs=0.15)
    assert document["primary"][1]["noise"] is None


def test_a_plan_with_problems_gives_exit_code_2_and_shows_all_of_them(txop, plan_file, good, state):
    plan_file.write_text(good.replace('name = "b"', 'name = "a"').replace('name = "idle"', 'name = "tx"'))
    done = txop("plan", "check", str(plan_file), env=state)
    assert done.returncode == ExitCode.BAD_INPUT
    assert f"{plan_file}, line 13, arm[1].name: there is another arm" in done.stdout
    assert f"{plan_file}, line 19, test[1].name: there is another test" in done.stdout
    document = json.loads(txop("plan", "check", str(plan_file), "--json", env=state).stdout)
    assert document["ok"] is False
    assert [problem["line"] for problem in document["problems"]] == [13, 19]
    assert document["runs"]["runs"] == 40


def test_what_is_no_plan_gives_exit_code_2(txop, plan_file, state):
    plan_file.write_text("titel = 'x'\n")
    done = txop("plan", "check", str(plan_file), env=state)
    assert done.returncode == ExitCode.BAD_INPUT
    assert 'titel: no such key. Did you mean "title"?' in done.stdout
    document = json.loads(txop("plan", "check", str(plan_file), "--json", env=state).stdout)
    assert document["format"] == "txop-plan-check"
    assert document["problems"][0] == {
        "line": 1,
        "column": 1,
        "key": "titel",
        "message": "no such key",
        "what_to_do": 'did you mean "title"?',
    }
    assert "runs" not in document
    missing = txop("plan", "check", "no-such-plan.toml", env=state)
    assert missing.returncode == ExitCode.BAD_INPUT
    assert missing.stderr == "txop: no-such-plan.toml: No such file or directory.\n"


def test_hostile_text_of_a_plan_does_not_act_on_the_terminal(txop, plan_file, good, state):
    text = good.replace('title = "two builds"', 'title = "\\u001b[2J\\u202e[bold]x"')
    text = text.replace('[[arm]]\nname = "b"', '"\\u001b[31m[red]" = 1\n[[arm]]\nname = "b"')
    plan_file.write_text(text)
    done = txop("plan", "check", str(plan_file), env=state)
    assert "\x1b" not in done.stdout + done.stderr
    plan_file.write_text(text.replace('"\\u001b[31m[red]" = 1\n', ""))
    done = txop("plan", "check", str(plan_file), env=state)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout
    assert "[bold]x" in done.stdout


def test_files_are_checked_unless_told_not_to(txop, plan_file, good, state):
    plan_file.write_text(good.replace('{ name = "rtl8xxxu" }', '{ file = "x.ko" }'))
    assert txop("plan", "check", str(plan_file), env=state).returncode == ExitCode.BAD_INPUT
    assert txop("plan", "check", str(plan_file), "--no-files", env=state).returncode == 0


def test_show_lists_the_steps_of_each_arm_in_order(txop, tmp_path):
    file = tmp_path / "x.toml"
    file.write_text(templates()["usb-dongle-two-drivers"].text)
    done = txop("plan", "show", str(file), "--arm", "patches-10-7")
    assert done.returncode == 0
    rows = [line.strip() for line in done.stdout.splitlines()]
    order = [
        "rtl8xxxu, patches 10, 7 (patches-10-7)",
        f"this machine: git apply {tmp_path}/patches/10-usb-interrupts.patch",
        f"this machine: git apply {tmp_path}/patches/07-tx-ampdu.patch",
        "dut: modprobe -r 8192cu  # rmmod, where modprobe has no -r",
        "dut: insmod TEMPORARY/rtl8xxxu.ko",
        "dut: rmmod rtl8xxxu",
        "ready: ping -c 1 -W 2 -I wlan0 192.0.2.1",
    ]
    assert [rows.index(row) for row in order] == sorted(rows.index(row) for row in order)
    assert "vanilla" not in rows[0]
    document = json.loads(txop("plan", "show", str(file), "--json").stdout)
    assert [arm["arm"] for arm in document["arms"]] == ["vanilla", "patch-10", "patches-10-7", "vendor"]
    wrong = txop("plan", "show", str(file), "--arm", "vanila")
    assert wrong.returncode == ExitCode.BAD_INPUT
    assert 'Did you mean "vanilla"?' in wrong.stderr


def test_show_refuses_a_wrong_plan_with_every_problem(txop, plan_file, good):
    plan_file.write_text(good.replace('name = "b"', 'name = "a"'))
    done = txop("plan", "show", str(plan_file))
    assert done.returncode == ExitCode.BAD_INPUT
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith(f"{plan_file}, line 13, arm[1].name")
    assert done.stderr.splitlines()[1] == f"txop: {plan_file}: the plan has a problem, so nothing was done."


def test_schema_is_a_schema(txop):
    done = txop("plan", "schema")
    assert done.returncode == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(done.stdout))


def test_new_from_a_template_and_never_over_a_file(txop, tmp_path):
    file = tmp_path / "new.toml"
    done = txop("plan", "new", str(file), "--template", "soak")
    assert done.returncode == 0
    assert file.read_text() == templates()["soak"].text
    assert txop("plan", "check", str(file), "--no-files").returncode == 0
    again = txop("plan", "new", str(file), "--template", "qdisc")
    assert again.returncode == ExitCode.BAD_INPUT
    assert "--force" in again.stderr
    assert txop("plan", "new", str(file), "--template", "qdisc", "--force").returncode == 0
    assert file.read_text() == templates()["qdisc"].text
    assert txop("plan", "new", "-", "--template", "qdisc").stdout == templates()["qdisc"].text
    wrong = txop("plan", "new", str(tmp_path / "y.toml"), "--template", "soap")
    assert 'Did you mean "soak"?' in wrong.stderr
    listed = json.loads(txop("plan", "new", "--list-templates", "--json").stdout)
    assert {entry["name"] for entry in listed["templates"]} == set(templates())
    parts = txop("plan", "new", "--list-templates").stdout.split("\n\n")
    hardware, emulated, guests = ({line.split()[0] for line in part.splitlines()[1:]} for part in parts)
    assert "emulated-driver-patches" in emulated
    assert "guest-two-drivers" in guests
    assert {"soak", "ssh-gateway", "usb-dongle-two-drivers"} <= hardware
    assert {*templates()} <= emulated | guests | hardware


def test_new_without_a_terminal_says_what_to_do(txop, tmp_path):
    done = txop("plan", "new", str(tmp_path / "x.toml"))
    assert done.returncode == ExitCode.BAD_INPUT
    assert "--list-templates" in done.stderr
    assert not (tmp_path / "x.toml").exists()


ANSWERS = [
    "<", "a title", "?", "<", "a \"quoted\" title", "me@gateway", "perhaps", "no", "wlan 0", "wlan0", "local",
    "10.0.0.1", "lab@sniff",
    "mon0", "wpa.conf", "maybe", "", "Vanilla", "vanilla", "rtl8xxxu", "debug", "debug=1", "", "patched", "linux/",
    "x.o", "mt76.ko mt7921u.ko", "1.patch 2.patch", "", "last", "<", "last", "build/x.ko", "", "", "tcp-tx, tcp-xt",
    "tcp-tx, latency", "0", "12",
]  # fmt: skip


def test_new_asks_on_a_terminal_until_the_answers_make_a_plan(program, plain_environment, tmp_path):
    file = tmp_path / "asked.toml"
    main_end, program_end = pty.openpty()
    with subprocess.Popen(
        [program, "plan", "new", str(file)],
        stdin=program_end,
        stdout=program_end,
        stderr=program_end,
        env={**plain_environment, "TERM": "dumb"},
    ) as running:
        os.close(program_end)
        answers = iter(ANSWERS)
        seen = b""
        deadline = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < deadline:
            ready, _, _ = select.select([main_end], [], [], 0.15)
            try:
                seen += os.read(main_end, 4096) if ready else b""
            except OSError:
                break
            if not ready and seen.rstrip(b" ").endswith((b":", b"]:")) and (given := next(answers, None)) is not None:
                os.write(main_end, given.encode() + b"\n")
        assert running.wait(timeout=30) == 0, seen.decode()
    os.close(main_end)
    plan = load_plan(file).plan
    assert plan.title == 'a "quoted" title'
    assert (plan.target["dut"].kind, plan.target["dut"].interface) == ("ssh", "wlan0")
    assert plan.target["peer"].address == "10.0.0.1"
    assert b"  this is the first question" in seen
    assert b"a host of ~/.ssh/config" in seen, "what ? explains"
    assert b"  a comparison needs two arms" in seen
    assert (plan.target["sniffer"].kind, plan.target["sniffer"].interface, plan.collect.air) == ("ssh", "mon0", True)
    assert [arm.name for arm in plan.arm] == ["vanilla", "patched", "last"]
    assert plan.arm[1].build is not None
    assert (plan.arm[1].build.source, plan.arm[1].build.files) == ("linux/", ("mt76.ko", "mt7921u.ko"))
    assert [(patch.number, patch.file) for patch in plan.arm[1].patches] == [(1, "1.patch"), (2, "2.patch")]
    assert plan.arm[0].module is not None
    assert plan.arm[0].module.parameters == {"debug": "1"}
    assert [test.kind for test in plan.test] == ["tcp-tx", "latency"]
    assert plan.design.blocks == 12
    assert plan.bring_up.dhcp


@pytest.mark.parametrize("nasty", ['a"b', "\\", "\x7f\x1b", "line\nbreak", "ünï😀", "'''", '"""', "\ud800"])
def test_a_draft_is_a_plan_whatever_was_answered(parse, nasty):
    answers = Answers(
        nasty,
        Machine(None, None, "wlan0", None),
        Machine("host", "user", None, "10.0.0.1"),
        [DraftArm("a", [f"{nasty}.ko"], parameters={"p": nasty}), DraftArm("b", ["m"]), DraftArm("c")],
        ["tcp-tx", "tcp-rx", "tcp-both", "latency"],
        wpa_config=nasty,
        dhcp=True,
        sniffer=Machine("host", None, "mon0", None),
    )
    plan = parse(draft(answers)).plan
    assert plan.title == nasty.encode("utf-8", "replace").decode()
    assert plan.arm[0].module is not None
    assert plan.arm[0].module.file == f"{plan.title}.ko"


def test_a_draft_of_an_access_point_brings_its_network_up_around_every_arm(parse):
    files = ["old/mt76.ko", "old/mt7915e.ko"]
    answers = Answers(
        "two builds",
        Machine("router", "root", "phy0-ap0", "192.168.1.1"),
        Machine("laptop", None, "wlan0", "192.168.1.2"),
        [DraftArm("old", files, {"debug": "1"}, remove=["mt7603e"]), DraftArm("new", ["mt76", "mt7915e"])],
        ["tcp-tx"],
        access_point=True,
        network_up="wifi up",
        network_down="wifi down",
    )
    plan = parse(draft(answers)).plan
    assert [(arm.load, arm.unload) for arm in plan.arm] == [([["wifi", "up"]], [["wifi", "down"]])] * 2
    assert [module.file for module in plan.arm[0].modules] == files
    assert [module.name for module in plan.arm[1].modules] == ["mt76", "mt7915e"]
    assert plan.arm[0].modules[-1].parameters == {"debug": "1"}
    assert list(plan.arm[0].remove) == ["mt7603e"]
    assert plan.target["dut"].address == "192.168.1.1"
    assert plan.bring_up.timeout_s == 120


def test_durations_are_for_people():
    assert [duration(s) for s in (0.5, 59.6, 60, 3599, 3600, 86400, 2 * 86400 + 3600)] == [
        "0.5 s", "60 s", "1 min", "59 min 59 s", "1 h", "24 h", "2 d 1 h",
    ]  # fmt: skip
