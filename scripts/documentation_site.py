#!/usr/bin/env python3
"""Builds the documentation site out of the Markdown files of the repository: `make docs`.

The files stay where a reader of the repository expects them, and stay plain Markdown. For the site they are laid out in
one folder: ``docs/*.md`` under their own names, the documents of the top folder and of the crates under ``project/``.
Links between them are rewritten accordingly; links to other files become downloads, and links to folders
plain words. The table of contents is ``docs/index.md``: its headings are the parts, the links of its lists the pages.
What only its sentences link to (crates, JSON references, records) is a page without a place in the navigation.

Any warning of Sphinx is an error: links and anchors that lead nowhere, pages to which nothing leads.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INDEX = Path("docs/index.md")
LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")
TO_FOLDER = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)\)")
SCHEME = re.compile(r"[a-z]+:")
CODE = re.compile(r"^(```|~~~).*?^\1\s*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def pages(root: Path = ROOT) -> dict[Path, Path]:
    """Every document of the repository that is a page, and its place on the site."""
    places = {Path("docs") / file.name: Path(file.name) for file in sorted((root / "docs").glob("*.md"))}
    for record in sorted((root / "docs/results").glob("*.md")):
        places[Path("docs/results") / record.name] = Path("results") / record.name
    places[Path("README.md")] = Path("index.md")
    for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "RELEASING", "SECURITY"):
        if (root / f"{name}.md").exists():
            places[Path(f"{name}.md")] = Path(f"project/{name.lower()}.md")
    for readme in sorted(root.glob("crates/*/README.md")):
        places[readme.relative_to(root)] = Path(f"project/crate-{readme.parent.name}.md")
    for facts in sorted(root.glob("crates/*/FACTS.md")):
        places[facts.relative_to(root)] = Path(f"project/crate-{facts.parent.name}-facts.md")
    return places


def relinked(text: str, source: Path, places: dict[Path, Path], root: Path = ROOT) -> str:
    """``text`` of the document ``source`` with its links as the site needs them."""

    def link(match: re.Match[str]) -> str:
        before, to, anchor, after = match.group(1), match.group(2), match.group(3) or "", match.group(4)
        if not to or SCHEME.match(to):
            return match.group(0)
        target = Path(os.path.normpath(source.parent / to))
        here = places[source].parent
        if target in places:
            return f"{before}{os.path.relpath(places[target], here)}{anchor}{after}"
        return f"{before}{os.path.relpath(Path('files') / target, here)}{after}"

    def words(match: re.Match[str]) -> str:
        return match.group(1) if (root / source.parent / match.group(2)).is_dir() else match.group(0)

    def both(prose: str) -> str:
        return LINK.sub(link, TO_FOLDER.sub(words, prose))

    written, end = [], 0
    for code in CODE.finditer(text):  # what is code stays as it is
        written += [both(text[end : code.start()]), code.group(0)]
        end = code.end()
    return "".join([*written, both(text[end:])])


def linked_files(text: str, source: Path, places: dict[Path, Path]) -> set[Path]:
    """Files of the repository that ``text`` links to and that are not pages."""
    found = set()
    for match in LINK.finditer(CODE.sub("", text)):
        if match.group(2) and not SCHEME.match(match.group(2)):
            target = Path(os.path.normpath(source.parent / match.group(2)))
            if target not in places:
                found.add(target)
    return found


def contents(index: str, places: dict[Path, Path]) -> str:
    """The table of contents, for Sphinx, of the headings and lists of ``index``."""
    written: list[str] = []
    for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        linked = (
            Path(os.path.normpath(INDEX.parent / to))
            for to in re.findall(r"^[*|-] ?\[[^\]]*\]\(([^)#]+)\)", body, re.MULTILINE)
        )
        entries = [str(places[target].with_suffix("")) for target in linked if target in places]
        if entries:
            written += ["```{toctree}", ":hidden:", f":caption: {title.strip()}", "", *entries, "```", ""]
    return "\n".join(written)


def beside(index: str, places: dict[Path, Path]) -> set[Path]:
    """Pages that ``index`` links to in a sentence only, so that they are not in the navigation."""
    listed = set(re.findall(r"^[a-z][\w/-]*$", contents(index, places), re.MULTILINE))
    linked = {Path(os.path.normpath(INDEX.parent / match.group(2))) for match in LINK.finditer(index) if match.group(2)}
    return {target for target in linked & places.keys() if str(places[target].with_suffix("")) not in listed}


def lay_out(into: Path, root: Path = ROOT) -> None:
    """Write the pages, what they link to, and the pictures under ``into``."""
    places = pages(root)
    shutil.rmtree(into, ignore_errors=True)
    without_place = beside((root / INDEX).read_text(encoding="utf-8"), places)
    for source, place in places.items():
        if source == Path("README.md"):
            continue  # the site's first page is docs/index.md; links to the README lead there
        text = (root / source).read_text(encoding="utf-8")
        written = relinked(text, source, places, root)
        if source == INDEX:
            written += "\n" + contents(text, places)
        if source in without_place:
            written = f"---\norphan: true\n---\n\n{written}"
        (into / place).parent.mkdir(parents=True, exist_ok=True)
        (into / place).write_text(written, encoding="utf-8")
        for file in linked_files(text, source, places):
            if (root / file).is_file():  # what is missing, Sphinx says
                (into / "files" / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(root / file, into / "files" / file)


def build(into: Path, root: Path = ROOT) -> int:
    """Have Sphinx build the site of ``root`` in ``into``/site; its exit code."""
    lay_out(into / "site-pages", root)
    shutil.rmtree(into / "site", ignore_errors=True)
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", "--fail-on-warning", "--keep-going", "--quiet",
         "-c", str(root / "docs/site"), "-d", str(into / "site-doctrees"),
         str(into / "site-pages"), str(into / "site")],
        check=False,
    ).returncode  # fmt: skip


if __name__ == "__main__":
    sys.exit(build(ROOT / "build"))
