"""Fails where a crate of the workspace is without the lints that all have.

`python scripts/crate_lints.py [FOLDER]` reads the workspace in FOLDER (this one). Every crate has `lints.workspace`,
which brings what holds for all its targets. What input must not be able to do (`STRICT`) is denied in the first lines
of each library and program and not in the manifest, which would deny it to their tests and examples, too. A crate that
lacks one of these has an `allow` of it there, with a `reason`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
STRICT = ("unwrap_used", "expect_used", "indexing_slicing", "panic", "unreachable")
INNER = re.compile(r"^#!\[(\w+)\((.*?)\)\]$", re.MULTILINE | re.DOTALL)
REASON = re.compile(r'reason\s*=\s*"[^"]{10,}"')


def attributes(text: str) -> Iterator[tuple[str, str]]:
    """The inner attributes of a root file with what is in their parentheses."""
    for match in INNER.finditer(text):
        yield match[1], match[2]


def lacking(text: str) -> list[str]:
    """What a root file should deny, does not, and gives no reason for."""
    denied: set[str] = set()
    for level, inner in attributes(text):
        names = {name.removeprefix("clippy::") for name in re.findall(r"[\w:]+", inner.partition("reason")[0])}
        if level in ("deny", "forbid") or (level == "allow" and REASON.search(inner)):
            denied |= names
    return [f"clippy::{name}" for name in STRICT if name not in denied]


def complaints(folder: Path) -> Iterator[str]:
    """What is wrong in the workspace of `folder`."""
    workspace = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    if workspace.get("lints", {}).get("rust", {}).get("unsafe_code") != "deny":
        yield "Cargo.toml: [workspace.lints.rust] does not deny unsafe_code"
    crates = sorted(path.parent for path in folder.glob("crates/*/Cargo.toml"))
    for crate in crates:
        name = str(crate.relative_to(folder))
        if name not in workspace["members"]:
            yield f"{name}: not a member of the workspace"
        manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
        if manifest.get("lints") != {"workspace": True}:
            yield f"{name}/Cargo.toml: without `[lints] workspace = true`"
        roots = [crate / "src" / "lib.rs", crate / "src" / "main.rs", *sorted(crate.glob("src/bin/*.rs"))]
        for root in filter(Path.exists, roots):
            if missing := lacking(root.read_text(encoding="utf-8")):
                yield f"{root.relative_to(folder)}: neither denies {', '.join(missing)} nor gives a reason"
    if not crates:
        yield f"{folder}: no crates"


def main() -> int:
    """0 where every crate has its lints."""
    found = list(complaints(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
    print("\n".join(found) or "every crate has the lints of the workspace")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
