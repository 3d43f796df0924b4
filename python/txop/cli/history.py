"""``txop history``: figures of old documents, and what they let anybody conclude."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.core.errors import ExitCode, UserError
from txop.core.nearest import nearest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from txop.history.judge import Finding
    from txop.history.model import Document

_STYLES = {"holds": "bold green", "does not hold": "bold red", "can't be determined": "yellow"}


def register(app: typer.Typer) -> None:
    """Add ``txop history``."""
    app.command(
        name="history",
        epilog=epilog(
            [
                ("txop history", "the documents that come with txop: what holds, what contradicts itself"),
                ("txop history ar6k-linux-sdio --figures", "one of them, with every figure and its line"),
                ("txop history my-wiki-page.toml", "a document of your own, as in examples/history"),
                ("txop history --json | jq '.documents[].findings[] | {said, answer}'", "for scripts"),
            ],
            [
                "A conclusion holds, does not hold, or can't be determined, because of n = 1, of plots in place of "
                "figures, and so on. docs/history.md explains the files.",
            ],
        ),
    )(history)


def history(
    documents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DOCUMENT]...",
            help="Names of documents that come with txop, or TOML files. Default: all that come with it.",
            autocompletion=name_completion.documents,
            show_default=False,
        ),
    ] = None,
    figures: Annotated[bool, typer.Option("--figures", help="Show every figure with its line, too.")] = False,
    json: JsonFlag = False,
) -> int:
    """Re-derive what old documents concluded from their own figures, and name where they contradict themselves."""
    chosen = _chosen(documents)
    if json:
        console.write_json(
            {"format": "txop-history-findings", "version": 1, "documents": [_as_json(*each) for each in chosen.items()]}
        )
        return ExitCode.OK
    out = console.stdout()
    for number, (name, document) in enumerate(chosen.items()):
        if number:
            out.print()
        _show(out, name, document, figures=figures)
    return ExitCode.OK


def _chosen(names: list[str] | None) -> dict[str, Document]:
    from txop.history.documents import read, shipped

    known = shipped()
    if not names:
        return known
    found = {}
    for name in names:
        if name in known and not Path(name).exists():
            found[name] = known[name]
        elif Path(name).exists() or "/" in name or name.endswith(".toml"):
            found[name] = read(Path(name))
        else:
            close = nearest(name, known)
            to_do = f'did you mean "{close}"?' if close else f"choose from {', '.join(known)}, or name a file"
            raise UserError(f"unknown document {name}", what_to_do=to_do)
    return found


def _as_json(name: str, document: Document) -> dict[str, object]:
    from txop.history.contradictions import contradictions, remarks
    from txop.history.judge import findings

    made = []
    for finding in findings(document):
        row = asdict(finding)
        row["basis"] = [{**asdict(basis), "n": basis.n} for basis in finding.basis]
        made.append(row)
    return {
        "name": name,
        **{key: getattr(document, key) for key in ("title", "author", "date", "source", "about")},
        "origin": "imported",
        "findings": made,
        "contradictions": [asdict(each) for each in contradictions(document)],
        "remarks": remarks(document),
    }


def _show(out: Console, name: str, document: Document, *, figures: bool) -> None:
    from txop.history.contradictions import contradictions, remarks
    from txop.history.judge import findings

    by = ", ".join(part for part in (document.author, document.date, document.source) if part)
    out.print(safe_text(f"{document.title} ({by})", style="bold"), soft_wrap=True)
    out.print(safe_text(f"{document.about}. Imported figures of {name}."), soft_wrap=True)
    found = findings(document)
    out.print(_findings(found))
    for title, sentences in (
        ("Repeated by txop", [f"Line {each.line}: {each.repeated}" for each in found if each.repeated]),
        ("Contradictions within the document", [each.sentence for each in contradictions(document)]),
        ("Notes", remarks(document)),
    ):
        if sentences:
            out.print(safe_text(f"{title}:", style="bold"))
            for sentence in sentences:
                out.print(safe_text(f"  {sentence}"), soft_wrap=True)
    if figures:
        out.print(_figures(document))


def _findings(found: list[Finding]) -> Table:
    from rich.table import Table

    table = Table(title="What it concludes", title_justify="left")
    table.add_column("Line", justify="right")
    table.add_column("Said", ratio=2, overflow="fold")
    table.add_column("Answer", no_wrap=True)
    table.add_column("Because", ratio=3, overflow="fold")
    for each in found:
        table.add_row(
            str(each.line),
            safe_text(each.said),
            safe_text(each.answer, style=_STYLES[each.answer]),
            safe_text(each.sentence),
        )
    return table


def _figures(document: Document) -> Table:
    from rich.table import Table

    table = Table(title="Every figure", title_justify="left")
    table.add_column("Line", justify="right")
    table.add_column("What", overflow="fold")
    table.add_column("Figure", justify="right", no_wrap=True)
    table.add_column("n", justify="right")
    rows: list[tuple[int, str, str, str]] = []
    for figure in document.figure:
        value = f"{figure.low:g}" + (f" to {figure.high:g}" if figure.high is not None else "")
        rows.append((figure.line, f"{figure.what} ({figure.kind})", f"{value} {figure.unit}".strip(), "–"))
    for transfers in document.transfers:
        for number, row in enumerate(zip(*transfers.columns, strict=True)):
            shown = "{:.2f} kB/s, {:.0f}; {:.2f} kB/s, {:.0f}".format(*row)
            what = f"{transfers.group} {transfers.way}: sender and receiver, context switches"
            rows.append((transfers.line + number, what, shown, "1"))
    for ping in document.pings:
        shown = f"{ping.min_ms:g}/{ping.mean_ms:g}/{ping.max_ms:g}/{ping.stddev_ms:g} ms"
        rows.append((ping.line, f"{ping.group} {ping.way}: ping min/mean/max/deviation", shown, str(ping.samples)))
    for run in document.run:
        shown = f"{_range(run.mbit_s)} Mbit/s, {_range(run.retries_percent)} % retries"
        what = f"{run.shown} on {run.device}, {run.access_point}, {run.distance_m:g} m, {run.way} ({run.by})"
        rows.append((run.line, what, shown, "1"))
    for line, what, shown, n in sorted(rows):
        table.add_row(str(line), safe_text(what), safe_text(shown), n)
    return table


def _range(value: float | list[float]) -> str:
    return f"{value[0]:g} to {value[1]:g}" if isinstance(value, list) else f"{value:g}"
