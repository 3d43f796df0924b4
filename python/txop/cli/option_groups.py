"""Options that several commands have in common, as dataclasses: each option is defined once, as a field."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command as typer takes it: each parameter that is a dataclass gives way to the dataclass's fields, which are
    options; what they were given makes it.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 1
    >>> def draw(name: str, size: Size) -> None:
    ...     print(name, size.width)
    >>> inspect.signature(grouped(draw))
    <Signature (*, name: str, width: int = 1)>
    >>> grouped(draw)(name="x", width=3)
    x 3
    """
    groups: dict[str, type[Any]] = {}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if not is_dataclass(group) or not isinstance(group, type):
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = group
        hints = get_type_hints(group, include_extras=True)
        for field in fields(group):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            flat.append(
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
                )
            )

    @functools.wraps(command)
    def flattened(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**made, **given)

    flattened.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined] # what inspect reads first
    flattened.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return flattened
