"""What the page of a campaign says, and that nothing from outside can act in it."""

from __future__ import annotations

import hashlib
import html
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from report_campaign.conftest import GOLDEN, HOSTILE, HOSTILE_LINK
from txop.archive.journal import read_journal
from txop.archive.reader import read_archive
from txop.archive.remarks import add_remark
from txop.compare import words
from txop.compare.archive import compare
from txop.core.visible import visible
from txop.report.campaign import page, write_page
from txop.report.campaign.captures import capture_links
from txop.report.campaign.opening import web_link
from txop.report.campaign.runs import ROWS_MAX, all_runs


class _Reading(HTMLParser):
    """Elements, text, and the rows of tables of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.words: list[str] = []
        self._cell = False
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag):
        if tag == "td":
            self._cell = False

    def handle_data(self, data):
        data = data.replace("\u00a0", " ")  # a number and its unit
        self.words.append(data)
        if self._cell:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def reading(golden_page):
    return _Reading(golden_page)


def test_the_verdict_comes_first(reading, golden_result):
    body = reading.text[reading.text.index("emulated") :]
    positions = [body.index(" ".join(sentence.split())) for sentence in golden_result.headline]
    assert positions == sorted(positions)
    assert positions[0] < body.index("What was compared") < body.index("Effects against the baseline")


def test_every_comparison_is_in_a_table(reading, golden_result):
    found = {tuple(row[:2]): row for row in reading.rows if len(row) in (9, 10)}
    for figure in golden_result.figures:
        for row in figure.rows:
            unit = f", {figure.metric.unit}" if figure.metric.unit else ""
            cells = found[(f"{words.label(figure)}{unit}", row.arm)]
            assert cells[2] == str(row.n)
            assert cells[5] == words.change(row)
            assert cells[6] == (words.interval(row) or "none")
            assert words.verdict(row) in cells[-1]
            detectable = words.size(row.smallest_detectable_effect, row.effect_unit)
            assert (len(cells) == 10 and cells[8] == detectable) if figure.role == "primary" else len(cells) == 9


def test_every_run_is_in_the_table_and_void_ones_are_said_to_be(reading, golden):
    cells = {row[0]: row for row in reading.rows if len(row) > 10}
    assert cells.keys() == {run.run for run in golden.runs}
    for run in golden.runs:
        assert cells[run.run][5].startswith(run.state)
    assert "disassociated for 12.0 s, reason 8 (leaving)" in reading.text


def test_every_counted_run_is_a_point_of_its_box_plot(golden_page, golden_result):
    figure = golden_result.figure("tx.throughput_mbit_s")
    start = golden_page.index('<section id="values">')
    plot = golden_page[golden_page.index("<svg", start) : golden_page.index("</svg>", start)]
    drawn = re.findall(r"<title>(\S+): ", plot)
    assert sorted(drawn) == sorted(point.run for arm in figure.arms for point in arm.points)
    assert len(drawn) == 24


def test_what_makes_it_reproducible_is_there(reading):
    plan = (GOLDEN / "plan.toml").read_bytes()
    assert hashlib.sha256(plan).hexdigest() in reading.text
    assert " ".join(plan.decode().split()) in reading.text
    assert "txop run plan.toml" in reading.text
    assert "usb 1-1.5.4: rtl8xxxu_iqk_path_a: Path A RX IQK failed!" in reading.text
    assert "5B1F2D0C9A7E44D1B0C3F11" in reading.text


def test_the_page_needs_nothing_from_outside(reading, golden_page):
    assert "default-src 'none'" in golden_page
    for tag, attributes in reading.tags:
        assert tag not in ("iframe", "object", "embed", "img", "base"), tag
        assert "src" not in attributes
        if tag == "link":
            assert attributes["href"] == "data:,"
    assert [tag for tag, _ in reading.tags].count("script") == 1
    assert "url(http" not in golden_page
    assert len(golden_page) < 1_350_000, "with a second drawing of wide plots and of facets for phones"


def test_links_to_captures_are_relative_and_there(reading):
    links = [a.get("href") for tag, a in reading.tags if tag == "a" and str(a.get("href")).startswith("./")]
    assert len(links) == 6
    for link in links:
        assert (GOLDEN / link).is_file()


def test_ids_are_unique(reading):
    ids = [attributes["id"] for _, attributes in reading.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_anchor_leads_somewhere(reading):
    ids = {attributes.get("id") for _, attributes in reading.tags}
    for tag, attributes in reading.tags:
        if tag == "a" and str(attributes.get("href")).startswith("#"):
            assert str(attributes["href"])[1:] in ids


def test_without_a_capture_of_a_bus_there_is_no_chapter_of_it(golden_page):
    assert 'id="bus"' not in golden_page


def test_hostile_text_stays_text(poisoned_page):
    seen = _Reading(poisoned_page)
    assert [tag for tag, _ in seen.tags].count("script") == 1
    for tag, attributes in seen.tags:
        assert tag != "img"
        assert not any(name.startswith("on") for name in attributes), attributes
        href = attributes.get("href")
        assert href is None or re.match(r"#|data:,$|https?://|\./", href), href
    shown = visible(HOSTILE)
    assert poisoned_page.count(html.escape(shown, quote=False).split("\n")[0][:20]) > 10
    assert "{{ 7 * 7 }}" in seen.text
    assert HOSTILE_LINK in seen.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", poisoned_page)


def test_captures_cannot_lead_out_of_the_archive(poisoned):
    archive = read_archive(poisoned)
    run = next(run for run in archive.runs if run.run == "002-vendor-tx")
    changed = run.model_copy(update={"files": {"evil name <b>.pcapng": "", "../../../secret.pcap": "", "x.pcap": ""}})
    archive.runs = [changed]
    links = capture_links(archive, poisoned / "report.html")
    assert links is not None
    assert [link.href for link in links.items] == ["./runs/002-vendor-tx/evil%20name%20%3Cb%3E.pcapng"]
    elsewhere = capture_links(archive, poisoned.parent / "page" / "x.html")
    assert elsewhere is not None
    assert elsewhere.items[0].href.startswith("./../archive/runs/")


@pytest.mark.parametrize(
    ("text", "followed"),
    [
        ("https://example.org/a?b=c#d", True),
        ("HTTP://example.org", True),
        ("javascript:alert(1)", False),
        ("https://x\njavascript:y", False),
        ('https://x" onclick="y', False),
        ("data:text/html,x", False),
        ("git.example.org/tree", False),
        (None, False),
    ],
)
def test_only_web_addresses_become_links(text, followed):
    assert (web_link(text) is not None) is followed


def test_one_run_for_each_arm_is_said_to_prove_nothing(sample, tmp_path):
    root = sample.single(tmp_path / "wiki")
    archive = read_archive(root)
    text = _Reading(page(archive, compare(archive), root / "x.html")).text
    assert "n=1, which says nothing about chance" in text
    assert "imported" in text
    assert "No capture" in text
    assert "Kernel logs are not available" in text


def test_a_campaign_that_is_not_finished_says_so_at_the_top(sample, tmp_path):
    root = sample.single(tmp_path / "wiki")
    for folder in (root / "runs").iterdir():
        shutil.rmtree(folder)
    archive = read_archive(root)
    text = _Reading(page(archive, compare(archive), root / "x.html")).text
    assert text.index("Preliminary") < text.index("What was compared")
    assert "there is nothing to compare" in text


def test_damage_is_said_at_the_top(sample, tmp_path):
    root = sample.single(tmp_path / "wiki")
    (root / "runs" / "001-vendor-tx" / "run.json").write_text("{", encoding="utf-8")
    archive = read_archive(root)
    text = _Reading(page(archive, compare(archive), root / "x.html")).text
    assert "are damaged" in text[: text.index("What was compared")]


def test_remarks_and_series_that_cannot_be_read_are_on_the_page(sample, tmp_path):
    root = sample.single(tmp_path / "wiki")
    (root / "runs" / "001-vendor-tx" / "series.json").write_text("{", encoding="utf-8")
    archive = read_archive(root)
    add_remark(archive, f"microwave oven on {HOSTILE}", arm=None, run="001-vanilla-tx")
    archive.events = read_journal(archive.layout.journal).events
    text = _Reading(page(archive, compare(archive), root / "x.html")).text
    assert "001-vanilla-tx: microwave oven on <script>" in text
    assert "runs/001-vendor-tx/series.json: cannot be read" in text


def test_the_table_of_runs_is_bounded(golden, golden_result):
    run = golden.runs[0]
    many = [run.model_copy(update={"block": block, "run": f"{block:03d}-vanilla-tx"}) for block in range(1, 2001)]
    archive = read_archive(GOLDEN)
    archive.runs = many
    table = all_runs(archive, golden_result)
    assert len(table.rows) == ROWS_MAX
    assert "1,000 more runs" in table.note


def test_a_page_is_written_whole_or_not_at_all(golden, golden_result, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("before", encoding="utf-8")
    monkeypatch.setattr("txop.report.campaign.document.page", lambda *_: "\ud800")
    with pytest.raises(UnicodeEncodeError):
        write_page(golden, golden_result, target)
    assert target.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.slow
def test_a_large_campaign_gives_a_page_that_can_be_mailed(sample, tmp_path):
    plan = sample.PLAN.replace("blocks = 8", "blocks = 20")
    root: Path = sample.make(tmp_path / "large", plan_text=plan, step_s=0.2, probe_s=0.1)
    archive = read_archive(root)
    write_page(archive, compare(archive), tmp_path / "large.html")
    assert (tmp_path / "large.html").stat().st_size < 3_000_000


def test_on_paper_the_answer_is_a_page_and_what_was_compared_the_next(golden, golden_result, tmp_path):
    write_page(golden, golden_result, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    head, _, rest = text.partition('<details class="chapter subject">')
    assert '<details class="long"><summary>The verdict in full' in head
    assert "Every interval is in chapter 1." in head
    assert rest.count('<details class="chapter') > 10
    assert rest.count('<details class="chapter brief">') == 3
