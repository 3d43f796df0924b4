"""The overview of a plan that ``txop plan check`` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

from rich.console import Console
from rich.table import Table

from txop.cli import console
from txop.compare.select import metric_of
from txop.plan import guest_time
from txop.plan.arm import Arm, Patch
from txop.plan.devices import SDIO_CARDS
from txop.plan.guest import GuestSpec
from txop.plan.guest_access_point import GuestStation, QueueSpec
from txop.plan.guest_function import FUNCTION_TABLES, ModemSpec
from txop.plan.load import LoadedPlan
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.plan.noise import Noise, recall, smallest_effect
from txop.plan_check.changes import comparisons
from txop.plan_check.count import RunCount, count
from txop.plan_check.figures import primary_of
from txop.present.format import plural


@dataclass(frozen=True)
class Overview:
    """A plan in figures."""

    name: str
    plan: Plan
    count: RunCount
    document: dict[str, Any]
    """For ``--json``."""


def overview(loaded: LoadedPlan) -> Overview:
    """What a plan amounts to, with what is known of its testbed's noise."""
    plan = loaded.plan
    counted = count(plan, loaded.folder)
    noise = recall(plan)
    primary = primary_of(plan)
    family = max(1, comparisons(plan, len(primary)))
    document = {
        "title": plan.title,
        "origin": plan.origin.value,
        "runs": asdict(counted),
        "baseline": plan.baseline,
        "arms": [{"name": arm.name, "title": arm.shown, "loads": loads_what(arm, plan.guest)} for arm in plan.arm],
        "tests": [
            {"name": test.name, "kind": test.kind, "duration_s": test.duration_s, "warm_up_s": plan.warm_up_s(test)}
            for test in plan.test
        ],
        "primary": [_primary(plan, name, noise, family) for name in primary],
    }
    return Overview(str(loaded.path), plan, counted, document)


def _primary(plan: Plan, name: str, noise: dict[str, Noise], family: int) -> dict[str, Any]:
    test_name, _, key = name.rpartition(".")
    test = next((test for test in plan.test if test.name == test_name), None)
    known = noise.get(name)
    row: dict[str, Any] = {"figure": name, "margin": None, "unit": None, "smallest_effect": None, "noise": None}
    if test is None:
        return row
    metric = metric_of(plan, test, key)
    row |= {"margin": metric.margin, "unit": "%" if metric.scale == "ratio" else metric.unit}
    if known is not None:
        effect = smallest_effect(
            known, metric, blocks=plan.design.blocks, confidence=plan.design.confidence, family=family
        )
        row["smallest_effect"] = effect if effect is not None and math.isfinite(effect) else None
        row["noise"] = asdict(known)
    return row


def loads_what(arm: Arm, guest: GuestSpec | None = None) -> str:
    """What an arm puts in place, in a few words. ``guest``: of the plan.

    >>> loads_what(Arm(name="a"), GuestSpec(parameters={"debug": True}))
    'rtl8192cu, kernel 6.12, debug=1'
    >>> loads_what(Arm(name="a", patches=[{"number": 10, "file": "txop:rtl8xxxu/10-interrupts.toml"}]), GuestSpec())
    'rtl8192cu, kernel 6.12, edited by 10-interrupts'
    >>> loads_what(Arm(name="a", patches=[{"number": 10, "file": "0010.patch"}]), GuestSpec(reverse=True))
    'rtl8192cu, kernel 6.12, without patches 10'
    >>> nine = Arm(name="a", patches=[{"file": "txop:rmnet/pacing-shift-9.toml", "module": "rmnet"}])
    >>> loads_what(nine, GuestSpec(device="qmi-modem", driver="qmi_wwan", modem=ModemSpec(mux="rmnet"))).split(", ")[2]
    'rmnet edited by pacing-shift-9'
    >>> modem = ModemSpec(mux="rmnet", traffic="lan", ack_every_segment=True)
    >>> loads_what(Arm(name="a"), GuestSpec(device="qmi-modem", modem=modem)).partition("each, ")[2]
    'traffic of a client on a LAN behind it, every segment acknowledged'
    >>> loads_what(Arm(name="a", emulated={"wlan": {"dut": {"mcs": 7}, "ap": {"rts": True}}, "base": "ap-fifo"}))
    'link with its own wlan.dut, wlan.ap, base'
    """
    parts = [_in_guest(arm, guest.varied(arm.guest))] if guest is not None else []
    if arm.boot is not None:
        parts.append(f"kernel {arm.boot.release}")
    for spec in arm.loads:
        parts.append(spec.file or spec.name or "")
        parts += [f"{key}={value}" for key, value in spec.parameters.items()]
    if arm.build is not None:
        numbers = [str(patch.number) if patch.number is not None else "?" for patch in arm.patches if patch.file]
        series = f" with patches {', '.join(numbers)}" if numbers else ""
        parts.append(f"{', '.join(arm.build.files)} built from {arm.build.source}{series}")
        parts += [f"{key}={value}" for key, value in arm.build.parameters.items()]
    if arm.firmware is not None:
        parts.append(f"firmware {arm.firmware.name}")
    if arm.qdisc is not None:
        parts.append(f"qdisc {' '.join(arm.qdisc.discipline)}")
    if arm.emulated is not None:
        own = [name for key, value in arm.emulated.items() for name in _tables(key, value)]
        parts.append(f"link with its own {', '.join(own)}" if own else "link as it is")
    if arm.load:
        parts.append(plural(len(arm.load), "command"))
    parts += [f"{plural(len(on.load), 'command')} on {name}" for name, on in arm.on.items() if on.load]
    return "; ".join(parts) or "nothing: the target as it is"


def _tables(key: str, value: Any) -> list[str]:
    """The tables in a table of a link, or the key itself."""
    return [f"{key}.{inner}" for inner in value] if isinstance(value, dict) and value else [key]


def _in_guest(arm: Arm, spec: GuestSpec) -> str:
    """What a guest of the arm has. An edit script may take a patch out as well as put it in, so it is named as its file
    is; only of patches is it known which way they go."""
    origin = spec.source or spec.module_file
    words = [f"{spec.builds} from {origin}" if origin is not None else spec.builds]
    if spec.builds != spec.driver:
        words.insert(0, spec.driver)
    words.append(f"kernel {spec.kernel}")
    words += _patched(arm.patches_of(spec.builds, spec.builds), spec)
    if (beside := spec.built_beside) is not None:
        words += [f"{beside} {said}" for said in _patched(arm.patches_of(beside, spec.builds), spec)]
    words += [f"{key}={int(value) if isinstance(value, bool) else value}" for key, value in spec.parameters.items()]
    words += [f"{name} assumed as {value}" for name, value in spec.assume.items()]
    words += [f"faults {spec.faults}"] if spec.faults is not None else []
    if spec.device == "qmi-modem":
        words += _modem(spec.modem or ModemSpec())
    blocks = spec.sdio if spec.device in SDIO_CARDS else {"ncm": spec.ncm, "mbim": spec.mbim}.get(spec.device)
    if blocks is not None:
        words += [f"{key} {getattr(blocks, key)}" for key in sorted(blocks.model_fields_set)]
    words += _queues(spec.queues) if spec.queues is not None else []
    words += [_station(each) for each in spec.stations or []]
    functions = set(FUNCTION_TABLES.values())
    elsewhere = {
        "driver",
        "kernel",
        "source",
        "module_file",
        "parameters",
        "faults",
        "reverse",
        "queues",
        "stations",
        "assume",
        "sdio",
    }
    described = elsewhere | functions
    varied = arm.guest.model_fields_set - described if arm.guest is not None else set()
    return ", ".join([*words, *(f"{key} {getattr(spec, key)}" for key in sorted(varied))])


def _patched(patches: Sequence[Patch], spec: GuestSpec) -> list[str]:
    files = [(patch, PurePath(patch.file)) for patch in patches if patch.file is not None]
    scripts = [file.stem for _, file in files if file.suffix == ".toml"]
    numbers = [str(patch.number or file.name) for patch, file in files if file.suffix != ".toml"]
    words = [f"{'without' if spec.reverse else 'with'} patches {', '.join(numbers)}"] if numbers else []
    return [*words, f"edited by {', '.join(scripts)}"] if scripts else words


def _station(station: GuestStation) -> str:
    up = f" down and {station.signal_up_dbm} up" if station.signal_up_dbm is not None else ""
    weight = f", airtime weight {station.airtime_weight}" if station.airtime_weight is not None else ""
    limit = ", AQL {} to {} µs".format(*station.aql_limit_us) if station.aql_limit_us is not None else ""
    return f"{station.name} at {station.signal_dbm} dBm{up}{weight}{limit}"


def _queues(queues: QueueSpec) -> list[str]:
    """What distinguishes the queues of two access points."""
    given = {key: getattr(queues, key) for key in QueueSpec.model_fields if key != "debugfs"}
    words = ["rebuilt with debugfs"] if queues.needs_debugfs else []
    return [*words, *(f"{key} {value}" for key, value in given.items() if value is not None)]


def _modem(modem: ModemSpec) -> list[str]:
    """What distinguishes two modems."""
    words = {"none": "raw IP", "qmimux": "QMAP of qmi_wwan", "rmnet": "QMAP of rmnet"}
    aggregation = modem.tx_aggregation
    most = "1 datagram" if aggregation is None else f"{aggregation.datagrams} datagrams or {aggregation.bytes} B"
    others: list[str] = []
    if aggregation is not None and modem.mux == "rmnet":
        others.append(f"the first waits for {aggregation.hold_us} us")
    others += [modem.queue_discipline] if modem.queue_discipline else []
    if modem.is_negotiated and aggregation is not None:
        others.append(f"it takes {modem.uplink_datagrams} datagrams and {modem.uplink_bytes} B at most")
    others += [f"queue of {modem.queue_packets}"] if modem.queue_packets is not None else []
    if modem.downlink_least_mbit_s is not None:
        others.append(f"a downlink that wanders from {modem.downlink_least_mbit_s:g} Mbit/s up")
    others += ["traffic of a client on a LAN behind it"] if modem.traffic == "lan" else []
    others += ["every segment acknowledged"] if modem.ack_every_segment else []
    return [words[modem.mux], f"{most} per URB", f"{modem.transfer_cost_us} us for each", *others]


def print_overview(out: Console, facts: Overview) -> None:
    """The tables of ``txop plan check``."""
    plan, counted = facts.plan, facts.count
    out.print(console.safe_text(plan.title, "bold"), soft_wrap=True)
    parts = (plural(counted.blocks, "block"), plural(counted.arms, "arm"), plural(counted.tests, "test"))
    runs = f"{plural(counted.runs, 'run')}: {' × '.join(parts)}"
    out.print(console.safe_text(f"{runs}; figures are {plan.origin.value}"))
    out.print(console.safe_text(_time(counted)), soft_wrap=True)
    if plan.guest is not None:
        out.print(console.safe_text(_of_guests(plan)), soft_wrap=True)
    out.print()
    table = Table("arm", "title", "what is loaded", box=None, header_style="bold")
    for arm in plan.arm:
        name = f"{arm.name} (baseline)" if arm.name == plan.baseline else arm.name
        table.add_row(*(console.safe_text(text) for text in (name, arm.title, loads_what(arm, plan.guest))))
    out.print(table)
    out.print()
    table = Table("test", "kind", "window", "warm-up", "latency", box=None, header_style="bold")
    for test in plan.test:
        table.add_row(*(console.safe_text(text) for text in _test_row(plan, test)))
    out.print(table)
    out.print()
    _print_primary(out, facts)


def _test_row(plan: Plan, test: Test) -> tuple[str, ...]:
    return (
        test.name,
        test.kind,
        test.length if plan.guest_trial(test) else duration(test.duration_s),
        "–" if plan.guest_trial(test) else duration(plan.warm_up_s(test)),
        "–" if test.latency == "none" else test.latency,
    )


def _print_primary(out: Console, facts: Overview) -> None:
    rows = facts.document["primary"]
    table = Table("primary", "margin", "smallest effect it can see", "from", box=None, header_style="bold")
    for row in rows:
        unit = f" {row['unit']}" if row["unit"] else ""
        margin = "–" if row["margin"] is None else f"{row['margin']:g}{unit}"
        noise, effect, source = row["noise"], "–", "no noise stored for it"
        if noise is not None:
            kind = "A/A" if noise["aa"] else "campaign"
            several = f"{noise['campaigns']} of them, " if noise["campaigns"] > 1 else ""
            source = f"{kind} of {noise['when'][:10]}, {several}n = {noise['n']} blocks"
            effect = (
                "none with so few blocks" if row["smallest_effect"] is None else f"{row['smallest_effect']:.2g}{unit}"
            )
        table.add_row(*(console.safe_text(text) for text in (row["figure"], margin, effect, source)))
    out.print(table)
    if rows and all(row["noise"] is None for row in rows):
        said = f"No A/A noise stored for this testbed yet: run `txop run {facts.name} --aa`"
        out.print(console.safe_text(said, "dim"), soft_wrap=True)


def _of_guests(plan: Plan) -> str:
    at_once = guest_time.guests_at_once(plan)
    unknown = [test.name for test in plan.test if not guest_time.is_known(plan, test)]
    basis = (
        "as runs done here took" if not unknown else f"a first guess for {', '.join(unknown)}, until runs here show it"
    )
    return (
        f"{at_once} guest{'s' if at_once > 1 else ''} at once (--jobs); {basis}. Making images and drivers comes first"
    )


def _time(counted: RunCount) -> str:
    low, high = duration(counted.seconds_low), duration(counted.seconds_high)
    text = f"About {duration(counted.seconds_expected)} ({low} to {high}), {counted.loads:,} loads; repeats not counted"
    if counted.builds:
        text += f"; {counted.builds} module{'s' if counted.builds > 1 else ''} to build first"
    if counted.cut_by_budget:
        text += f"; the time budget ends it after about {counted.blocks_in_budget} blocks"
    return text


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(5), duration(90), duration(5000), duration(200000)
    ('5 s', '1 min 30 s', '1 h 23 min', '2 d 8 h')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    units = (("s", 1), ("min", 60), ("h", 3600), ("d", 86400))
    place = 1 if seconds < 3600 else 2 if seconds < 48 * 3600 else 3
    (small_name, small), (big_name, big) = units[place - 1], units[place]
    whole = round(seconds / small)
    count_big, rest = divmod(whole, big // small)
    return f"{count_big} {big_name} {rest} {small_name}" if rest else f"{count_big} {big_name}"
