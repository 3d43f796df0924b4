"""The figures of an import as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txop.cli.console import safe_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from txop.exchange.figures import Figure

_MOST_ROWS = 400


def show(figures: Sequence[Figure], out: Console) -> None:
    """Print the figures by test; those that no run has are one line with their reason."""
    for test in dict.fromkeys(figure.test for figure in figures):
        out.print()
        of_test = [figure for figure in figures if figure.test == test]
        with_values = [figure for figure in of_test if figure.n]
        if with_values:
            out.print(_table(test, with_values[:_MOST_ROWS]))
        else:
            out.print(safe_text(f"{test}: no figure", style="bold"))
        reasons: dict[str, list[str]] = {}
        for figure in of_test:
            for reason in figure.reasons:
                names = reasons.setdefault(reason, [])
                if figure.title not in names:
                    names.append(figure.title)
        for reason, names in reasons.items():
            out.print(safe_text(f"Not available: {', '.join(names)}: {reason}", style="dim"), soft_wrap=True)


def _table(test: str, figures: Sequence[Figure]) -> Table:
    from rich.table import Table

    several = any(figure.n > 1 for figure in figures)
    arms = list(dict.fromkeys(figure.arm for figure in figures))
    table = Table(title=safe_text(test), title_justify="left")
    if len(arms) > 1:
        table.add_column("Arm", overflow="fold")
    table.add_column("Figure", overflow="fold")
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("Median" if several else "Value", justify="right", no_wrap=True)
    if several:
        table.add_column("Range", justify="right", no_wrap=True)
    table.add_column("Unit", no_wrap=True)
    table.add_column("From", overflow="fold")
    for figure in figures:
        cells = [safe_text(figure.arm)] if len(arms) > 1 else []
        cells += [safe_text(figure.title), safe_text(str(figure.n)), safe_text(_value(figure.median))]
        if several:
            cells.append(safe_text(_range(figure)))
        table.add_row(*cells, safe_text(figure.unit), safe_text("; ".join(figure.sources)))
    return table


def _range(figure: Figure) -> str:
    if figure.n < 2:
        return ""
    low = _value(min(figure.values, default=None))
    return f"{low} to {'infinite' if figure.infinite else _value(max(figure.values, default=None))}"


def _value(value: float | None) -> str:
    """With the digits that a figure of its size has, and none that the file did not.

    >>> _value(2941.2345), _value(21.2564), _value(0.0738), _value(12.5), _value(None)
    ('2941.23', '21.256', '0.0738', '12.5', 'infinite')
    """
    if value is None:
        return "infinite"
    text = f"{value:.2f}" if abs(value) >= 1000 else f"{value:.3f}" if abs(value) >= 10 else f"{value:.4g}"
    return text.rstrip("0").rstrip(".") if "." in text else text
