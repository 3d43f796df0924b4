"""The emulated link's own account of a run: whether this machine kept up with it."""

from __future__ import annotations

import json

from txop.measure.instrument import GateFinding, PostRunInstrument, Reading, RunFacts

STATUS_FILE = "link.json"
"""Written when the link is stopped; format ``txop-emulate``."""

LATE_US = 20_000.0
"""A link with packets that were handed over later than this, at the 99th percentile, was not the link of the plan."""
WORTH_SAYING_US = 2_000.0


class EmulatedLink(PostRunInstrument):
    """Reads the account; records nothing itself."""

    name = "emulated link"

    def read(self, facts: RunFacts) -> Reading:
        """The gate ``emulation-late``: void when this machine was too busy to emulate."""
        reading = Reading()
        try:
            status = json.loads((facts.folder / STATUS_FILE).read_bytes())
            late_us = float(status["timing"]["late_release"]["p99_us"] or 0.0)
        except (OSError, ValueError, KeyError, TypeError):
            reading.gates.append(GateFinding("emulation-late", "not available", f"no {STATUS_FILE}"))
            return reading
        reading.files[STATUS_FILE] = "the emulated link's own account"
        words = f"one packet in a hundred left the link {late_us / 1e3:.1f} ms late or more: this machine was too busy"
        if late_us > LATE_US:
            reading.gates.append(GateFinding("emulation-late", "void", words))
        else:
            reading.gates.append(GateFinding("emulation-late", "ok"))
            if late_us > WORTH_SAYING_US:
                reading.warnings.append(words)
        return reading
