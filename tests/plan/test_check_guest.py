"""Invalid guests of a plan are reported before one is booted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from txop.guest.fault_check import check_options
from txop.guest_image.error import GuestError
from txop.plan.guest import GuestSpec
from txop.plan.guest_function import ModemSpec
from txop.plan.load import LoadedPlan
from txop.plan.problem import PlanError
from txop.plan_check.check import check
from txop.plan_check.guest_builds import builds_of
from txop.plan_check.guest_chip import chip_of
from txop.plan_check.hazards import hazards

PLAN = """\
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
{guest}
[[arm]]
name = "a"
[[arm]]
name = "b"
[arm.guest]
{arm}
[[test]]
name = "tx"
kind = "tcp-tx"
"""


@pytest.fixture(autouse=True)
def no_locks_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("guest", "arm", "where", "words"),
    [
        ('kernel = "7.1"', "", ("guest", "kernel"), "no lock for the kernel '7.1'"),
        ("", 'kernel = "7.1"', ("arm", 1, "guest", "kernel"), "no lock"),
        ("", 'ap = "builtin"\nsecurity = "wpa2"', ("arm", 1, "guest", "security"), "it has no wpa2"),
        ('security = "wpa2"', 'ap = "builtin"', ("arm", 1, "guest", "ap"), "it has no wpa2"),
        (
            "",
            'device = "rtl8723au"\ndriver = "rtl8192cu"',
            ("arm", 1, "guest", "driver"),
            "rtl8192cu does not know an rtl8723au",
        ),
        ('faults = "broken.toml"', "", ("guest", "faults"), "broken.toml: Invalid value"),
        ('faults = "deep.toml"', "", ("guest", "faults"), "deep.toml"),
        ('faults = "bytes.toml"', "", ("guest", "faults"), "is not UTF-8"),
        ('device = "qmi-modem"\nsecurity = "wpa2"', "", ("guest", "security"), "(qmi-modem) has no security"),
        ("", 'assume = { report-counters = "wraps" }', ("arm", 1, "guest", "assume"), '"report-counters"'),
        ('assume = { fallback-beyond = "first" }', "", ("guest", "assume"), "fallback-beyond=first"),
        ("", "sdio = { lines = 1 }", ("arm", 1, "guest", "sdio"), "rtl8188cus is not on an SDIO bus"),
        ('device = "ncm"\nsdio = {}', "", ("guest", "sdio"), "ncm is not on an SDIO bus"),
        ("", 'device = "ncm"\nchannel = 6', ("arm", 1, "guest", "channel"), "(ncm) has no channel"),
        ("", 'device = "ncm"\ndriver = "rtl8xxxu"', ("arm", 1, "guest", "driver"), "does not know a ncm"),
        ("", 'modem = { mux = "rmnet" }', ("arm", 1, "guest", "modem"), "has no settings of a network function"),
        ('device = "qmi-modem"\nncm = { ntb32 = true }', "", ("guest", "ncm"), "the device is qmi-modem"),
        (
            'device = "qmi-modem"',
            "modem = { downlink_least_mbit_s = 151 }",
            ("arm", 1, "guest", "modem"),
            "from 151 to 150 Mbit/s",
        ),
        ('device = "qmi-modem"\nmodem = { tx_aggregation = {} }', "", ("guest", "modem"), "raw IP has one datagram"),
        (
            'device = "qmi-modem"',
            'modem = { mux = "qmimux", tx_aggregation = {} }',
            ("arm", 1, "guest", "modem"),
            "aggregates nothing that it sends",
        ),
    ],
)
def test_what_cannot_be_is_told_with_its_place(
    parse: Callable[[str], LoadedPlan],
    tmp_path: Path,
    guest: str,
    arm: str,
    where: tuple[str | int, ...],
    words: str,
) -> None:
    (tmp_path / "broken.toml").write_text("x = [")
    (tmp_path / "deep.toml").write_text("x = " + "[" * 100_000)
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    loaded = parse(PLAN.format(guest=guest, arm=arm))
    (problem,) = check(loaded).problems
    assert words in problem.message
    assert problem.key == loaded.problem(where, "", None).key


@pytest.mark.parametrize(
    ("guest", "arm"),
    [
        ("", 'driver = "rtl8xxxu"'),
        ('ap = "builtin"', ""),
        ("", 'ap = "builtin"'),
        ("", 'device = "rtl8723au"\ndriver = "rtl8xxxu"'),
        ("", 'device = "rtl8723au"'),
        ("", 'device = "rtl8188eu"\nassume = { aggregate-limit = "fixed" }'),
        ("", 'device = "mt7601u"\nassume = { tx-reports = 16 }'),
        ("", 'driver = "vendor"\nsource = "."'),
        ('faults = "good.toml"', ""),
        ('device = "qmi-modem"', ""),
        ('device = "qmi-modem"\nfaults = "good.toml"', ""),
        ('device = "qmi-modem"', "modem = { downlink_least_mbit_s = 90, downlink_wander_percent = 0 }"),
        ('device = "ncm"', 'device = "qmi-modem"\nmodem = { mux = "rmnet", tx_aggregation = {} }'),
        ('device = "ncm"\nncm = { ntb32 = true }', "ncm = { ntb_out_max = 8192 }"),
    ],
)
def test_what_can_be_is_not_refused(parse: Callable[[str], LoadedPlan], tmp_path: Path, guest: str, arm: str) -> None:
    (tmp_path / "good.toml").write_text("[[fault]]\nendpoint = 1\naction = 'stall'\n")
    (tmp_path / "Makefile").write_text("obj-m := vendor.o\n")
    assert check(parse(PLAN.format(guest=guest, arm=arm))).problems == ()


def test_a_downlink_that_wanders_is_told_to_the_modem() -> None:
    steady, wandering = ModemSpec(), ModemSpec(downlink_least_mbit_s=90)
    assert wandering.words() != steady.words()
    assert set(steady.words()) <= set(wandering.words())
    told = wandering.words()
    at = told.index("--downlink-least-mbit-s")
    assert told[at : at + 4] == ("--downlink-least-mbit-s", "90", "--downlink-wander-percent", "20")


PATCHED = """\
name = "b"
patches = [{ file = "txop:qmi_wwan/uplink-aggregation.toml" }]
"""


@pytest.mark.parametrize(("limits", "refused"), [("{ datagrams = 8 }", 0), ("{ hold_us = 500 }", 1)])
def test_a_patched_qmi_wwan_aggregates_and_has_a_timer_of_its_own(
    parse: Callable[[str], LoadedPlan], limits: str, refused: int
) -> None:
    arm = f'modem = {{ mux = "qmimux", tx_aggregation = {limits} }}'
    text = PLAN.format(guest='device = "qmi-modem"', arm=arm)
    assert 'name = "b"\n' in text
    loaded = parse(text.replace('name = "b"\n', PATCHED))
    problems = check(loaded).problems
    assert [("takes no hold_us" in problem.message) for problem in problems] == [True] * refused


RMNET_PATCHED = """\
name = "b"
patches = [{ file = "txop:rmnet/pacing-shift-9.toml", module = "rmnet" }]
"""


def test_a_patch_of_rmnet_is_not_one_of_the_driver_below_it(parse: Callable[[str], LoadedPlan]) -> None:
    text = PLAN.format(guest='device = "qmi-modem"', arm='modem = { mux = "rmnet" }')
    loaded = parse(text.replace('name = "b"\n', RMNET_PATCHED))
    assert check(loaded).problems == ()
    plain, patched = loaded.plan.arm
    assert loaded.plan.guest is not None
    spec = loaded.plan.guest.varied(patched.guest)
    (beside,) = builds_of(patched, spec, Path())
    assert beside.record == "rmnet_build_id"
    assert (beside.what.driver, [file.name for file in beside.what.patches]) == ("rmnet", ["pacing-shift-9.toml"])
    assert builds_of(plain, loaded.plan.guest.varied(plain.guest), Path()) == []


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ('modem = { mux = "qmimux" }', 'the guest builds qmi_wwan, not rmnet: set mux = "rmnet" in guest.modem'),
        ("modem = {}", "the guest builds qmi_wwan, not rmnet"),
    ],
)
def test_a_patch_of_a_module_that_is_not_built_is_refused(
    parse: Callable[[str], LoadedPlan], arm: str, words: str
) -> None:
    text = PLAN.format(guest='device = "qmi-modem"', arm=arm)
    (problem,) = check(parse(text.replace('name = "b"\n', RMNET_PATCHED))).problems
    assert words in f"{problem.message}: {problem.what_to_do}"
    assert problem.key == "arm[1].patches[0].module"


def test_a_patch_of_rmnet_does_not_make_qmi_wwan_aggregate(parse: Callable[[str], LoadedPlan]) -> None:
    text = PLAN.format(guest='device = "qmi-modem"', arm='modem = { mux = "qmimux", tx_aggregation = {} }')
    problems = check(parse(text.replace('name = "b"\n', RMNET_PATCHED))).problems
    assert any("aggregates nothing that it sends" in problem.message for problem in problems)


def test_what_the_host_makes_of_a_modem_reaches_the_guest(parse: Callable[[str], LoadedPlan]) -> None:
    modem = 'mux = "qmimux", tx_aggregation = { datagrams = 8, bytes = 4096 }, queue_discipline = "fq_codel"'
    arm = f'modem = {{ {modem}, queue_packets = 20, framing = "negotiated", uplink_datagrams = 8 }}'
    plan = parse(PLAN.format(guest='device = "qmi-modem"', arm=arm)).plan
    assert plan.guest is not None
    plain, set_up = (chip_of(plan.guest.varied(arm.guest)) for arm in plan.arm)
    told = {key: value for key, value in set_up.variables().items() if value != plain.variables()[key]}
    assert told.pop("LAB_OPTIONS").startswith("--framing negotiated --uplink-datagrams 8 --uplink-bytes 8192 ")
    assert told == {
        "LAB_SYSFS": "qmi/tx_max_datagrams_mux=8 qmi/tx_max_size_mux=4096",
        "LAB_QUEUE": "fq_codel",
        "LAB_QUEUE_PACKETS": "20",
        "LAB_NEGOTIATE": "32 15872",
    }
    assert set_up.is_negotiated


def test_settings_of_cdc_ncm_are_those_of_its_folder_in_sysfs(parse: Callable[[str], LoadedPlan]) -> None:
    ncm = "ncm = { tx_timer_us = 5, tx_max_bytes = 4096, rx_max_bytes = 8192, min_tx_packet_bytes = 0 }"
    plan = parse(PLAN.format(guest='device = "ncm"', arm=ncm)).plan
    assert plan.guest is not None
    plain, set_up = (chip_of(plan.guest.varied(arm.guest)).variables()["LAB_SYSFS"] for arm in plan.arm)
    assert plain == ""
    assert set_up.split() == [
        "cdc_ncm/rx_max=8192",
        "cdc_ncm/tx_max=4096",
        "cdc_ncm/min_tx_pkt=0",
        "cdc_ncm/tx_timer_usecs=5",
    ]


def test_an_arm_lays_its_sdio_bus_over_that_of_the_plan(parse: Callable[[str], LoadedPlan]) -> None:
    guest = 'device = "ar6003"\n[guest.sdio]\nbus_time = true\nlines = 1\n'
    plan = parse(PLAN.format(guest=guest, arm="sdio = { clock_mhz = 25, bundle = 1 }")).plan
    assert not check(parse(PLAN.format(guest=guest, arm="sdio = { lines = 4 }")), files=False).problems
    first, second = (chip_of(plan.guest.varied(arm.guest)).options for arm in plan.arm if plan.guest is not None)
    common = ("--interrupt-us", "500", "--assume")
    assert first == (
        "--bus-time",
        "--card-lines",
        "1",
        "--card-mhz",
        "50",
        *common,
        "bundle=8",
        "--assume",
        "credits=20",
    )
    assert second[:5] == ("--bus-time", "--card-lines", "1", "--card-mhz", "25")
    assert "bundle=1" in second
    check_options("ar6003", "builtin", second, ())


def test_the_other_card_has_no_bundles(parse: Callable[[str], LoadedPlan]) -> None:
    guest = 'device = "sd8686"\ndriver = "libertas_sdio"\nap = "builtin"\nsecurity = "open"\n'
    plan = parse(PLAN.format(guest=guest, arm="sdio = { bus_time = true }\nassume = { tx-frames = 1 }")).plan
    assert plan.guest is not None
    options = chip_of(plan.guest.varied(plan.arm[1].guest)).options
    assert options[0] == "--bus-time"
    assert options[-2:] == ("--assume", "tx-frames=1")
    assert not [word for word in options if word.startswith(("bundle", "credits"))]
    check_options("sd8686", "builtin", options, ())
    (problem,) = check(parse(PLAN.format(guest=guest, arm="sdio = { bundle = 1 }")), files=False).problems
    assert "bundle and credits are an AR6003's" in problem.message


def test_an_arm_has_another_revision_of_the_card(parse: Callable[[str], LoadedPlan]) -> None:
    guest = 'device = "ar6004"\nap = "builtin"\nsecurity = "open"\n[guest.sdio]\nbundle = 4\n'
    loaded = parse(PLAN.format(guest=guest, arm='assume = { revision = "1.0", device-id = "0400" }'))
    assert not check(loaded, files=False).problems
    assert loaded.plan.guest is not None
    chip = chip_of(loaded.plan.guest.varied(loaded.plan.arm[1].guest))
    assert chip.driver == "ath6kl_sdio"
    assert chip.options[-4:] == ("--assume", "revision=1.0", "--assume", "device-id=0400")
    check_options("ar6004", "builtin", chip.options, ())
    with pytest.raises(GuestError, match=r"an AR6004 has no revision=2\.0"):
        check_options("ar6004", "builtin", ("--assume", "revision=2.0"), ())


def test_the_other_card_has_no_tkip(parse: Callable[[str], LoadedPlan]) -> None:
    guest = 'device = "sd8686"\ndriver = "libertas_sdio"\nsecurity = "wpa2-tkip"\n'
    problems = check(parse(PLAN.format(guest=guest, arm="")), files=False).problems
    assert {problem.message for problem in problems} >= {"the virtual sd8686 has no cipher for wpa2-tkip"}


@pytest.mark.parametrize(
    ("guest", "arm", "words", "line"),
    [
        ("width_mhz = 80", "", "a channel of 80 MHz is in 5 GHz, and 6 is not", "width_mhz = 80"),
        ("width_mhz = 80\nchannel = 36", "channel = 11", "in 5 GHz, and 11 is not", "channel = 11"),
        ("channel = 100", "", "100 is not a channel here", "channel = 100"),
        (
            "channel = 36",
            'driver = "rtl8xxxu"\ndevice = "rtl8188eu"',
            "the rtl8188eu is not in 5 GHz",
            'device = "rtl8188eu"',
        ),
        ("", "queues = { fixed_mcs = 8 }", "there is no MCS 8 of one stream with 20 MHz in 2.4 GHz", "queues = "),
        ("channel = 36", "queues = { fixed_mcs = 9 }", "no MCS 9 of one stream with 20 MHz in 5 GHz", "queues = "),
    ],
)
def test_channels_that_cannot_be_are_reported_where_they_are_set(
    parse: Callable[[str], LoadedPlan], guest: str, arm: str, words: str, line: str
) -> None:
    text = PLAN.format(guest=f'device = "mt7610u"\ndriver = "mt76x0u"\n{guest}', arm=arm)
    problems = [problem for problem in check(parse(text), files=False).problems if words in problem.message]
    assert problems
    for problem in problems:
        assert problem.line is not None
        assert text.splitlines()[problem.line - 1].startswith(line)


def test_80_mhz_in_5_ghz_is_a_plan(parse: Callable[[str], LoadedPlan]) -> None:
    guest = 'device = "mt7610u"\ndriver = "mt76x0u"\nchannel = 36\nwidth_mhz = 80'
    loaded = parse(PLAN.format(guest=guest, arm="width_mhz = 40"))
    assert not check(loaded, files=False).problems
    assert loaded.plan.guest is not None
    widths = [chip_of(loaded.plan.guest.varied(arm.guest)).variables()["LAB_WIDTH"] for arm in loaded.plan.arm]
    assert widths == ["80", "40"]


def test_a_negotiated_path_has_a_multiplexer(parse: Callable[[str], LoadedPlan]) -> None:
    loaded = parse(PLAN.format(guest='device = "qmi-modem"', arm='modem = { framing = "negotiated" }'))
    (problem,) = check(loaded).problems
    assert "QMAP is what is negotiated" in problem.message


@pytest.mark.parametrize(
    ("modem", "words"),
    [
        ("tx_aggregation = { datagrams = 16, bytes = 8192 }", None),
        ("tx_aggregation = { datagrams = 17, bytes = 8192 }", "17 datagrams and 8,192 bytes go past what the modem"),
        ("tx_aggregation = { bytes = 16384 }", "(16 and 8,192): the first larger one crashes it"),
        ('framing = "fixed", tx_aggregation = { bytes = 16384 }', None),
        ("uplink_bytes = 16384, tx_aggregation = { bytes = 16384 }", None),
    ],
)
def test_transfers_beyond_what_the_modem_takes_are_worth_a_warning(
    parse: Callable[[str], LoadedPlan], modem: str, words: str | None
) -> None:
    guest = 'device = "qmi-modem"\nmodem = { mux = "rmnet", framing = "negotiated" }'
    loaded = parse(PLAN.format(guest=guest, arm=f"modem = {{ {modem} }}"))
    checked = check(loaded)
    assert checked.problems == ()
    said = [each for each in hazards(loaded) if "what the modem" in each[1]]
    assert [each[0] for each in said] == ([] if words is None else [("arm", 1, "guest", "modem")])
    assert all(words is not None and words in each[1] for each in said)


def test_the_built_in_access_point_is_open_where_nothing_else_is_said(parse: Callable[[str], LoadedPlan]) -> None:
    plan = parse(PLAN.format(guest="", arm='ap = "builtin"')).plan
    assert plan.guest is not None
    assert [plan.guest.varied(arm.guest).security for arm in plan.arm] == ["wpa2", "open"]


MODEM = """\
device = "qmi-modem"
[guest.modem]
mux = "rmnet"
uplink_mbit_s = 25
"""


@pytest.mark.parametrize(
    ("key", "line", "words"),
    [
        ("transfer_costs_us = 100", 11, "transfer_cost_us"),
        ("uplink_queue = 1", 11, "no such key"),
        ("downlink_mbit_s = 0", 11, "more than 0"),
        ("tx_aggregation = { frames = 16 }", 11, "datagrams, bytes, hold_us"),
    ],
)
def test_a_wrong_setting_of_a_modem_is_told_with_its_line(
    parse: Callable[[str], LoadedPlan], key: str, line: int, words: str
) -> None:
    with pytest.raises(PlanError) as caught:
        parse(PLAN.format(guest=f"{MODEM}{key}\n", arm=""))
    (problem,) = caught.value.problems
    assert problem.line == line
    assert words in f"{problem.message} {problem.what_to_do}"


def test_an_arm_lays_settings_of_the_modem_over_those_of_the_plan(parse: Callable[[str], LoadedPlan]) -> None:
    loaded = parse(PLAN.format(guest=MODEM, arm="modem = { transfer_cost_us = 0 }"))
    assert not check(loaded).problems
    first, second = (loaded.plan.guest_of(arm) for arm in loaded.plan.arm)
    assert first is not None
    assert second is not None
    assert first.driver == second.driver == "qmi_wwan"
    words = [" ".join(chip_of(spec).options) for spec in (first, second)]
    assert "--framing qmap --transfer-cost-us 190 --uplink-mbit-s 25 --downlink-mbit-s 150" in words[0]
    assert words[1] == words[0].replace("--transfer-cost-us 190", "--transfer-cost-us 0")


def test_a_modem_has_no_air_and_no_trials(parse: Callable[[str], LoadedPlan]) -> None:
    text = PLAN.format(guest=MODEM, arm="") + "[collect]\nair = true\n"
    assert [problem.key for problem in check(parse(text)).problems] == ["collect.air"]
    text = PLAN.format(guest=MODEM, arm="").replace('"tcp-tx"', '"module-cycle"\ncycles = 2')
    assert [problem.key for problem in check(parse(text)).problems] == ["test[0].kind"]


@pytest.mark.parametrize("device", ["ncm", "mbim", "ecm", "qmi-modem"])
def test_the_program_takes_what_every_key_becomes(parse: Callable[[str], LoadedPlan], device: str) -> None:
    own = {
        "qmi-modem": MODEM,
        "ncm": 'device = "ncm"\n[guest.ncm]\nntb32 = true\n',
        "mbim": 'device = "mbim"\n[guest.mbim]\nconnect = "negotiated"\nntb_out_max = 8192\n',
        "ecm": 'device = "ecm"\n',
    }[device]
    spec = parse(PLAN.format(guest=own, arm="")).plan.guest
    assert spec is not None
    check_options(device, "hostapd", chip_of(spec).options)


@pytest.mark.parametrize(
    ("sdio", "said"),
    [
        ('interrupts = "poll"', "ushc decides on interrupts by itself"),
        ("segments = 1", "ushc decides on segments by itself"),
        ('host = "virtual"\ninterrupt_us = 100', "interrupt_us is ushc's"),
        ('host = "virtual"\npio_bytes = 64', "pio_bytes takes time on the wires"),
    ],
)
def test_keys_of_one_host_controller_are_not_the_others(
    parse: Callable[[str], LoadedPlan], sdio: str, said: str
) -> None:
    plan = parse(PLAN.format(guest=f'device = "ar6003"\n[guest.sdio]\n{sdio}\n', arm=""))
    assert said in check(plan, files=False).problems[0].message


def test_the_host_in_the_kernel_gets_what_a_plan_says(parse: Callable[[str], LoadedPlan]) -> None:
    guest = 'device = "ar6003"\n[guest.sdio]\nhost = "virtual"\nbus_time = true\n'
    plan = parse(PLAN.format(guest=guest, arm='sdio = { interrupts = "poll", pio_bytes = 64, segments = 1 }')).plan
    assert not check(parse(PLAN.format(guest=guest, arm="")), files=False).problems
    assert plan.guest is not None
    chip = chip_of(plan.guest.varied(plan.arm[1].guest))
    assert chip.variables()["LAB_HOST"] == "virtual"
    assert chip.variables()["LAB_HOST_PARAMETERS"] == "interrupts=poll segments=1 bus_time=1 pio_bytes=64"
    assert chip.variables()["LAB_OPTIONS"].startswith("--host virtual --card-lines 4")
    assert "--bus-time" not in chip.variables()["LAB_OPTIONS"]
    assert "--interrupt-us" not in chip.variables()["LAB_OPTIONS"]


def test_a_saved_start_takes_an_exact_guest() -> None:
    with pytest.raises(ValidationError, match="exact"):
        GuestSpec(mode="fast", start="associated")
    assert GuestSpec(start="associated").mode == "exact"
    assert GuestSpec().start == "boot", "plans of before mean what they meant"
