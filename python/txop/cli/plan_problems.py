"""How what is wrong with a plan is shown, the same way by every command that takes one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from txop.cli import console
from txop.core.errors import UserError

if TYPE_CHECKING:
    from txop.plan.load import LoadedPlan
    from txop.plan.problem import Problem
    from txop.plan_check.check import Checked


def read_plan(path: Path, *, files: bool = True) -> tuple[LoadedPlan, Checked]:
    """A plan that can be run, and its warnings. Otherwise every problem goes to stderr, and :class:`UserError` ends it.

    ``files``: also check that the files it names are there.
    """
    from txop.plan.load import load_plan
    from txop.plan.problem import PlanError
    from txop.plan_check.check import ensure

    try:
        loaded = load_plan(path)
        return loaded, ensure(loaded, files=files)
    except PlanError as error:
        print_problems(console.stderr(), str(path), error.problems, style="red")
        number = len(error.problems)
        raise UserError(
            f"the plan has {'a problem' if number == 1 else f'{number} problems'}, so nothing was done", where=str(path)
        ) from None


def print_problems(out: Console, name: str, problems: Sequence[Problem], *, style: str) -> None:
    """A line for each problem."""
    for problem in problems:
        text = console.safe_text(problem.text(name))
        where = len(console.safe_text(name)) + (len(f", line {problem.line}") if problem.line is not None else 0)
        text.stylize(style, 0, where)
        out.print(text, soft_wrap=True)
