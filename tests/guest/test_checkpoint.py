"""Guests that are saved and restored, and guests that are recorded and replayed."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from txop.guest import checkpoint, outside, qemu, running
from txop.guest.checkpoint import CheckpointError, empty_disk, identity, restore, save
from txop.guest.chips import COMMAND_LOG, IN_GUEST, Chip
from txop.guest.exactness import difference
from txop.guest.inputs import inputs_of
from txop.guest.outside import GivenRun
from txop.guest.qemu import Computer, Mode, arguments
from txop.guest.qmp import Qmp, QmpError
from txop.guest.rebuilt import modules_for
from txop.guest.running import Ended, run_guest
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.plan.devices import FUNCTIONS, ON_PCI, ROWS, SDIO_CARDS

SCRIPT = """
txop-lab up || exit
txop-vusb control checkpoint || exit
dut ping -c 3 -i 0.2 10.80.210.1 || exit
peer iperf3 -s -D; sleep 0.3
dut iperf3 -c 10.80.210.1 -t 1 -J >/txop/out/iperf3.json || exit
cat /proc/interrupts /proc/stat; date; head -c 100 /dev/urandom | sha256sum
"""
"""What follows the checkpoint tells of a difference of a nanosecond in the guest's time."""

ENDS = """#!/bin/sh
for word; do
    case $word in *,id=events,*) events=${word##*path=} ;; *,id=files,*) files=${word##*path=} ;; esac
done
tar -cf "$files" -T /dev/null; printf 'end 2.0 0\\n' >"$events"
"""
"""A program in place of QEMU, whose guest ends at once."""

DEVICES = (
    ("rtl8188cus", "rtl8192cu", "builtin", "ushc"),
    ("rtl8188cus", "rtl8192cu", "hostapd", "ushc"),
    *((device, row.drivers[0].name, "hostapd", "ushc") for device, row in ROWS.items()),
    *((device, ROWS[device].drivers[0].name, "hostapd", "virtual") for device in SDIO_CARDS),
)
"""Device, driver, access point, host controller of an SDIO card."""
WALL_S = 900


# QEMU's monitor ------------------------------------------------------------------------------------------------------


async def _monitor(path: Path, answers: list[dict[str, object]], talk: Callable[[Qmp], Awaitable[None]]) -> list[str]:
    """A monitor that answers so; what it was asked."""
    asked = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"QMP": {}}\n')
        for answer in ({"return": {}}, *answers):
            line = await reader.readline()
            if not line:
                break
            asked.append(json.loads(line)["execute"])
            rows = answer if isinstance(answer, list) else [answer]
            writer.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        writer.close()

    server = await asyncio.start_unix_server(serve, path)
    async with server, Qmp(path) as qmp:
        await talk(qmp)
    return asked


def test_events_may_come_before_an_answer(tmp_path: Path) -> None:
    async def talk(qmp: Qmp) -> None:
        assert await qmp.execute("query-status") == {"running": False}
        await qmp.event("STOP")

    answers: list[object] = [[{"event": "STOP"}, {"return": {"running": False}}]]
    assert asyncio.run(_monitor(tmp_path / "m", answers, talk)) == ["qmp_capabilities", "query-status"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "said"), [({"error": {"desc": "not now"}}, "not now"), ([], "is closed"), ([[1]], "no object")]
)
def test_what_a_monitor_cannot_do_is_said(tmp_path: Path, answer: object, said: str) -> None:
    async def talk(qmp: Qmp) -> None:
        await qmp.execute("cont")

    with pytest.raises(QmpError, match=said):
        asyncio.run(_monitor(tmp_path / "m", [answer], talk))  # type: ignore[list-item]


# A checkpoint --------------------------------------------------------------------------------------------------------


def test_a_disk_for_snapshots_has_its_tables_where_its_header_says() -> None:
    disk = empty_disk()
    assert disk[:8] == b"QFI\xfb\0\0\0\3"
    assert len(disk) == 4 << 16
    level_1, counts = (int.from_bytes(disk[at : at + 8], "big") for at in (40, 48))
    block = int.from_bytes(disk[counts : counts + 8], "big")
    assert sorted([level_1, counts, block]) == [1 << 16, 2 << 16, 3 << 16]
    assert disk[block : block + 10] == b"\0\1" * 4 + b"\0\0", "as many clusters are in use as there are"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Image:
    """An image for what is decided before QEMU starts."""
    library = tmp_path / "library.so"
    library.write_bytes(b"")
    monkeypatch.setenv("TXOP_QEMU_DEVICES", str(library))
    (tmp_path / "initramfs.gz").write_bytes(gzip.compress(b"files"))
    (tmp_path / "vmlinuz").write_bytes(b"kernel")
    return Image(tmp_path, "6.12.117", tmp_path, (), "key", cached=True)


def test_only_the_guest_that_was_saved_is_restored(small: Image, tmp_path: Path) -> None:
    overlay, computer = Overlay(script="true"), Computer(mode=Mode.EXACT)
    place = tmp_path / "checkpoint"

    def refused(overlay: Overlay, computer: Computer) -> str:
        with pytest.raises(CheckpointError) as raised:
            asyncio.run(restore(small, overlay, computer, place, results=tmp_path / "results", wall_limit_s=1))
        return raised.value.what

    assert "is no checkpoint" in refused(overlay, computer)
    place.mkdir()
    of = identity(small, overlay, computer)
    document = {"format": checkpoint.FORMAT, "version": checkpoint.FORMAT_VERSION, "of": of}
    (place / checkpoint.DESCRIPTION).write_text(json.dumps(document))
    assert refused(Overlay(script="false"), computer).endswith("of another guest: boots_sha256")
    assert refused(overlay, Computer(mode=Mode.EXACT, seed=2)).endswith("of another guest: arguments")
    (place / checkpoint.DESCRIPTION).write_text(json.dumps({**document, "version": 99}))
    assert "of this version" in refused(overlay, computer)
    with pytest.raises(CheckpointError, match="exists"):
        asyncio.run(save(small, overlay, computer, place, results=tmp_path / "results", wall_limit_s=1))


def test_a_guest_that_another_txop_saved_is_another_one(small: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gave QEMU, its devices or its monitor other arguments, and the guest has been so since its boot."""
    run = GivenRun(1, None, "true")

    def now() -> tuple[dict[str, object], str]:
        overlay, computer = Overlay(script="true"), Computer(mode=Mode.EXACT)
        return identity(small, overlay, computer), inputs_of(small, overlay, computer, run=run).key

    of, key = now()
    for module, name, value in (
        (qemu, "FIRMWARE", "bios-256k.bin"),
        (outside, "PCI_FUNCTIONS", 4),
        (outside, "CAPTURE_LIMIT_BYTES", 1 << 20),
        (running, "MONITOR", "qmp"),
        (checkpoint, "_DRIVE", "other"),
        (checkpoint, "FORMAT_VERSION", checkpoint.FORMAT_VERSION + 1),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, value)
            assert now()[0] != of, name
            assert (now()[1] != key) == (module in (qemu, outside)), name
    assert now() == (of, key)


def test_a_guest_that_ends_before_it_asks_leaves_no_checkpoint(
    small: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "qemu"
    program.write_text(ENDS)
    program.chmod(0o755)
    monkeypatch.setenv("TXOP_QEMU", str(program))
    with pytest.raises(GuestError, match="before it asked"):
        asyncio.run(
            save(
                small,
                Overlay(script="true"),
                Computer(mode=Mode.EXACT),
                tmp_path / "checkpoint",
                results=tmp_path / "results",
                wall_limit_s=60,
                cache=tmp_path / "cache",
            )
        )
    assert not (tmp_path / "checkpoint").exists()


def test_what_cannot_be_saved_is_no_guest_that_failed(
    small: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object) -> bool:
        raise QmpError("QEMU did not save the guest")

    program = tmp_path / "qemu"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setenv("TXOP_QEMU", str(program))
    monkeypatch.setattr(checkpoint._Saving, "attend", refused)
    overlay, computer, place = Overlay(script="true"), Computer(mode=Mode.EXACT), tmp_path / "checkpoint"
    with pytest.raises(CheckpointError, match="did not save"):
        asyncio.run(
            save(small, overlay, computer, place, results=tmp_path / "r", wall_limit_s=20, cache=tmp_path / "cache")
        )


def test_only_exact_guests_are_recorded(tmp_path: Path) -> None:
    file = tmp_path / "a,b"
    argv = arguments(Computer(mode=Mode.EXACT, record=file), Path("k"), Path("i"), Path("w"))
    assert f"rr=record,rrfile={tmp_path}/a,,b" in argv[argv.index("-icount") + 1]
    argv = arguments(Computer(mode=Mode.EXACT, replay=file), Path("k"), Path("i"), Path("w"))
    assert "rr=replay" in argv[argv.index("-icount") + 1]
    with pytest.raises(GuestError, match="only an exact guest"):
        arguments(Computer(record=file), Path("k"), Path("i"), Path("w"))


def made(image: Image, chips: Path, script: str, device: str, driver: str, ap: str, host: str) -> Overlay:
    """A guest with everything written down."""
    chip = Chip(
        device,
        driver,
        ap=ap,
        security="open" if ap == "builtin" else "wpa2",
        sdio_host=host,
        air=None if device in FUNCTIONS else "air.pcapng",
        usb="usb.pcapng" if host == "ushc" and device not in ON_PCI else None,
        command_log=COMMAND_LOG if device in SDIO_CARDS else None,
        trace="trace.jsonl",
    )
    modules = asyncio.run(modules_for(device, driver, (), image, find_lock("6.12"), lambda _: None, host=host))
    files = {**chip.files(), IN_GUEST: chips}
    return Overlay(script=script, environment=chip.variables(), files=files, modules=modules)


@pytest.mark.slow
@pytest.mark.parametrize(("device", "driver", "ap", "host"), DEVICES)
def test_restored_guests_continue_to_the_byte_as_the_one_that_was_saved(
    image: Image, chips: Path, tmp_path: Path, device: str, driver: str, ap: str, host: str
) -> None:
    """All that the guest outputs, the captures of air and bus and every access to a register, from its boot on."""
    overlay, computer = made(image, chips, SCRIPT, device, driver, ap, host), Computer(mode=Mode.EXACT)
    place, ends = tmp_path / "checkpoint", []
    ended = asyncio.run(
        save(image, overlay, computer, place, results=tmp_path / "saved", wall_limit_s=WALL_S, then_continue=True)
    )
    assert ended is not None
    ends.append(ended)
    for name in ("one", "other"):
        ends.append(asyncio.run(restore(image, overlay, computer, place, results=tmp_path / name, wall_limit_s=WALL_S)))
        assert difference(tmp_path / "saved", tmp_path / name) is None
    assert [(each.status, each.said) for each in ends] == [(0, ())] * 3
    said = (tmp_path / "one" / "stdout").read_text()
    received = re.search(r" (\d) received", said)
    assert received is not None
    assert int(received[1]) >= 2, "what a driver loses right after it has associated is not the subject"
    sent = json.loads((tmp_path / "one" / "files" / "iperf3.json").read_text())["end"]["sum_received"]["bytes"]
    assert sent > 100_000
    assert (tmp_path / "one" / "files" / "trace.jsonl").stat().st_size > 10_000
    assert ends[1].seconds < ends[0].seconds


@pytest.mark.slow
def test_a_recorded_guest_is_replayed_to_the_byte(image: Image, chips: Path, tmp_path: Path) -> None:
    """The chip is not in the record: what it does follows from what the guest does."""
    script = SCRIPT.replace("txop-vusb control checkpoint || exit\n", "")
    overlay = made(image, chips, script, "rtl8188cus", "rtl8192cu", "hostapd", "ushc")

    def run(name: str, computer: Computer) -> Ended:
        return asyncio.run(run_guest(image, overlay, computer, results=tmp_path / name, wall_limit_s=WALL_S))

    record = tmp_path / "record"
    one = run("recorded", Computer(mode=Mode.EXACT, record=record))
    again = run("replayed", Computer(mode=Mode.EXACT, replay=record))
    assert (one.status, again.status) == (0, 0)
    assert record.stat().st_size > 10_000
    assert difference(tmp_path / "recorded", tmp_path / "replayed") is None
