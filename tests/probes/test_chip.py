"""Counters of a virtual chip: figures of a window, and the two gates that need them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.campaign.gates import judge
from txop.core.metrics import METRICS
from txop.guest.device_statistics.model import Statistics
from txop.measure.instrument import Marks, Reading, RunFacts
from txop.measure.probes import chip
from txop.measure.traffic.iperf3_reading import PAYLOAD
from txop.plan.guest import GuestSpec
from txop.plan.model import Plan
from txop.plan_check.figures import figures_of
from txop.present.document import Model

SECOND = 1_000_000_000


def side(mpdus: int = 0, retries: int = 0, ppdus: int = 0, airtime_ns: int = 0, moved: int = 0) -> dict[str, int]:
    return {"mpdus": mpdus, "retries": retries, "ppdus": ppdus, "airtime_ns": airtime_ns, "bytes": moved}


def counters(at_s: float, *, out: int = 0, into: int = 0, up: dict[str, int], down: dict[str, int]) -> dict[str, Any]:
    rates = [0] * 12
    rates[8] = up["mpdus"]
    return {
        "format": "txop-vusb-statistics",
        "version": 1,
        "monotonic_ns": int(at_s * SECOND),
        "urbs": {"succeeded": out // 1000, "out_bytes": out, "in_bytes": into},
        "device": {
            "chip": {"reads": 10, "writes": 20, "interrupts": int(at_s * 8000)},
            "tx": {
                "frames": up["mpdus"],
                "aggregate": up["mpdus"] // 2,
                "rts": 0,
                "hardware_rts": 0,
                "rts_rates": rates,
            },
            "rx": {"delivered": down["mpdus"], "transfers": down["mpdus"] // 4, "overflows": 5 * int(at_s)},
            # half of a tenth of the time was taken by both at once
            "air": {"chip": up, "ap": down, "busy_ns": up["airtime_ns"] + down["airtime_ns"] - int(at_s * SECOND / 20)},
        },
    }


def plan(kind: str = "tcp-tx") -> Plan:
    return Plan.model_validate(
        {
            "title": "x",
            "target": {"dut": {"kind": "guest"}, "peer": {"kind": "guest"}},
            "guest": {},
            "arm": [{"name": "a"}],
            "test": [{"name": "t", "kind": kind, "duration_s": 10}],
        }
    )


def facts(folder: Path, kind: str = "tcp-tx", **end: Any) -> RunFacts:
    made = plan(kind)
    values: dict[str, Any] = {"out": 60_000_000, "into": 2_000_000}
    values["up"] = side(40_000, 4_000, 4_000, 8 * SECOND, 55_000_000)
    values["down"] = side(8_000, 80, 4_000, SECOND, 1_500_000)
    values |= end
    before = counters(100, up=side(), down=side())
    (folder / chip.WINDOW_FILE).write_text(json.dumps(before))
    (folder / chip.END_FILE).write_text(json.dumps(counters(110, **values)))
    (folder / chip.TOTAL_FILE).write_text(json.dumps(counters(111, **values)))
    return RunFacts(made, made.arm[0], made.test[0], folder, Marks(window=100.0, end=110.0))


def reading(**rates: float) -> Reading:
    found = Reading()
    for key, value in rates.items():
        found.put(key, value, "iperf3")
    return found


def states(of: RunFacts, read: Reading) -> dict[str, str]:
    return {finding.gate: finding.state for finding in judge(of, read) if finding.gate in ("chip-traffic", "above-phy")}


def test_figures_are_of_the_window_and_of_the_sender(tmp_path: Path) -> None:
    read = chip.ChipCounters().read(facts(tmp_path))
    values = {key: value.value for key, value in read.metrics.items()}
    assert values["chip_retry_percent"] == pytest.approx(10)
    assert values["chip_ppdu_mpdus"] == pytest.approx(10)
    assert values["chip_airtime_percent"] == pytest.approx(85)
    assert values["chip_interrupts_per_s"] == pytest.approx(8000)
    assert values["chip_urbs_per_s"] == pytest.approx(6000)
    assert values["chip_rts_rate_mbit_s"] == 24
    assert values["chip_aggregate_percent"] == 50
    assert values["chip_rts_percent"] == 0
    assert values["chip_rx_overflows_per_s"] == pytest.approx(5)
    assert read.metrics["chip_engine_percent"].reason == "only a virtual modem has one"
    assert read.metrics["chip_cmd52_per_s"].reason == "the rtl8188cus is not an SDIO card"
    down = chip.ChipCounters().read(facts(tmp_path, "tcp-rx"))
    assert down.metrics["chip_retry_percent"].value == pytest.approx(1)
    assert down.metrics["chip_rx_frames_per_urb"].value == 4


def test_every_figure_of_the_chip_is_one_that_a_plan_knows(tmp_path: Path) -> None:
    read = chip.ChipCounters().read(facts(tmp_path))
    of_stations = {"chip_airtime_jain_index"}  # of an access point's stations, of which there are none here
    assert set(read.metrics) == {key for key in METRICS if key.startswith("chip_")} - of_stations
    assert set(read.metrics) <= set(figures_of(plan(), plan().test[0]))


def test_without_counters_there_is_a_reason(tmp_path: Path) -> None:
    of = facts(tmp_path)
    (tmp_path / chip.END_FILE).unlink()
    read = chip.ChipCounters().read(of)
    assert all(value.value is None and value.reason for value in read.metrics.values())
    assert states(of, reading(throughput_mbit_s=40.0)) == {
        "chip-traffic": "not available",
        "above-phy": "not available",
    }


def test_a_chip_that_was_plugged_in_anew_has_no_growth(tmp_path: Path) -> None:
    of = facts(tmp_path)
    before = counters(100, out=10**9, up=side(mpdus=10**6), down=side())
    (tmp_path / chip.WINDOW_FILE).write_text(json.dumps(before))
    (tmp_path / chip.TOTAL_FILE).write_text(json.dumps(counters(111, out=1_000, up=side(), down=side())))
    read = chip.ChipCounters().read(of)
    assert read.metrics["chip_retry_percent"].value is None
    assert states(of, reading(throughput_mbit_s=40.0))["chip-traffic"] == "not available"


@pytest.mark.parametrize(
    ("kind", "rates", "end", "gate"),
    [
        # 40 Mbit/s for 10 s are 50 MB: 55 MB on the air, 60 MB on the bus
        ("tcp-tx", {"throughput_mbit_s": 40.0}, {}, None),
        # more than passed the air: it took another way
        ("tcp-tx", {"throughput_mbit_s": 50.0}, {}, "chip-traffic"),
        ("tcp-tx", {"throughput_mbit_s": 40.0}, {"out": 40_000_000}, "chip-traffic"),
        # received data has to have come from the access point, not from the chip
        ("tcp-rx", {"throughput_mbit_s": 40.0}, {"into": 60_000_000}, "chip-traffic"),
        ("tcp-both", {"throughput_up_mbit_s": 40.0, "throughput_down_mbit_s": 1.0}, {}, None),
        ("tcp-both", {"throughput_up_mbit_s": 20.0, "throughput_down_mbit_s": 20.0}, {}, "chip-traffic"),
        # more than MCS 7 with short guard interval in 20 MHz carries
        ("tcp-tx", {"throughput_mbit_s": 73.0},
         {"out": 10**8, "up": side(70_000, 0, 7_000, 9 * SECOND, 10**8)}, "above-phy"),
        # both ways share one air
        ("tcp-both", {"throughput_up_mbit_s": 40.0, "throughput_down_mbit_s": 40.0},
         {"out": 10**8, "into": 10**8, "up": side(1, 0, 1, 1, 10**8), "down": side(1, 0, 1, 1, 10**8)}, "above-phy"),
        # an air that is used for longer than the window lasts
        ("tcp-tx", {"throughput_mbit_s": 40.0}, {"up": side(40_000, 0, 4_000, 10 * SECOND, 55_000_000)}, "above-phy"),
    ],
)  # fmt: skip
def test_traffic_that_the_chip_cannot_have_carried_voids_the_run(
    tmp_path: Path, kind: str, rates: dict[str, float], end: dict[str, Any], gate: str | None
) -> None:
    read = reading(**rates)
    read.provenance["dut"] = {"wireless": {"width_mhz": 20}}
    found = states(facts(tmp_path, kind, **end), read)
    assert found == {name: "void" if name == gate else "ok" for name in ("chip-traffic", "above-phy")}


def test_forty_megahertz_may_carry_more(tmp_path: Path) -> None:
    of = facts(tmp_path, out=10**8, up=side(70_000, 0, 7_000, 9 * SECOND, 10**8))
    read = reading(throughput_mbit_s=73.0)
    read.provenance["dut"] = {"wireless": {"width_mhz": 40}}
    assert states(of, read)["above-phy"] == "ok"


@pytest.mark.parametrize(
    ("channel", "width_mhz", "mbit_s", "state"),
    [
        (36, 80, 400.0, "ok"),
        (36, 80, 440.0, "void"),
        (36, 40, 210.0, "void"),
        (6, 40, 160.0, "void"),
        (36, 20, 85.0, "ok"),
    ],
)
def test_vht_may_carry_more(tmp_path: Path, channel: int, width_mhz: int, mbit_s: float, state: str) -> None:
    moved = int(mbit_s * 1.25e6)
    of = facts(tmp_path, out=moved, up=side(70_000, 0, 7_000, 9 * SECOND, moved))
    guest = GuestSpec(device="mt7610u", driver="mt76x0u", channel=channel)
    of = replace(of, plan=of.plan.model_copy(update={"guest": guest}))
    read = reading(throughput_mbit_s=mbit_s)
    read.provenance["dut"] = {"wireless": {"width_mhz": width_mhz}}
    assert states(of, read)["above-phy"] == state


def test_a_window_beside_that_of_iperf3_is_no_detour(tmp_path: Path) -> None:
    # a download that is still getting faster, whose window ends 0.5 s after the chip's, in its fastest part
    down = side(20_000, 0, 2_000, 5 * SECOND, 27_000_000)
    of = facts(tmp_path, "tcp-rx", into=30_000_000, up=side(), down=down)
    down = side(40_000, 0, 4_000, 9 * SECOND, 55_000_000)
    later: dict[str, Any] = {"out": 60_000_000, "into": 60_000_000, "up": side(), "down": down}
    (tmp_path / chip.TOTAL_FILE).write_text(json.dumps(counters(111, **later)))
    read = reading(throughput_mbit_s=40.0)
    read.extra[PAYLOAD["downlink"]] = 54_900_000.0
    assert states(of, read) == {"chip-traffic": "ok", "above-phy": "ok"}
    # the warm-up counts: what is missing there took another way, too
    read.extra[PAYLOAD["downlink"]] = 55_100_000.0
    assert states(of, read)["chip-traffic"] == "void"
    read.extra[PAYLOAD["downlink"]] = None
    assert states(of, read)["chip-traffic"] == "ok"


def test_without_counters_of_the_whole_run_a_detour_is_not_judged(tmp_path: Path) -> None:
    of = facts(tmp_path)
    (tmp_path / chip.TOTAL_FILE).unlink()
    assert states(of, reading(throughput_mbit_s=40.0)) == {"chip-traffic": "not available", "above-phy": "ok"}


def test_a_detour_of_all_traffic_is_seen(tmp_path: Path) -> None:
    read = reading(throughput_up_mbit_s=45.0, throughput_down_mbit_s=140.0)
    assert states(modem_facts(tmp_path, into=1_000_000), read)["chip-traffic"] == "void"


def test_a_run_with_hardly_any_payload_is_not_judged(tmp_path: Path) -> None:
    assert states(facts(tmp_path), reading(throughput_mbit_s=0.01)) == {}


def test_without_a_window_the_gates_say_so(tmp_path: Path) -> None:
    of = facts(tmp_path)
    of.marks.end = None
    assert states(of, reading(throughput_mbit_s=40.0)) == {
        "chip-traffic": "not available",
        "above-phy": "not available",
    }


def test_counters_that_are_too_large_are_not_read(tmp_path: Path) -> None:
    of = facts(tmp_path)
    with (tmp_path / chip.END_FILE).open("ab") as out:
        out.write(b" " * (2 << 20))
    assert chip.growth(of.folder) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON, JSON)
def test_counters_may_be_anything(tmp_path_factory: pytest.TempPathFactory, before: Any, after: Any, last: Any) -> None:
    folder = tmp_path_factory.mktemp("run")
    of = facts(folder)
    for name, value in ((chip.WINDOW_FILE, before), (chip.END_FILE, after), (chip.TOTAL_FILE, last)):
        document = {**value, "format": chip.FORMAT, "monotonic_ns": 5} if isinstance(value, dict) else value
        (folder / name).write_text(json.dumps(document))
    read = chip.ChipCounters().read(of)
    assert all(value.value is None or value.value >= 0 for value in read.metrics.values())
    judge(of, reading(throughput_mbit_s=40.0))


def modem_facts(folder: Path, **end: Any) -> RunFacts:
    values: dict[str, Any] = {"out": 14_000_000, "into": 46_000_000} | end
    before = {"out": 0, "into": 0}
    moments = ((chip.WINDOW_FILE, 100, before), (chip.END_FILE, 102, values), (chip.TOTAL_FILE, 103, values))
    for name, at_s, bus in moments:
        document = counters(at_s, up=side(), down=side(), **bus)
        document["device"] = {"qmi_modem": {"engine_busy_ns": bus["out"] * 135}}
        (folder / name).write_text(json.dumps(document))
    raw = plan("tcp-both").model_dump() | {"guest": {"device": "qmi-modem", "modem": {"uplink_mbit_s": 50}}}
    made = Plan.model_validate(raw)
    return RunFacts(made, made.arm[0], made.test[0], folder, Marks(window=100.0, end=102.0))


@pytest.mark.parametrize(
    ("up", "down", "end", "gate"),
    [
        (45.0, 140.0, {}, None),
        # the bus has to have carried it
        (45.0, 140.0, {"out": 8_000_000}, "chip-traffic"),
        # the radio has a rate each way, and they are not shared
        (51.0, 140.0, {}, "above-phy"),
        (45.0, 152.0, {}, "above-phy"),
    ],
)
def test_a_modem_is_judged_by_its_bus_and_the_rates_of_its_radio(
    tmp_path: Path, up: float, down: float, end: dict[str, Any], gate: str | None
) -> None:
    found = states(modem_facts(tmp_path, **end), reading(throughput_up_mbit_s=up, throughput_down_mbit_s=down))
    assert found == {name: "void" if name == gate else "ok" for name in ("chip-traffic", "above-phy")}


def test_a_modem_has_no_retries_and_says_so(tmp_path: Path) -> None:
    read = chip.ChipCounters().read(modem_facts(tmp_path))
    assert read.metrics["chip_urbs_per_s"].value == 7_000
    assert read.metrics["chip_engine_percent"].value == pytest.approx(94.5)
    for key in ("chip_retry_percent", "chip_airtime_percent", "chip_rts_percent"):
        assert read.metrics[key].value is None
        assert read.metrics[key].reason == "a network function (qmi-modem) has no such figure"


def test_an_sdio_card_has_commands(tmp_path: Path) -> None:
    card = {"cmd52_reads": 10, "cmd52_writes": 5, "cmd53_reads": 600, "cmd53_writes": 400}
    card |= {"cmd53_read_bytes": 900_000, "cmd53_written_bytes": 100_000, "interrupts": 250}
    for at_s, name, scale in ((100.0, chip.WINDOW_FILE, 1), (102.0, chip.END_FILE, 3)):
        document = counters(at_s, up=side(), down=side())
        document["device"]["sdio"] = {"card": {key: scale * count for key, count in card.items()}}
        (tmp_path / name).write_text(json.dumps(document))
    guest = {"device": "ar6003", "driver": "ath6kl_sdio"}
    made = Plan.model_validate(plan().model_dump() | {"guest": guest})
    read = chip.ChipCounters().read(RunFacts(made, made.arm[0], made.test[0], tmp_path, Marks(window=100.0, end=102.0)))
    keys = ("chip_cmd52_per_s", "chip_cmd53_per_s", "chip_cmd53_bytes", "chip_sdio_interrupts_per_s")
    assert [read.metrics[key].value for key in keys] == [15, 1_000, 1_000, 250]


def test_every_counter_that_is_asked_for_is_one_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the structs in Rust call them decides: docs/schema."""
    asked: set[str] = set()

    def one(_: object, path: str) -> int:
        asked.add(path)
        return 1

    monkeypatch.setattr(chip.Growth, "get", one)
    grown = chip.Growth(1.0, {})
    chip._figures(grown, "chip")
    chip._figures(grown, "ap")
    chip._passed(grown, {}, None)
    chip._rts_rate(grown)
    assert {"device.chip.interrupts", "device.air.ap.bytes", "device.qmi_modem.engine_busy_ns"} < asked
    for path in asked:
        assert list(_leaves(Statistics, path.split("."))), path


def _leaves(kind: Any, path: list[str]) -> Iterator[object]:
    """The types that the models have at the end of a path."""
    for option in get_args(kind) if isinstance(kind, UnionType) else [kind]:
        if not path:
            yield option
        elif get_origin(option) is list and path[0].isdigit():
            yield from _leaves(get_args(option)[0], path[1:])
        elif isinstance(option, type) and issubclass(option, Model) and path[0] in option.model_fields:
            yield from _leaves(option.model_fields[path[0]].annotation, path[1:])
