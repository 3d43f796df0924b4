"""``txop doctor``: what this machine has and lacks for each capability, and the command that fixes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.core.errors import ExitCode

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from txop.machine.capabilities import Diagnosis

FORMAT = "txop-doctor"
FORMAT_VERSION = 2


def register(app: typer.Typer) -> None:
    """Add ``txop doctor``."""
    app.command(
        name="doctor",
        epilog=epilog(
            [
                ("txop doctor", "what is missing, each with the command that fixes it"),
                ("txop doctor --all", "a table of everything, with what it is needed for"),
                ("txop doctor --json | jq -r '.capabilities[] | select(.present | not) | .fix'", "the commands only"),
            ],
            ["Exit codes: 0 when the core is ready, 3 when it is not. Other rows are optional."],
        ),
    )(doctor)


def doctor(
    json: JsonFlag = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show a table of everything, with what was found and what needs it.")
    ] = False,
) -> None:
    """Show what this machine has and lacks for each capability, and how to fix it."""
    from txop.machine.capabilities import diagnose
    from txop.machine.probe import LocalMachine

    diagnosis = diagnose(LocalMachine())
    if json:
        console.write_json(as_json(diagnosis))
    else:
        out = console.stdout()
        if everything:
            out.print(table(diagnosis))
            out.print(safe_text(summary(diagnosis)))
        else:
            for line in lines(diagnosis):
                out.print(line, soft_wrap=True)
    if not diagnosis.core_ready:
        raise typer.Exit(ExitCode.MISSING)


def lines(diagnosis: Diagnosis) -> list[Text]:
    """What is missing, a line each, the core first; then what is there, by name."""
    missing = sorted((f for f in diagnosis.findings if not f.present), key=lambda finding: not finding.capability.core)
    made = [safe_text(f"{diagnosis.distribution.name}: {summary(diagnosis)}", "bold")]
    for finding in missing:
        capability = finding.capability
        line = safe_text("MISSING" if capability.core else "missing", "bold red" if capability.core else "")
        how = finding.fix or finding.detail or "not found"
        made.append(line.append_text(safe_text(f"  {capability.title}: {how}", "not bold default")))
    present = ", ".join(finding.capability.title for finding in diagnosis.findings if finding.present)
    if present:
        made.append(safe_text(f"Present: {present}."))
    return [*made, safe_text("What each is needed for: --all")]


def table(diagnosis: Diagnosis) -> Table:
    """One row per capability."""
    from rich.table import Table

    rows = Table(title=safe_text(f"txop on {diagnosis.distribution.name}"), title_justify="left")
    rows.add_column("Capability")
    rows.add_column("State")
    rows.add_column("Found")
    rows.add_column("Needed for")
    rows.add_column("To fix", overflow="fold")
    for finding in diagnosis.findings:
        capability = finding.capability
        if finding.present:
            state = safe_text("present", style="green")
        else:
            state = safe_text("MISSING" if capability.core else "missing", style="bold red" if capability.core else "")
        rows.add_row(
            safe_text(capability.title + (" (core)" if capability.core else "")),
            state,
            safe_text(finding.detail),
            safe_text(capability.needed_for),
            safe_text(finding.fix or ""),
        )
    return rows


def summary(diagnosis: Diagnosis) -> str:
    """One sentence under the table."""
    missing = [finding for finding in diagnosis.findings if not finding.present]
    if not diagnosis.core_ready:
        lacking = ", ".join(finding.capability.title for finding in missing if finding.capability.core)
        return f"The core is not ready: {lacking}."
    if missing:
        return f"The core is ready; {len(missing)} of {len(diagnosis.findings)} capabilities are missing, all optional."
    return "Everything is there."


def as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as one JSON document. ``fix`` stands only where something is missing and a command is known."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "distribution": diagnosis.distribution.name,
        "core_ready": diagnosis.core_ready,
        "capabilities": [
            {
                "key": finding.capability.key,
                "title": finding.capability.title,
                "needed_for": finding.capability.needed_for,
                "core": finding.capability.core,
                "present": finding.present,
                "detail": finding.detail or ("found" if finding.present else "not found"),
            }
            | ({} if finding.fix is None else {"fix": finding.fix})
            for finding in diagnosis.findings
        ],
    }
