"""``txop air`` and ``txop bus`` on a capture in an archive count the window of its run, as its ``run.json`` does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from instrument_bench import PLAN, TCP, facts_of, make_plan
from txop import air, bus
from txop.archive.layout import Layout
from txop.archive.run_file import RunFile
from txop.core.origin import Origin
from txop.measure.instrument import Instrument, Marks, Reading
from txop.measure.probes.air_analysis import AirAnalysis
from txop.measure.probes.bus_analysis import BusAnalysis
from txop.measure.probes.run_window import run_window
from usb_trace import IN, OUT, Trace, qmap, tcp

RUN = "001-old-tx"
COLLECT = "[collect]\nair = true\nusbmon = true"


@dataclass(frozen=True)
class Kept:
    """An archive with one run, whose captures are longer than its window."""

    folder: Path
    readings: dict[str, Reading]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    from txop import _native

    layout = Layout(tmp_path / "archive")
    layout.create(f"{PLAN}\n{COLLECT}\n{TCP}", tmp_path)
    folder = layout.run(RUN)
    folder.mkdir()
    _native.write_specimen(folder / "air.pcapng", seed=1, seconds=2.0, scene="late-block-ack")
    first_s = air.analyze(folder / "air.pcapng").summary.first_time_unix_s
    trace = Trace(220)
    for n in range(200):
        moment_us = round(first_s * 1e6) + n * 10_000
        trace.transfer(moment_us, 300, OUT, qmap([tcp(0)] * (1 if n < 100 else 5)))
        trace.transfer(moment_us + 50, 400, IN, qmap([tcp(1448)] * 4))
    trace.write(folder / "usb.pcap", 65535)
    marks = Marks(idle=0, load=0.2, window=0.5, end=1.3, wall_minus_monotonic_s=first_s)
    marks.save(folder)
    facts = facts_of(make_plan(TCP, COLLECT), folder, marks)
    instruments: list[Instrument] = [AirAnalysis(), BusAnalysis()]
    readings = {each.name: each.read(facts) for each in instruments}
    run = RunFile.of_words(
        run=RUN, block=1, position=1, arm="old", test="tx", origin=Origin.HARDWARE, state="valid",
        started_at="2026-01-01T00:00:00Z", seconds=40.0, window_s=marks.window_s,
        metrics={key: value for reading in readings.values() for key, value in reading.metrics.items()},
        air=readings["air"].air, bus=readings["bus"].bus,
    )  # fmt: skip
    (folder / "run.json").write_text(run.model_dump_json())
    return Kept(folder, readings)


@pytest.fixture
def document(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[dict[str, Any], str]]:
    """What a command with ``--json`` writes to stdout, and its stderr."""
    from txop.cli import app

    def run(*arguments: object) -> tuple[dict[str, Any], str]:
        with pytest.raises(SystemExit) as leaving:
            app.main([*map(str, arguments), "--json"])
        assert leaving.value.code == 0
        written = capsys.readouterr()
        return json.loads(written.out), written.err

    return run


def change(kept: Kept, **fields: Any) -> None:
    path = kept.folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_the_figures_of_txop_air_are_those_of_the_run(kept: Kept, document: Any) -> None:
    found, said = document("air", kept.folder / "air.pcapng")
    digest = kept.readings["air"].air
    assert digest is not None
    fall = next(each for each in found["waterfalls"] if (each["ta"], each["ra"]) == (digest["ta"], digest["ra"]))
    assert [(s["cause"], s["share"]) for s in fall["steps"]] == [(s["cause"], s["share"]) for s in digest["waterfall"]]
    assert found["frames"] == digest["frames"]
    link = next(each for each in found["links"] if (each["ta"], each["ra"]) == (digest["ta"], digest["ra"]))
    assert link["mpdu_retry"]["percent"] == kept.readings["air"].metrics["air_retry_percent"].value
    window = found["summary"]["window"]
    assert window["to_unix_s"] - window["from_unix_s"] == pytest.approx(0.8)
    assert window["records_inside"] == digest["window"]["records_inside"]  # type: ignore[index]
    assert RUN in said
    assert "--whole" in said


def test_the_figures_of_txop_bus_are_those_of_the_run(kept: Kept, document: Any) -> None:
    found, said = document("bus", kept.folder / "usb.pcap")
    digest = kept.readings["bus"].bus
    assert digest is not None
    assert found["records"] == digest["records"]
    traffic = [each["datagrams_per_transfer"] for each in found["traffic"] if each["direction"] == "out"]
    assert traffic == [kept.readings["bus"].metrics["usb_out_datagrams_per_urb"].value]
    whole, nothing = document("bus", kept.folder / "usb.pcap", "--whole")
    assert whole["records"] > found["records"]
    assert nothing == ""
    assert whole["traffic"][0]["datagrams_per_transfer"] != traffic[0]
    assert RUN in said


@pytest.mark.parametrize("ends", [("--whole",), ("--from", "+0s"), ("--to", "+9s")])
def test_what_is_asked_for_goes_before_the_window(kept: Kept, document: Any, ends: tuple[str, ...]) -> None:
    found, said = document("air", kept.folder / "air.pcapng", *ends)
    assert found["frames"] == air.analyze(kept.folder / "air.pcapng").frames
    assert said == ""


def test_without_a_digest_the_window_is_that_of_the_marks(kept: Kept) -> None:
    recorded = [run_window(kept.folder / "air.pcapng", "air"), run_window(kept.folder / "usb.pcap", "bus")]
    change(kept, air=None, bus=None)
    assert recorded == [run_window(kept.folder / "air.pcapng", "air"), run_window(kept.folder / "usb.pcap", "bus")]
    change(kept, air={"window": {"from": ["x"], "to": 5}})
    assert recorded[0] == run_window(kept.folder / "air.pcapng", "air")
    shutil.copy(kept.folder / "air.pcapng", kept.folder / "copy.pcapng")
    assert recorded[0] == run_window(kept.folder / "copy.pcapng", "air")


def test_a_window_that_is_not_known_is_not_guessed(kept: Kept, document: Any) -> None:
    (kept.folder / "marks.json").unlink()
    change(kept, air=None)
    found = run_window(kept.folder / "air.pcapng", "air")
    assert found is not None
    assert (found.from_, found.to) == (None, None)
    whole, said = document("air", kept.folder / "air.pcapng")
    assert whole["frames"] == air.analyze(kept.folder / "air.pcapng").frames
    assert found.why_not in said.replace("\n", " ")


def test_elsewhere_a_capture_is_whole(kept: Kept, tmp_path: Path) -> None:
    outside = tmp_path / "runs" / RUN
    shutil.copytree(kept.folder, outside)
    assert run_window(outside / "air.pcapng", "air") is None, "the folder of no archive"
    change(kept, window_s=None)
    assert run_window(kept.folder / "air.pcapng", "air") is None, "a run without a window"
    (kept.folder / "run.json").write_text("{")
    assert run_window(kept.folder / "air.pcapng", "air") is None, "a damaged run"
    (kept.folder / "run.json").unlink()
    assert run_window(kept.folder / "air.pcapng", "air") is None, "an interrupted run"


def test_whole_does_not_go_with_a_window(kept: Kept, capsys: pytest.CaptureFixture[str]) -> None:
    from txop.cli import app

    for command, file in (("air", "air.pcapng"), ("bus", "usb.pcap")):
        with pytest.raises(SystemExit) as leaving:
            app.main([command, str(kept.folder / file), "--whole", "--from", "+1s"])
        assert leaving.value.code == 2


def test_two_captures_have_each_its_own_window(kept: Kept, document: Any, tmp_path: Path) -> None:
    shutil.copy(kept.folder / "usb.pcap", tmp_path / "outside.pcap")
    _, said = document("bus", kept.folder / "usb.pcap", tmp_path / "outside.pcap")
    assert said.count(RUN) == 1
    assert bus.analyze(tmp_path / "outside.pcap").summary.window is None
