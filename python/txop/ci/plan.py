"""The plan of a comparison of a series with its base: the user's plan with two arms."""

from __future__ import annotations

from pathlib import Path

from txop.ci.sources import Sources
from txop.ci.verdict import BASE, SERIES
from txop.core.errors import UserError
from txop.core.nearest import did_you_mean
from txop.plan.arm import Arm, Patch
from txop.plan.guest import GuestVariant
from txop.plan.load import LoadedPlan, parse_plan
from txop.plan.write import plan_text
from txop.plan_check.exact_guest import exact_guest
from txop.plan_check.figures import primary_of
from txop.plan_check.files import GUEST_FILES
from txop.plan_check.hazards import fewest_blocks
from txop.present.format import plural


def two_arms(loaded: LoadedPlan, found: Sources, arm: str | None, blocks: int | None) -> LoadedPlan:
    """The plan to carry out; both arms are built as the user's baseline, or the arm that was asked for.

    Raises:
        UserError: It has no such arm, or is not one of exact guests.
    """
    plan = loaded.plan
    spec = exact_guest(plan)
    name = arm or plan.baseline
    names = [each.name for each in plan.arm]
    if name not in names:
        raise UserError(f"has no arm {name}", where=str(loaded.path), what_to_do=did_you_mean(name, names))
    user = plan.find_arm(name)
    if found.series_source is None and spec.varied(user.guest).reverse:
        raise UserError(f"the arm {name} takes its patches back (reverse), and a series is applied")
    own = [
        patch if patch.file is None else patch.model_copy(update={"file": str(loaded.file(patch.file))})
        for patch in user.patches
    ]
    listed = [_patch(n, title, file) for n, (title, file) in enumerate(_listed(found), 1)]
    arms = [
        Arm(name=BASE, title=found.base[:200], patches=own, guest=_variant(loaded, user, found.base_source)),
        Arm(
            name=SERIES, title=found.title[:200], patches=[*own, *listed],
            guest=_variant(loaded, user, found.series_source),
        ),
    ]  # fmt: skip
    design = {key: getattr(plan.design, key) for key in plan.design.model_fields_set} | {"baseline": BASE}
    if blocks is not None:
        design["blocks"] = blocks
    else:
        _check_blocks(loaded)
    files = {key: str(loaded.file(value)) for key in GUEST_FILES if (value := getattr(spec, key))}
    whole = plan.model_copy(
        update={
            "arm": arms,
            "title": f"{found.title[:150]}, against {found.base[:150]}",
            "design": type(plan.design)(**design),
            "guest": spec.model_copy(update=files),
        }
    )
    return parse_plan(plan_text(whole).encode(), Path(loaded.folder) / "plan.toml")


def _check_blocks(loaded: LoadedPlan) -> None:
    """Whoever asks for a verdict gets one: so few blocks as to make every series inconclusive are asked for by name."""
    design, figures = loaded.plan.design, len(primary_of(loaded.plan))
    fewest = fewest_blocks(design.confidence, max(1, figures))
    if design.blocks < fewest:
        raise UserError(
            f"{plural(design.blocks, 'block')} can give no verdict: at {100 * design.confidence:g} % confidence it "
            f"takes {fewest} to judge {plural(figures, 'figure')}",
            where=f"{loaded.path}, design.blocks",
            what_to_do=f"set blocks to {fewest}; --blocks {design.blocks} builds and runs all the same",
        )


def _listed(found: Sources) -> list[tuple[str, str | None]]:
    """Title and file of each patch; the files only where they are still to be applied."""
    applied = found.series_source is not None
    return [(patch.title, None if applied else str(patch.file)) for patch in found.patches]


def _patch(number: int, title: str, file: str | None) -> Patch:
    given = {"number": number, "description": title[:200]}
    return Patch(**given) if file is None else Patch(**given, file=file)  # type: ignore[arg-type]


def _variant(loaded: LoadedPlan, user: Arm, source: Path | None) -> GuestVariant:
    given = {key: getattr(user.guest, key) for key in user.guest.model_fields_set} if user.guest is not None else {}
    for key in GUEST_FILES:
        if given.get(key):
            given[key] = str(loaded.file(given[key]))
    if source is not None:
        given["source"] = str(source)
    return GuestVariant(**given)
