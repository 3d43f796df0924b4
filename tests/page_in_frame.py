"""A page in a frame of a real browser, as wide as asked: what is wider than it, which tables and plots are clipped."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_LOOK = """
const wide = [...document.querySelectorAll('body *')].filter(each => !each.closest('.scroll, figure:not(.both), svg'))
    .filter(each => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
const clipped = [...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth + 1);
const ratios = [...document.querySelectorAll('.scroll')].map(each => each.scrollWidth / each.clientWidth);
document.body.dataset.ratio = Math.max(1, ...ratios.filter(Number.isFinite));
const stacked = [...document.querySelectorAll('table.stacked')];
const broad = [...document.querySelectorAll('figure')].filter(each => each.scrollWidth > each.clientWidth + 1);
document.body.dataset.broad = broad.map(each => each.textContent.trim().slice(0, 40)).join(';');
document.body.dataset.wide = wide.map(each => each.tagName).join(' ');
document.body.dataset.clipped = clipped.map(each => each.textContent.trim().slice(0, 40)).join(';');
document.body.dataset.stacked = stacked.length;
document.body.dataset.cut = stacked.filter(each => clipped.includes(each.parentElement)).length;
document.body.dataset.plots = document.querySelectorAll('figure').length;
"""


def seen(html: str, folder: Path, width: int) -> dict[str, str]:
    """What a script finds in the page at that width."""
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    # Headless Chromium does not go below 500 px, a frame does.
    (folder / "inner.html").write_text(html.replace("</body>", f"<script>{_LOOK}</script></body>"), encoding="utf-8")
    copy = "Object.assign(document.body.dataset, f.contentDocument.body.dataset)"
    outer = f'<body><iframe id=f src=inner.html width={width} height=2000 onload="{copy}"></iframe></body>'
    (folder / "outer.html").write_text(outer, encoding="utf-8")
    done = subprocess.run(
        [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
         f"--user-data-dir={folder / 'profile'}", "--window-size=1400,2100", "--dump-dom",
         (folder / "outer.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return dict(re.findall(r' data-(wide|broad|ratio|clipped|stacked|cut|plots)="([^"]*)"', done.stdout))
