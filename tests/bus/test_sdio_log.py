"""``txop bus`` on the command log of an SDIO card."""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path

import jsonschema
import pytest

from sdio_log import CommandLog, message
from txop import bus
from txop.bus.page import page
from txop.bus.view import sections
from txop.cli import app

ROOT = Path(__file__).parents[2]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """40 rounds: an interrupt, a read of the status, two packets fetched, one sent."""
    made = CommandLog()
    made.start()
    for _ in range(40):
        made.line(True)
        made.now_ns += 85_000
        made.transfer(bytes(24), write=False, address=0x400)
        made.transfer(message(2, bytes(60)) * 2, write=False, address=0x800)
        made.line(False)
        made.transfer(message(2, bytes(90)), write=True)
    return made.write(tmp_path / "sdio.pcap")


@pytest.fixture
def run(monkeypatch, capsys):
    def start(*arguments):
        monkeypatch.setenv("COLUMNS", "100")
        with pytest.raises(SystemExit) as leaving:
            app.main(["bus", *map(str, arguments)])
        out = capsys.readouterr()
        return leaving.value.code, out.out, out.err

    return start


def test_the_figures_are_those_of_the_log(log):
    sdio = bus.analyze(log).sdio
    assert sdio is not None
    assert (sdio.card, sdio.card_name) == ("0271:0301", "Atheros AR6003")
    assert (sdio.commands, sdio.cmd52, sdio.cmd53, sdio.unanswered) == (134, 10, 122, 1)
    assert sdio.cmd52_share == pytest.approx(10 / 132)
    assert sdio.packets is not None
    assert (sdio.packets.to_card, sdio.packets.to_host, sdio.packets.per_transfer_to_host) == (40, 80, 2)
    assert sdio.packets.commands_per_packet == pytest.approx(132 / 120)
    assert sdio.interrupt_response_us is not None
    assert (sdio.interrupt_response_us.n, sdio.interrupt_response_us.max) == (40, 90)
    assert sdio.turnaround_us is not None
    assert (sdio.turnaround_us.n, sdio.turnaround_us.min, sdio.turnaround_us.max) == (133, 5, 90)


def test_the_report_is_about_commands_and_not_about_usb(run, log):
    assert "132 commands for 120 packets" in run(log)[1]
    code, out, err = run(log, "--all")
    assert (code, err) == (0, "")
    assert "132 commands for 120 packets: 1.1 for each, 8 % of them CMD52 (10 of 132)." in out
    assert "40 interrupts" in out
    assert "7. SDIO commands" in out
    assert "commands of an SDIO bus, in its host controller" in out
    for usb in ("3. Endpoints", "5. Control requests", "Requests  "):
        assert usb not in out
    assert max(map(len, out.splitlines())) <= 100
    assert "3. Endpoints" in run(log, "--section", "endpoints")[1]


def test_the_document_is_what_its_schema_says(run, log):
    document = json.loads(run(log, "--json")[1])
    schema = json.loads((ROOT / "docs/schema/txop-bus.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["sdio"]["packets"]["protocol"] == "htc"


def test_tables_and_page_have_the_registers(run, log):
    rows = list(csv.DictReader(run(log, "--table", "sdio_registers", "--csv", "-")[1].splitlines()))
    assert [row["name"] for row in rows[:2]] == ["mailbox", "mailbox"]
    assert sum(int(row["commands"]) for row in rows) == 132
    text = page(bus.analyze(log))
    assert "SDIO commands" in text
    assert "mailbox" in text


def test_another_card_has_no_packets_and_the_report_says_why(tmp_path):
    made = CommandLog()
    made.start(b"\x28\x21\x34\x12")
    made.transfer(message(2, bytes(90)), write=True)
    report = bus.analyze(made.write(tmp_path / "other.pcap"))
    assert report.sdio is not None
    assert (report.sdio.card, report.sdio.packets) == ("2128:1234", None)
    assert any("packets of this card (2128:1234) are not read" in limit.text for limit in report.summary.limits)
    assert [section.name for section in sections(report)] == ["summary", "sdio"]


def test_frames_through_the_port_of_a_marvell_card_are_packets(run, tmp_path):
    made = CommandLog()
    made.start(b"\xdf\x02\x03\x91")
    for address, value in ((0, 0), (1, 0), (2, 1), (0x34, 0xDC), (0x35, 0xFE)):
        made.read_byte(address, value, function=1)
    for _ in range(30):
        made.read_byte(0x20, 0x0F, function=1)
        made.read_byte(0x20, 0x0F, function=1)
        made.transfer(struct.pack("<HH", 64, 0) + bytes(60), write=True, address=0x10000)
    path = made.write(tmp_path / "sd8686.pcap")
    report = bus.analyze(path)
    assert report.sdio is not None
    assert report.sdio.packets is not None
    assert (report.sdio.packets.protocol, report.sdio.packets.to_card) == ("marvell-port", 30)
    assert "Marvell SD8686" in run(path, "--all")[1]


def test_a_capture_without_commands_has_none(make_trace):
    report = bus.analyze(make_trace("linux.pcap"))
    assert report.sdio is None
    assert "sdio" not in [section.name for section in sections(report)]


def test_two_logs_side_by_side(run, log, tmp_path):
    made = CommandLog()
    made.start()
    for _ in range(40):
        for _ in range(3):
            made.read_byte(5, 2)
        made.transfer(message(2, bytes(90)), write=True)
    other = made.write(tmp_path / "other.pcap")
    code, out, _ = run(log, other)
    assert code == 0
    assert out.count("SDIO card Atheros AR6003") == 2
    rows = {row["key"]: row for row in json.loads(run(log, other, "--json")[1])["differences"]}
    assert rows["sdio.commands_per_packet"]["values"] == [132 / 120, 172 / 40]
    assert rows["sdio.cmd52_per_packet"]["values"] == [10 / 120, 130 / 40]
    assert "SDIO commands per packet" in out


def test_a_cut_log_is_reported_as_far_as_it_goes(run, log, tmp_path):
    (tmp_path / "cut.pcap").write_bytes(log.read_bytes()[:-10])
    code, out, err = run(tmp_path / "cut.pcap")
    assert code == 4
    assert "131 commands" in out
    assert "is damaged at byte" in err
