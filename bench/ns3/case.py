"""One case of the speed comparison in ns-3 (the Python wheel `ns3`): called by bench/link, prints one line of JSON.

All nodes receive each other at -40 dBm, frames are lost only in collisions, rates are fixed, 5 GHz, 20 MHz. A server
sits behind the access point on a wire of 1 Gbit/s and 1 ms. Goodput is that of the last `SECONDS` of the run.
"""

import json
import resource
import sys
import time

from ns import ns

WARM_UP_S, SECONDS = 3.0, 10.0
CASES = {
    # name: stations, standard, data mode, way, protocol
    "ht-1-udp-down": (1, "HT", "HtMcs7", "down", "udp"),
    "ht-1-tcp-down": (1, "HT", "HtMcs7", "down", "tcp"),
    "ht-20-udp-up": (20, "HT", "HtMcs7", "up", "udp"),
    "ht-20-tcp-down": (20, "HT", "HtMcs7", "down", "tcp"),
    "11a-20-udp-up": (20, "11a", "OfdmRate54Mbps", "up", "udp"),
}


def wifi(stations, standard: str, mode: str, detection: bool):
    """Access point and stations; (AP device, station devices, nodes).

    With the detection of preambles, which ns-3 has switched on, no station notices two equally strong PPDUs that
    begin at once.
    """
    channel = ns.YansWifiChannelHelper()
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel")
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", ns.DoubleValue(-40.0))
    phy = ns.YansWifiPhyHelper()
    phy.SetChannel(channel.Create())
    if not detection:
        phy.DisablePreambleDetectionModel()
    phy.Set("ChannelSettings", ns.StringValue("{36, 20, BAND_5GHZ, 0}"))
    helper = ns.WifiHelper()
    helper.SetStandard(ns.WIFI_STANDARD_80211n if standard == "HT" else ns.WIFI_STANDARD_80211a)
    helper.SetRemoteStationManager(
        "ns3::ConstantRateWifiManager",
        "DataMode",
        ns.StringValue(mode),
        "ControlMode",
        ns.StringValue("OfdmRate24Mbps"),
    )
    mac = ns.WifiMacHelper()
    ssid = ns.SsidValue(ns.Ssid("bench"))
    point = ns.NodeContainer(1)
    mac.SetType("ns3::ApWifiMac", "Ssid", ssid)
    point_device = helper.Install(phy, mac, point)
    mac.SetType("ns3::StaWifiMac", "Ssid", ssid)
    station_devices = helper.Install(phy, mac, stations)
    mobility = ns.MobilityHelper()
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
    mobility.Install(point)
    mobility.Install(stations)
    return point, point_device, station_devices


def simulate(name: str, case: tuple[int, str, str, str, str], until: float, *, detection: bool = True):
    """Run a case once; the outcome, as a dictionary. A process can do that for one case."""
    count, standard, mode, way, protocol = case
    ns.Config.SetDefault("ns3::TcpL4Protocol::SocketType", ns.StringValue("ns3::TcpCubic"))
    ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(1448))
    ns.Config.SetDefault("ns3::TcpSocket::InitialCwnd", ns.UintegerValue(10))
    ns.Config.SetDefault("ns3::TcpSocket::SndBufSize", ns.UintegerValue(4_000_000))
    ns.Config.SetDefault("ns3::TcpSocket::RcvBufSize", ns.UintegerValue(4_000_000))
    stations = ns.NodeContainer(count)
    server = ns.NodeContainer(1)
    point, point_device, station_devices = wifi(stations, standard, mode, detection)
    wire = ns.PointToPointHelper()
    wire.SetDeviceAttribute("DataRate", ns.StringValue("1Gbps"))
    wire.SetChannelAttribute("Delay", ns.StringValue("1ms"))
    wired = wire.Install(ns.NodeContainer(server, point))
    stack = ns.InternetStackHelper()
    for nodes in (stations, server, point):
        stack.Install(nodes)
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address("10.1.0.0"), ns.Ipv4Mask("255.255.255.0"))
    server_address = addresses.Assign(wired).GetAddress(0)
    addresses.SetBase(ns.Ipv4Address("10.2.0.0"), ns.Ipv4Mask("255.255.255.0"))
    addresses.Assign(point_device)
    at = addresses.Assign(station_devices)
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()

    factory = "ns3::UdpSocketFactory" if protocol == "udp" else "ns3::TcpSocketFactory"
    sinks = []
    for index in range(count):
        port = 5000 + index
        sender = server.Get(0) if way == "down" else stations.Get(index)
        receiver = stations.Get(index) if way == "down" else server.Get(0)
        address = at.GetAddress(index) if way == "down" else server_address
        sink = ns.PacketSinkHelper(factory, ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo())
        sinks.append(sink.Install(receiver))
        to = ns.InetSocketAddress(address, port).ConvertTo()
        if protocol == "udp":
            source = ns.OnOffHelper(factory, to)
            source.SetConstantRate(ns.DataRate(f"{int(80_000_000 / count)}bps"), 1472)
        else:
            source = ns.BulkSendHelper(factory, to)
        applications = source.Install(sender)
        applications.Start(ns.Seconds(1.0 + index * 0.001))
    started = time.process_time()
    ns.Simulator.Stop(ns.Seconds(min(WARM_UP_S, until)))
    ns.Simulator.Run()
    before = [each.Get(0).GetTotalRx() for each in sinks]
    if until > WARM_UP_S:
        ns.Simulator.Stop(ns.Seconds(until - WARM_UP_S))
        ns.Simulator.Run()
    received = sum(each.Get(0).GetTotalRx() - was for each, was in zip(sinks, before, strict=True))
    measured_s = max(until - WARM_UP_S, 1e-9)
    return {
        "case": name,
        "simulated_s": until,
        "cpu_s": time.process_time() - started,
        "goodput_mbit_s": received * 8 / measured_s / 1e6,
        "events": int(ns.Simulator.GetEventCount()),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Run the case named on the command line for `WARM_UP_S + SECONDS` (or for the seconds given: start-up alone)."""
    until = float(sys.argv[2]) if len(sys.argv) > 2 else WARM_UP_S + SECONDS
    print(json.dumps(simulate(sys.argv[1], CASES[sys.argv[1]], until)))


if __name__ == "__main__":
    main()
