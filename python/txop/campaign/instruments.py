"""Which instruments record a run: the one place where they are listed. Traffic comes last: it is started last, and
stopped first."""

from __future__ import annotations

from txop.measure.instrument import Instrument
from txop.measure.probes.air_analysis import AirAnalysis
from txop.measure.probes.air_capture import AirCapture
from txop.measure.probes.bus_analysis import BusAnalysis
from txop.measure.probes.bus_capture import BusCapture
from txop.measure.probes.chip import ChipCounters
from txop.measure.probes.emulated_link import EmulatedLink
from txop.measure.probes.ethtool import EthtoolStatistics
from txop.measure.probes.guest_trial import GuestTrial
from txop.measure.probes.host import HostCounters
from txop.measure.probes.interface import InterfaceCounters
from txop.measure.probes.kernel_log import KernelLog
from txop.measure.probes.sdio import SdioBus
from txop.measure.probes.sensors import Sensors
from txop.measure.probes.threads import ThreadTimes
from txop.measure.probes.usb import UsbLink
from txop.measure.probes.wireless import Wireless
from txop.measure.traffic.command import Command
from txop.measure.traffic.flows import flows_of
from txop.measure.traffic.iperf3 import Iperf3Traffic
from txop.measure.traffic.irtt import Irtt
from txop.measure.traffic.module_cycle import Cycler, ModuleCycle
from txop.measure.traffic.ping import Ping, pings_of
from txop.measure.traffic.ttcp import Ttcp
from txop.plan.measurement import CommandTest, ModuleCycleTest, SoakTest, Test, TtcpTest
from txop.plan.model import Plan

TRAFFIC = (Ping, Irtt, Iperf3Traffic, Ttcp, Command)
"""Those that are traffic of the test's station."""


def instruments_of(plan: Plan, test: Test, *, cycler: Cycler | None = None) -> list[Instrument]:
    """The instruments of a run of ``test``. ``cycler``: what removes and inserts modules, where something can."""
    emulated = plan.target["dut"].kind == "emulated"
    shared = emulated or same_machine(plan)
    ends = dict.fromkeys(["dut", *(flow.station for flow in flows_of(test, plan.warm_up_s(test)))])
    instruments: list[Instrument] = [*(InterfaceCounters(name) for name in ends), HostCounters("dut", shared=shared)]
    if "peer" in plan.target and not emulated:
        instruments.append(HostCounters("peer", shared=shared))
    if emulated:
        instruments.append(EmulatedLink())
    else:
        instruments += _of_machines(plan, test)
    if plan.collect.air:
        instruments.append(AirAnalysis())
    if plan.collect.usbmon:
        instruments.append(BusAnalysis())
    return [*instruments, *_traffic(plan, test, cycler)]


def in_guest(plan: Plan, test: Test) -> list[Instrument]:
    """The instruments with files that a run in a guest leaves by itself (:mod:`txop.campaign.guest_script`)."""
    if plan.guest_trial(test):
        return [GuestTrial()]
    instruments: list[Instrument] = [
        *(InterfaceCounters(name) for name in ("dut", *plan.guest_stations)),
        HostCounters("dut", shared=True),
        Wireless("dut"),
        ChipCounters(),
    ]
    if plan.guest is not None and plan.guest.is_function:
        instruments.append(EthtoolStatistics())
    if plan.collect.kernel_log:
        instruments.append(KernelLog())
    if plan.collect.air:
        instruments.append(AirAnalysis())
    if plan.collect.usbmon:
        instruments.append(BusAnalysis())
    return [*instruments, *_traffic(plan, test, None)]


def _of_machines(plan: Plan, test: Test) -> list[Instrument]:
    """Probes of what only a machine with a driver has."""
    wireless = ["dut", *test.stations_measured]
    if "peer" in plan.target and plan.target["peer"].interface is not None:
        wireless.append("peer")  # when it is the access point, it counts what it sends, and the airtime of each
    instruments: list[Instrument] = [Wireless(name) for name in dict.fromkeys(wireless)]
    instruments += [UsbLink(), SdioBus(), EthtoolStatistics()]
    instruments.append(Sensors())
    if plan.collect.kernel_log:
        instruments.append(KernelLog())
    if plan.collect.air and "sniffer" in plan.target:
        instruments.append(AirCapture())
    if plan.collect.usbmon:
        instruments.append(BusCapture())
    return instruments


def _traffic(plan: Plan, test: Test, cycler: Cycler | None) -> list[Instrument]:
    warm_up_s = plan.warm_up_s(test)
    instruments: list[Instrument] = []
    if test.latency == "ping":
        instruments += pings_of(test)
    elif test.latency == "irtt":
        instruments.append(Irtt(test, warm_up_s))
    if flows_of(test, warm_up_s):
        instruments.append(Iperf3Traffic(test, warm_up_s))
    match test:
        case SoakTest():
            instruments.append(ThreadTimes(test))
        case TtcpTest():
            instruments.append(Ttcp(test))
        case CommandTest():
            instruments.append(Command(test))
        case ModuleCycleTest():
            instruments.append(ModuleCycle(test, cycler))
    return instruments


def same_machine(plan: Plan) -> bool:
    """Whether the device under test and the peer are known to be the same machine."""
    dut, peer = plan.target["dut"], plan.target.get("peer")
    if dut.kind == "ssh" and peer is not None and peer.kind == "ssh":
        return (dut.host, dut.port, dut.jump) == (peer.host, peer.port, peer.jump)
    kinds = {plan.target[name].kind for name in ("dut", "peer") if name in plan.target}
    return len(kinds & {"local", "namespace"}) > 0 and kinds <= {"local", "namespace"}
