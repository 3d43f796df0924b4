"""How much was measured, when and on what, in a few words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.core.origin import Origin
from txop.measure.traffic.flows import flows_of
from txop.present.format import plural
from txop.report.facts import flattened

_TARGET_FACTS = ("hardware", "machine", "kernel", "distribution", "processor")


@dataclass(frozen=True)
class TargetLine:
    """A target in a line; empty where nothing is known."""

    name: str
    kind: str
    what: str
    driver: str
    """With its firmware."""


def targets(archive: Archive) -> Iterator[TargetLine]:
    """The targets of a campaign as they were when they were last connected."""
    for name, target in archive.plan.target.items():
        facts = dict(flattened(archive.provenance.get(name, {})))
        driver = facts.get("interface.driver")
        firmware = facts.get("interface.ethtool firmware-version") or facts.get("firmware")
        yield TargetLine(
            name,
            target.kind,
            ", ".join(facts[key] for key in _TARGET_FACTS if key in facts),
            ", ".join(part for part in (driver, firmware) if part),
        )


def congestion_control(archive: Archive, test: str) -> str:
    """The TCP congestion controls of the senders of a test, as the plan or else the senders' kernels have them; empty
    where it sends no TCP or they are not known."""
    found = next((each for each in archive.plan.test if each.name == test), None)
    if found is None:
        return ""
    names: dict[str, None] = {}
    for flow in flows_of(found, archive.plan.warm_up_s(found)):
        if flow.protocol == "tcp":
            sender = "dut" if flow.direction == "tx" else "peer"
            kernel = dict(flattened(archive.provenance.get(sender, {}))).get("tcp_congestion", "")
            names[flow.congestion or kernel] = None
    return ", ".join(name for name in names if name)


def meta(result: CompareResult) -> str:
    """Blocks, runs, arms, tests, state, time."""
    return " · ".join([*how_much(result), f"txop {result.txop}"])


def how_much(result: CompareResult) -> list[str]:
    """Blocks, runs, arms, tests, state, time: a few words each."""
    design = result.design
    runs = sum(arm.valid + arm.void for arm in result.arms)
    void = sum(arm.void for arm in result.arms)
    parts = [
        f"{design.blocks_complete} of {plural(design.blocks_planned, 'block')} complete",
        plural(runs, "run") + (f" ({void} void)" if void else ""),
        f"{plural(len(result.arms), 'arm')} × {plural(len(result.tests), 'test')}",
        design.state,
    ]
    if design.repeats:
        parts.insert(1, f"{plural(len(design.repeats), 'block')} repeated")
    if result.origin is Origin.IMPORTED:
        del parts[0]
    if span := _span(design.started_at, design.ended_at):
        parts.append(span)
    return parts


def _span(start: str | None, end: str | None) -> str:
    if start is None or end is None:
        return ""
    try:
        first, last = datetime.fromisoformat(start), datetime.fromisoformat(end)
        minutes = (last - first).total_seconds() / 60
    except (ValueError, TypeError, OverflowError):
        return ""
    took = f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
    return f"{first:%Y-%m-%d %H:%M} UTC, {took}"
