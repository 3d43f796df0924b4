"""Warnings about plans with weak answers. None of them keeps a plan from being run."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Iterator

from txop.plan.arm import Arm
from txop.plan.guest import GuestSpec
from txop.plan.guest_access_point import QueueSpec
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path, comments
from txop.plan.model import Plan
from txop.plan_check.changes import comparisons
from txop.plan_check.count import count
from txop.plan_check.figures import primary_of
from txop.plan_check.link import links_of
from txop.stats.limits import EXACT_PAIRS

Found = Iterator[tuple[Path, str, str | None]]
"""Key, what to know, what to do."""

SHORT_WINDOW_S = 5.0
MANY_PRIMARY = 5
MARK = "CHANGE"
"""The first word of a comment, in templates, beside what has to be set."""
MOST_LINES = 20


WITHOUT_AQL = ("ath9k",)
"""Drivers that do not announce airtime queue limits (Linux NL80211_EXT_FEATURE_AQL)."""


def hazards(loaded: LoadedPlan) -> Found:
    """Every hazard of a plan."""
    for part in (_marks, _design, _tests, _targets, _arms, _links, _guests):
        yield from part(loaded)


def fewest_blocks(confidence: float, comparisons: int = 1) -> int:
    """Blocks that can show anything at all: with fewer, even an arm that wins in every block proves nothing, since that
    happens by chance with probability 2 / 2^n. ``comparisons``: how many are judged together (Holm), and the clearest
    of them has to be that much clearer.

    >>> fewest_blocks(0.95), fewest_blocks(0.95, 20)
    (6, 10)
    """
    return math.ceil(round(math.log2(2 * comparisons / (1 - confidence)), 9))


def _marks(loaded: LoadedPlan) -> Found:
    """Lines of a template that its user still has to look at."""
    marked = [line for line, comment in comments(loaded.text) if re.match(rf"{MARK}\b", comment)]
    if not marked:
        return
    lines = ", ".join(map(str, marked[:MOST_LINES])) + (", ..." if len(marked) > MOST_LINES else "")
    said = f"line {lines} is still marked {MARK}" if len(marked) == 1 else f"lines {lines} are still marked {MARK}"
    yield (), said, f"set the value, then delete the word {MARK}"


def _design(loaded: LoadedPlan) -> Found:
    design = loaded.plan.design
    fewest = fewest_blocks(design.confidence)
    if len(loaded.plan.arm) > 1 and design.blocks < fewest:
        percent = f"{100 * design.confidence:g} %"
        once = "one block shows what is possible, not what is so" if design.blocks == 1 else "no verdict is possible"
        said = f"{once}: at {percent} confidence it takes {fewest} blocks or more"
        yield ("design", "blocks"), said, f"set blocks to {max(10, fewest)}"
    primary = primary_of(loaded.plan)
    judged = max(1, comparisons(loaded.plan, len(primary)))
    together = fewest_blocks(design.confidence, judged)
    if fewest <= design.blocks < together and len(loaded.plan.arm) > 1:
        direct = judged - max(1, len(primary)) * (len(loaded.plan.arm) - 1)
        of_pairs = f" ({direct} of them of arms that differ by one change)" if direct else ""
        said = f"{judged} comparisons are judged together{of_pairs}, which can give a verdict from {together} blocks on"
        yield ("design", "blocks"), said, f"set blocks to {together}, or name fewer primary figures"
    if loaded.plan.design.blocks > EXACT_PAIRS:
        said = f"beyond {EXACT_PAIRS} pairs p-values and intervals are those of the normal approximation"
        yield ("design", "blocks"), said, None
    if not primary:
        yield ("design", "primary"), "there is no figure to judge", "give a command's figures a direction"
    if len(primary) > MANY_PRIMARY and len(loaded.plan.arm) > 1:
        said = f"{len(primary)} figures are judged together, so each one has to be the clearer (Holm)"
        yield ("design", "primary"), said, "name the few that the decision hangs on"
    if not any(math.isclose(design.confidence, known) for known in (0.9, 0.95, 0.99)):
        yield ("design", "confidence"), "the smallest detectable effect is known for 0.90, 0.95 and 0.99 only", None
    for key in ("cpu_s_per_gbit", "idle_cpu_percent", "idle_context_switches_per_s"):
        if design.idle_s == 0 and any(name.endswith(f".{key}") for name in primary):
            yield ("design", "idle_s"), f"without an idle phase there is no {key}", "set idle_s to 5"
    counted = count(loaded.plan)
    if counted.cut_by_budget and counted.blocks_in_budget is not None:
        said = f"the campaign will probably end after {counted.blocks_in_budget} of {design.blocks} blocks"
        yield ("design", "time_budget_s"), said, None


def _tests(loaded: LoadedPlan) -> Found:
    for index, test in enumerate(loaded.plan.test):
        if not test.steady_load:
            continue
        warm_up_s = loaded.plan.warm_up_s(test)
        if test.duration_s < SHORT_WINDOW_S:
            said = f"{test.duration_s:g} s are short: rate control and TCP take seconds to settle"
            yield ("test", index, "duration_s"), said, None
        whole_s = max(1, round(test.duration_s))
        if test.whole_seconds and whole_s != test.duration_s:
            said = f"iperf3 measures whole seconds: {whole_s} s instead of {test.duration_s:g} s"
            yield ("test", index, "duration_s"), said, f"set duration_s to {whole_s}"
        if warm_up_s > test.duration_s:
            said = f"the warm-up ({warm_up_s:g} s) is longer than the measured window ({test.duration_s:g} s)"
            yield ("test", index, "duration_s"), said, None
        if warm_up_s == 0 and test.kind != "latency":
            yield (
                ("test", index, "warm_up_s"),
                "without a warm-up, slow start and rate adaptation are measured too",
                None,
            )


_EXAMPLE_NETWORKS = tuple(
    ipaddress.ip_network(text) for text in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
)
"""Addresses for documentation: RFC 5737, RFC 3849."""


def _ready(plan: Plan) -> Found:
    """A ping to an address that no machine of the plan has is a typing mistake, most often."""
    words = plan.bring_up.ready or []
    if not words or words[0].rpartition("/")[2] not in ("ping", "ping6"):
        return
    texts = [text for target in plan.target.values() for text in (target.address, getattr(target, "host", None))]
    known = {ip for text in texts if (ip := _ip(text)) is not None}
    asked = _ip(words[-1])
    if asked is not None and known and asked not in known:
        said = f"{asked} is not the address of any target here"
        yield ("bring_up", "ready"), said, f"the targets have {', '.join(sorted(map(str, known)))}"


def _ip(text: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text or "")
    except ValueError:
        return None


def _targets(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    dut, peer = plan.target.get("dut"), plan.target.get("peer")
    if dut is not None and peer is not None and dut.kind == peer.kind:
        same = dut.kind == "local"
        if dut.kind == "namespace" and peer.kind == "namespace":
            same = dut.name == peer.name
        if dut.kind == "ssh" and peer.kind == "ssh":
            same = (dut.host, dut.port, dut.namespace) == (peer.host, peer.port, peer.namespace)
        if same:
            said = "is the machine of the device under test: its own traffic never leaves it"
            yield ("target", "peer"), said, "put one of them into a network namespace, or use another machine"
    used = {"dut", "peer", "sniffer"}
    for test in plan.test:
        used.update(test.targets_used)
    used |= {arm.qdisc.target for arm in plan.arm if arm.qdisc is not None}
    used |= {name for arm in plan.arm for name in arm.on}
    for name, target in plan.target.items():
        if name not in used:
            yield ("target", name), "no test uses it", None
        for key, text in (("address", target.address), ("host", getattr(target, "host", None))):
            if text is not None and _is_example(text):
                yield ("target", name, key), f"{text} is an address for examples", "put in your own"
    yield from _ready(plan)
    for key in ("ready", "commands", "down"):
        words = getattr(plan.bring_up, key, None) or []
        rows = [words] if key == "ready" else words
        found = [word for row in rows for word in row if _is_example(word)]
        if found:
            yield ("bring_up", key), f"{found[0]} is an address for examples", "put in your own"
    gates = [name for name in ("association", "channel", "route") if getattr(plan.gates, name)]
    if dut is not None and dut.interface is None and dut.kind not in ("emulated", "guest") and gates:
        said = f"is missing, so these gates cannot be checked: {', '.join(gates)}"
        yield ("target", "dut", "interface"), said, "name the interface under test"


def _is_example(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return any(address in network for network in _EXAMPLE_NETWORKS)


def _arms(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    if len(plan.arm) == 1:
        yield ("arm", 0), "there is one arm, so nothing is compared", None
    described = {"name", "title", "description", "link"}
    contents: dict[str, str] = {}
    for index, arm in enumerate(plan.arm):
        content = arm.model_dump_json(exclude=described)
        if content in contents and not plan.environment.get("aa"):
            said = f'does the same as "{contents[content]}": whatever differs between them is noise'
            yield ("arm", index), said, None
        contents.setdefault(content, arm.name)
        if _is_free(arm) and not arm.verify.commands and not _verifiable(arm):
            said = "nothing can verify that it is in place"
            yield ("arm", index), said, "add verify.commands: each must exit with 0 when it is"


def _links(loaded: LoadedPlan) -> Found:
    links = links_of(loaded) if loaded.plan.collect.usbmon else []
    if links and not any(link.has_usb for link in links):
        said = "there is no USB bus in this link, so there is no capture of one"
        yield ("collect", "usbmon"), said, "give a radio a table usb, or take it out"


def _guests(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    if plan.guest is None:
        return
    yield from _modems(plan)
    yield from _airtime_limits(plan)
    if plan.guest.mode == "fast" and (plan.guest.parallel or 1) > 1:
        said = "in fast mode guests at once are in each other's figures"
        yield ("guest", "parallel"), said, 'take it out, or use mode = "exact"'


def _airtime_limits(plan: Plan) -> Found:
    """Airtime queue limits of a driver that does not announce them."""
    for index, arm in enumerate(plan.arm):
        spec = (plan.guest or GuestSpec()).varied(arm.guest)
        queues = spec.queues or QueueSpec()
        limits = (queues.aql_enable, queues.aql_txq_limit_us, queues.aql_threshold_us)
        of_stations = any(station.aql_limit_us is not None for station in spec.stations or ())
        if spec.driver in WITHOUT_AQL and (of_stations or any(limit is not None for limit in limits)):
            own = arm.guest is not None and "queues" in arm.guest.model_fields_set
            place: Path = ("arm", index, "guest", "queues") if own else ("guest", "queues")
            said = f"{spec.driver} does not announce airtime queue limits: they have no effect"
            yield place, said, "take them out; burst_ms makes its aggregates shorter"


def _modems(plan: Plan) -> Found:
    """Arms with a host that fills transfers beyond what their modem takes."""
    for index, arm in enumerate(plan.arm):
        spec = (plan.guest or GuestSpec()).varied(arm.guest)
        modem = spec.modem if spec.device == "qmi-modem" else None
        limits = modem.tx_aggregation if modem is not None else None
        if modem is None or limits is None or not modem.is_negotiated:
            continue
        if limits.datagrams > modem.uplink_datagrams or limits.bytes > modem.uplink_bytes:
            said = (
                f"transfers of up to {limits.datagrams:,} datagrams and {limits.bytes:,} bytes go past what the modem "
                f"takes ({modem.uplink_datagrams:,} and {modem.uplink_bytes:,}): the first larger one crashes it"
            )
            own = arm.guest is not None and "modem" in arm.guest.model_fields_set
            place: Path = ("arm", index, "guest", "modem") if own else ("guest", "modem")
            yield place, said, "keep tx_aggregation to the limits, unless the crash is what you look for"


def _is_free(arm: Arm) -> bool:
    return bool(arm.load) and not (arm.has_module or arm.qdisc or arm.emulated is not None)


def _verifiable(arm: Arm) -> bool:
    verify = arm.verify
    return any((verify.srcversion, verify.build_id, verify.version, verify.driver, verify.parameters))
