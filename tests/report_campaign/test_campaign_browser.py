"""The page in a real browser, 360 px wide, with nothing to reach but the page itself. One start for all checks."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from report_campaign.conftest import HOSTILE
from txop.core.visible import visible

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")]

HARNESS = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<iframe id="frame" width="360" height="800" style="border: 0" src="/page.html"></iframe><pre id="out"></pre>
<script>
frame.onload = () => {
  const page = frame.contentDocument, root = page.documentElement;
  const closed = root.scrollWidth;
  for (const fold of page.querySelectorAll("details")) fold.open = true;
  const table = page.querySelector("#runs table"), first = () => table.tBodies[0].rows[0].cells[0].textContent;
  const before = first();
  const button = table.tHead.rows[0].cells[0].querySelector("button");
  button.click();
  const shown = (what) => [...page.querySelectorAll(what)].filter((e) => e.getClientRects().length);
  const wide = [...page.querySelectorAll("main *")].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.right > root.clientWidth + 1 && !e.closest(".scroll, figure:not(.both), pre");
  });
  out.textContent = JSON.stringify({
    width: root.clientWidth, closed, open: root.scrollWidth, owned: frame.contentWindow.owned ?? null,
    plots: page.querySelectorAll("figure svg").length,
    flat: shown("figure svg").filter((s) => s.getBoundingClientRect().height < 20).length,
    both: page.querySelectorAll("figure.both").length, broad: shown(".broad svg").length,
    narrow: shown(".narrow svg").length,
    letters: Math.min(...shown("#effects .narrow text").map((t) => t.getBoundingClientRect().height).filter((h) => h)),
    wide: wide.slice(0, 5).map((e) => e.outerHTML.slice(0, 120)),
    before, after: first(), text: page.body.innerText.slice(0, 3000),
  });
};
</script>
"""


class _Server:
    """Serves the harness and the page, and remembers what was asked for."""

    def __init__(self, page: str) -> None:
        self.asked: list[str] = []
        files = {"/": HARNESS, "/page.html": page}
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                body = files.get(self.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write((body or "").encode("utf-8"))

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.address = f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> _Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def seen(poisoned_page, tmp_path_factory):
    """What the browser made of the hostile page: (measurements, its log, the paths it asked for)."""
    profile = tmp_path_factory.mktemp("browser")
    with _Server(poisoned_page) as server:
        done = subprocess.run(
            [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={profile}",
             "--enable-logging=stderr", "--v=0", "--dump-dom", server.address],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
    found = re.search(r'<pre id="out">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None
    return json.loads(html.unescape(found.group(1))), done.stderr, server.asked


def test_nothing_is_wider_than_a_phone(seen):
    measured, _, _ = seen
    assert measured["width"] in range(330, 361)
    assert measured["wide"] == []
    assert measured["closed"] <= measured["width"]
    assert measured["open"] <= measured["width"]


def test_no_script_fails_and_no_text_becomes_one(seen):
    measured, log, _ = seen
    assert [line for line in log.splitlines() if "CONSOLE" in line or "Content Security Policy" in line] == []
    assert measured["owned"] is None
    assert " ".join(visible(HOSTILE).split())[:60] in " ".join(measured["text"].split())


def test_nothing_is_loaded_but_the_page(seen):
    _, _, asked = seen
    assert set(asked) == {"/", "/page.html"}


def test_every_plot_is_drawn(seen, poisoned_page):
    measured, _, _ = seen
    assert measured["plots"] == poisoned_page.count("<svg ")
    assert measured["plots"] > 12
    assert measured["flat"] == 0


def test_forests_are_laid_out_for_a_phone(seen):
    measured, _, _ = seen
    assert measured["both"] > 2
    assert (measured["broad"], measured["narrow"]) == (0, measured["both"])
    assert measured["letters"] > 10, "px"


def test_the_table_of_runs_can_be_sorted(seen):
    measured, _, _ = seen
    assert measured["before"].startswith("001-")
    assert measured["after"].startswith("006-") or measured["after"].startswith("007-")
