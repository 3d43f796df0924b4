"""``txop air --list``: the access points of a capture, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from txop.cli import console
from txop.core.errors import UserError

if TYPE_CHECKING:
    from txop.air import AirReport


def check_list(files: Sequence[str], *, html: Path | None, csv: str | None, section: str | None, follow: bool) -> None:
    """Refuse what cannot go with ``--list``."""
    if len(files) > 1:
        raise UserError("--list reads one capture")
    other = {"--html": html is not None, "--csv": csv is not None, "--section": section is not None, "--follow": follow}
    for name in (name for name, is_given in other.items() if is_given):
        what_to_do = "use --csv with --table access_points" if name == "--csv" else f"leave {name} out"
        raise UserError(f"--list prints one table and does not go with {name}", what_to_do=what_to_do)


def print_list(report: AirReport, *, json: bool, top: int) -> None:
    """The first ``top`` access points (0: all) as a table, or the part of the document that they are."""
    if json:
        parts = {"format", "version", "origin", "path", "frames", "access_points"}
        console.write_json(report.model_dump(mode="json", include=parts))
        return
    from txop.air.view.access_points import access_points
    from txop.air.view.options import Options
    from txop.cli.terminal_report import draw

    out = console.stdout()
    if not report.access_points:
        out.print(console.safe_text("No beacons and no probe responses that can be read are in the capture.", "dim"))
    elif (drawn := draw(access_points(report, Options()), out.width, top)) is not None:
        out.print(drawn)
