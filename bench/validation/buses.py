"""Cases of the links with a bus: the LTE modem on USB, the WLAN on SDIO."""

from __future__ import annotations

from typing import NamedTuple

from cases import RUN, Case, Figure, goodput, latency, scenario

from txop.simulate.model import Run, TcpResult

MODEM = "LTE modem on USB"
SHIPPED = "LTE modem on USB: the scenarios that come with txop (regression checks)"
SDIO = "WLAN on SDIO (fitted: as many constants as figures)"
PREDICTED = "WLAN on SDIO: constants from other figures of the same machine"

SEED = "“qmi_wwan qmap tx aggregation patch”: an LTE cat. 4 modem; its cost per URB is calibrated from there"
REGRESSION = (
    "regression check: bounds that suit the author's words, set after the results were seen; modem-both-qmi-wwan "
    "has a queue calibrated to give them (docs/link-modem.md)"
)
GUEST = "guest with Linux 6.12 and a virtual modem of 190 µs per URB, n = 1"
STACKS = (
    "“WLAN with Linux SDIO: sneak preview”, n = 10; the air is calibrated from its other stack, Atheros'; frames in "
    "the card (1) and when the receiving process runs were selected by these figures; tolerances set after the results "
    "were seen"
)
NEXT_DAY = "openmoko-kernel 2008-November/006299, made on the next day; tolerances as (1)"
POLLING = (
    "guest with Linux 6.12 and a virtual AR6003 (docs/virtual-sdio.md), n = 1; host and air are calibrated from its "
    "arm with interrupts; the rule of two polls was added when the pings had been seen, the tolerances as well"
)
NEO = "openmoko-kernel 2008-October/005288: MMC-SPI at 12 MHz, AR6001"

CAT_4 = "[modem.radio]\nuplink_mbit_s = 50\ndownlink_mbit_s = 150\n[modem.device]\nus_per_urb = 190\n"
AGGREGATED = '[modem.driver]\naggregation = "rmnet"\nmax_datagrams = 16\nmax_bytes = 16384\ntimer_us = 800\n'
UP = '[[traffic]]\nname = "up"\nkind = "tcp"\nfrom = "dut"\nto = "server"\npacing_shift = 8\n'


def down(ack_every: int) -> str:
    """A download, to a receiver that acknowledges ``segments`` segments at once."""
    return (
        '[[traffic]]\nname = "down"\nkind = "tcp"\nfrom = "server"\nto = "dut"\n'
        f"ack_every = {ack_every}\nwindow_bytes = 1000000\nhystart = false\n"
    )


def modem() -> list[Case]:
    """Up, down, and both at once; with and without aggregation."""
    both, cured = scenario(CAT_4, UP, down(2), RUN), scenario(CAT_4, AGGREGATED, UP, down(2), RUN)
    harsh, harsh_cured = scenario(CAT_4, UP, down(1), RUN), scenario(CAT_4, AGGREGATED, UP, down(1), RUN)
    return [
        Case(MODEM, "upload alone", scenario(CAT_4, UP, RUN), goodput("up"), "Mbit/s", SEED, at_least=45.0),
        Case(MODEM, "download alone", scenario(CAT_4, down(2), RUN), goodput("down"), "Mbit/s", SEED, 120.0, 5.0),
        Case(MODEM, "both, upload", both, goodput("up"), "Mbit/s", SEED + " (“huge drop”)", at_most=5.0),
        Case(MODEM, "both, download", both, goodput("down"), "Mbit/s", SEED + " (“a minor one”)", at_least=100.0),
        Case(MODEM, "both, aggregated, upload", cured, goodput("up"), "Mbit/s", SEED, at_least=40.0),
        Case(MODEM, "both, aggregated, download", cured, goodput("down"), "Mbit/s", SEED, at_least=120.0),
        Case(MODEM, "both, an ACK for each segment, upload", harsh, goodput("up"), "Mbit/s", GUEST, at_most=2.25),
        Case(MODEM, "both, an ACK for each segment, download", harsh, goodput("down"), "Mbit/s", GUEST, 62.0, 5.0),
        Case(MODEM, "the same, aggregated, upload", harsh_cured, goodput("up"), "Mbit/s", GUEST, 40.1, 10.0),
        Case(MODEM, "the same, aggregated, download", harsh_cured, goodput("down"), "Mbit/s", GUEST, 131.0, 10.0),
    ]


class Bar(NamedTuple):
    """The ends of what is right."""

    at_least: float | None = None
    at_most: float | None = None


def shipped() -> list[Case]:
    """The scenarios that come with txop, as they come."""
    bars = {
        ("modem-both", "up"): Bar(at_most=5.0),
        ("modem-both", "down"): Bar(at_least=100.0),
        ("modem-both-rmnet", "up"): Bar(at_least=40.0),
        ("modem-both-rmnet", "down"): Bar(at_least=120.0),
        ("modem-both-qmi-wwan", "up"): Bar(at_least=30.0),
        ("modem-both-qmi-wwan", "down"): Bar(at_least=120.0),
    }
    return [
        Case(
            SHIPPED, f"{name}, {flow}", f'base = "shipped/{name}.toml"\n', goodput(flow), "Mbit/s", REGRESSION,
            at_least=bar.at_least, at_most=bar.at_most,
        )
        for (name, flow), bar in bars.items()
    ]  # fmt: skip


def kilobytes_per_s(run: Run) -> float | None:
    """Goodput in the unit of ttcp, kB/s."""
    return None if run.goodput_mbit_s is None else run.goodput_mbit_s * 1e6 / 8 / 1000


def sdio() -> list[Case]:
    """Polling, interrupts, asynchronous transfers."""
    bus = "[sdio.bus]\nclock_mhz = 12\nwidth = 1\ncommand_gap_us = 120\nblock_gap_us = 120\n"
    host = '[sdio.host]\npio = false\ndma_setup_us = 0\ncommand_us = 29\nprocess_runs = "after_command"\n'
    ttcp = '[[traffic]]\nname = "ttcp"\nkind = "tcp"\nfrom = "server"\nto = "dut"\nwindow_bytes = 65536\n'
    cases = []
    for name, keys, kb_s in [
        ("polling", 'interrupts = "polling"\nhif = "synchronous"\n', 386.1),
        ("interrupts", 'interrupts = "single"\nhif = "synchronous"\n', 402.6),
        ("asynchronous", 'interrupts = "single"\nhif = "asynchronous"\n', 448.8),
    ]:
        text = scenario(bus, host + keys, ttcp, "[run]\nwarm_up_s = 3\nduration_s = 20\n")
        cases.append(Case(SDIO, name, text, kilobytes_per_s, "kB/s", NEO, kb_s, 2.0))
    sleeping = "[sdio.radio.power_save]\nbeacon_us = 102400\nmissed_beacon_rate = 0.13\nawake_us = 1000\n"
    pings = '[[traffic]]\nname = "ping"\nkind = "ping"\nfrom = "dut"\nto = "server"\ninterval_ms = 1000\n'
    text = scenario(sleeping, pings, "[run]\nwarm_up_s = 1\nduration_s = 100\n")
    source = "openmoko-kernel 2008-November/006299: ping 15.1/83.8/256 ms; that the station slept is our assumption"
    cases.append(Case(SDIO, "ping, mean", text, latency("ping", "mean_ms"), "ms", source, 83.8, 20.0))
    cases.append(Case(SDIO, "ping, least", text, latency("ping", "min_ms"), "ms", source, at_most=20.0))
    cases.append(Case(SDIO, "ping, most", text, latency("ping", "max_ms"), "ms", source, 256.0, absolute=150.0))
    return cases


def _tcp(name: str, run: Run) -> TcpResult | None:
    return next((flow.tcp for flow in run.flows if flow.name == name), None)


def rate(name: str, megabytes: float, unit: float) -> Figure:
    """Payload of the whole transfer ``name`` over the time that it took: ``unit`` is 1e-3 for kB/s, 8e-6 for Mbit/s."""

    def figure(run: Run) -> float | None:
        tcp = _tcp(name, run)
        return None if tcp is None or tcp.completed_s is None else megabytes * 1e6 * unit / tcp.completed_s

    return figure


def receiver_waits(name: str, megabytes: float = 1.0) -> Figure:
    """How often the receiver of ``name`` waited, per megabyte."""

    def figure(run: Run) -> float | None:
        tcp = _tcp(name, run)
        return None if tcp is None else tcp.receiver_waits / megabytes

    return figure


def sdio_predicted() -> list[Case]:
    """No constant is calibrated from these; rules were selected by some of them."""
    neo, guest = 16.777216, 2.097152
    linux, asynchronous = 'base = "shipped/sdio-neo-linux.toml"\n', 'base = "shipped/sdio-neo-linux-async.toml"\n'
    poll, interrupt = 'base = "shipped/sdio-guest-poll.toml"\n', 'base = "shipped/sdio-guest-interrupt.toml"\n'
    rows = [
        ("Linux' stack, to the Neo", linux, rate("to-neo", neo, 1e-3), "kB/s", STACKS, 741.07, 2.0),
        ("Linux' stack, from the Neo", linux, rate("from-neo", neo, 1e-3), "kB/s", STACKS, 717.20, 3.0),
        ("Linux' stack, waits of the receiver", linux, receiver_waits("to-neo"), "", STACKS, 5170.0, 15.0),
        ("the same, asynchronous", asynchronous, receiver_waits("to-neo"), "", NEXT_DAY, 4861.0, 10.0),
        ("guest, interrupts, from the card", interrupt, rate("from-card", guest, 8e-6), "Mbit/s", POLLING, 27.5, 5.0),
        ("guest, polling, to the card", poll, rate("to-card", guest, 8e-6), "Mbit/s", POLLING, 33.1, 15.0),
        ("guest, polling, from the card", poll, rate("from-card", guest, 8e-6), "Mbit/s", POLLING, 26.9, 15.0),
        (
            "guest, polling, waits of the receiver per MB",
            poll,
            receiver_waits("to-card", guest),
            "",
            POLLING,
            105.0,
            50.0,
        ),
        ("guest, polling, ping to the card", poll, latency("ping-to-card", "mean_ms"), "ms", POLLING, 7.55, 25.0),
        ("guest, polling, ping from the card", poll, latency("ping-from-card", "mean_ms"), "ms", POLLING, 13.61, 25.0),
    ]
    return [
        Case(PREDICTED, name, text, figure, unit, source, reference, tolerance)
        for name, text, figure, unit, source, reference, tolerance in rows
    ]


CASES = [*modem(), *shipped(), *sdio(), *sdio_predicted()]
