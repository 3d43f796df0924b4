"""Cases of the 802.11 link: one station, contention, the anomaly."""

from __future__ import annotations

import math
from statistics import mean

from cases import (
    BIANCHI,
    CLOSED,
    MEDIUM,
    NS3,
    NS3_PROGRAM,
    QDISC,
    RUN,
    SEED_FQ,
    WIRE,
    Case,
    contention_in_ns3,
    data_share,
    goodput,
    jain,
    latency,
    pair,
    ping,
    scenario,
    tcp,
    udp,
)

from txop.simulate.model import Run

ONE = "One station, UDP"
ONE_TCP = "One station, TCP"
MANY = "Contention"
ANOMALY = "The anomaly: two stations at MCS 15, one at MCS 0"
PRICE = "The price of shorter turns (TXOPs)"
OURS = "no outside reference: what the engine gives, held so that a change shows"
FLAT = "Latency under load, airtime-fair access point"


def one_station() -> list[Case]:
    """Goodput of a saturated pair."""
    rows = [
        ("MCS 7, down", "mcs = 7\nshort_gi = false", "down", 59.610),
        ("MCS 7, up", "mcs = 7\nshort_gi = false", "up", 59.621),
        ("MCS 7, no aggregation, down", "mcs = 7\nshort_gi = false\ntx_ampdu = false", "down", 30.704),
        ("MCS 7 SGI, down", "mcs = 7\nshort_gi = true", "down", 66.252),
        ("MCS 15 SGI, down", "mcs = 15\nshort_gi = true", "down", 130.159),
        ("MCS 15, down", "mcs = 15\nshort_gi = false", "down", 117.762),
        ("MCS 3, down", "mcs = 3\nshort_gi = false", "down", 23.832),
        ("MCS 0 SGI, down", "mcs = 0\nshort_gi = true", "down", 6.571),
        ("MCS 0, down", "mcs = 0\nshort_gi = false", "down", 5.824),
        ("MCS 7, RTS, up", "mcs = 7\nshort_gi = false\nrts = true", "up", 58.685),
    ]
    cases = []
    for name, keys, way, mbit_s in rows:
        ends = ("server", "dut") if way == "down" else ("dut", "server")
        text = scenario(pair(keys), QDISC if way == "down" else "", udp(*ends, "socket_packets = 1000"), RUN)
        cases.append(Case(ONE, name, text, goodput(), "Mbit/s", NS3, mbit_s, 0.5))
    transfers = [
        ("MCS 7, CUBIC, down", "mcs = 7\nshort_gi = false", "down", "cubic", 52.69),
        ("MCS 7, CUBIC, up", "mcs = 7\nshort_gi = false", "up", "cubic", 50.636),
        ("MCS 7, Reno, down", "mcs = 7\nshort_gi = false", "down", "reno", 52.888),
        ("MCS 15 SGI, CUBIC, down", "mcs = 15\nshort_gi = true", "down", "cubic", 114.160),
        ("MCS 0 SGI, CUBIC, down (60 s)", "mcs = 0\nshort_gi = true", "down", "cubic", 5.743),
    ]
    for name, keys, way, control, mbit_s in transfers:
        ends = ("server", "dut") if way == "down" else ("dut", "server")
        flow = tcp(*ends, f'congestion = "{control}"\nsmall_queues = false')
        # At 6 Mbit/s a recovery from loss takes a second, and ten seconds are few of them.
        length = RUN if mbit_s > 6 else "[run]\nwarm_up_s = 3\nduration_s = 60\n"
        text = scenario(pair(keys), QDISC, WIRE, flow, length)
        cases.append(Case(ONE_TCP, name, text, goodput(), "Mbit/s", NS3, mbit_s, 5.0))
    return cases


def legacy_goodput(run: Run) -> float | None:
    """Goodput as if frames had no IP and UDP headers: 1472 bytes of payload stand for 1500."""
    return None if run.goodput_mbit_s is None else run.goodput_mbit_s * 1500 / 1472


def contention() -> list[Case]:
    """Saturated stations."""
    cases = []
    ran = contention_in_ns3()
    saturated = [(5, "", 51.13, BIANCHI), (10, "", 46.79, BIANCHI), (20, "", 42.66, BIANCHI)]
    for settings, more in [
        ("like-the-model", ""),
        ("like-the-model-rts", "rts = true"),
        ("like-the-model-no-aggregation", "tx_ampdu = false"),
    ]:
        saturated += [
            (count, more, round(mean(ran[settings, count]), 2), NS3_PROGRAM)
            for count in (5, 10, 20)
            if (settings, count) in ran
        ]
    for count, more, mbit_s, source in saturated:
        stations = f'{MEDIUM}[[wlan.stations]]\nname = "s"\ncount = {count}\nmcs = 7\nshort_gi = false\n{more}\n'
        text = scenario(stations, udp("s*", "server"), RUN)
        name = f"{count} stations up, MCS 7" + (f", {more.split(' = ')[0]}" if more == "rts = true" else "")
        name += ", no aggregation" if more == "tx_ampdu = false" else ""
        cases.append(Case(MANY, name, text, goodput(), "Mbit/s", source, mbit_s, 2.0))
    legacy = [
        ("11a, 54 Mbit/s", 'phy = "ofdm"\nrate_mbit_s = 54', 36, (30.47, 28.99, 27.28, 25.37), NS3),
        ("11a, 6 Mbit/s", 'phy = "ofdm"\nrate_mbit_s = 6', 36, (5.366, 4.690, 4.320, 3.959), BIANCHI),
        ("11b, 11 Mbit/s", 'phy = "dsss"\nrate_mbit_s = 11', 1, (6.184, 6.316, 5.956, 5.558), NS3),
    ]
    for name, keys, channel, rows, source in legacy:
        for count, mbit_s in zip((1, 5, 10, 20), rows, strict=True):
            medium = f"[wlan.medium]\nchannel = {channel}\nwidth_mhz = 20\n"
            stations = f'[wlan.ap]\n{keys}\n[[wlan.stations]]\nname = "s"\ncount = {count}\n{keys}\n'
            text = scenario(medium, stations, udp("s*", "server"), RUN)
            named = f"{count} {'station' if count == 1 else 'stations'} up, {name}"
            reference = source if count > 1 else NS3
            cases.append(Case(MANY, named, text, legacy_goodput, "Mbit/s", reference, mbit_s, 2.0))
    return cases


FAST_AND_SLOW = (
    MEDIUM
    + "[wlan.ap]\nmcs = 15\nshort_gi = true\n"
    + "".join(f'[[wlan.stations]]\nname = "{name}"\nmcs = 15\nshort_gi = true\n' for name in ("fast1", "fast2"))
    + '[[wlan.stations]]\nname = "slow"\nmcs = 0\nshort_gi = true\nap_mcs = 0\n'
)
STATIONS = ("fast1", "fast2", "slow")
LONG = "[run]\nwarm_up_s = 6\nduration_s = 20\n"


def queueing(kind: str, packets: int | None = None) -> str:
    """The access point's queues."""
    text = f'[wlan.ap.queueing]\nkind = "{kind}"\n'
    return text if packets is None else f"{text}mac_queue = {{ packets = {packets}, counts_in_flight = false }}\n"


def anomaly() -> list[Case]:
    """What a slow station does to the others, and what airtime fairness does about it."""
    flood = "".join(udp("server", each, f'rate_mbit_s = 100\nname = "{each}"') for each in STATIONS)
    text = scenario(FAST_AND_SLOW, queueing("fifo", 500), WIRE, flood, LONG)
    cases = [Case(ANOMALY, f"FIFO, UDP, {each}", text, goodput(each), "Mbit/s", NS3, 5.98, 2.0) for each in STATIONS]
    cases.append(Case(ANOMALY, "FIFO, UDP, share of the air, slow", text, data_share("slow"), "", NS3, 0.909, 2.0))
    cases.append(Case(ANOMALY, "FIFO, UDP, Jain's index", text, jain, "", NS3, 0.402, 2.0))

    bulk = "".join(tcp("server", each, f'name = "{each}"\nsmall_queues = false') for each in STATIONS)
    echoes = "".join(ping(each, f"ping {each}") for each in ("fast1", "slow"))
    text = scenario(FAST_AND_SLOW, queueing("fq_codel", 50), WIRE, bulk, echoes, LONG)
    case = "fq_codel over a queue of 50, TCP"
    cases += [
        Case(ANOMALY, f"{case}, all", text, goodput(), "Mbit/s", NS3, 14.97, 10.0),
        Case(ANOMALY, f"{case}, round trip fast", text, latency("ping fast1"), "ms", NS3, 36.3, 20.0),
        Case(ANOMALY, f"{case}, round trip slow", text, latency("ping slow"), "ms", NS3, 52.4, 20.0),
    ]
    # The limits of ath9k: 32 MPDUs, 4.096 ms, two aggregates in the hardware.
    limits = "ampdu_max_subframes = 32\nampdu_max_us = 4096\nhardware_ppdus = 2\n"
    fair = FAST_AND_SLOW.replace("[wlan.ap]\n", f"[wlan.ap]\n{limits}")
    text = scenario(fair, queueing("airtime"), WIRE, flood, LONG)
    paper = "model of “Ending the Anomaly” (USENIX ATC 2017), airtime-fair, aggregates of ath9k's limits"
    cases.append(Case(ANOMALY, "airtime, UDP, Jain's index", text, jain, "", paper, at_least=0.99))
    cases.append(Case(ANOMALY, "airtime, UDP, slow", text, goodput("slow"), "Mbit/s", paper, 2.2, 5.0))
    text = scenario(fair, queueing("airtime"), WIRE, bulk, echoes, LONG)
    cases += [
        Case(ANOMALY, "airtime, TCP, all", text, goodput(), "Mbit/s", "commit 63fefa050477: 52.07 with ath9k",
             at_least=45.0),
        Case(ANOMALY, "airtime, TCP, round trip fast", text, latency("ping fast1"), "ms", SEED_FQ, at_most=25.0),
    ]  # fmt: skip
    return cases


LAN = "[path]\nrate_mbit_s = 1000\ndelay_ms = 0.1\n"
"""Its own round trip is small beside what is induced."""


def closed_goodput(limit_us: int) -> float:
    """Mbit/s of one saturated station at MCS 7, 20 MHz, long guard interval, with PPDUs of at most ``limit_us``."""

    def ppdu_us(mpdus: int) -> int:
        # 1472 bytes in UDP, IP, LLC, QoS data and FCS are 1538; a delimiter of 4, all but the last padded to 4.
        psdu = 1544 * mpdus - 2
        return 36 + 4 * math.ceil((16 + 6 + 8 * psdu) / 260)

    most = max((mpdus for mpdus in range(1, 43) if ppdu_us(mpdus) <= limit_us), default=1)
    answer_us = 32 if most > 1 else 28
    return 8 * 1472 * most / (ppdu_us(most) + 16 + answer_us + 43 + 67.5)


def shorter_txops() -> list[Case]:
    """What shorter turns cost in goodput, and what they bring in latency."""
    cases = []
    for limit_us in (5484, 4096, 2000, 1000, 500):
        limits = f"ampdu_max_us = {limit_us}\nhardware_ppdus = 2\n"
        keys = "mcs = 7\nshort_gi = false\n"
        link = f"{MEDIUM}[wlan.ap]\n{keys}{limits}[wlan.dut]\n{keys}"
        text = scenario(link, udp("server", "dut", "socket_packets = 1000"), RUN)
        wanted = closed_goodput(limit_us)
        name = f"turns of {limit_us / 1000:g} ms at most, UDP down"
        cases.append(Case(PRICE, name, text, goodput(), "Mbit/s", CLOSED, round(wanted, 2), 1.0))
    for limit_us, most_ms in ((4096, 20.0), (2000, 12.0), (1000, 8.0)):
        limits = f"ampdu_max_us = {limit_us}\nhardware_ppdus = 2\n"
        keys = "mcs = 7\nshort_gi = false\n"
        link = f"{MEDIUM}[wlan.ap]\n{keys}{limits}[wlan.dut]\n{keys}"
        text = scenario(link, queueing("airtime"), LAN, tcp("server", "dut"), ping("dut", "ping"), RUN)
        name = f"turns of {limit_us / 1000:g} ms at most, TCP down: median round trip"
        cases.append(Case(PRICE, name, text, latency("ping"), "ms", OURS, at_most=most_ms))
    return cases


def flat_latency() -> list[Case]:
    """Induced latency at every rate from 6 to 150 Mbit/s (fq_codel'd ath9k)."""
    cases = []
    limits = "ampdu_max_subframes = 32\nampdu_max_us = 4096\nhardware_ppdus = 2\n"
    for name, keys, width in [
        ("6.5 Mbit/s", "mcs = 0\nshort_gi = false", 20),
        ("13 Mbit/s", "mcs = 1\nshort_gi = false", 20),
        ("26 Mbit/s", "mcs = 3\nshort_gi = false", 20),
        ("65 Mbit/s", "mcs = 7\nshort_gi = false", 20),
        ("144.4 Mbit/s", "mcs = 15\nshort_gi = true", 20),
        ("150 Mbit/s", "mcs = 7\nshort_gi = true", 40),
    ]:
        medium = MEDIUM.replace("width_mhz = 20", f"width_mhz = {width}")
        link = f"{medium}[wlan.ap]\n{keys}\n{limits}[wlan.dut]\n{keys}\n"
        flows = tcp("server", "dut") + ping("dut", "ping")
        text = scenario(link, queueing("airtime"), LAN, flows, RUN)
        deep = scenario(link, queueing("fifo"), LAN, flows, RUN)
        against = f"a transfer at {name}: goodput, times that of a FIFO of 1000 packets"
        cases.append(Case(FLAT, against, text, goodput(), "", SEED_FQ, at_least=0.95, beside=deep))
        cases.append(Case(FLAT, f"a transfer at {name}: median round trip", text, latency("ping"), "ms", SEED_FQ,
                          at_most=20.0))  # fmt: skip
    stations = f'{MEDIUM}[wlan.ap]\n{limits}[[wlan.stations]]\nname = "s"\ncount = 4\nmcs = 7\nshort_gi = true\n'
    flows = tcp("server", "s*") + ping("s-1", "ping")
    text = scenario(stations, queueing("airtime"), LAN, flows, RUN)
    cases.append(Case(FLAT, "four stations: median round trip", text, latency("ping"), "ms", SEED_FQ, at_most=30.0))
    return cases


CASES = [*one_station(), *contention(), *anomaly(), *flat_latency(), *shorter_txops()]
