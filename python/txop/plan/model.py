"""What may stand in a plan. Unknown keys are refused, so that a misspelt one cannot be overlooked.

Times are in the unit of the key's name.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from txop.core.origin import Origin
from txop.plan.arm import Arm
from txop.plan.fields import Argv, MetricName, Name, Seconds, Text
from txop.plan.guest import GuestSpec
from txop.plan.link_tables import varied
from txop.plan.measurement import Test
from txop.plan.strict import Strict
from txop.plan.target import Target
from txop.stats.limits import MAX_BLOCKS

MAX_ARMS = 64


class WpaSupplicant(Strict):
    """Association by wpa_supplicant with a configuration file."""

    config: str
    """wpa_supplicant.conf on the machine txop runs on; passed on, never stored in the archive."""
    driver: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+(,[a-z0-9_]+)*$", max_length=64)] = "nl80211"
    """Driver interface of wpa_supplicant (``-D``)."""


class BringUp(Strict):
    """How the device under test gets its link after an arm was loaded."""

    wpa_supplicant: WpaSupplicant | None = None
    """Associate with it; it runs from the load of an arm to its unload."""
    commands: list[Argv] = []
    """Run on the device under test, after association."""
    dhcp: bool = False
    """Get an address with udhcpc, dhclient or dhcpcd, whichever the target has."""
    ready: Argv | None = None
    """Tried once a second until it exits with 0; default: one ping to the peer."""
    timeout_s: Seconds = 60.0
    """How long the interface, the association and the ready check may take, each."""
    down: list[Argv] = []
    """Run before the arm is unloaded."""


class Design(Strict):
    """How often, in what order, and what counts."""

    blocks: Annotated[int, Field(ge=1, le=MAX_BLOCKS)] = 10
    """Every block holds every arm once, in random order."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Seed of the random order: the same plan with the same seed runs in the same order."""
    baseline: Name | None = None
    """Arm that the others are compared with; default: the first."""
    warm_up_s: Seconds = 5.0
    """Left out of every figure at the start of a test."""
    idle_s: Seconds = 5.0
    """Counted before the load, without traffic: what the CPU cost is measured against. 0: not measured."""
    gap_s: Seconds = 2.0
    """Pause between runs; there is none between guests, each of which is a machine of its own."""
    primary: list[MetricName] = []
    """Judged together (Holm); default: throughput of every test that has one, else the RTT p50."""
    margins: dict[MetricName, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}
    """Smallest effect that matters, in percent or in the metric's unit; see docs/metrics.md for the defaults."""
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = 0.95
    """Confidence of the intervals."""
    reload: Literal["run", "arm"] = "run"
    """Load the arm afresh for every run, or once for all its tests in a block."""
    max_repeats: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Blocks repeated at most for voided runs; default: half the blocks, at least 2."""
    max_gap_s: Seconds = 600.0
    """A block interrupted for longer is begun again, but for exact guests, with time that does not go on."""
    time_budget_s: Seconds | None = None
    """The campaign stops after the block that reaches it."""
    turn: Name | None = None
    """For several devices under test on one access point, each with a campaign of its own: of those with the same word
    here (of this user, on this machine) one at a time is on the air, from the load of an arm to the end of the run."""


class Collect(Strict):
    """What is recorded beside the figures, when the targets can."""

    air: bool = False
    """Monitor capture on the sniffer, of the emulated link, or of the virtual chip's air."""
    usbmon: bool = False
    """The USB traffic of the device under test."""
    usb_bus: Annotated[int, Field(ge=0, le=255)] = 0
    """Bus to capture; 0: all of them."""
    max_capture_mb: Annotated[float, Field(gt=0, le=100_000)] = 200.0
    """A capture that grows beyond this many 10^6 bytes is stopped; before the window's end, it has no figures."""
    snap_bytes: Annotated[int, Field(ge=64, le=262_144)] = 256
    """Bytes of each frame that are kept; captures of tcpdump or dumpcap on usbmon have all of each transfer."""
    kernel_log: bool = True
    """What the kernel of the device under test logs during each run."""
    counters_interval_s: Annotated[float, Field(ge=0.2, le=60)] = 1.0
    """How often the counters of the host are read."""


class Gates(Strict):
    """When a run is void. A gate that cannot be checked on a target is recorded as such."""

    max_peer_cpu_percent: Annotated[float, Field(gt=0, le=100)] = 90.0
    """A peer busier than this measures itself."""
    max_dut_cpu_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    """Off by default: a driver that needs all of a small CPU is a result. Set it when the client is not the subject."""
    association: bool = True
    """The association must have lasted."""
    channel: bool = True
    """Channel and width must not have changed."""
    usb_speed: bool = True
    """The USB device must not have fallen to a lower speed."""
    route: bool = True
    """Traffic must have gone through the interface under test."""
    capture_loss_percent: Annotated[float, Field(ge=0, le=100)] = 1.0
    """A capture that lost more frames than this voids the run."""
    probe: bool = True
    """The latency probe must have kept its pace."""


class Plan(Strict):
    """A campaign, before it starts."""

    version: Literal[1] = 1
    """Version of the plan format."""
    title: Text
    """What is compared, in one line; the heading of the report."""
    description: Text = ""
    """More words, for the report."""
    environment: dict[Annotated[str, StringConstraints(max_length=60)], str | int | float | bool] = {}
    """Notes on the place, kept for the report: hardware, ap, distance, line_of_sight, channel, remarks."""
    target: dict[Name, Target]
    """The machines by name: ``dut`` (device under test) and ``peer``, when wanted ``sniffer``, and further stations."""
    link: dict[str, Any] | None = None
    """The link between targets of kind ``emulated``: a scenario without traffic, as of docs/scenario.md; see
    docs/emulate.md."""
    guest: GuestSpec | None = None
    """The guest with ends that are the targets of kind ``guest``; see docs/guest.md."""
    arm: Annotated[list[Arm], Field(min_length=1, max_length=MAX_ARMS)]
    """What is compared."""
    bring_up: BringUp = BringUp()
    """How the link comes up after an arm was loaded."""
    test: Annotated[list[Test], Field(min_length=1, max_length=64)]
    """What is measured."""
    design: Design = Design()
    """How often, in what order, and what counts."""
    collect: Collect = Collect()
    """What is recorded beside the figures."""
    gates: Gates = Gates()
    """When a run does not count."""

    @property
    def baseline(self) -> str:
        """Name of the arm that the others are compared with."""
        return self.design.baseline or self.arm[0].name

    @property
    def origin(self) -> Origin:
        """What the figures of this plan will be."""
        kinds = {target.kind for target in self.target.values()}
        if "guest" in kinds:
            return Origin.GUEST_FAST if self.guest is not None and self.guest.mode == "fast" else Origin.GUEST_EXACT
        return Origin.EMULATED if "emulated" in kinds else Origin.HARDWARE

    def link_of(self, arm: Arm) -> dict[str, Any] | None:
        """The emulated link of an arm; ``None`` when the plan has no link."""
        return None if self.link is None else varied(self.link, arm.emulated)

    @property
    def guest_stations(self) -> dict[str, int]:
        """Names of the stations of the guest's access point, and their numbers there, from 1."""
        names = [station.name for station in (self.guest.stations or [])] if self.guest is not None else []
        return {name: number for number, name in enumerate(names, start=1)}

    def guest_of(self, arm: Arm) -> GuestSpec | None:
        """The guest of an arm; ``None`` when the plan has no guest."""
        return None if self.guest is None else self.guest.varied(arm.guest)

    def find_arm(self, name: str) -> Arm:
        """The arm called ``name``; :class:`KeyError` when there is none."""
        return {arm.name: arm for arm in self.arm}[name]

    def find_test(self, name: str) -> Test:
        """The test called ``name``; :class:`KeyError` when there is none."""
        return {test.name: test for test in self.test}[name]

    def guest_trial(self, test: Test) -> bool:
        """Whether a run of ``test`` is a trial in a guest: it has steps of its own in place of idle phase, warm-up and
        window, and ends with the last of them."""
        in_guest = any(target.kind == "guest" for target in self.target.values())
        return test.trial == "always" or (in_guest and test.trial == "in a guest")

    def warm_up_s(self, test: Test) -> float:
        """Warm-up of a test: its own or the design's."""
        return self.design.warm_up_s if test.warm_up_s is None else test.warm_up_s
