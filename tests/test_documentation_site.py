"""The documentation as a site: every page has its place, links are rewritten, nothing comes from the network."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """scripts/documentation_site.py."""
    spec = importlib.util.spec_from_file_location("documentation_site", ROOT / "scripts/documentation_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, site: ModuleType) -> Path:
    """The site, built as `make docs` builds it."""
    pytest.importorskip("sphinx", reason="NOT CHECKED: Sphinx is not installed; make docs installs it")
    folder = tmp_path_factory.mktemp("site")
    assert site.build(folder) == 0
    return Path(folder / "site")


def test_every_page_is_in_the_contents(site):
    places = site.pages()
    contents = site.contents((ROOT / "docs/index.md").read_text(encoding="utf-8"), places)
    listed = re.findall(r"^[a-z][\w/-]*$", contents, re.MULTILINE)
    beside = site.beside((ROOT / "docs/index.md").read_text(encoding="utf-8"), places)
    assert sorted({*listed, *(str(places[page].with_suffix("")) for page in beside)}) == sorted(
        str(place.with_suffix("")) for place in places.values() if place.name != "index.md"
    )
    assert {page.parent.parent.name for page in beside if page.name == "README.md"} == {"crates"}


def test_documents_that_pages_link_to_are_pages_themselves(site):
    # Sphinx takes a linked Markdown file for a page that no part names, which fails the build.
    places = site.pages()
    linked = {
        target
        for source in places
        for target in site.linked_files((ROOT / source).read_text(encoding="utf-8"), source, places)
    }
    assert [str(target) for target in linked if target.suffix == ".md"] == []


def test_links_are_written_for_where_pages_are(site):
    places = site.pages()
    text = (
        "[a](plan.md#keys) [b](../ARCHITECTURE.md) [c](schema/txop-air.json) [d](https://x.example) `[e](../README.md)`"
    )
    assert site.relinked(text, Path("docs/targets.md"), places) == (
        "[a](plan.md#keys) [b](project/architecture.md) [c](files/docs/schema/txop-air.json) [d](https://x.example)"
        " `[e](../README.md)`"
    )
    assert site.relinked("[examples](../examples/plans)", Path("docs/plan.md"), places) == "examples"
    assert site.relinked("[a](docs/plan.md) [b](README.md)", Path("ARCHITECTURE.md"), places) == (
        "[a](../plan.md) [b](../index.md)"
    )


@pytest.mark.slow
@pytest.mark.parametrize("link", ["gone.md", "plan.md#no-such-heading", "pictures/gone.svg"])
def test_a_link_that_leads_nowhere_fails_the_build(site, tmp_path, link, monkeypatch):
    pytest.importorskip("sphinx", reason="NOT CHECKED: Sphinx is not installed; make docs installs it")
    root = tmp_path / "repository"
    (root / "docs").mkdir(parents=True)
    shutil.copytree(ROOT / "docs/site", root / "docs/site")
    (root / "docs/index.md").write_text("# Index\n\n## All\n\n- [Plans](plan.md)\n", encoding="utf-8")
    plan = root / "docs/plan.md"
    plan.write_text("# Plans\n\n## Keys\n\nSee [keys](#keys).\n", encoding="utf-8")
    assert site.build(tmp_path / "good", root) == 0
    picture = "!" if link.endswith("svg") else ""
    plan.write_text(f"# Plans\n\n{picture}[there]({link})\n", encoding="utf-8")
    assert site.build(tmp_path / "bad", root) != 0


def asked_for(page: Path, folder: Path) -> set[str]:
    """Addresses on the network that ``page`` makes a browser ask for; what the browser wants for itself is left out."""
    log = folder / "net.json"
    subprocess.run(
        [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={folder / 'profile'}", "--window-size=1280,3000", f"--log-net-log={log}",
         f"--screenshot={folder / 'page.png'}", page.as_uri()],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    found = json.loads(log.read_text(encoding="utf-8"))
    kinds = {number: name for name, number in found["constants"]["logEventTypes"].items()}
    started = [
        event["params"]
        for event in found["events"]
        if kinds[event["type"]] == "URL_REQUEST_START_JOB" and "url" in event.get("params", {})
    ]
    return {
        params["url"]
        for params in started
        if params["url"].startswith("http") and params.get("initiator", "not an origin") != "not an origin"
    }


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
@pytest.mark.parametrize("page", ["index.html", "gallery.html", "search.html"])
def test_pages_ask_the_network_for_nothing(built, tmp_path, page):
    assert asked_for(built / page, tmp_path) == set()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_a_page_that_asks_the_network_is_noticed(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<img src="http://127.0.0.1:9/picture.png">', encoding="utf-8")
    assert asked_for(page, tmp_path) == {"http://127.0.0.1:9/picture.png"}


@pytest.mark.slow
def test_built_pages_load_nothing_from_elsewhere(built):
    loads = re.compile(r"<(?:script|img|iframe|source)[^>]* src=\"(?:https?:)?//|<link[^>]* href=\"(?:https?:)?//")
    styles = re.compile(r"(?:url\(|@import )[\"']?(?:https?:)?//")
    pages = list(built.rglob("*.html"))
    assert len(pages) > 40
    assert [page.name for page in pages if loads.search(page.read_text(encoding="utf-8"))] == []
    assert [sheet.name for sheet in built.rglob("*.css") if styles.search(sheet.read_text(encoding="utf-8"))] == []
