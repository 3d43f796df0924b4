"""The rtl8xxxu scenarios beside the figures that they were fitted to: ``.venv/bin/python bench/calibration.py``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MEASURED: dict[str, tuple[float, float, float, float]] = {
    "vendor": (42.5, 2.4, 47.3, 0.2),
    "vanilla": (12.5, 17.0, 24.4, 28.2),
    "patch-10": (20.6, 12.0, 33.1, 27.0),
    "patches-10-7": (24.3, 39.9, 12.4, 22.3),
    "patches-10-8": (15.2, 17.7, 32.8, 25.9),
    "patches-10-8-7": (20.8, 46.5, 8.29, 26.5),
}
"""TX Mbit/s, TX retry %, RX Mbit/s, RX retry %, of one run each.

Imported from the linux-wireless wiki, "rtl8xxxu on RTL8188CUS on GARDENA smart gateway": gateway and Linksys access
point, 1 m; of the vendor's two TX runs the second."""


@dataclass(frozen=True)
class Row:
    """One build and direction."""

    build: str
    way: str
    measured_mbit_s: float
    measured_retry_percent: float
    modelled_mbit_s: float
    modelled_retry_percent: float


def rows(seeds: int = 5) -> Iterator[Row]:
    """Every build, both ways."""
    from txop import simulate

    for build, (tx, tx_retry, rx, rx_retry) in MEASURED.items():
        for way, rate, retry in (("tx", tx, tx_retry), ("rx", rx, rx_retry)):
            runs = simulate.run(f"rtl8xxxu-{build}-{way}", seeds=seeds).points[0].runs
            goodput = sum(run.goodput_mbit_s or 0.0 for run in runs) / len(runs)
            mpdus = retries = 0
            for run in runs:
                for station in run.air.stations if run.air is not None else ():
                    mpdus += station.up.mpdus + station.down.mpdus
                    retries += station.up.retries + station.down.retries
            yield Row(build, way, rate, retry, goodput, 100 * retries / max(mpdus, 1))


def table(seeds: int = 5) -> str:
    """The table of docs/simulate.md."""
    lines = [
        "| build | way | measured, Mbit/s | modelled | measured retries, % | modelled |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.build} | {row.way.upper()} | {row.measured_mbit_s:g} | {row.modelled_mbit_s:.1f} |"
        f" {row.measured_retry_percent:g} | {row.modelled_retry_percent:.1f} |"
        for row in rows(seeds)
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    import sys

    sys.stdout.write(table() + "\n")
