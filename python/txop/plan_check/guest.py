"""What is invalid in a guest of a plan: found before the first one is booted."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path as FilePath

from txop.core.nearest import nearest
from txop.guest.driver_file import driver_file
from txop.guest.fault_check import check_faults, check_options
from txop.guest.shipped_faults import find_faults
from txop.guest.wireless_stack import DRIVERS as REBUILT
from txop.guest.wireless_stack import NAMES as REBUILT_MODULES
from txop.guest_image.error import GuestError
from txop.guest_image.kernel_tree import MAKEFILES, find_module
from txop.guest_image.locks import find_lock
from txop.guest_image.modules import ModuleFolder
from txop.plan.arm import Arm
from txop.plan.devices import DRIVERS, ROWS, SDIO_CARDS, STOCK_DRIVERS, WITH_BUNDLES
from txop.plan.guest import GuestSpec
from txop.plan.guest_card import OF_BUNDLES, OF_VIRTUAL_HOST, SdioSpec
from txop.plan.guest_function import FUNCTION_TABLES, ModemSpec
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.plan_check.files import is_file, is_folder
from txop.plan_check.guest_chip import assumed_words, chip_of, rate_words

Found = Iterator[tuple[Path, str, str | None]]
Place = Callable[..., Path]
"""Takes names of keys: where the first of these that an arm sets stands, else the first of them for all arms."""


def wrong_chips(loaded: LoadedPlan) -> Found:
    """Invalid chips, parameters and drivers of arms."""
    for arm, spec, place in _specs(loaded):
        if spec.sdio is not None and spec.device not in SDIO_CARDS:
            yield place("sdio"), f"an {spec.device} is not on an SDIO bus", "take it out"
        elif spec.sdio is not None and spec.device not in WITH_BUNDLES and spec.sdio.model_fields_set & {*OF_BUNDLES}:
            known = " or ".join(f"{ROWS[name].label}'s" for name in WITH_BUNDLES)
            said = f"{' and '.join(OF_BUNDLES)} are an {known}: an {spec.device} has one packet at a time"
            yield place("sdio"), said, "take them out"
        if spec.sdio is not None and spec.device in SDIO_CARDS:
            yield from _host_controller(spec.sdio, place)
        if spec.is_function:
            yield from _function(arm, spec, place)
            continue
        for table in FUNCTION_TABLES.values():
            if getattr(spec, table) is not None:
                yield place(table), f"an {spec.device} has no settings of a network function", "take it out"
        yield from _access_point(loaded, arm, spec, place)
        yield from _assumptions(spec, place)
        wrong = _chip_problem(spec)
        if wrong is not None and _chip_problem(spec.model_copy(update=_ON_CHANNEL_6)) is None:
            too_wide = spec.width_mhz == 80 and not spec.is_in_5_ghz
            yield place(*(("width_mhz", "channel") if too_wide else ("channel", "device", "ap"))), *wrong
        elif wrong is not None and spec.stations is not None and _chip_problem(spec.model_copy(update=_ALONE)) is None:
            yield place("stations"), *wrong
        elif (
            wrong is not None and spec.parameters and _chip_problem(spec.model_copy(update={"parameters": {}})) is None
        ):
            yield place("parameters"), *wrong
        elif wrong is not None and (key := next(_at_fault(spec), None)) is not None:
            yield place(key), *wrong
        elif wrong is not None:
            yield place("security", "ap"), *wrong
        for index, test in enumerate(loaded.plan.test):
            odd = _problem(partial(rate_words, spec, test.rates))
            if odd is not None:
                yield ("test", index, "rates"), *odd
        if (
            spec.source is None
            and spec.module_file is None
            and not arm.patches_of(spec.driver, spec.builds)
            and spec.driver not in STOCK_DRIVERS[spec.device]
        ):
            known = " and ".join(STOCK_DRIVERS[spec.device])
            yield place("driver", "device"), f"{spec.driver} does not know an {spec.device}", f"{known} do"


def built_already(loaded: LoadedPlan) -> Found:
    """What arms say of a build of a driver that is a module file: it would be ignored. A table has one or the other,
    but an arm may have one, and ``[guest]`` the other."""
    for arm, spec, place in _specs(loaded):
        for key in spec.of_a_build if spec.module_file is not None else ():
            said = f"{arm.name} has a module_file, which is built already: {key} would be ignored"
            yield place(key, "module_file"), said, f"give {key} or module_file to the arms that have it, not to [guest]"


def _host_controller(sdio: SdioSpec, place: Place) -> Found:
    given = sdio.model_fields_set
    if sdio.host != "virtual" and (odd := [key for key in OF_VIRTUAL_HOST if key in given]):
        yield place("sdio"), f"ushc decides on {' and '.join(odd)} by itself", 'take it out, or set host = "virtual"'
    if sdio.host == "virtual" and "interrupt_us" in given:
        yield place("sdio"), "the virtual host has the interrupt line itself: interrupt_us is ushc's", "take it out"
    if sdio.host == "virtual" and sdio.pio_bytes is not None and not sdio.bus_time:
        yield place("sdio"), "pio_bytes takes time on the wires: interrupts come while data do", "set bus_time = true"


def _assumptions(spec: GuestSpec, place: Place) -> Found:
    """Assumptions that the device has not, or not with this value."""
    known = ROWS[spec.device].assumptions
    unknown = next((name for name in spec.assume if name not in known), None)
    if unknown is not None:
        near = nearest(unknown, known)
        advice = f"did you mean {near}? " if near else ""
        has = f"it has {', '.join(known)}" if known else "it has none: take assume out"
        yield place("assume"), f'an {spec.device} has no assumption "{unknown}"', advice + has
        return
    odd = _problem(partial(check_options, spec.device, "builtin", assumed_words(spec))) if spec.assume else None
    if odd is not None:
        yield place("assume"), *odd


_ALONE: dict[str, object] = {"stations": None, "queues": None}
_ON_CHANNEL_6: dict[str, object] = {"channel": 6, "width_mhz": 20}


def _access_point(loaded: LoadedPlan, arm: Arm, spec: GuestSpec, place: Place) -> Found:
    """What an access point of stations cannot be, and settings that need one."""
    yield from _queues(spec, place)
    if spec.stations is not None and spec.air is not None:
        yield place("air"), "each station of an access point has its own air", "set signal_dbm of the stations"
    if spec.stations is None:
        if "topology" in spec.model_fields_set:
            said = "is of an access point of stations, and there are none"
            yield place("topology"), said, "set stations, or take it out"
        return
    names = [station.name for station in spec.stations]
    known = list(loaded.plan.guest_stations)
    if odd := next((name for name in names if name in ("dut", "peer", "sniffer") or names.count(name) > 1), None):
        yield place("stations"), f'"{odd}" cannot be the name of a station here', "give each its own name"
    elif names != known:
        said = f"the stations of {arm.name} are {', '.join(names)}, and those of [guest] {', '.join(known) or 'none'}"
        yield place("stations"), said, "give every arm the same stations, with other signals or weights"
    for name in names:
        if name not in loaded.plan.target and name in known:
            yield (
                place("stations"),
                f"the station {name} is not a target",
                f'add a table [target.{name}] with kind = "guest"',
            )


def _queues(spec: GuestSpec, place: Place) -> Found:
    """What cannot be rebuilt with mac80211, and rates that there are not."""
    mcs = spec.queues.fixed_mcs if spec.queues is not None else None
    highest = 7 if not spec.is_in_5_ghz else 8 if spec.width_mhz == 20 else 9
    if mcs is not None and mcs > highest:
        band = "5 GHz" if spec.is_in_5_ghz else "2.4 GHz"
        said = f"there is no MCS {mcs} of one stream with {spec.width_mhz} MHz in {band}"
        yield place("queues"), said, f"{highest} is the highest"
    if spec.needs_debugfs:
        if spec.source is not None or spec.make or spec.switches or spec.module_file is not None:
            said = "the driver is rebuilt together with mac80211, from the kernel's own source as it is configured"
            yield (
                place("queues"),
                said,
                "take source, make, switches and module_file out, or the keys of queues that need debugfs",
            )
        if spec.module is not None and spec.module not in REBUILT_MODULES:
            said = f"{spec.module} is not among what is rebuilt with mac80211"
            yield place("module", "queues"), said, f"take module out, or choose from {', '.join(REBUILT_MODULES)}"
        if spec.driver not in REBUILT:
            yield place("queues"), f"{spec.driver} is not rebuilt with mac80211", f"{', '.join(REBUILT)} is"


_OF_CHIPS = ("air", "security", "channel", "width_mhz", "ap", "stations", "topology", "queues", "assume", "power_save")
"""Keys about air and access point, which network functions have not."""


def _function(arm: Arm, spec: GuestSpec, place: Place) -> Found:
    """What a network function cannot have."""
    for key in _OF_CHIPS:
        if key in spec.model_fields_set and getattr(spec, key) not in (None, {}):
            yield place(key), f"a network function ({spec.device}) has no {key}", "take it out"
    wrong = _chip_problem(spec)
    if wrong is not None:
        yield place("parameters", "device"), *wrong
    for other in FUNCTION_TABLES.values():
        if other != FUNCTION_TABLES.get(spec.device) and getattr(spec, other) is not None:
            yield place(other), f"the device is {spec.device}", f"take the settings of {other} out"
    if any(spec.driver in drivers for drivers in STOCK_DRIVERS.values()):
        yield place("driver", "device"), f"{spec.driver} does not know a {spec.device}", f"{DRIVERS[spec.device]} does"
    if spec.modem is not None:
        yield from _modem(arm, spec, spec.modem, place)


def _modem(arm: Arm, spec: GuestSpec, modem: ModemSpec, place: Place) -> Found:
    """What the host cannot make of a modem."""
    limits = modem.tx_aggregation
    if (modem.downlink_least_mbit_s or 0) > modem.downlink_mbit_s:
        said = f"the downlink wanders from {modem.downlink_least_mbit_s:g} to {modem.downlink_mbit_s:g} Mbit/s"
        yield place("modem"), said, "set downlink_least_mbit_s to less than downlink_mbit_s"
    if modem.is_negotiated and modem.mux == "none":
        said = 'QMAP is what is negotiated, and mux is "none"'
        yield place("modem"), said, 'set mux = "rmnet" or "qmimux", or take framing out'
    if limits is None or modem.mux == "rmnet":
        return
    if modem.mux == "none":
        said = 'raw IP has one datagram in a transfer, and mux is "none"'
        yield place("modem"), said, 'set mux = "rmnet", or "qmimux" with a patch that aggregates'
    elif not arm.patches_of(spec.driver, spec.builds):
        said = "qmi_wwan's own QMAP aggregates nothing that it sends"
        yield place("modem"), said, f'give the arm the patch {UPLINK_PATCH}, or set mux = "rmnet"'
    elif "hold_us" in limits.model_fields_set:
        said = "the patch of qmi_wwan waits for 400 us, three times since the last datagram, and takes no hold_us"
        yield place("modem"), said, "take hold_us out"


UPLINK_PATCH = "txop:qmi_wwan/uplink-aggregation.toml"
"""The edit script that comes with txop and gives qmi_wwan aggregation."""


def wrong_guests(loaded: LoadedPlan) -> Found:
    """Invalid kernels, sources and fault scripts of arms. Files that are not there are left to
    :mod:`txop.plan_check.files`."""
    for arm, spec, place in _specs(loaded):
        key = "kernel" if spec.lock is None else "lock"
        lock = None if spec.lock is None else loaded.file(spec.lock)
        try:
            if lock is None or is_file(lock):
                find_lock(spec.kernel, lock)
        except (GuestError, OSError) as error:
            yield place(key), getattr(error, "what", str(error)), getattr(error, "what_to_do", None)
        if spec.kernel_file is not None and (spec.asks_for_a_build or arm.patches):
            said = "no driver is built for your own kernel: its modules are taken as they are"
            advice = "take patches, source, module and switches out, or kernel_file and modules_dir"
            yield place("kernel_file"), said, advice
        yield from _module_file(loaded, arm, spec, place)
        if spec.source is not None:
            source = loaded.file(spec.source)
            if is_folder(source) and not _builds(source, spec.builds):
                yield place("source"), f"{source} has no Makefile to build a module with", None
        if spec.faults is not None:
            yield from _script(loaded, spec.faults, spec.ap, place("faults"))


def _module_file(loaded: LoadedPlan, arm: Arm, spec: GuestSpec, place: Place) -> Found:
    """What is wrong with a driver that was built elsewhere. Its kernel is known before a guest boots."""
    if spec.module_file is None:
        return
    if arm.patches_of(spec.driver, spec.builds):
        yield place("module_file"), "no patch can be applied to a module that is built already", "give its source"
    file = loaded.file(spec.module_file)
    if not is_file(file):
        return
    lock = None if spec.lock is None else loaded.file(spec.lock)
    try:
        theirs = None if spec.modules_dir is None else ModuleFolder(loaded.file(spec.modules_dir))
        release = find_lock(spec.kernel, lock).release if theirs is None else theirs.release
        driver_file(file, spec.driver, release, theirs)
    except GuestError as error:
        yield place("module_file"), error.what, error.what_to_do
    except OSError:
        return  # files that are not there are found elsewhere


def _builds(source: FilePath, driver: str) -> bool:
    """Whether a folder has what makes a driver: a Makefile, or the driver's folder as in a kernel's source tree."""
    return any((source / name).is_file() for name in MAKEFILES) or find_module(source, driver) is not None


def _specs(loaded: LoadedPlan) -> Iterator[tuple[Arm, GuestSpec, Place]]:
    plan = loaded.plan
    if plan.guest is None:
        return
    for index, arm in enumerate(plan.arm):
        own = set(arm.guest.model_fields_set) if arm.guest is not None else set()

        def place(*names: str, own: set[str] = own, index: int = index) -> Path:
            mine = next((name for name in names if name in own), None)
            return ("guest", names[0]) if mine is None else ("arm", index, "guest", mine)

        yield arm, plan.guest.varied(arm.guest), place


def _at_fault(spec: GuestSpec) -> Iterator[str]:
    """Keys without which the chip would be possible."""
    without: dict[str, object] = {"queues": None, "station_chips": False}
    for key, value in without.items():
        if _chip_problem(spec.model_copy(update={key: value})) is None:
            yield key


def _chip_problem(spec: GuestSpec) -> tuple[str, str | None] | None:
    return _problem(lambda: chip_of(spec))


def _problem(make: Callable[[], object]) -> tuple[str, str | None] | None:
    try:
        make()
    except GuestError as error:
        return error.what, error.what_to_do
    return None


def _script(loaded: LoadedPlan, name: str, ap: str, path: Path) -> Found:
    file = loaded.file(name)
    if not is_file(file):
        return
    try:
        script = find_faults(str(file))
        tomllib.loads(script.text)
        check_faults([script], ap)
    except GuestError as error:
        yield path, error.what, error.what_to_do
    except (ValueError, RecursionError) as error:
        yield path, f"{name}: {error}", "examples of fault scripts are in examples/faults"
