"""Every figure that a run can have: its name, unit, direction, and how two arms are compared on it.

A figure of a plan is named ``TEST.METRIC``, as in ``tx.throughput_mbit_s``: the test is the plan's own name for it,
the metric one of :data:`METRICS`, or one of those of a station (:func:`station_key`). A parser of a ``command`` test
may bring metrics of its own (:func:`describe`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from txop.core.origin import Origin

Better = Literal["higher", "lower"]
Scale = Literal["ratio", "difference"]


@dataclass(frozen=True)
class Metric:
    """What a figure is."""

    key: str
    """Stable name, with its unit at the end."""
    title: str
    unit: str
    better: Better | None
    """Which way is good; ``None`` for a figure that explains and is never judged."""
    scale: Scale
    """Arms are compared by their ratio (in percent) or by their difference (in ``unit``)."""
    margin: float
    """Smallest effect that matters, in percent for a ratio, in ``unit`` for a difference; plans may set their own."""
    definition: str
    digits: int = 2
    least: float | None = None
    """Smallest value that a run can have; ``None``: as its unit says (:attr:`plausible`)."""
    most: float | None = None
    """Largest value that a run can have; ``None``: as its unit says."""

    @property
    def plausible(self) -> tuple[float, float]:
        """The values that a run can have. What lies outside was not measured.

        >>> METRICS["air_retry_percent"].plausible
        (0.0, 100.0)
        >>> describe("signal_dbm").plausible
        (-1000.0, 1000.0)
        >>> METRICS["throughput_mbit_s"].plausible[0]
        0.0
        """
        low, high = _PLAUSIBLE.get(self.unit, (0.0, _LARGEST))
        return low if self.least is None else self.least, high if self.most is None else self.most

    def is_plausible(self, value: float) -> bool:
        """Whether a run can have this value; sums of parts may miss a bound by their rounding.

        >>> METRICS["jain_index"].is_plausible(1.0000000000000002), METRICS["jain_index"].is_plausible(1.1)
        (True, False)
        """
        low, high = self.plausible
        return low - _ROUNDING * max(1.0, abs(low)) <= value <= high + _ROUNDING * max(1.0, abs(high))


_LARGEST = 1e15
"""More than any counter of a run can reach; its square is a number."""
_UNKNOWN = 1e24
"""The same for a figure of which nothing is known, such as a time in ns since 1970."""
_ROUNDING = 1e-6
_PLAUSIBLE: dict[str, tuple[float, float]] = {
    "%": (0.0, 100.0),
    "Mbit/s": (0.0, 1e9),
    "ms": (0.0, 1e12),
    "s": (0.0, 1e9),
    "dBm": (-1000.0, 1000.0),
    "°C": (-274.0, 10_000.0),
}
"""Plausible values by unit; of every other unit they are at least 0: counts, rates, times."""
_OVER = 1000.0
"""Bound of shares that can exceed 100 %: estimates, sums over threads or edges of the window, counters of drivers."""


METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric("throughput_mbit_s", "throughput", "Mbit/s", "higher", "ratio", 3.0,
           "Payload bytes over time within the measured window, warm-up left out; the lower of what the two iperf3 "
           "ends report. Of several flows in one direction, the sum."),
        Metric("throughput_up_mbit_s", "throughput sent", "Mbit/s", "higher", "ratio", 3.0,
           "In a test that runs both ways: what the device under test sent, as received by the peer."),
        Metric("throughput_down_mbit_s", "throughput received", "Mbit/s", "higher", "ratio", 3.0,
           "In a test that runs both ways: what the device under test received."),
        Metric("rtt_p50_ms", "RTT p50", "ms", "lower", "ratio", 10.0,
           "Median of the round-trip times within the measured window; a lost probe counts as infinite."),
        Metric("rtt_p95_ms", "RTT p95", "ms", "lower", "ratio", 10.0,
           "95th percentile of the round-trip times within the measured window; a lost probe counts as infinite."),
        Metric("rtt_p99_ms", "RTT p99", "ms", "lower", "ratio", 10.0,
           "99th percentile of the round-trip times within the measured window; a lost probe counts as infinite."),
        Metric("rtt_min_ms", "RTT min", "ms", None, "ratio", 10.0,
           "Least round-trip time of the probes that were sent within the measured window and answered."),
        Metric("rtt_mean_ms", "RTT mean", "ms", None, "ratio", 10.0,
           "Mean round-trip time of the probes that were sent within the measured window and answered. Lost ones are "
           "left out, so the median is what is judged."),
        Metric("rtt_max_ms", "RTT max", "ms", None, "ratio", 10.0,
           "Largest round-trip time of the probes that were sent within the measured window and answered."),
        Metric("rtt_stddev_ms", "RTT standard deviation", "ms", None, "ratio", 10.0,
           "Standard deviation of the round-trip times of the probes that were sent within the measured window and "
           "answered, of all of them as ping prints it (mdev)."),
        Metric("transfer_s", "time of the transfer", "s", "lower", "ratio", 3.0,
           "From the first byte to the last of a transfer of ttcp, at the slower end."),
        Metric("sender_voluntary_switches_per_mb", "switches of the sender, voluntary", "1/MB", None, "ratio", 10.0,
           "Context switches of ttcp's sending process in which it waited, per 10^6 bytes of payload (getrusage)."),
        Metric("sender_involuntary_switches_per_mb", "switches of the sender, involuntary", "1/MB", None, "ratio",
           10.0, "Context switches of ttcp's sending process in which another one was to run, per 10^6 bytes of "
           "payload (getrusage)."),
        Metric("receiver_voluntary_switches_per_mb", "switches of the receiver, voluntary", "1/MB", None, "ratio",
           10.0, "Context switches of ttcp's receiving process in which it waited, per 10^6 bytes of payload "
           "(getrusage)."),
        Metric("receiver_involuntary_switches_per_mb", "switches of the receiver, involuntary", "1/MB", None, "ratio",
           10.0, "Context switches of ttcp's receiving process in which another one was to run, per 10^6 bytes of "
           "payload (getrusage)."),
        Metric("machine_switches_per_mb", "switches of the machine", "1/MB", "lower", "ratio", 10.0,
           "Context switches of the whole device under test during a transfer of ttcp, per 10^6 bytes of payload "
           "(/proc/stat). In a guest both ends are in it."),
        Metric("probe_loss_percent", "probes lost", "%", "lower", "difference", 1.0,
           "Latency probes sent within the measured window that never came back."),
        Metric("udp_loss_percent", "UDP datagrams lost", "%", "lower", "difference", 1.0,
           "UDP datagrams that iperf3 sent and did not receive, in percent of those sent.", least=-100.0),
        Metric("udp_jitter_ms", "UDP jitter", "ms", "lower", "difference", 1.0,
           "Jitter as iperf3 reports it (RFC 1889)."),
        Metric("tcp_retransmits_per_s", "TCP retransmissions", "1/s", "lower", "difference", 5.0,
           "TCP retransmissions per second, as the sending iperf3 counts them; not 802.11 retries."),
        Metric("tcp_rtt_ms", "TCP RTT", "ms", "lower", "ratio", 10.0,
           "Mean of the smoothed round-trip time in TCP_INFO of the sending side, over the measured window."),
        Metric("jain_index", "Jain's fairness index", "", "higher", "difference", 0.05,
           "Jain's index of the throughput of several flows or stations: 1 when all are equal, 1/n when one has all.",
           most=1.0),
        Metric("cpu_busy_percent", "CPU busy", "%", "lower", "difference", 2.0,
           "Share of the time that passed, over all CPUs of the device under test, in which they were not idle, "
           "waiting or stolen (/proc/stat). Idle time is counted by the clock; ticks miss short work."),
        Metric("cpu_idle_percent", "CPU idle", "%", "higher", "difference", 2.0,
           "Idle, waiting and stolen time of all CPUs of the device under test (/proc/stat) over the time that passed: "
           "100 % without CPU busy."),
        Metric("cpu_total_s_per_gbit", "total CPU per Gbit", "core-s/Gbit", "lower", "ratio", 5.0,
           "CPU seconds that the whole device under test was busy in the measured window, per 10^9 bits of payload "
           "moved. What it does while idle as well is in it: see idle_cpu_percent."),
        Metric("cpu_s_per_gbit", "CPU per Gbit above idle", "core-s/Gbit", None, "ratio", 5.0,
           "CPU seconds of the whole device under test, minus what it used in the same time while idle just before, "
           "per 10^9 bits of payload moved. Not available where the difference is not distinguishable from idle. "
           "Not judged: a driver that is busy while idle has less to add under load. Those judged are "
           "cpu_total_s_per_gbit and idle_cpu_percent.", least=-_LARGEST),
        Metric("idle_cpu_percent", "CPU busy while idle", "%", "lower", "difference", 2.0,
           "Share of all CPU time of the device under test that was not idle in the idle phase before the load, with "
           "the link up: what the driver costs without traffic, and what else the machine did."),
        Metric("idle_context_switches_per_s", "context switches while idle", "1/s", "lower", "ratio", 10.0,
           "Context switches of the device under test per second in the idle phase before the load (/proc/stat).", 0),
        Metric("context_switches_per_s", "context switches", "1/s", "lower", "ratio", 10.0,
           "Context switches of the device under test per second (/proc/stat).", 0),
        Metric("busiest_kthread_percent", "busiest kernel thread", "%", "lower", "difference", 5.0,
           "In a soak: the largest share of a CPU that kernel threads of one name took between two samples "
           "(/proc/PID/schedstat). Which one it was is the figure's source; those of the whole soak are in its "
           "provenance.", most=_OVER),
        Metric("interrupts_per_s", "interrupts", "1/s", "lower", "ratio", 10.0,
           "Interrupts of the device under test per second (/proc/stat).", 0),
        Metric("device_interrupts_per_s", "interrupts of the device", "1/s", "lower", "ratio", 10.0,
           "Interrupts per second on the lines that the device under test, its USB or SDIO host use "
           "(/proc/interrupts).", 0),
        Metric("softirqs_net_per_s", "network softirqs", "1/s", None, "ratio", 10.0,
           "NET_RX and NET_TX softirqs of the device under test per second (/proc/softirqs).", 0),
        Metric("temperature_c", "temperature", "°C", None, "difference", 2.0,
           "Highest reading in the measured window of the hottest sensor of the device under test (thermal zones, "
           "hwmon); the provenance of the run has each."),
        Metric("power_w", "power", "W", "lower", "ratio", 3.0,
           "Mean power in the measured window as the device under test's own sensor measures it (hwmon), where it has "
           "one.", 2),
        Metric("retry_percent", "802.11 retries (driver)", "%", "lower", "difference", 1.0,
           "Growth of the driver's retry counter over the growth of its transmitted packets plus retries "
           "(iw station dump)."),
        Metric("signal_dbm", "signal", "dBm", None, "difference", 3.0,
           "Signal of the peer as the driver reports it (iw station dump), mean over the measured window."),
        Metric("tx_bitrate_mbit_s", "PHY rate sent", "Mbit/s", None, "ratio", 5.0,
           "Rate of the last frame sent as the driver reports it (iw station dump), mean over the window."),
        Metric("rx_bitrate_mbit_s", "PHY rate received", "Mbit/s", None, "ratio", 5.0,
           "Rate of the last frame received as the driver reports it (iw station dump), mean over the window."),
        Metric("rate_success_percent", "attempts that succeed (rate control)", "%", None, "difference", 3.0,
           "MPDUs that were acknowledged, in percent of the attempts at all rates, retransmissions included, as "
           "minstrel counts them (mac80211 debugfs, rc_stats_csv). Slower rates succeed more often, so it is not "
           "judged. Drivers with rate control of their own have no such table."),
        Metric("ap_retry_percent", "802.11 retries (access point)", "%", "lower", "difference", 1.0,
           "Retries of what the access point sent to the device under test, in percent of its packets and retries, as "
           "its driver counts them (iw station dump on the peer, where that is the access point)."),
        Metric("ap_failed_percent", "lost after all retries (access point)", "%", "lower", "difference", 1.0,
           "Packets of the access point to the device under test that were never acknowledged, in percent of those "
           "sent, as its driver counts them (iw station dump on the peer)."),
        Metric("ap_signal_dbm", "signal at the access point", "dBm", None, "difference", 3.0,
           "Signal of the device under test as the access point's driver reports it (iw station dump on the peer), "
           "mean over the measured window."),
        Metric("ap_tx_bitrate_mbit_s", "PHY rate sent (access point)", "Mbit/s", None, "ratio", 5.0,
           "Rate of the last frame that the access point sent to the device under test, as its driver reports it (iw "
           "station dump on the peer), mean over the window."),
        Metric("ap_rate_success_percent", "attempts that succeed (access point)", "%", None, "difference", 3.0,
           "The same as rate_success_percent, of what the access point sent to the device under test."),
        Metric("channel_busy_percent", "channel busy", "%", None, "difference", 5.0,
           "Busy share of the channel's active time (iw survey dump).", most=_OVER),
        Metric("airtime_jain_index", "Jain's index of airtime", "", "higher", "difference", 0.05,
           "Jain's index of the airtime of the stations (mac80211 debugfs, or the capture).", most=1.0),
        Metric("airtime_percent", "airtime (kernel)", "%", None, "difference", 3.0,
           "Share of the time that the kernel of an access point counts as a station's airtime, both ways (mac80211 "
           "debugfs, or iw station dump). Reports of transmission that the driver lost are missing.", most=_OVER),
        Metric("aql_pending_ms", "airtime in the driver (AQL)", "ms", "lower", "ratio", 10.0,
           "Airtime of frames that wait below mac80211, best effort, by its own estimate: mean of the looks within the "
           "window (mac80211 debugfs, aql)."),
        Metric("txq_backlog_packets", "packets in mac80211's queues", "", None, "ratio", 10.0,
           "Packets that wait in mac80211's queues of a station, all TIDs: mean of the looks within the window "
           "(mac80211 debugfs, aqm).", 1),
        Metric("txq_drops_per_s", "packets dropped by FQ-CoDel", "1/s", None, "difference", 5.0,
           "Packets that CoDel dropped in mac80211's queues of a station per second (mac80211 debugfs, aqm)."),
        Metric("air_retry_percent", "802.11 retries (capture)", "%", "lower", "difference", 1.0,
           "Unicast data MPDUs with the retry bit, in percent of those captured, sent by the station that carries "
           "the test's data (txop air)."),
        Metric("air_ampdu_mpdus", "MPDUs per PPDU", "", None, "ratio", 10.0,
           "Mean data MPDUs in a PPDU of the sender of the test's data, those that are no A-MPDU included (txop air)."),
        Metric("air_goodput_share_percent", "payload share of the air", "%", None, "difference", 3.0,
           "Share of the observed time in which payload was on the air (the waterfall of txop air)."),
        Metric("air_bss_retry_percent", "802.11 retries (WLAN Traffic)", "%", "lower", "difference", 1.0,
           "Retries in percent of all frames of the network of the test's data, both directions, beacons and frames "
           "with a bad FCS included: the network's row in Wireshark's WLAN Traffic window (txop air)."),
        Metric("air_ghost_addresses", "ghost addresses", "", "lower", "difference", 1.0,
           "Addresses in the capture that exist through damaged frames only (txop air).", 0),
        Metric("air_up_retry_percent", "802.11 retries, uplink", "%", "lower", "difference", 1.0,
           "Retries in percent of the data and management frames from the station, counted as Wireshark's WLAN "
           "Traffic window does, frames with a bad FCS included (txop air)."),
        Metric("air_up_unanswered_percent", "PPDUs without ACK, uplink", "%", "lower", "difference", 1.0,
           "PPDUs from the station that solicit an ACK or Block Ack, got none and were retransmitted, in percent of "
           "air_up_ppdus. An A-MPDU has a response when one of its MPDUs arrives, so arms that differ in MPDUs "
           "per PPDU are not judged by it (txop air)."),
        Metric("air_up_ppdus", "PPDUs that solicit a response, uplink", "", None, "ratio", 10.0,
           "PPDUs from the station in the window that solicit an ACK or a Block Ack: n of those without one.", 0),
        Metric("air_up_late_ack_percent", "late acknowledgements, uplink", "%", "lower", "difference", 1.0,
           "ACKs and Block Acks of the access point that came more than a slot later than SIFS, in percent of "
           "air_up_acks (txop air)."),
        Metric("air_up_acks", "acknowledgements, uplink", "", None, "ratio", 10.0,
           "ACKs and Block Acks that answer PPDUs from the station: n of the late ones.", 0),
        Metric("air_up_left_out_percent", "Block Ack holes, uplink", "%", "lower", "difference", 1.0,
           "MPDUs from the station that the Block Ack after them leaves out, in percent of air_up_mpdus: not "
           "received, or not acknowledged in time (txop air)."),
        Metric("air_up_left_out_received_percent", "Block Ack holes though received, uplink", "%", "lower",
           "difference", 1.0,
           "Of the Block Ack holes: acknowledged later without a retransmission, which proves that they had arrived; "
           "in percent of air_up_mpdus. A sender that repeats at once leaves no such proof (txop air)."),
        Metric("air_up_mpdus", "MPDUs sent under Block Ack, uplink", "", None, "ratio", 10.0,
           "Transmissions of MPDUs from the station captured under Block Ack: n of the Block Ack holes.", 0),
        Metric("air_down_retry_percent", "802.11 retries, downlink", "%", "lower", "difference", 1.0,
           "Retries in percent of the data and management frames from the access point, counted as Wireshark's WLAN "
           "Traffic window does, frames with a bad FCS included (txop air)."),
        Metric("air_down_unanswered_percent", "PPDUs without ACK, downlink", "%", "lower", "difference", 1.0,
           "PPDUs from the access point that solicit an ACK or Block Ack, got none and were retransmitted, in percent "
           "of air_down_ppdus. An A-MPDU has a response when one of its MPDUs arrives, so arms that differ in MPDUs "
           "per PPDU are not judged by it (txop air)."),
        Metric("air_down_ppdus", "PPDUs that solicit a response, downlink", "", None, "ratio", 10.0,
           "PPDUs from the access point in the window that solicit an ACK or a Block Ack: n of those without one.", 0),
        Metric("air_down_late_ack_percent", "late acknowledgements, downlink", "%", "lower", "difference", 1.0,
           "ACKs and Block Acks of the station that came more than a slot later than SIFS, in percent of "
           "air_down_acks (txop air)."),
        Metric("air_down_acks", "acknowledgements, downlink", "", None, "ratio", 10.0,
           "ACKs and Block Acks that answer PPDUs from the access point: n of the late ones.", 0),
        Metric("air_down_left_out_percent", "Block Ack holes, downlink", "%", "lower", "difference", 1.0,
           "MPDUs from the access point that the Block Ack after them leaves out, in percent of air_down_mpdus: not "
           "received, or not acknowledged in time (txop air)."),
        Metric("air_down_left_out_received_percent", "Block Ack holes though received, downlink", "%", "lower",
           "difference", 1.0,
           "Of the Block Ack holes: acknowledged later without a retransmission, which proves that they had arrived; "
           "in percent of air_down_mpdus. A sender that repeats at once leaves no such proof (txop air)."),
        Metric("air_down_mpdus", "MPDUs sent under Block Ack, downlink", "", None, "ratio", 10.0,
           "Transmissions of MPDUs from the access point captured under Block Ack: n of the Block Ack holes.", 0),
        Metric("usb_out_urbs_per_s", "bulk URBs to the device", "1/s", None, "ratio", 10.0,
           "Completed bulk transfers to the device under test per second (txop bus on the capture of the run).", 0),
        Metric("usb_in_urbs_per_s", "bulk URBs from the device", "1/s", None, "ratio", 10.0,
           "Completed bulk transfers from the device under test per second (txop bus).", 0),
        Metric("usb_interrupt_urbs_per_s", "interrupt URBs", "1/s", "lower", "ratio", 10.0,
           "Completed interrupt transfers from the device under test per second (txop bus).", 0),
        Metric("usb_out_datagrams_per_urb", "datagrams per OUT URB", "", "higher", "ratio", 10.0,
           "Datagrams per transfer to the device under test; a lower bound where transfers were cut (txop bus)."),
        Metric("usb_in_datagrams_per_urb", "datagrams per IN URB", "", "higher", "ratio", 10.0,
           "Datagrams per transfer from the device under test; a lower bound where transfers were cut (txop bus)."),
        Metric("usb_out_turnaround_us", "OUT URB completion time", "µs", "lower", "ratio", 10.0,
           "Median time from submission to completion of bulk transfers to the device under test (txop bus).", 0),
        Metric("chip_urbs_per_s", "URBs (chip)", "1/s", None, "ratio", 10.0,
           "URBs that the virtual chip completed per second: register accesses, data, interrupts.", 0),
        Metric("chip_interrupts_per_s", "interrupts (chip)", "1/s", "lower", "ratio", 10.0,
           "Interrupts of the virtual chip per second: on USB transfers of its interrupt endpoint, 0 when the driver "
           "does not ask; on PCI rises of its interrupt line.", 0),
        Metric("chip_register_accesses_per_s", "register accesses (chip)", "1/s", "lower", "ratio", 10.0,
           "Register reads and writes of the virtual chip per second.", 0),
        Metric("chip_retry_percent", "802.11 retries (chip)", "%", "lower", "difference", 1.0,
           "MPDUs with the retry bit, in percent of those that the sender of the test's data (the chip when both ways) "
           "put on the modelled air, by the air's own count."),
        Metric("chip_ppdu_mpdus", "MPDUs per PPDU (chip)", "", None, "ratio", 10.0,
           "Mean MPDUs in a PPDU of the sender of the test's data (the chip when both ways), by the air's own count."),
        Metric("chip_airtime_percent", "airtime (chip)", "%", None, "difference", 3.0,
           "Share of the window that exchanges took on the modelled air, by its own count; a collision counts once.",
           most=_OVER),
        Metric("chip_airtime_jain_index", "Jain's index of airtime (chip)", "", "higher", "difference", 0.05,
           "Jain's index of the time that exchanges of each station took on the modelled air, both ways, by the air's "
           "own count; backoffs are not in it.", most=1.0),
        Metric("chip_rx_frames_per_urb", "frames per URB in (chip)", "", "higher", "ratio", 10.0,
           "Received frames in a bulk transfer to the driver, by the virtual chip's count."),
        Metric("chip_rx_overflows_per_s", "frames without room (chip)", "1/s", "lower", "difference", 5.0,
           "Received frames per second that found no room in the virtual chip's buffer, as the driver had not fetched "
           "those before; they are not acknowledged, so the access point sends them again.", 0),
        Metric("chip_aggregate_percent", "frames with AGG_ENABLE (chip)", "%", None, "difference", 5.0,
           "Frames from the driver with a descriptor that allows aggregation, in percent of its frames."),
        Metric("chip_rts_percent", "frames with RTS_CTS_ENABLE (chip)", "%", None, "difference", 5.0,
           "Frames from the driver with a descriptor that asks for RTS, in percent of its frames."),
        Metric("chip_hardware_rts_percent", "frames with HW_RTS_ENABLE (chip)", "%", None, "difference", 5.0,
           "Frames from the driver with a descriptor that lets the hardware send RTS, in percent of its frames."),
        Metric("chip_rts_rate_mbit_s", "RTS rate (chip)", "Mbit/s", None, "ratio", 5.0,
           "Mean of the RTS rates that descriptors of frames from the driver name (legacy rates)."),
        Metric("chip_engine_percent", "modem's engine busy", "%", None, "difference", 3.0,
           "Share of the window that the virtual modem worked on transfers from the host, by its own count; at 100 % "
           "it takes no more of them, whatever is in them.", most=_OVER),
        Metric("ncm_timer_percent", "blocks ended by the timer", "%", None, "difference", 5.0,
           "Blocks from the host that the timer of cdc_ncm ended (`tx_reason_timeout`), in percent of those that its "
           "counters give a reason for (`ethtool -S`, `tx_reason_*`); the others were full. Of the whole run."),
        Metric("chip_cmd52_per_s", "CMD52 (card)", "1/s", "lower", "ratio", 10.0,
           "Commands per second that read or wrote one register of a virtual SDIO card.", 0),
        Metric("chip_cmd53_per_s", "CMD53 (card)", "1/s", None, "ratio", 10.0,
           "Commands per second that moved bytes or blocks to or from a virtual SDIO card.", 0),
        Metric("chip_cmd53_bytes", "bytes per CMD53 (card)", "B", None, "ratio", 10.0,
           "Mean bytes of a CMD53 to or from a virtual SDIO card.", 0),
        Metric("chip_sdio_interrupts_per_s", "SDIO interrupts (card)", "1/s", None, "ratio", 10.0,
           "Times per second that a virtual SDIO card began to pull its interrupt line.", 0),
        Metric("load_time_s", "time to load", "s", "lower", "ratio", 20.0,
           "From loading the arm until it was up and verified."),
        Metric("cycles", "module cycles", "", "higher", "ratio", 10.0,
           "Times the module was removed and inserted again within the test (or the virtual chip unplugged and plugged "
           "in), the last one included if it came to no end.", 0),
        Metric("cycles_failed", "failed module cycles", "", "lower", "difference", 0.5,
           "Module cycles after which the interface or the traffic did not come back.", 0),
        Metric("recovery_s", "time to recover", "s", "lower", "ratio", 20.0,
           "Median time from inserting the module until traffic passed again; in a guest until the peer answered, and "
           "of a virtual chip from the moment it was gone, a second before it is plugged in again."),
        Metric("slab_growth_kb", "growth of slabs", "kB/cycle", "lower", "difference", 1.0,
           "Kernel memory in slabs that cannot be given back (SUnreclaim) per cycle: Theil and Sen's slope over the "
           "cycles after the first fifth, caches dropped before each reading.", least=-_LARGEST),
        Metric("vmalloc_growth_kb", "growth of vmalloc", "kB/cycle", "lower", "difference", 4.0,
           "Kernel memory of vmalloc (VmallocUsed) per cycle, by the same slope.", least=-_LARGEST),
        Metric("pages_growth_kb", "growth of other pages", "kB/cycle", "lower", "difference", 4.0,
           "Kernel memory in pages outside slabs and vmalloc per cycle, by the same slope.", least=-_LARGEST),
        Metric("leaks", "leaks", "", "lower", "difference", 0.5,
           "Slab caches and kinds of pages that grow with every cycle, by the rule in guest-faults.md.", 0),
        Metric("kmemleak_objects", "objects kmemleak reports", "", "lower", "difference", 0.5,
           "Unreferenced objects that the kernel's kmemleak reports after the last cycle.", 0),
        Metric("recovered", "recovered", "", "higher", "difference", 0.5,
           "1 when the peer answered after the fault without anybody's help but user space joining the network with a "
           "new interface; else 0.", 0, most=1.0),
        Metric("silence_s", "longest silence", "s", "lower", "difference", 1.0,
           "Longest time without a received packet, from the association until the peer was asked after the fault."),
        Metric("struck", "faults that struck", "", None, "difference", 0.5,
           "How often the arm's fault script did something, by the virtual chip's count.", 0),
        Metric("kernel_warnings", "WARN, BUG, oops", "", "lower", "difference", 0.5,
           "Reports of the kernel that it warns or is broken (WARN, oops, BUG, panic, memory and lock checkers), in "
           "the kernel log of a trial in a guest.", 0),
        Metric("hung_tasks", "hung tasks", "", "lower", "difference", 0.5,
           "Tasks that wait for more than 40 s, lockups and RCU stalls, in the kernel log of a trial in a guest; each "
           "counts once, however often the kernel reports it again.", 0),
        Metric("faults", "faults in the kernel log", "", "lower", "difference", 0.5,
           "Faults of severity error or worse that txop log names in the kernel log from when the arm was up until the "
           "end of the run: idle phase, warm-up and window. A task that hangs counts once.", 0),
        Metric("load_faults", "faults while loading", "", "lower", "difference", 0.5,
           "Faults of severity warning or worse that txop log names in the kernel log from before the arm was loaded "
           "until it was up and verified, or failed; void runs have it, too.", 0),
    )
}  # fmt: skip
"""Every metric that txop's own tests and probes give, by key."""


BELOW_NOISE = "not distinguishable from idle"
"""The reason of a figure that is not available because it is smaller than the noise of its reading."""

_STATION = "station_"

_SAME_FACT: tuple[tuple[str, ...], ...] = (
    ("chip_retry_percent", "air_retry_percent", "air_bss_retry_percent", "retry_percent"),
    ("air_down_retry_percent", "ap_retry_percent"),
    ("cpu_busy_percent", "cpu_idle_percent"),
    ("device_interrupts_per_s", "interrupts_per_s"),
    ("chip_interrupts_per_s", "usb_interrupt_urbs_per_s"),
    ("chip_rx_frames_per_urb", "usb_in_datagrams_per_urb"),
    ("chip_airtime_jain_index", "airtime_jain_index"),
    ("rtt_p50_ms", "tcp_rtt_ms"),
    ("rtt_p95_ms", "rtt_p99_ms"),
)  # fmt: skip
"""Metrics that are views of one quantity, the one that says most first: a sentence names one of them."""

_FACTS = {key: (names[0], rank) for names in _SAME_FACT for rank, key in enumerate(names)}


def fact_of(key: str) -> tuple[str, int]:
    """The quantity that a metric is a view of, and the metric's rank among its views; 0 is the one that says most.

    >>> fact_of("air_bss_retry_percent")
    ('chip_retry_percent', 2)
    >>> fact_of("ap_retry_percent")
    ('air_down_retry_percent', 1)
    >>> fact_of("station_slow_rtt_p99_ms")
    ('station_slow_rtt_p95_ms', 1)
    >>> fact_of("throughput_mbit_s")
    ('throughput_mbit_s', 0)
    """
    for known, (name, rank) in _FACTS.items():
        if key == known:
            return name, rank
        if key.startswith(_STATION) and key.endswith(f"_{known}"):
            return key.removesuffix(known) + name, rank
    return key, 0


_FELT = (
    "throughput_mbit_s", "throughput_up_mbit_s", "throughput_down_mbit_s", "transfer_s", "rtt_p50_ms", "rtt_p95_ms",
    "rtt_p99_ms", "probe_loss_percent", "udp_loss_percent", "cycles_failed", "recovered", "kernel_warnings",
    "hung_tasks", "faults", "cpu_total_s_per_gbit", "power_w",
)  # fmt: skip
"""What the users of a device notice, before what explains it."""


def weight_of(key: str) -> int:
    """How early a sentence names a metric: 0 first.

    >>> weight_of("throughput_mbit_s") < weight_of("rtt_p95_ms") < weight_of("usb_out_turnaround_us")
    True
    """
    base = max((felt for felt in _FELT if key.startswith(_STATION) and key.endswith(f"_{felt}")), key=len, default=key)
    return _FELT.index(base) if base in _FELT else len(_FELT)


def may_be_infinite(key: str) -> bool:
    """Whether a metric can be infinite: a quantile of round trips among the lost ones.

    >>> may_be_infinite("station_slow_rtt_p95_ms"), may_be_infinite("throughput_mbit_s")
    (True, False)
    """
    return key.endswith(("rtt_p50_ms", "rtt_p95_ms", "rtt_p99_ms"))


@dataclass(frozen=True)
class Dependence:
    """A metric that moves by itself when another one does."""

    on: str
    """The other metric, of the same test."""
    proportional: bool
    """It grows as much as the other: a rate per second, with the throughput. Otherwise it moves the other way, by an
    amount that nobody knows."""


_PER_PACKET = (
    "cpu_busy_percent", "context_switches_per_s", "interrupts_per_s", "device_interrupts_per_s",
    "usb_interrupt_urbs_per_s", "chip_interrupts_per_s", "chip_register_accesses_per_s", "chip_cmd52_per_s",
)  # fmt: skip
DEPENDS_ON: dict[str, Dependence] = {
    **dict.fromkeys(_PER_PACKET, Dependence("throughput_mbit_s", proportional=True)),
    "cpu_idle_percent": Dependence("throughput_mbit_s", proportional=False),
    "air_up_unanswered_percent": Dependence("air_ampdu_mpdus", proportional=False),
    "air_down_unanswered_percent": Dependence("air_ampdu_mpdus", proportional=False),
}
"""What some metrics depend on. Work per second grows with the data that are moved, whatever the driver. A PPDU with
several MPDUs is answered when one of them arrives, so that fewer PPDUs have no response when there is more in each."""

OF_THE_MACHINE = frozenset(
    (
        "cpu_busy_percent",
        "cpu_idle_percent",
        "cpu_total_s_per_gbit",
        "cpu_s_per_gbit",
        "idle_cpu_percent",
        "idle_context_switches_per_s",
        "context_switches_per_s",
        "interrupts_per_s",
        "device_interrupts_per_s",
        "softirqs_net_per_s",
        "load_time_s",
    )
)
"""What work costs the machine that does it. On an emulated link that is the work of the emulator and of both hosts."""


def in_origin(metric: Metric, origin: Origin) -> Metric:
    """``metric`` as it may be read in figures of this origin: what an emulated link costs its machine is not a figure
    of a driver, and is not judged.

    >>> in_origin(METRICS["cpu_busy_percent"], Origin.EMULATED).better is None
    True
    >>> in_origin(METRICS["cpu_busy_percent"], Origin.HARDWARE).better
    'lower'
    """
    if origin is not Origin.EMULATED or metric.key not in OF_THE_MACHINE:
        return metric
    said = f"{metric.definition} On an emulated link it is the cost of the emulator, so it is not judged."
    return replace(metric, better=None, definition=said)


OF_STATION = (
    "throughput_mbit_s", "throughput_up_mbit_s", "throughput_down_mbit_s", "rtt_p50_ms", "rtt_p95_ms", "rtt_p99_ms",
    "rtt_min_ms", "rtt_mean_ms", "rtt_max_ms", "rtt_stddev_ms", "probe_loss_percent", "chip_airtime_percent",
    "chip_ppdu_mpdus", "chip_retry_percent", "airtime_percent",
    "aql_pending_ms", "txq_backlog_packets", "txq_drops_per_s",
)  # fmt: skip
"""Metrics that a test of several stations gives of each of them, too."""


def station_key(station: str, key: str) -> str:
    """The key of a metric of one station of a test of several.

    >>> station_key("fast-2", "rtt_p50_ms")
    'station_fast_2_rtt_p50_ms'
    """
    return f"{_STATION}{station.replace('-', '_')}_{key}"


def _of_station(key: str) -> Metric | None:
    if not key.startswith(_STATION):
        return None
    ends = [known for known in OF_STATION if key.endswith(f"_{known}")]
    name = key.removeprefix(_STATION).removesuffix(f"_{max(ends, key=len)}") if ends else ""
    if not name:
        return None
    metric = METRICS[max(ends, key=len)]
    return replace(
        metric, key=key, title=f"{metric.title}, {name}", definition=f"Of the station {name}: {metric.definition}"
    )


def is_known(key: str) -> bool:
    """Whether it is a metric of txop's own, also of one station.

    >>> is_known("rtt_p50_ms"), is_known("station_slow_rtt_p50_ms"), is_known("boot_time_s")
    (True, True, False)
    """
    return key in METRICS or _of_station(key) is not None


def describe(key: str) -> Metric:
    """The metric with this key, also of one station (:func:`station_key`); for one that a command's parser brought, a
    plain one made from its name.

    >>> describe("throughput_mbit_s").unit
    'Mbit/s'
    >>> describe("boot_time_s").title
    'boot time s'
    >>> describe("station_slow_rtt_p50_ms").title
    'RTT p50, slow'
    """
    found = METRICS.get(key) or _of_station(key)
    if found:
        return found
    title = key.replace("_", " ")
    return Metric(key, title, "", None, "ratio", 5.0, "Given by the test's parser.", least=-_UNKNOWN, most=_UNKNOWN)
