"""The whole way: a capture the project makes itself, and real ones, through the analyzer to every kind of output."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from txop import _native, air
from txop.air.page import page
from txop.air.tables import TABLES
from txop.air.view import headline, sections
from txop.air.view.sections import without_content
from txop.core.errors import CaptureError

ROOT = Path(__file__).parents[2]
CAPTURES = Path(os.environ.get("TXOP_CAPTURES", ROOT.parent / "shared" / "captures")) / "wlan"
SCENES = [name for name, _ in _native.specimen_scenes()]


@pytest.fixture(scope="module")
def specimens(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("specimens")
    for scene in SCENES:
        _native.write_specimen(folder / f"{scene}.capture", seed=1, seconds=1.0, scene=scene)
    return folder


@pytest.mark.parametrize("scene", SCENES)
def test_document_and_models_agree(specimens, scene):
    document = air.analyze_json(specimens / f"{scene}.capture")
    report = air.AirReport.parse(document)
    assert json.loads(report.model_dump_json()) == json.loads(document)
    assert report.frames > 100
    for fall in report.waterfalls:
        assert sum(step.share for step in fall.steps) == pytest.approx(1, abs=1e-9)
    assert report.waterfall == (report.waterfalls[0].steps if report.waterfalls else [])
    for name in TABLES:
        report.table(name)
    assert len(sections(report)) + len(without_content(report)) == 9


def test_late_acknowledgements_are_named_first(specimens):
    late = headline(air.analyze(specimens / "late-block-ack.capture"))
    healthy = headline(air.analyze(specimens / "healthy.capture"))
    assert late.verdicts[0].answer == "late"
    assert "late" not in [verdict.answer for verdict in healthy.verdicts]


def test_page_of_a_specimen(specimens):
    text = page(air.analyze(specimens / "ghosts.capture"))
    assert text.count("<svg") >= 6


def test_chosen_pair_is_explained(specimens):
    path = specimens / "healthy.capture"
    report = air.analyze(path)
    busiest = frozenset((report.waterfalls[0].ta, report.waterfalls[0].ra))
    others = [
        link for link in report.links if link.direction == "uplink" and link.data_frames and link.ta not in busiest
    ]
    pair = (others[0].ta, others[0].ra)
    explained = air.analyze(path, pair=pair).waterfalls
    assert {frozenset((fall.ta, fall.ra)) for fall in explained} == {frozenset(pair)}


def test_follow_reports_what_has_come_until_the_pipe_ends(specimens, tmp_path):
    pipe = tmp_path / "pipe"
    parts: list[air.AirReport] = []
    os.mkfifo(pipe)
    data = (specimens / "healthy.capture").read_bytes()

    def write() -> None:
        with pipe.open("wb") as out:
            out.write(data)

    threading.Thread(target=write, daemon=True).start()
    report = air.analyze(pipe, follow=True, snapshot=parts.append)
    assert report.frames == air.analyze(specimens / "healthy.capture").frames
    assert all(part.frames <= report.frames for part in parts)


def wait_until_read(pid: int, file: Path) -> None:
    """Until a process has read all that is in a file."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if link.readlink() == file.resolve():
                    position = int(Path(f"/proc/{pid}/fdinfo/{link.name}").read_text().split()[1])
                    if position == file.stat().st_size:
                        return
        time.sleep(0.05)
    pytest.fail(f"{file} was not read to its end")


def test_ctrl_c_ends_following_with_the_whole_report(program, specimens, tmp_path):
    growing = tmp_path / "growing.capture"
    data = (specimens / "healthy.capture").read_bytes()
    growing.write_bytes(data[: len(data) // 2])
    command = [program, "air", "--follow", str(growing), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        wait_until_read(running.pid, growing)
        with growing.open("ab") as more:
            more.write(data[len(data) // 2 :])
        wait_until_read(running.pid, growing)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    assert json.loads(out)["frames"] == air.analyze(specimens / "healthy.capture").frames


@pytest.mark.slow
def test_every_real_capture_is_analyzed_or_rejected_clearly():
    if not CAPTURES.is_dir():
        print(f"SKIPPED: no real captures at {CAPTURES}; set TXOP_CAPTURES")  # noqa: T201
        pytest.skip("no real captures")
    analyzed = 0
    for path in sorted(CAPTURES.iterdir()):
        try:
            document = air.analyze_json(path)
        except CaptureError as error:
            assert len(str(error)) > 20  # noqa: PT017
            continue
        report = air.AirReport.parse(document)
        assert json.loads(report.model_dump_json()) == json.loads(document), path.name
        assert all(sum(s.share for s in fall.steps) == pytest.approx(1, abs=1e-6) for fall in report.waterfalls), (
            path.name
        )
        assert len(sections(report)) + len(without_content(report)) == 9
        analyzed += 1
    assert analyzed > 140
