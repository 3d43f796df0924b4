"""The name of a scenario, as ``txop simulate`` and ``txop emulate`` take it."""

from __future__ import annotations

from pathlib import Path

from txop.core.errors import UserError
from txop.core.nearest import nearest


def check_name(name: str) -> None:
    """Say what is near, when ``name`` is neither a file nor a shipped scenario."""
    from txop.simulate.shipped import names

    if "/" in name or name.endswith(".toml") or name in (known := names()) or Path(name).exists():
        return
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else "`txop simulate --list` shows those that come with txop"
    raise UserError("neither a file nor a scenario that comes with txop", where=name, what_to_do=hint)
