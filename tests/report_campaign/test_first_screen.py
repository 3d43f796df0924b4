"""The first screen of the page in a browser: what is above the fold, on a desk and a phone, and what is printed."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")]

DESK, PHONE = (1280, 900), (390, 844)
MOST_PRINTED = 6

LOOK = """
const wanted = {title: 'h1', origin: 'h1 .badge', strip: '.strip', effects: 'table.effects', axis: '.axis .point',
                bars: '.bar .stack', line: '.armline', card: 'table.card', series: 'header > figure svg'};
const shown = (s) => [...document.querySelectorAll(s)].filter((e) => e.getClientRects().length);
const box = (e) => (({left, right, top, bottom}) => ({left, right, top, bottom}))(e.getBoundingClientRect());
document.body.dataset.places = JSON.stringify(Object.fromEntries(
  Object.entries(wanted).map(([name, s]) => [name, shown(s).map(box)])));
document.body.dataset.links = document.querySelectorAll('nav').length;
"""


def run(*arguments: str) -> str:
    done = subprocess.run(
        [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
         "--allow-file-access-from-files", *arguments],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def places(page: str, folder: Path, size: tuple[int, int]) -> dict[str, list[dict[str, float]]]:
    """Where the parts of the first screen are, in a frame of that size (headless Chromium does not go below 500 px)."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    (folder / "inner.html").write_text(page.replace("</body>", f"<script>{LOOK}</script></body>"), encoding="utf-8")
    copy = "Object.assign(document.body.dataset, f.contentDocument.body.dataset)"
    frame = f'<iframe id=f src=inner.html width={size[0]} height={size[1]} style="border: 0" onload="{copy}"></iframe>'
    (folder / "outer.html").write_text(f"<body>{frame}</body>", encoding="utf-8")
    text = run(f"--user-data-dir={folder / 'profile'}", "--dump-dom", (folder / "outer.html").as_uri())
    found = re.search(r'data-places="([^"]*)"', text)
    assert found is not None
    measured: dict[str, list[dict[str, float]]] = json.loads(html.unescape(found.group(1)))
    return measured


@pytest.fixture(scope="module")
def desk(golden_page, tmp_path_factory):
    return places(golden_page, tmp_path_factory.mktemp("desk"), DESK)


def test_the_answer_is_above_the_fold_on_a_desk(desk):
    for name in ("title", "origin", "strip", "effects", "axis", "bars", "line", "card"):
        assert desk[name], name
        assert desk[name][-1]["bottom"] <= DESK[1], name
    assert desk["series"][0]["top"] <= DESK[1]


def test_every_arm_has_a_bar_and_every_other_arm_a_line(desk, golden_result):
    assert len(desk["bars"]) == len(golden_result.arms)
    assert len(desk["line"]) == len(golden_result.arms) - 1


def test_the_right_of_the_screen_is_used(desk):
    assert desk["effects"][0]["left"] < 40
    for name in ("bars", "series"):
        assert max(box["right"] for box in desk[name]) > 0.9 * DESK[0], name


def test_the_first_figure_is_within_one_screen_of_a_phone(golden_page, tmp_path):
    found = places(golden_page, tmp_path, PHONE)
    assert found["axis"][0]["bottom"] < PHONE[1] / 2
    assert found["effects"][0]["right"] <= PHONE[0]


def printed(page: str, folder: Path) -> int:
    """How many sheets a page is."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    out = folder / "page.pdf"
    run(f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={out}", (folder / "page.html").as_uri())
    return len(re.findall(rb"/Type\s*/Page[^s]", out.read_bytes()))


def test_six_sheets_are_printed_and_all_of_it_when_asked(golden_page, tmp_path):
    brief = printed(golden_page, tmp_path)
    assert 1 < brief <= MOST_PRINTED
    whole = printed(golden_page.replace('id="print-all"', 'id="print-all" checked'), tmp_path)
    assert whole > brief


@pytest.mark.slow
def test_a_large_campaign_is_printed_on_six_sheets_too(sample, tmp_path):
    from txop.archive.reader import read_archive
    from txop.compare.archive import compare
    from txop.report.campaign import page

    plan = sample.PLAN.replace("blocks = 8", "blocks = 60")
    archive = read_archive(sample.make(tmp_path / "archive", plan_text=plan))
    assert 1 < printed(page(archive, compare(archive), tmp_path / "x.html"), tmp_path) <= MOST_PRINTED
