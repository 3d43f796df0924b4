"""The HTML page: well formed, self-contained, inert."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from txop.air import AirReport
from txop.air.definitions import DEFINITIONS
from txop.air.page import comparison_page, page
from txop.air.page.causes import INK_OF_CAUSE
from txop.air.page.plots import waterfall
from txop.air.view import Facts, Grid, sections
from txop.air.view.glyphs import GLYPH_OF_CAUSE, glyph
from txop.air.view.headline import headline
from txop.cli.air_headline import bar, keys
from txop.present.plot import INK, theme_colors

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Outline(HTMLParser):
    """Checks nesting and collects what a test asks about."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data.replace("\u00a0", " ")  # a number and its unit


def outline(html: str) -> Outline:
    parser = Outline()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {}


@pytest.fixture
def html(report, pages):
    return pages.setdefault("report", page(report) if "report" not in pages else "")


@pytest.fixture
def hostile_html(hostile_report, pages):
    return pages.setdefault("hostile", page(hostile_report) if "hostile" not in pages else "")


def test_page_is_well_formed_and_ids_are_unique(html):
    found = outline(html)
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [a["href"][1:] for tag, a in found.tags if tag == "a"]
    assert set(links) <= set(ids)


def test_page_needs_no_network(html):
    found = outline(html)
    for tag, attributes in found.tags:
        assert tag not in ("iframe", "object", "embed", "base", "form", "image", "use"), tag
        for name in ("src", "href", "xlink:href", "action", "srcset", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:,")), (tag, name, value)
    assert not re.search(r"https?://|//[a-z]|@import|url\((?!#)", html)


def test_the_only_script_is_the_one_the_policy_names(html):
    found = outline(html)
    policy = next(a["content"] for _, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.S)
    assert len(scripts) == html.count("<script") == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)


def test_hostile_text_is_inert(hostile_html):
    found = outline(hostile_html)
    assert hostile_html.count("<script") == 1
    assert sum(tag == "script" for tag, _ in found.tags) == 1
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)
    assert all(c.isprintable() or c == "\n" for c in hostile_html)
    everything = found.text + "".join(v or "" for _, attributes in found.tags for v in attributes.values())
    assert all(c.isprintable() or c in "\n\N{NO-BREAK SPACE}" for c in everything)
    assert "<script>alert(1)</script>" in found.text  # shown as text
    assert "\\u202e" in found.text
    assert "{{7*7}}" in found.text


def test_every_plot_is_there(html):
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    expected = (
        "Frames and retries by rate",
        "Response delay",
        "leaves out, by position",
        "A-MPDU sizes",
        "Airtime by",
        "Busy share",
        "from the effective PHY rate down",
        "throughput and MPDU retry",
    )
    for word in expected:
        assert any(word in caption for caption in captions), word
    assert html.count("<figure") == len(captions)
    assert not re.search(r"#0a[0-9a-f]{2}0b", html), "a placeholder colour was left"


def test_every_figure_names_a_definition_that_exists(report):
    for section in sections(report):
        for block in section.blocks:
            keys = []
            if isinstance(block, Grid):
                keys = [column.definition for column in block.columns]
            elif isinstance(block, Facts):
                keys = [fact.definition for fact in block.items]
            for key in keys:
                assert key is None or key in DEFINITIONS


def test_empty_report_says_what_is_in_it(empty_report):
    found = outline(page(empty_report))
    assert "no 802.11 frames" in found.text


def test_long_tables_are_cut(report):
    ghosts = [
        report.ghosts[0].model_copy(update={"address": f"02:00:00:00:{n >> 8:02x}:{n & 255:02x}"}) for n in range(3000)
    ]
    html = page(report.model_copy(update={"ghosts": ghosts}))
    assert html.count("02:00:00:00:") == 500
    assert "of 3,000" in html


def test_comparison_page(report, good_report, hostile_report):
    found = outline(comparison_page([report, good_report]))
    assert "Goodput" in found.text
    assert "B − A" in found.text
    text = comparison_page([hostile_report, good_report, report])
    assert text.count("<script") == 1
    outline(text)


def test_every_cause_has_a_colour_of_its_own():
    assert set(INK_OF_CAUSE.values()) <= set(INK)
    for theme in ("light", "dark"):
        shown = [theme_colors(theme)[f"plot-{name}"] for name in INK_OF_CAUSE.values()]
        assert len(set(shown)) == len(shown)


def test_flow_without_block_acks_has_no_figures_of_them(report):
    bare = report.block_acks[0].model_copy(update={"block_acks": 0, "bitmap_bits": [], "examples": []})
    changed = report.model_copy(update={"block_acks": [bare]})
    (part,) = sections(changed, only=("exchanges",))
    facts = next(block for block in part.blocks if isinstance(block, Facts))
    assert [fact.label for fact in facts.items] == ["Session", "Block Acks"]


def test_a_phy_rate_of_some_mpdus_says_of_how_many(document):
    """Where durations are missing, the effective PHY rate and the bars are of the other MPDUs."""
    fall = document["waterfalls"][0]
    fall["mpdus_timed"] = 9
    report = AirReport.parse(json.dumps(document))
    said = headline(report).flows[0].sentence
    assert f"(of the 9 of {fall['mpdus']:,} MPDUs with a known duration)" in said
    assert "the duration of 9 is known" in page(report)
    del fall["mpdus_timed"]
    assert "whose duration is known" not in headline(AirReport.parse(json.dumps(document))).flows[0].sentence


def test_one_frame_is_no_throughput(document):
    fall = document["waterfalls"][0]
    fall.update(mpdus=1, observed_us=48.0)
    said = headline(AirReport.parse(json.dumps(document))).flows[0].sentence
    assert said == "1 data MPDU in 48 µs: too few for a throughput."


def test_every_sign_of_a_bar_has_a_key(report):
    """A share too small for a key of its own may still be at the middle of a cell."""
    fall = report.waterfalls[0]
    rest, small = fall.steps[0], fall.steps[3]
    steps = [small.model_copy(update={"share": 0.004}), rest.model_copy(update={"share": 0.996})]
    narrow = fall.model_copy(update={"steps": steps})
    for width in (100, 130, 200):
        drawn = set(bar(narrow, width).plain)
        assert drawn <= {key.plain[0] for key in keys(narrow, width)}, width
    assert glyph(small.cause) in bar(narrow, 200).plain
    assert len(keys(narrow, 100)) == 1


def test_the_last_bar_of_the_waterfall_is_the_row_of_the_table(report):
    fall = report.waterfalls[0].model_copy(update={"payload_mbit_s": 1.0})
    left = next(step for step in fall.steps if step.cause == "payload").mbit_s
    (rows,) = waterfall(fall).spec["datasets"].values()
    assert [row["high"] for row in rows if row["cause"] == "Payload"] == [left]


def test_causes_are_told_without_colour(report, html):
    signs = list(GLYPH_OF_CAUSE.values())
    assert len(set(signs)) == len(signs)
    assert set(GLYPH_OF_CAUSE) == set(INK_OF_CAUSE)
    fall = report.waterfalls[0]
    drawn = bar(fall, 200).plain
    for step in fall.steps:
        if step.share > 0.02:
            assert glyph(step.cause) in drawn, step.cause
            shown = glyph(step.cause).replace("█", "")
            assert f'<span class="on-{INK_OF_CAUSE[step.cause]}" aria-hidden="true">{shown}</span>' in html
