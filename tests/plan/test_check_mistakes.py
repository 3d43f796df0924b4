"""Mistakes that make a plan measure something else than its author thinks: addresses, commands for a shell, one module
under two names."""

from __future__ import annotations

import pytest

from txop.plan_check.check import check


def found(loaded) -> list[str | None]:
    return [problem.key for problem in check(loaded, files=False).problems]


def same(loaded) -> list[str | None]:
    return [problem.key for problem in check(loaded).warnings if "A/A comparison" in problem.message]


# Addresses ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dut", "peer", "wrong"),
    [
        ("10.0.0.1", "10.0.0.1", True),
        ("fd00::1", "fd00:0:0::1", True),
        ("Host.example.org", "host.example.org.", True),
        ("10.0.0.2", "10.0.0.1", False),
        ("fd00::1", "fd00::2", False),
    ],
)
def test_both_ends_have_addresses_of_their_own(parse, good, dut, peer, wrong):
    text = good.replace('interface = "wlan0"\n', f'interface = "wlan0"\naddress = "{dut}"\n')
    text = text.replace('address = "10.0.0.1"\n', f'address = "{peer}"\n')
    assert found(parse(text)) == (["target.dut.address"] if wrong else [])


@pytest.mark.parametrize(
    ("host", "wrong", "to_do"),
    [
        ("192.168.1.1:22", True, "port = 22"),
        ("router.example.org:2222", True, "port = 2222"),
        ("[fd00::1]:22", True, 'host = "[fd00::1]"'),
        ("192.168.1.1", False, ""),
        ("fd00::1", False, ""),
        ("fd00::22", False, ""),
        ("[fd00::1]", False, ""),
        ("router", False, ""),
    ],
)
def test_a_port_is_no_part_of_a_host(parse, good, host, wrong, to_do):
    loaded = parse(good.replace('host = "10.0.0.1"', f'host = "{host}"'))
    problems = check(loaded, files=False).problems
    assert [problem.key for problem in problems] == (["target.peer.host"] if wrong else [])
    assert all(to_do in (problem.what_to_do or "") for problem in problems)
    assert all(problem.line == 7 for problem in problems)


# Commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ('["iperf3", "-c", "10.0.0.1", "|", "tee", "x"]', True),
        ('"iperf3 -c 10.0.0.1 | tee x"', True),
        ('["make", "&&", "make", "install"]', True),
        ('["sync", ";", "reboot"]', True),
        ('["dmesg", ">", "log"]', True),
        ('["dmesg", ">>log"]', True),
        ('"echo 0 > /sys/module/x/parameters/debug"', True),
        ('["dmesg", "2>&1"]', True),
        ('["dmesg", "2>/dev/null"]', True),
        ('["cat", "<", "x"]', True),
        ('["sleep", "5", "&"]', True),
        ('["sh", "-c", "iperf3 -c 10.0.0.1 | tee x"]', False),
        ('["find", "/tmp", "-exec", "ls", "{}", ";"]', False),
        ('["tcpdump", "-i", "wlan0", "tcp[13]", "&", "2"]', False),
        ('["expr", "1", "|", "2"]', False),
        ('["iperf3", "--title", "a|b"]', False),
        ('["curl", "http://10.0.0.1/?a=1&b=2"]', False),
        ('["wpa_cli", "set", "psk", "<secret>"]', False),
    ],
)
def test_what_only_a_shell_understands(parse, good, command, wrong):
    text = good.replace('kind = "latency"', f'kind = "command"\ncommand = {command}')
    assert found(parse(text)) == (["test[1].command"] if wrong else [])


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ('[bring_up]\ncommands = [["true"], ["a", "|", "b"]]', "bring_up.commands[1]"),
        ('[bring_up]\ndown = ["a | b"]', "bring_up.down[0]"),
        ('[bring_up]\nready = "a | b"', "bring_up.ready"),
        ('[target.dut.hooks]\nreset = ["a | b"]', "target.dut.hooks.reset[0]"),
        ('[target.peer.hooks]\npower_cycle = ["a | b"]', "target.peer.hooks.power_cycle[0]"),
        ('[[arm]]\nname = "c"\nload = ["a | b"]', "arm[2].load[0]"),
        ('[[arm]]\nname = "c"\nunload = ["a | b"]', "arm[2].unload[0]"),
        ('[[arm]]\nname = "c"\nverify.commands = ["a | b"]', "arm[2].verify.commands[0]"),
        ('[[arm]]\nname = "c"\non.peer.load = ["a | b"]', "arm[2].on.peer.load[0]"),
    ],
)
def test_every_command_of_a_plan_is_looked_at(parse, good, more, key):
    assert found(parse(f"{good}\n{more}\n")) == [key]


# Arms ---------------------------------------------------------------------------------------------------------------


def with_files(good: str, first: str, second: str) -> str:
    text = good.replace('module = { name = "rtl8xxxu" }', f'module = {{ file = "{first}" }}')
    return text.replace(
        'module = { name = "rtl8xxxu", parameters = { debug = 1 } }', f'module = {{ file = "{second}" }}'
    )


def test_one_module_under_two_names_is_an_a_a_comparison(parse, good, tmp_path):
    for name in ("one.ko", "two.ko"):
        (tmp_path / name).write_bytes(b"\x7fELF module")
    text = with_files(good, "one.ko", "two.ko")
    assert same(parse(text)) == ["arm[1].name"]
    assert same(parse(text.replace('"two.ko" }', '"two.ko", parameters = { debug = 1 } }'))) == []
    assert same(parse(text.replace('name = "b"\n', 'name = "b"\nqdisc = { discipline = "fq" }\n'))) == []
    assert same(parse(text.replace('name = "b"\n', 'name = "b"\ntitle = "another title"\n'))) == ["arm[1].name"]
    (tmp_path / "two.ko").write_bytes(b"\x7fELF modulf")
    assert same(parse(text)) == []


def test_a_module_that_is_not_there_is_no_other_s(parse, good):
    loaded = parse(with_files(good, "one.ko", "two.ko"))
    assert same(loaded) == []
    assert [problem.key for problem in check(loaded).problems] == ["arm[0].module.file", "arm[1].module.file"]


def test_two_arms_without_a_difference_are_one(parse, good):
    text = good.replace(", parameters = { debug = 1 }", "")
    assert same(parse(text)) == ["arm[1].name"]
    noted = text.replace('name = "b"\n', 'name = "b"\npatches = [{ number = 7, description = "a note" }]\n')
    assert same(parse(noted)) == ["arm[1].name"], "a note about a patch changes nothing"
    assert same(parse(good)) == []
