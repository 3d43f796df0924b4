"""Whether a report could find events in the throughput of a direction. Where it could not, no event means nothing."""

from __future__ import annotations

from txop.air.model import Steadiness


def not_sought(flow: Steadiness) -> str | None:
    """Why no events were looked for; ``None`` where they were."""
    if flow.events_sought or flow.events:
        return None
    return "this report does not say whether they were looked for" if flow.not_sought is None else flow.not_sought.text
