"""Cases of the links with a bus: the LTE modem on USB, the WLAN on SDIO."""

from __future__ import annotations

from typing import NamedTuple

from cases import RUN, Case, goodput, latency, scenario

from txop.simulate.model import Run

MODEM = "LTE modem on USB"
SHIPPED = "LTE modem on USB: the scenarios that come with txop (regression checks)"
SDIO = "WLAN on SDIO (fitted: as many constants as figures)"

SEED = "“qmi_wwan qmap tx aggregation patch”: an LTE cat. 4 modem; its cost per URB is calibrated from there"
REGRESSION = (
    "regression check: bounds that suit the author's words, set after the results were seen; modem-both-qmi-wwan "
    "has a queue calibrated to give them (docs/link-modem.md)"
)
GUEST = "guest with Linux 6.12 and a virtual modem of 190 µs per URB, n = 1"
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


CASES = [*modem(), *shipped(), *sdio()]
