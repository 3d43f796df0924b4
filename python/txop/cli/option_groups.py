"""Options that several commands have in common, as dataclasses: each option is defined once, as a field."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

T = TypeVar("T")


def grouped(command: Callable[..., T]) -> Callable[..., T]:
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
    def flattened(**given: Any) -> T:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(**made, **given)

    flattened.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined] # what inspect reads first
    flattened.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return flattened


def given(*groups: Any) -> list[str]:
    """The options of groups that have another value than their default, as they are written.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 1
    ...     line_height: int = 1
    >>> given(Size(), Size(line_height=2))
    ['--line-height']
    """
    return [name for name, _ in _changed(groups)]


def as_written(*groups: Any) -> list[str]:
    """The same with their values: the words of a command line.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 1
    ...     marks: list[str] | None = None
    >>> as_written(Size(width=2, marks=["a", "b"]))
    ['--width', '2', '--marks', 'a', '--marks', 'b']
    """
    words = []
    for name, value in _changed(groups):
        for each in value if isinstance(value, list | tuple) else (value,):
            words += [name] if each is True else [name, str(each)]
    return words


def _changed(groups: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Name and value of each option that has another value than its default."""
    for group in groups:
        hints = get_type_hints(type(group), include_extras=True)
        for field in fields(group):
            value = getattr(group, field.name)
            if value != field.default:
                yield _written(hints[field.name]) or f"--{field.name.replace('_', '-')}", value


def _written(hint: object) -> str | None:
    """The first name that an option is declared with; in an annotation typer takes it for the default."""
    for option in getattr(hint, "__metadata__", ()):
        for name in (option.default, *(option.param_decls or ())):
            if isinstance(name, str) and name.startswith("--"):
                return name
    return None
