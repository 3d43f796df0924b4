"""``--bssid`` and ``--channel``: what the head says, what stays of all, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from txop import air
from txop.core.errors import ExitCode

OTHER = "02:00:00:00:00:99"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from txop import _native

    path = tmp_path_factory.mktemp("capture") / "air.pcapng"
    _native.write_specimen(path, seed=1, seconds=1.0, scene="healthy")
    return path


@pytest.fixture(scope="module")
def bssid(capture: Path) -> str:
    networks = [row.bssid for row in air.analyze(capture).bss if row.beacons and row.data_packets]
    return networks[0]


def test_the_head_says_what_was_chosen_and_what_is_of_all(capture, bssid, txop, tmp_path):
    page = tmp_path / "air.html"
    done = txop("air", str(capture), "--bssid", bssid, "--html", str(page))
    report = air.analyze(capture, bssid=bssid)
    words = f"named as the BSSID of {report.summary.selection.bss_frames:,} of {report.frames:,} frames"
    head = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert head.startswith(f"Chosen: network {bssid} ")
    assert words in head
    assert words in page.read_text()
    assert report.airtime.busy_us == air.analyze(capture).airtime.busy_us
    assert 0 < report.airtime.bss_us < report.airtime.busy_us
    sections = txop("air", str(capture), "--bssid", bssid, "--section", "airtime,summary").stdout
    assert "Chosen network" in sections
    assert "Everybody else" in sections


def test_a_channel_is_a_number_or_a_frequency(capture, txop):
    channel = air.analyze(capture).summary.channels[0]
    by_number, by_frequency = (
        json.loads(txop("air", str(capture), "--json", "--channel", str(value)).stdout)
        for value in (channel.channel, channel.frequency_mhz)
    )
    assert by_number == by_frequency
    assert by_number["summary"]["selection"]["frequency_mhz"] == channel.frequency_mhz
    assert by_number["frames"] == channel.frames
    text = txop("air", str(capture), "--channel", str(channel.channel)).stdout
    assert text.startswith(f"Chosen: channel {channel.channel}, {channel.frequency_mhz} MHz: ")


def test_what_is_not_there_is_refused_with_what_is(capture, bssid, txop):
    channel = air.analyze(capture).summary.channels[0]
    for options, words in (
        (
            ["--bssid", OTHER],
            f"no frame names the network {OTHER}; there are, with packets as Wireshark counts them: {bssid} ",
        ),
        (["--channel", "177"], f"no frame was captured on channel 177; there are: channel {channel.channel}, "),
    ):
        for extra in ([], ["--json"], ["--from", "+0.1"]):
            done = txop("air", str(capture), *options, *extra)
            said = " ".join(done.stderr.split())
            assert (done.returncode, done.stdout) == (2, "")
            assert f"{capture}: {words}" in said


@pytest.mark.parametrize("options", [["--bssid", "nonsense"], ["--channel", "0"], ["--channel", "70000"]])
def test_what_is_no_network_or_channel_is_refused_before_reading(txop, options):
    assert txop("air", "/nowhere", *options).returncode == 2


def test_an_empty_window_is_said_to_be_empty_whatever_was_chosen(capture, txop):
    done = txop("air", str(capture), "--from", "+60", "--bssid", OTHER, "--channel", "177")
    assert done.returncode == ExitCode.UNDECIDED
    assert "nothing in the window" in " ".join(done.stderr.split())


def test_from_python_a_wrong_choice_is_a_value_error(capture):
    for wrong in ({"channel": 0}, {"channel": 1 << 40}, {"channel": 177}, {"bssid": "x"}, {"bssid": OTHER}):
        with pytest.raises(ValueError, match=r"."):
            air.analyze(capture, **wrong)


def test_an_option_that_there_is_none_of_is_refused(capture):
    with pytest.raises(TypeError, match="nonsense"):
        air.analyze(capture, nonsense=1)  # type: ignore[call-arg]
