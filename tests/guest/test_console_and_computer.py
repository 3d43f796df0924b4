"""The console of a guest as text, and the command line of QEMU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.cli.guest_run import _harmless
from txop.guest.chips import Chip
from txop.guest.console import console_lines, excerpt
from txop.guest.qemu import (
    MAX_SHIFT,
    MAX_SOCKET_BYTES,
    PORTS,
    WATCHDOG_S,
    Computer,
    Mode,
    arguments,
    debugger_socket,
    shift_of,
)
from txop.guest_image.error import GuestError
from txop.guest_image.overlay import guest_files


@given(st.binary(max_size=500))
def test_no_console_acts_on_a_terminal(data: bytes) -> None:
    for row in console_lines(data):
        assert row.isprintable()
        assert len(row) <= 4000


@given(st.binary(max_size=300))
def test_no_output_of_a_guest_acts_on_a_terminal(data: bytes) -> None:
    assert all(c.isprintable() or c in "\n\t" for c in _harmless(data))


def test_the_excerpt_begins_where_the_trouble_does() -> None:
    rows = [b"[    0.1] line %d" % n for n in range(50)]
    rows[20] = b"[    0.2] \x1b[1mKernel panic\x1b[0m - not syncing: VFS"
    assert excerpt(b"\r\n".join(rows), 3).splitlines()[0] == "[    0.2] Kernel panic - not syncing: VFS"
    assert excerpt(b"\r\n".join(rows[:20]), 2).splitlines() == ["[    0.1] line 18", "[    0.1] line 19"]


def test_a_line_without_end_is_cut() -> None:
    assert len(console_lines(b"x" * 10**6)[0]) == 400


def line(computer: Computer) -> list[str]:
    return arguments(computer, Path("/k"), Path("/i"), Path("/a,b"))


def test_an_exact_guest_gets_nothing_from_outside() -> None:
    argv = line(Computer(mode=Mode.EXACT, shift=3, seed=7))
    assert argv[argv.index("-icount") + 1].startswith("shift=3,sleep=off,")
    assert argv[argv.index("-smp") + 1] == "1"
    assert not [word for word in argv if "netdev" in word or "9p" in word or "rng" in word or "stdio" in word]
    assert argv[argv.index("-nic") + 1] == "none"
    assert {"txop.seed=7", "norandmaps"} <= set(argv[argv.index("-append") + 1].split())
    assert any("clock=vm" in word for word in argv)


def test_no_event_of_this_machine_moves_the_clock_of_an_exact_guest() -> None:
    argv = line(Computer(mode=Mode.EXACT))
    # the main loop moves the clock of a halted processor only when all its instructions are counted: see RECORD
    assert "rr=record" in argv[argv.index("-icount") + 1].split(",")
    # a reader cannot hold a file up; of a pipe or a socket the guest would see when it was read
    backends = [argv[n + 1].split(",")[0] for n, word in enumerate(argv) if word == "-chardev"]
    assert backends == ["file"] * (len(PORTS) + 1)
    assert all("ioeventfd=off" in word for word in argv if word.startswith("virtio"))
    assert argv[argv.index("-accel") + 1] == "tcg,thread=single"
    assert "-nodefaults" in argv


@pytest.mark.parametrize("mode", list(Mode))
def test_a_processor_that_is_locked_up_is_interrupted(mode: Mode) -> None:
    argv = line(Computer(mode=mode))
    assert argv[argv.index("-action") + 1] == "watchdog=inject-nmi"
    assert "i6300esb" in argv
    # an unknown NMI is one line in the log, unless the kernel is told to panic
    words = {f"txop.watchdog={WATCHDOG_S[mode]}", f"i6300esb.heartbeat={WATCHDOG_S[mode]}", "unknown_nmi_panic"}
    assert words <= set(argv[argv.index("-append") + 1].split())
    # whoever sits at a prompt may stop the computer for as long as they like; with KVM there may be other NMIs
    for other in ({"shell": True}, *([{"kvm": True}] if mode is Mode.FAST else [])):
        without = line(replace(Computer(mode=mode), **other))
        assert not [word for word in without if "watchdog" in word or "i6300esb" in word or "unknown_nmi" in word]


def test_a_comma_in_a_path_is_no_new_option() -> None:
    assert any(word.endswith("path=/a,,b/events") for word in line(Computer()))


def test_a_debugger_comes_before_the_first_instruction() -> None:
    argv = line(Computer(debugger=Path("/a,b/gdb")))
    assert "-S" in argv
    assert "socket,id=gdb,path=/a,,b/gdb,server=on,wait=off" in argv
    assert argv[argv.index("-gdb") + 1] == "chardev:gdb"
    assert "nokaslr" in argv[argv.index("-append") + 1].split()
    assert not {"-S", "-gdb"} & set(line(Computer()))


def test_the_socket_of_a_debugger_is_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert debugger_socket(Path("gdb")) == tmp_path / "gdb"
    (tmp_path / "gdb").touch()
    (tmp_path / "broken").symlink_to("nowhere")
    for name, words in (("gdb", "exists"), ("broken", "exists"), ("none/gdb", "not a folder"), ("x" * 200, "too long")):
        with pytest.raises(GuestError, match=words):
            debugger_socket(Path(name))
    longest = tmp_path / ("y" * (MAX_SOCKET_BYTES - len(str(tmp_path)) - 1))
    assert debugger_socket(longest) == longest


def test_exact_and_kvm_exclude_each_other() -> None:
    with pytest.raises(GuestError, match="KVM"):
        line(Computer(mode=Mode.EXACT, kvm=True))


@given(st.integers(0, MAX_SHIFT))
def test_speeds_are_what_the_shift_means(shift: int) -> None:
    computer = Computer(mode=Mode.EXACT, shift=shift)
    assert computer.instructions_per_second == 10**9 // 2**shift
    assert shift_of(round(1000 / 2**shift)) == shift


def test_a_speed_that_cannot_be_is_refused_with_those_that_can() -> None:
    with pytest.raises(GuestError, match="500"):
        shift_of(300)


@pytest.mark.parametrize(
    "wrong",
    [
        {"device": "rtl1"},
        {"security": "none"},
        {"channel": 14},
        {"ap": "none"},
        {"ap": "builtin", "security": "wpa2"},
        {"parameters": ("a=1; reboot",)},
        {"options": ("$(x)",)},
    ],
)
def test_a_chip_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(GuestError):
        Chip(**wrong)  # type: ignore[arg-type]


def test_files_go_to_root_or_where_they_are_reported(tmp_path: Path) -> None:
    here = tmp_path / "a:b"
    here.write_text("x")
    assert guest_files([str(here), f"{here}:/usr/bin/x"]) == {"/root/a:b": here, "/usr/bin/x": here}
    with pytest.raises(GuestError, match="not a file"):
        guest_files([str(tmp_path / "none")])
