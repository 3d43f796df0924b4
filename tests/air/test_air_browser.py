"""The page in a real browser: it draws, and its own policy lets everything it brings pass."""

from __future__ import annotations

import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from page_in_frame import seen
from txop.air.page import page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")]


def screenshot(html: str, folder: Path, width: int, height: int, dark: bool) -> tuple[bytes, str]:
    """The picture (PNG) and the browser's log."""
    source, picture = folder / "page.html", folder / "page.png"
    source.write_text(html, encoding="utf-8")
    done = subprocess.run(
        [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         f"--user-data-dir={folder / 'profile'}",
         f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--enable-logging=stderr", "--v=0",
         f"--screenshot={picture}", f"--window-size={width},{height}", source.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return picture.read_bytes(), done.stderr


def scan_data(png: bytes) -> bytes:
    parts = b""
    at = 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            parts += png[at + 8 : at + 8 + length]
        at += 12 + length
    return zlib.decompress(parts)


@pytest.mark.parametrize(("width", "dark"), [(1300, False), (1300, True), (390, False)])
def test_page_draws_without_complaint(report, tmp_path, width, dark):
    png, log = screenshot(page(report), tmp_path, width, 1600, dark)
    complaints = [line for line in log.splitlines() if "CONSOLE" in line or "Content Security Policy" in line]
    assert complaints == []
    data = scan_data(png)
    assert len(set(data)) > 60, "a blank page has hardly any different bytes"
    assert len(zlib.compress(data)) > 20_000


def test_a_script_that_the_policy_does_not_name_cannot_run(report, tmp_path):
    html = page(report).replace("</main>", "<script>document.body.textContent = 'owned'</script></main>")
    _, log = screenshot(html, tmp_path, 800, 600, dark=False)
    assert re.search("Content Security Policy", log), "the policy does not bite, or the log is not read"


def test_no_table_is_clipped_on_a_desktop(report, tmp_path):
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page(report))
    tell = (
        "document.body.dataset.clipped = [...document.querySelectorAll('.scroll')]"
        ".filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent.slice(0, 60)).join(';')"
    )
    (tmp_path / "page.html").write_text(html.replace("</body>", f"<script>{tell}</script></body>"), encoding="utf-8")
    done = subprocess.run(
        [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         "--window-size=1280,2000", "--dump-dom", (tmp_path / "page.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    (clipped,) = re.findall(r'<body[^>]* data-clipped="([^"]*)"', done.stdout)
    assert clipped == ""


def test_sentences_in_tables_are_read_without_scrolling_on_a_phone(report, tmp_path):
    found = seen(page(report), tmp_path, 390)
    assert int(found["stacked"]) > 0, "the table of answers has sentences"
    assert (found["cut"], found["wide"]) == ("0", "")


def test_tables_hardly_shrink_a_printed_page(report, tmp_path):
    # A4 within its margins; a browser scales the whole page by what is wider than it.
    found = seen(page(report).replace("@media print", "@media all"), tmp_path, 688)
    assert float(found["ratio"]) < 1.15


def test_every_plot_is_seen_whole_on_a_phone(report, tmp_path):
    found = seen(page(report), tmp_path, 390)
    assert int(found["plots"]) >= 6
    assert found["broad"] == ""
