"""What only the meaning of a plan tells: each mistake is found at its key, and a good plan has none."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from made_module import maker
from txop.plan.problem import PlanError
from txop.plan.templates import templates
from txop.plan_check.check import check, ensure
from txop.plan_check.hazards import fewest_blocks

EMULATED = """\
title = "emulated"
[target.dut]
kind = "emulated"
[target.peer]
kind = "emulated"
[link.wlan]
[link.run]
seed = 1
[[arm]]
name = "a"
[[arm]]
name = "b"
emulated = { wlan = { dut = { mcs = 3 } } }
[[test]]
name = "tx"
kind = "tcp-tx"
"""


def found(loaded, *, files: bool = False) -> list[tuple[str | None, str]]:
    return [(problem.key, problem.message) for problem in check(loaded, files=files).problems]


def warned(loaded) -> list[tuple[str | None, str]]:
    return [(problem.key, problem.message) for problem in check(loaded, files=False).warnings]


def test_good_plans_have_neither_problems_nor_warnings(parse, good):
    for text in (good, EMULATED):
        assert found(parse(text), files=True) == []
        assert warned(parse(text)) == []
        ensure(parse(text))


@pytest.mark.parametrize(
    ("before", "after", "key", "message"),
    [
        ('name = "b"', 'name = "a"', "arm[1].name", 'another arm called "a"'),
        ('name = "idle"', 'name = "tx"', "test[1].name", 'another test called "tx"'),
        ("[target.dut]", "[target.dud]", "target", "device under test is missing"),
        ("[target.peer]", "[target.pear]", "target", "other end of the traffic is missing"),
        ('address = "10.0.0.1"\n', "", "target.peer.address", "is missing"),
        ('kind = "latency"', 'kind = "latency"\nstation = "sta"', "test[1].station", 'unknown target "sta"'),
        ('kind = "latency"', 'kind = "latency"\nstation = "peer"', "test[1].station", "peer cannot be a station"),
        (
            'kind = "latency"',
            'kind = "stations"\nstations = ["dut", "stb"]',
            "test[1].stations[1]",
            'unknown target "stb"',
        ),
        ('kind = "latency"', 'kind = "stations"\nstations = ["dut", "dut"]', "test[1].stations[1]", "twice"),
        ('kind = "latency"', 'kind = "command"\ncommand = "x"\non = "dud"', "test[1].on", 'unknown target "dud"'),
        (
            'kind = "latency"',
            'kind = "command"\ncommand = "x"\nparser = "regex"\npattern = "("',
            "test[1].pattern",
            "invalid regular expression",
        ),
        (
            'kind = "latency"',
            'kind = "command"\ncommand = "x"\nparser = "regex"\npattern = "a"',
            "test[1].pattern",
            "no named group",
        ),
        (
            'kind = "latency"',
            'kind = "command"\ncommand = "x"\nparser = "regex"\npattern = "(?P<A>.)"',
            "test[1].pattern",
            '"A" is not a name of a metric',
        ),
        (
            'kind = "latency"',
            'kind = "command"\ncommand = "x"\nhigher_is_better = ["a"]\nlower_is_better = ["a"]',
            "test[1].lower_is_better",
            "in higher_is_better too",
        ),
        ("[[test]]", '[design]\nbaseline = "c"\n[[test]]', "design.baseline", 'unknown arm "c"'),
        (
            "[[test]]",
            '[design]\nprimary = ["xt.throughput_mbit_s"]\n[[test]]',
            "design.primary[0]",
            'unknown test "xt"',
        ),
        (
            "[[test]]",
            '[design]\nprimary = ["tx.throughput_mbits"]\n[[test]]',
            "design.primary[0]",
            'gives no "throughput_mbits"',
        ),
        (
            "[[test]]",
            '[design]\nprimary = ["idle.throughput_mbit_s"]\n[[test]]',
            "design.primary[0]",
            'test "idle" gives no "throughput_mbit_s"',
        ),
        ("[[test]]", '[design]\nprimary = ["tx.signal_dbm"]\n[[test]]', "design.primary[0]", "never judged"),
        (
            "[[test]]",
            '[design]\nprimary = ["idle.rtt_p50_ms", "idle.rtt_p50_ms"]\n[[test]]',
            "design.primary[1]",
            "twice",
        ),
        (
            "[[test]]",
            '[design.margins]\n"tx.air_retry_percent" = 1\n[[test]]',
            'design.margins."tx.air_retry_percent"',
            'gives no "air_retry_percent"',
        ),
        ("[[arm]]", "[link]\na = 1\n[[arm]]", "link", "no target of kind emulated"),
        ('name = "a"', 'name = "a"\nemulated = {}', "arm[0].emulated", "no table [link]"),
        ('kind = "latency"', 'kind = "module-cycle"\n[[arm]]\nname = "c"', "test[1].kind", "no module to remove in c"),
        ("[[test]]", "[collect]\nair = true\n[[test]]", "collect.air", "nothing could capture the air"),
        (
            "[[test]]",
            '[collect]\nair = true\n[target.sniffer]\nkind = "local"\n[[test]]',
            "target.sniffer.interface",
            "is missing",
        ),
        (
            'interface = "wlan0"\n',
            "[bring_up]\ndhcp = true\n",
            "target.dut.interface",
            "is missing, and dhcp needs it",
        ),
        (
            "debug = 1",
            "debug = 'a\"b'",
            "arm[1].module.parameters.debug",
            "must not hold quotes or line breaks",
        ),
        (
            'name = "a"\n',
            'name = "a"\npatches = [{ file = "x.patch" }]\n',
            "arm[0].patches[0].file",
            "no build that would apply it",
        ),
        (
            'module = { name = "rtl8xxxu" }',
            'build = { source = ".", module = "../x.ko" }',
            "arm[0].build.module",
            "must be a .ko inside the tree",
        ),
        (
            'name = "a"\n',
            'name = "a"\nqdisc = { discipline = "-b x" }\n',
            "arm[0].qdisc.discipline",
            "must begin with the name",
        ),
        (
            'name = "a"\n',
            'name = "a"\nqdisc = { discipline = "cake", target = "x" }\n',
            "arm[0].qdisc.target",
            'unknown target "x"',
        ),
    ],
)
def test_one_mistake_is_one_problem_at_its_key(parse, good, before, after, key, message):
    text = good.replace(before, after, 1)
    assert text != good
    ((found_key, found_message),) = found(parse(text))
    assert found_key == key
    assert message in found_message
    with pytest.raises(PlanError, match=r"plan\.toml, line"):
        ensure(parse(text), files=False)


@pytest.mark.parametrize(
    ("before", "after", "key", "message"),
    [
        (
            '[target.peer]\nkind = "emulated"',
            '[target.peer]\nkind = "local"\naddress = "1.1.1.1"',
            "target.peer.kind",
            "both ends",
        ),
        ("[target.peer]", '[target.far]\nkind = "local"\n[target.peer]', "target.far.kind", "so must its stations"),
        ("[link.wlan]", 'side = "dut"\n[link.wlan]', "target.peer.side", 'must be "peer"'),
        ("[link.wlan]\n[link.run]\nseed = 1\n", "", "target.dut.kind", "needs a table [link]"),
        ("[link.wlan]\n", "", "link", "no link in it"),
        ("[link.run]", "[[link.traffic]]\nkind = 'tcp'\n[link.run]", "link.traffic", "the tests of a plan"),
        ("seed = 1", "duration_s = 1", "link.run.duration_s", "set how long"),
        ("[link.wlan]", "[link.pipe]\n[link.wlan]", "link", "more than one link"),
        ("[link.wlan]", "host = 'far'\n[link.wlan]", "target.peer.host", 'unknown host "far"'),
        ("[link.wlan]", "host = 'dut'\n[link.wlan]", "target.peer.host", "the peer is the server"),
        ("[target.peer]", "host = '0'\n[target.peer]", "target.dut.host", "host server is the peer"),
        ("[target.peer]", "[target.far]\nkind = 'emulated'\n[target.peer]", "target.far", 'unknown host "far"'),
        (
            "[target.peer]",
            "[target.far]\nkind = 'emulated'\nhost = '1'\n[target.peer]",
            "target.far.host",
            'target "dut" is host dut too',
        ),
        (
            "dut = { mcs = 3 }",
            "stations = [{ name = 'a' }, { name = 'b' }]",
            "arm[1].emulated",
            "joins server, a, b, and",
        ),
        ("wlan = { dut = { mcs = 3 } }", "pipe = { stations = 3 }", "arm[1].emulated", "the hosts must be the same"),
        ('name = "a"', 'name = "a"\nremove = ["x"]', "arm[0].remove", "no driver"),
        ('name = "a"', 'name = "a"\nmodule = { name = "x" }', "arm[0].module", "no driver"),
        ("[[test]]", "[bring_up.wpa_supplicant]\nconfig = 'x'\n[[test]]", "bring_up.wpa_supplicant", "not associated"),
        (
            "[[test]]",
            '[design]\nprimary = ["tx.cpu_total_s_per_gbit"]\n[[test]]',
            "design.primary[0]",
            "of the emulator",
        ),
    ],
)
def test_emulated_links_are_consistent(parse, before, after, key, message):
    text = EMULATED.replace(before, after, 1)
    assert any(key == k and message in m for k, m in found(parse(text))), found(parse(text))


NEW = "the link of a plan is a scenario now"


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("[link.wlan]", "[link.dut]\nmcs = 3", {("link.dut", 6): "write [link.wlan.dut]"}),
        (
            "[link.wlan]\n[link.run]",
            "[link]",
            {("link.seed", 7): "write [link.run] seed = ..."},
        ),
        (
            "emulated = { wlan = { dut = { mcs = 3 } } }",
            "emulated = { ap = { mcs = 3 }, medium = {}, seed = 3 }",
            {
                ("arm[1].emulated.ap", 13): "write [arm.emulated.wlan.ap]",
                ("arm[1].emulated.medium", 13): "write [arm.emulated.wlan.medium]",
                ("arm[1].emulated.seed", 13): "write [arm.emulated.run] seed = ...",
            },
        ),
    ],
)
def test_keys_of_old_are_refused_with_what_is_to_be_written(parse, before, after, lines):
    problems = check(parse(EMULATED.replace(before, after, 1)), files=False).problems
    assert {(problem.key, problem.line): problem.what_to_do for problem in problems} == lines
    assert all(problem.message.startswith(NEW) for problem in problems)


@pytest.mark.parametrize("side", ["", 'side = "peer"\n', 'host = "server"\n', 'host = "0"\n'])
@pytest.mark.parametrize(
    "link",
    [
        "[link.wlan.ap]\nqueueing = { kind = 'airtime' }\n",
        "[link.modem]\n",
        "[link.sdio.host]\nhif = 'asynchronous'\n[link.path]\ndelay_ms = 5\n",
        "[link.pipe]\nrate_mbit_s = 5\n",
        "[link]\nbase = 'modem-ncm'\n",
        "[[link.wlan.stations]]\nname = 'far'\nmcs = 0\n[[link.wlan.stations]]\nname = 'near'\n",
    ],
)
def test_every_kind_of_link_can_be_the_link_of_a_plan(parse, side, link):
    text = EMULATED.replace("[link.wlan]\n", side + link).replace(
        "wlan = { dut = { mcs = 3 } }", "path = { loss = 0.1 }"
    )
    assert found(parse(text)) == []


def test_a_station_is_a_target_by_its_name(parse):
    stations = "[link.wlan]\nstations = [{ name = 'fast', count = 2 }, { name = 'slow' }]\n"
    more = "[target.fast-2]\nkind = 'emulated'\n[target.other]\nkind = 'emulated'\nhost = 'slow'\n"
    text = EMULATED.replace("[link.wlan]\n", more + stations).replace(
        "emulated = { wlan = { dut = { mcs = 3 } } }\n", ""
    )
    text += "[[test]]\nname = 'all'\nkind = 'stations'\nstations = ['dut', 'fast-2', 'other']\n"
    assert found(parse(text)) == []
    assert ("target.other", "no test uses it") in warned(parse(text.replace(", 'other'", "")))


@pytest.mark.parametrize(
    ("link", "collect", "key", "said"),
    [
        ("[link.modem]", "air = true", "collect.air", "a modem link has no frames"),
        ("[link.wlan]", "air = true", None, ""),
        ("[link.modem]", "usbmon = true", None, ""),
        ("[link.sdio]", "usbmon = true", "collect.usbmon", "no USB bus"),
        ("[link.wlan.dut.usb]", "usbmon = true", None, ""),
    ],
)
def test_what_a_link_does_not_have_is_not_collected(parse, link, collect, key, said):
    text = EMULATED.replace("[link.wlan]", link).replace("emulated = { wlan = { dut = { mcs = 3 } } }\n", "")
    checked = check(parse(f"{text}[collect]\n{collect}\n"), files=False)
    told = [p for p in (*checked.problems, *checked.warnings) if (p.key or "").startswith("collect")]
    assert [(p.key, said in p.message) for p in told] == ([(key, True)] if key else [])
    assert bool(checked.problems) == (key == "collect.air")


def test_arms_and_tests_may_not_share_a_folder(parse, good):
    text = good.replace('name = "b"', 'name = "a-tx"').replace('name = "idle"', 'name = "tx-tx"')
    ((key, message),) = found(parse(text))
    assert key == "test[0].name"
    assert "would share the folder a-tx-tx" in message


@pytest.mark.parametrize(
    ("before", "after", "key", "message"),
    [
        ("[[test]]", "[design]\nblocks = 5\n[[test]]", "design.blocks", "no verdict is possible: at 95 % confidence"),
        ("[[test]]", "[design]\nblocks = 600\n[[test]]", "design.blocks", "beyond 500 pairs"),
        ("[[test]]", "[design]\nblocks = 1\n[[test]]", "design.blocks", "one block shows what is possible"),
        ("[[test]]", "[design]\nconfidence = 0.97\n[[test]]", "design.confidence", "0.90, 0.95 and 0.99"),
        ("[[test]]", "[design]\ntime_budget_s = 60\n[[test]]", "design.time_budget_s", "will probably end after"),
        ('kind = "tcp-tx"', 'kind = "tcp-tx"\nduration_s = 4\nwarm_up_s = 1', "test[0].duration_s", "4 s are short"),
        ('kind = "tcp-tx"', 'kind = "tcp-tx"\nduration_s = 7.5', "test[0].duration_s", "8 s instead of 7.5 s"),
        ('kind = "tcp-tx"', 'kind = "tcp-tx"\nwarm_up_s = 31', "test[0].duration_s", "longer than the measured window"),
        ('kind = "tcp-tx"', 'kind = "tcp-tx"\nwarm_up_s = 0', "test[0].warm_up_s", "without a warm-up"),
        ('"ssh"\nhost = "10.0.0.1"', '"local"', "target.peer", "never leaves it"),
        ("[[test]]", '[target.spare]\nkind = "local"\n[[test]]', "target.spare", "no test uses it"),
        ('host = "10.0.0.1"', 'host = "192.0.2.7"', "target.peer.host", "address for examples"),
        ('interface = "wlan0"\n', "", "target.dut.interface", "gates cannot be checked: association, channel, route"),
        (
            ", parameters = { debug = 1 } }",
            " }",
            "arm[1]",
            'does the same as "a"',
        ),
        (
            'name = "a"\nmodule = { name = "rtl8xxxu" }',
            'name = "a"\nload = ["x"]',
            "arm[0]",
            "nothing can verify that it is in place",
        ),
    ],
)
def test_hazards_are_warnings_and_no_problems(parse, good, before, after, key, message):
    text = good.replace(before, after, 1)
    assert text != good
    loaded = parse(text)
    assert found(loaded) == []
    assert [k for k, m in warned(loaded) if message in m] == [key], warned(loaded)


def test_many_primary_figures_cost_something(parse, good):
    tests = "".join(f'[[test]]\nname = "t{n}"\nkind = "tcp-tx"\n' for n in range(4))
    assert [m for k, m in warned(parse(good + tests)) if k == "design"] == []
    ((_key, message),) = warned(parse(good + tests))
    assert message.startswith("6 figures are judged together")


def test_fewest_blocks_is_where_a_clean_sweep_becomes_significant():
    """The smallest p of an exact signed-rank test of n pairs, by scipy."""
    import numpy as np
    from scipy.stats import wilcoxon

    for confidence in (0.9, 0.95, 0.99):
        n = fewest_blocks(confidence)
        assert wilcoxon(np.arange(1.0, n + 1), method="exact").pvalue <= 1 - confidence + 1e-12
        assert wilcoxon(np.arange(1.0, n), method="exact").pvalue > 1 - confidence


def test_files_are_looked_for_beside_the_plan(parse, good, tmp_path):
    text = good.replace('module = { name = "rtl8xxxu" }', 'module = { file = "a.ko" }', 1)
    ((key, message),) = found(parse(text), files=True)
    assert key == "arm[0].module.file"
    assert str(tmp_path / "a.ko") in message
    assert found(parse(text)) == []
    (tmp_path / "a.ko").mkdir()
    assert "is a folder" in found(parse(text), files=True)[0][1]
    (tmp_path / "a.ko").rmdir()
    (tmp_path / "a.ko").write_bytes(b"")
    ((key, message),) = found(parse(text), files=True)
    assert key == "arm[0].module.file", message


def test_module_files_are_modules_and_know_their_parameters(parse, good, tmp_path):
    made = maker(tmp_path)()
    arm = f'module = {{ file = "{made}", parameters = {{ ht40 = 1 }} }}'
    text = good.replace('module = { name = "rtl8xxxu" }', arm, 1)
    assert found(parse(text), files=True) == []
    loaded = parse(text.replace("ht40", "ht41"))
    ((key, _),) = found(loaded, files=True)
    assert (key, check(loaded).warnings) == ("arm[0].module.parameters.ht41", ())
    made.write_bytes(made.read_bytes()[:100])
    ((key, _),) = found(parse(text), files=True)
    assert key == "arm[0].module.file"


def test_modules_of_an_arm_fit_together(parse, good, tmp_path):
    made = maker(tmp_path)

    def build(name: str, depends: str, release: str = "6.1.0-7-amd64") -> Path:
        path = made(name)
        data = path.read_bytes().replace(b"depends=mac80211,cfg80211\0", f"depends={depends}".encode().ljust(26, b"\0"))
        path.write_bytes(data.replace(b"vermagic=6.1.0-7-amd64", f"vermagic={release}".encode()))
        return path

    core, lib, driver = build("mt76", ""), build("mt76-connac-lib", "mt76"), build("mt7915e", "mt76_connac_lib")
    other = build("mt7603e", "mt76", "6.1.0-8-amd64")

    def checked(*files: Path):
        modules = ", ".join(f'{{ file = "{file}" }}' for file in files)
        return check(parse(good.replace('module = { name = "rtl8xxxu" }', f"modules = [{modules}]", 1)))

    assert checked(core, lib, driver).problems == ()
    assert [problem.key for problem in checked(core, driver, lib).problems] == ["arm[0].modules[1].file"]
    assert [problem.key for problem in checked(core, other).problems] == ["arm[0].modules[1].file"]


def test_a_module_that_only_another_arm_loads_is_noted(parse, good, tmp_path):
    made = maker(tmp_path)
    one, two = made("cfg80211", number=1), made("rtl8xxxu", number=2)
    text = good.replace('module = { name = "rtl8xxxu" }', f'modules = [{{ file = "{one}" }}, {{ file = "{two}" }}]', 1)
    second = re.search(r'module = \{ name = "rtl8xxxu".*\}', text)
    assert second is not None
    text = text.replace(second[0], f'modules = [{{ file = "{made("rtl8xxxu", number=3)}" }}]', 1)
    assert "arm[1].modules[0].file" in [problem.key for problem in check(parse(text)).warnings]


@pytest.mark.parametrize(("address", "keys"), [("10.0.0.1", []), ("10.0.0.99", ["bring_up.ready"])])
def test_a_ready_ping_goes_to_a_machine_of_the_plan(parse, good, address, keys):
    loaded = parse(good + f'[bring_up]\nready = ["ping", "-c", "1", "{address}"]\n')
    assert [problem.key for problem in check(loaded).warnings if problem.key == "bring_up.ready"] == keys


@pytest.mark.parametrize("name", ["dyndbg", "async_probe", "async-probe", "tx-power", "tx_power"])
def test_the_kernel_takes_parameters_of_every_module_and_dashes(parse, good, tmp_path, name):
    made = maker(tmp_path)()
    made.write_bytes(made.read_bytes().replace(b"parmtype=ht40:bool\0", b"parm=tx_power:_int\0"))
    arm = f'module = {{ file = "{made}", parameters = {{ {name} = 1 }} }}'
    checked = check(parse(good.replace('module = { name = "rtl8xxxu" }', arm, 1)))
    assert (checked.problems, checked.warnings) == ((), ())


def test_a_module_that_is_a_pipe_is_a_problem_and_is_not_waited_for(parse, good, tmp_path):
    os.mkfifo(tmp_path / "pipe.ko")
    text = good.replace('module = { name = "rtl8xxxu" }', 'module = { file = "pipe.ko" }', 1)
    assert [key for key, _ in found(parse(text), files=True)] == ["arm[0].module.file"]


def test_lines_of_a_template_that_were_not_looked_at_are_named(parse, good):
    marked = good.replace('title = "', '# CHANGE: the title\ntitle = "# CHANGE ', 1)
    ((key, message),) = warned(parse(marked))
    assert key is None
    line = 1 + marked[: marked.index("# CHANGE: the title")].count("\n")
    assert f"line {line} " in message
    assert warned(parse(good.replace('title = "', '# What is marked CHANGE\ntitle = "', 1))) == []


def test_every_file_a_plan_can_name_is_checked(parse):
    text = """\
title = ""
[target.dut]
kind = "ssh"
host = "h"
key = "k"
known_hosts = "kh"
config = "c"
interface = "w"
[target.peer]
kind = "local"
address = "10.0.0.1"
[[arm]]
name = "a"
patches = [{ file = "p" }]
build = { source = "s", module = "m.ko", kernel = "kernel" }
firmware = { file = "f", name = "f" }
[bring_up.wpa_supplicant]
config = "w"
[[test]]
name = "t"
kind = "latency"
"""
    keys = {key for key, _ in found(parse(text), files=True)}
    assert keys == {
        "target.dut.key", "target.dut.known_hosts", "target.dut.config", "arm[0].patches[0].file",
        "arm[0].build.source", "arm[0].build.kernel", "arm[0].firmware.file", "bring_up.wpa_supplicant.config",
    }  # fmt: skip


def test_a_name_that_no_file_can_have_is_a_problem_and_no_crash(parse, good):
    for name in ("x" * 5000, "a\\u0000b"):
        text = good.replace('module = { name = "rtl8xxxu" }', f'module = {{ file = "{name}" }}', 1)
        assert len(found(parse(text), files=True)) == 1


def test_files_become_absolute(parse, tmp_path):
    from txop.plan_check.files import named, with_absolute_files

    for text in (template.text for template in templates().values()):
        loaded = parse(text)
        plan = with_absolute_files(loaded.plan, loaded.folder)
        before = [name for _, name, _ in named(loaded)]
        after = [name for _, name, _ in named(replace(loaded, plan=plan))]
        assert after == [str(loaded.file(name)) for name in before]
        assert all(name.startswith("/") for name in after)
        assert with_absolute_files(plan, tmp_path / "elsewhere") == plan


@pytest.mark.parametrize("name", sorted(name for name in templates() if name.startswith("guest-gardena-wiki")))
def test_the_wikis_drivers_are_judged_on_one_air_and_one_computer(parse, name):
    plan = parse(templates()[name].text).plan
    around = [plan.guest.varied(arm.guest).model_dump(exclude={"driver", "module_file"}) for arm in plan.arm]
    assert all(each == around[0] for each in around)
    assert len({row.about for arm in plan.arm for row in arm.published}) == 1
    assert {arm.name for arm in plan.arm if not arm.patches} == {arm.name for arm in plan.arm if arm.optional}


def test_the_wikis_rows_are_of_three_places(parse):
    wiki = [parse(text.text).plan for name, text in templates().items() if name.startswith("guest-gardena-wiki")]
    rows = [(arm.shown, row) for plan in wiki for arm in plan.arm for row in arm.published]
    assert len({row.about for _, row in rows}) == len(wiki) == 3
    assert len(rows) == 24
    assert len({repr(row) for row in rows}) == len(rows)


@pytest.mark.parametrize("name", sorted(templates()))
def test_a_shipped_plan_with_blocks_has_enough_of_them_for_a_verdict(parse, name):
    """One block is for what shows in a single run: faults."""
    loaded = parse(templates()[name].text)
    if loaded.plan.design.blocks > 1:
        assert not [words for key, words in warned(loaded) if key == "design.blocks"]
