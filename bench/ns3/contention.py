"""Stations that always have something to send, in ns-3 (the Python wheel `ns3`): the references of the HT rows of
contention in docs/validation.md, and which of ns-3's settings move them. Writes one line of JSON for each run.

    python bench/ns3/contention.py >bench/ns3/contention.jsonl       with the Python that has the wheel
    python bench/ns3/contention.py --one 10 as-shipped 1             one run: 10 stations, seed 1
"""

import argparse
import json
import subprocess
import sys

Value = bool | int | str

NO_EXPIRY: dict[str, Value] = {"ns3::WifiMacQueue::MaxDelay": "10s"}
"""Packets of a queue that is always full wait for longer than the 500 ms that ns-3 lets them."""
NO_REQUEST: dict[str, Value] = {"ns3::QosTxop::UseExplicitBarAfterMissedBlockAck": False}
"""After a PPDU without a Block Ack ns-3 asks for it, in a turn of its own; without this it sends the MPDUs again."""
LIKE_MODEL = NO_EXPIRY | NO_REQUEST
SETTINGS: dict[str, tuple[bool, dict[str, Value]]] = {
    "like-the-model": (False, LIKE_MODEL),
    "like-the-model-rts": (False, LIKE_MODEL | {"ns3::WifiRemoteStationManager::RtsCtsThreshold": 0}),
    "like-the-model-no-aggregation": (False, LIKE_MODEL | {"ns3::WifiMac::BE_MaxAmpduSize": 0}),
    "as-shipped": (True, {}),
    "no-expiry": (True, NO_EXPIRY),
    "no-request": (True, NO_REQUEST),
    "no-detection": (False, {}),
    "no-expiry-no-request": (True, LIKE_MODEL),
}
"""Whether preambles have to be detected, and attributes of ns-3."""
PLAN = [
    *((count, "like-the-model") for count in (10, 20, 5)),
    *((count, "no-detection") for count in (10, 5)),
    *((10, settings) for settings in ("as-shipped", "no-expiry", "no-request", "no-expiry-no-request")),
    *((count, f"like-the-model-{how}") for how in ("no-aggregation", "rts") for count in (5, 20)),
]
"""txop and Bianchi's model know no expiry and no request, and who cannot read a PPDU waits for EIFS."""


def one(count: int, settings: str, seed: int) -> dict[str, Value | float]:
    """A run, in this process."""
    from case import simulate
    from ns import ns

    detection, attributes = SETTINGS[settings]
    kinds = {str: ns.StringValue, bool: ns.BooleanValue, int: ns.UintegerValue}
    for name, value in attributes.items():
        ns.Config.SetDefault(name, kinds[type(value)](value))
    ns.RngSeedManager.SetRun(seed)
    done = simulate(settings, (count, "HT", "HtMcs7", "up", "udp"), 13.0, detection=detection)
    return {"stations": count, "settings": settings, "seed": seed, "goodput_mbit_s": round(done["goodput_mbit_s"], 4)}


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each case (5)")
    parser.add_argument("--one", nargs=3, metavar=("STATIONS", "SETTINGS", "SEED"), help="one run, in this process")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(int(options.one[0]), options.one[1], int(options.one[2]))))
        return 0
    for count, settings in PLAN:
        for seed in range(1, options.seeds + 1):
            argv = [sys.executable, __file__, "--one", str(count), settings, str(seed)]
            ran = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
            print(ran.stdout.splitlines()[-1], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
