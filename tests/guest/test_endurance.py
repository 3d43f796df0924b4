"""What stays in a kernel's memory, and what runs of cycles say; nothing boots here."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.guest.qemu import Computer, Mode
from txop.guest.running import FILES
from txop.guest_image.image import Image
from txop.guest_trials.endurance import Removal, read_endured
from txop.guest_trials.facts import read_facts
from txop.guest_trials.growth import MAX_CACHES, read_growth, slope
from txop.guest_trials.judgement import Observed
from txop.guest_trials.survey_report import CYCLE_COLUMNS, cycle_cells, cycled
from txop.guest_trials.trial import Place, Trial
from txop.present.csv_cells import Cell


def test_the_slope_is_that_of_a_line_with_outliers() -> None:
    draw = random.Random(1)  # noqa: S311 - noise, no secret
    values = {n: 5.0 * n + draw.uniform(-3, 3) for n in range(1, 101)}
    for odd in (30, 60, 90):
        values[odd] += 10_000
    found = slope(values)
    assert found is not None
    assert found.per_cycle == pytest.approx(5.0, abs=0.1)
    assert found.cycles == 80
    assert slope(dict.fromkeys(range(9), 1.0)) is None


@given(st.lists(st.integers(0, 50), min_size=20, max_size=40))
def test_what_does_not_depend_on_the_cycle_does_not_rise(values: list[int]) -> None:
    ordered = slope({n: float(value) for n, value in enumerate(sorted(values))})
    falling = slope({n: float(-value) for n, value in enumerate(sorted(values))})
    assert ordered is not None
    assert falling is not None
    assert ordered.per_cycle == -falling.per_cycle >= 0
    assert falling.rising_share == 0


def snapshots(cycles: int, leak: int, noise: int) -> tuple[bytes, bytes]:
    draw = random.Random(2)  # noqa: S311 - noise, no secret
    slab, memory = [], []
    for n in range(1, cycles + 1):
        slab.append(f"{n}\tkmalloc-2k\t{100 + leak * n + draw.randint(-noise, noise)}\t2048")
        slab.append(f"{n}\tdentry\t{5000 + draw.randint(-200, 200)}\t192")
        memory.append(f"{n}\tMemTotal\t500000")
        memory.append(f"{n}\tMemFree\t{300000 - 2 * leak * n}")
        memory.append(f"{n}\tSlab\t{20000 + 2 * leak * n}")
        memory.append(f"{n}\tSUnreclaim\t{15000 + 2 * leak * n}")
    return "\n".join(slab).encode(), "\n".join(memory).encode()


def test_one_object_in_a_cycle_is_found() -> None:
    growth = read_growth(*snapshots(60, leak=1, noise=5))
    assert growth.leaks == ("kmalloc-2k",)
    assert growth.caches[0].bytes_per_cycle == pytest.approx(2048, rel=0.2)
    assert growth.slab_kb is not None
    assert growth.slab_kb.per_cycle == 2.0
    assert growth.other_kb is not None
    assert growth.other_kb.per_cycle == 0.0


def test_noise_is_no_leak() -> None:
    assert read_growth(*snapshots(60, leak=0, noise=20)).leaks == ()


def test_pages_outside_slabs_are_found() -> None:
    memory = "".join(f"{n}\tMemTotal\t500000\n{n}\tMemFree\t{400000 - 8 * n}\n" for n in range(1, 40))
    assert read_growth(b"", memory.encode()).leaks == ("pages outside slabs",)


def test_what_is_given_back_late_is_no_leak_but_its_pages_would_be() -> None:
    slab = "".join(f"{n}\tvmap_area\t{100 + 20 * n}\t64\n" for n in range(1, 40))
    memory = "".join(f"{n}\tVmallocUsed\t{3000 + 16 * n}\n" for n in range(1, 40))
    assert read_growth(slab.encode(), b"").leaks == ()
    assert read_growth(slab.encode(), memory.encode()).leaks == ("vmalloc",)


@given(st.binary(max_size=500))
def test_no_file_of_a_guest_breaks_anything(data: bytes) -> None:
    assert read_growth(data, data).leaks == ()


def endured(tmp_path: Path, facts: str, kmsg: str) -> list[str]:
    files = tmp_path / FILES
    files.mkdir(parents=True, exist_ok=True)
    (files / "kmsg").write_text(kmsg)
    trial = Trial(Observed(read_facts(facts.encode()), [], []), 1.0, 1.0)
    run = read_endured("rtl8192cu", Removal.RELOAD, 2, trial, tmp_path)
    assert len(cycle_cells(run)) == len(CYCLE_COLUMNS)
    assert cycle_cells(run)[2] == run.done
    return run.problems


def test_how_long_it_was_away_is_in_table_and_document(tmp_path: Path) -> None:
    def recovery(facts: str) -> tuple[list[Cell], object]:
        trial = Trial(Observed(read_facts(facts.encode()), [], []), 1.0, 1.0)
        run = read_endured("rtl8192cu", Removal.RELOAD, 3, trial, tmp_path)
        row = dict(zip(CYCLE_COLUMNS, cycle_cells(run), strict=True))
        (document,) = cycled([run], place)["runs"]
        return [row[f"recovery s, {which}"] for which in ("least", "median", "most")], document["recovery_s"]

    place = Place(Image(Path(), "6.12.1", Path(), (), "key", cached=True), Computer(mode=Mode.EXACT), 1.0, {})
    times = [f"{10 * n}.00 given {n}\n{10 * n + after}.00 back {n}\n" for n, after in ((1, 2), (2, 5), (3, 3))]
    cells, document = recovery("".join(times) + "60.00 done\n")
    assert cells == [2.0, 3.0, 5.0]
    assert document == {"n": 3, "least": 2.0, "median": 3.0, "most": 5.0}
    assert recovery("20.00 done\n") == ([None] * 3, None)


CYCLES = "20.00 cycle 1 50\n30.00 cycle 2 40\n31.00 ends-well\n32.00 done\n"


def test_a_quiet_run_has_no_problems(tmp_path: Path) -> None:
    assert endured(tmp_path, CYCLES, "6,1,1000,-;usb 1-1: USB disconnect, device number 2\n") == []


def test_messages_that_nobody_read_are_told_of(tmp_path: Path) -> None:
    log = "6,1,1000,-;usb 1-1: new\n6,2,1001,-;usb 1-1: old\n6,9,2000,-;usb 1-1: USB disconnect, device number 2\n"
    assert endured(tmp_path, CYCLES, log) == ["6 messages are missing in the kernel log"]


def test_a_chip_that_has_ended_is_told_of(tmp_path: Path) -> None:
    facts = "19.00 cycle 1 50\n20.00 stuck-at 2 unplug\n21.00 no-chip txop-vusb: panicked\n32.00 done\n"
    assert endured(tmp_path, facts, "")[0] == "the virtual chip has ended: txop-vusb: panicked"


def test_caches_that_are_made_up_are_not_all_looked_at() -> None:
    rows = [f"{n}\tcache-{m}\t{n}\t64\n" for n in range(1, 15) for m in range(MAX_CACHES + 50)]
    assert len(read_growth("".join(rows).encode(), b"").caches) == MAX_CACHES


def test_what_goes_wrong_is_listed(tmp_path: Path) -> None:
    warning = "4,2,2000,-;WARNING: CPU: 0 PID: 9 at net/core/dev.c:10 dev_x+0x1/0x2\n"
    facts = "20.00 cycle 1 50\n29.00 stuck unload (D (disk sleep))\n29.10 stuck-at 2 unload\n32.00 done\n"
    problems = endured(tmp_path, facts, warning)
    assert [problem.partition(":")[0] for problem in problems] == [
        "cycle 2 unload",
        "does not end",
        "no answer over the air after the last cycle",
        "Kernel warning (WARN), reported 1 time",
    ]
    assert "net/core/dev.c" in problems[-1]
    few = endured(tmp_path, "20.00 cycle 1 50\n31.00 ends-well\n32.00 done\n", "")
    assert few == ["only 1 of 2 cycles were completed"]
