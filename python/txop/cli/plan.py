"""``txop plan``: check a plan, start a new one, see what it would do, and its schema for editors."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from txop.cli import console, name_completion
from txop.cli.console import JsonFlag
from txop.cli.examples import Application, epilog
from txop.core.errors import ExitCode, UserError
from txop.core.nearest import did_you_mean

FORMAT_VERSION = 1

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add ``txop plan`` with its commands."""
    plan = Application(
        no_args_is_help=True,
        epilog=epilog(
            [
                ("txop plan new my.toml", "asks, and writes a first plan"),
                ("txop plan check my.toml", "runs, time, smallest effect it can see, and everything that is wrong"),
                ("txop plan check my.toml --json | jq .runs", "the same for programs"),
                ("txop plan show my.toml", "the commands it would run, without running them"),
            ],
            ["What may stand in a plan: docs/plan.md."],
        ),
    )
    plan.command(
        name="check",
        epilog=epilog(
            [
                ("txop plan check my.toml", "before a campaign"),
                ("txop plan check my.toml --no-files", "on a machine that does not have the files it names"),
                ("txop plan check my.toml --connect", "what will work on the machines, before an hour is spent"),
            ],
            [
                "Exit code 2: the plan cannot be run; 3, with --connect: something on a machine would void its runs.",
                "Without --connect no machine is contacted. Nothing is ever changed.",
            ],
        ),
    )(check)
    plan.command(
        name="causes",
        epilog=epilog(
            [
                (
                    "txop plan causes my.toml --arm p10-8-7 -o causes.toml",
                    "every combination of its patches, then txop run",
                ),
                (
                    "txop plan causes my.toml --arm stock --hold aggregation=txop:rtl8xxxu/0007-tx-ampdu-off.toml "
                    "--hold rts=txop:rtl8xxxu/0008-hw-rts.toml -o causes.toml",
                    "the mechanisms of one build, each set to what it is elsewhere",
                ),
            ],
            ["`txop why ARCHIVE` says what each of them does; docs/why.md."],
        ),
    )(causes)
    plan.command(
        name="new",
        epilog=epilog(
            [
                ("txop plan new my.toml", "asks"),
                ("txop plan new --list-templates", "what there is to start from"),
                ("txop plan new my.toml --template ssh-gateway", "does not ask"),
            ]
        ),
    )(new)
    plan.command(
        name="schema",
        epilog=epilog([("txop plan schema > txop-plan.schema.json", "for editors that know JSON Schema (taplo)")]),
    )(schema)
    plan.command(
        name="show",
        epilog=epilog(
            [
                ("txop plan show my.toml", "every arm, step by step"),
                ("txop plan show my.toml --arm vanilla", "one of them"),
            ]
        ),
    )(show)
    app.add_typer(plan, name="plan", help="Write a plan, check it, and see what it would do.")


def check(
    plan: PlanFile,
    json: JsonFlag = False,
    files: Annotated[bool, typer.Option("--files/--no-files", help="Check the files that the plan names.")] = True,
    connect: Annotated[
        bool,
        typer.Option("--connect", help="Also connect the targets, and list what will work; changes nothing."),
    ] = False,
) -> int:
    """Show the runs and time of a plan, the smallest effects it can detect, and everything that is wrong with it."""
    from txop.cli.plan_overview import overview, print_overview
    from txop.cli.plan_problems import print_problems
    from txop.plan.load import load_plan
    from txop.plan.problem import PlanError
    from txop.plan_check.check import check as check_plan

    document: dict[str, Any] = {"format": "txop-plan-check", "version": FORMAT_VERSION, "plan": str(plan), "ok": False}
    try:
        loaded = load_plan(plan)
    except PlanError as error:
        if json:
            console.write_json({**document, "problems": _as_json(error.problems), "warnings": [], "complete": False})
        else:
            print_problems(console.stdout(), str(plan), error.problems, style="red")
            console.stdout().print("Files, addresses and figures are checked when this is corrected.")
        return ExitCode.BAD_INPUT
    checked = check_plan(loaded, files=files)
    facts = overview(loaded)
    code = ExitCode.BAD_INPUT if checked.problems else ExitCode.OK
    rows = None
    if connect and not checked.problems:
        from txop.cli import plan_connect

        rows = plan_connect.check_targets(loaded)
        code = plan_connect.exit_code(rows)
    if json:
        if rows is not None:
            document["desk"] = [asdict(row) for row in rows]
        document |= {"ok": not checked.problems, "complete": True, "sha256": loaded.sha256, **facts.document}
        document |= {"problems": _as_json(checked.problems), "warnings": _as_json(checked.warnings)}
        console.write_json(document)
        return code
    out = console.stdout()
    print_overview(out, facts)
    if checked.warnings:
        out.print()
        out.print(console.safe_text("Warnings", "bold yellow"))
        print_problems(out, str(plan), checked.warnings, style="yellow")
    if checked.problems:
        out.print()
        out.print(console.safe_text("Problems", "bold red"))
        print_problems(out, str(plan), checked.problems, style="red")
    if rows is not None:
        out.print()
        plan_connect.print_rows(out, rows)
    return code


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new plan; - for stdout.")] = Path("plan.toml"),
    template: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Start from this template and ask nothing.", autocompletion=name_completion.templates
        ),
    ] = None,
    list_templates: Annotated[bool, typer.Option("--list-templates", help="List the templates.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    json: JsonFlag = False,
) -> None:
    """Write a new plan: from a template, or from the answers to a few questions."""
    from txop.plan.templates import templates

    known = templates()
    if list_templates:
        _print_templates(json)
        return
    if json:
        raise UserError("--json goes with --list-templates")
    if template is not None and template not in known:
        raise UserError(f'unknown template "{template}"', what_to_do=did_you_mean(template, list(known)))
    to_stdout = str(file) == "-"
    if not to_stdout and not force and (file.exists() or file.is_symlink()):
        raise UserError("there is such a file already", where=str(file), what_to_do="choose another, or use --force")
    if template is not None:
        text = known[template].text
    else:
        from txop.cli.plan_questions import ask

        text = ask()
    if to_stdout:
        typer.echo(text, nl=False)
        return
    from txop.core.whole_file import whole_file

    with whole_file(file) as out:
        out.write(text)
    said = f"Wrote {file}. Next: txop plan check {file}"
    if template is not None:
        said = f"Wrote {file}. Change what is marked CHANGE; next: txop plan check {file}"
    console.stderr().print(console.safe_text(said), soft_wrap=True)


def causes(
    plan: PlanFile,
    arm: Annotated[str, typer.Option("--arm", metavar="NAME", help="The arm to explain.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The new plan; - for stdout.")],
    against: Annotated[
        str | None, typer.Option("--against", metavar="NAME", help="The arm to compare it with; default: the baseline.")
    ] = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(
            "--hold",
            metavar="NAME=HOW",
            help="A mechanism of the arm, and what sets it to the other's value: an edit script, a patch, or KEY=VALUE "
            "of its guest; two to six, in place of what the arms differ in.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a plan with every combination of what two arms differ in, so that `txop why` can tell causes apart."""
    from txop.cli.plan_problems import read_plan
    from txop.core.whole_file import whole_file
    from txop.plan.write import plan_text
    from txop.plan_check.factorial import factorial_plan, held_plan

    loaded, _ = read_plan(plan, files=False)
    source = loaded.plan
    if hold:
        if against is not None:
            raise UserError("--hold makes the arm to compare with", what_to_do="leave --against out")
        names = [each.partition("=")[0] for each in hold]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UserError(f"the mechanism {twice} is held twice", where="--hold", what_to_do="give it another name")
        pairs = dict(each.partition("=")[::2] for each in hold)
        if "" in pairs.values():
            raise UserError(
                "a mechanism without what holds it", where="--hold", what_to_do="NAME=FILE or NAME=KEY=VALUE"
            )
        source, against = held_plan(source, arm, pairs)
    text = plan_text(factorial_plan(source, arm, against or source.baseline))
    if str(output) == "-":
        typer.echo(text, nl=False)
        return
    if not force and (output.exists() or output.is_symlink()):
        raise UserError("there is such a file already", where=str(output), what_to_do="choose another, or use --force")
    if output.absolute().parent != loaded.folder:
        raise UserError(
            "files that a plan names are beside it", where=str(output), what_to_do=f"write into {loaded.folder}"
        )
    with whole_file(output) as out:
        out.write(text)
    said = f"Wrote {output}. Next: txop run {output}, then txop why ARCHIVE"
    console.stderr().print(console.safe_text(said), soft_wrap=True)


def schema() -> None:
    """Print the JSON Schema of plans (draft 2020-12), for editors."""
    from txop.plan.schema import schema as document

    console.write_json(document())


def show(
    plan: PlanFile,
    arm: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this arm; may be repeated.")] = None,
    json: JsonFlag = False,
) -> None:
    """Show the steps of each arm, in order, without touching anything."""
    from txop.arms.arm_loader import shown_steps
    from txop.arms.bring_up import shown_bring_up
    from txop.cli.plan_problems import read_plan

    loaded, _ = read_plan(plan, files=False)
    names = [each.name for each in loaded.plan.arm]
    for name in arm or ():
        if name not in names:
            raise UserError(f'unknown arm "{name}"', where=str(plan), what_to_do=did_you_mean(name, names))
    rows = {each.name: shown_steps(loaded.plan, each, loaded.folder) for each in loaded.plan.arm}
    link = [{"phase": phase, "command": command} for phase, command in shown_bring_up(loaded.plan)]
    chosen = [name for name in names if not arm or name in arm]
    if json:
        arms = [{"arm": name, "steps": rows[name]} for name in chosen]
        document = {"format": "txop-plan-steps", "version": FORMAT_VERSION, "plan": str(plan), "arms": arms}
        console.write_json({**document, "bring_up": link})
        return
    out = console.stdout()
    for name in chosen:
        out.print(console.safe_text(f"{loaded.plan.find_arm(name).shown} ({name})", "bold"))
        phase = ""
        for row in rows[name]:
            if row["phase"] != phase:
                phase = row["phase"]
                out.print(console.safe_text(f"  {phase}", "cyan"))
            for command in row["commands"]:
                text = console.safe_text(f"    {row['target']}: ", "dim").append_text(console.safe_text(command))
                out.print(text, soft_wrap=True)
        if not rows[name]:
            out.print(console.safe_text("    nothing to load", "dim"))
        out.print()
    if link:
        out.print(console.safe_text("After each load, on the device under test", "bold"))
        for entry in link:
            out.print(console.safe_text(f"    {entry['phase']}: {entry['command']}"), soft_wrap=True)


def _as_json(problems: Any) -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [asdict(problem) for problem in problems]


def _print_templates(as_json: bool) -> None:
    from rich.table import Table

    from txop.plan.templates import GROUPS, templates

    if as_json:
        found = [{"name": template.name, "title": template.title} for template in templates().values()]
        console.write_json({"format": "txop-plan-templates", "version": FORMAT_VERSION, "templates": found})
        return
    known = templates()
    out = console.stdout()
    widest = max(map(len, known))
    for number, group in enumerate(GROUPS.values()):
        if number:
            out.print()
        out.print(console.safe_text(group, "bold"))
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(min_width=widest + 2, no_wrap=True)
        table.add_column()
        for template in known.values():
            if template.group == group:
                table.add_row(console.safe_text(f"  {template.name}"), console.safe_text(template.title))
        out.print(table)
