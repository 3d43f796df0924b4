"""CPU time of kernel threads, from what the probe records."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instrument_bench import facts_of, make_plan
from txop.measure.probes.threads import FILE, ThreadTimes, samples_in
from txop.plan.measurement import SoakTest

SOAK = '[[test]]\nname = "t"\nkind = "soak"\nduration_s = 60\n'


def sample(uptime_s: float, irq_ns: int, card_ns: int) -> str:
    """Three processes: a kernel thread, one that has just begun, and a program."""
    rows = [f"/proc/uptime:{uptime_s:.2f} 3.10"]
    rows += [f"/proc/{pid}/schedstat:{ns} 5 6" for pid, ns in ((7, irq_ns), (int(uptime_s) + 100, 10), (90, card_ns))]
    rows += ["/proc/7/comm:ksdioirqd/mmc0", f"/proc/{int(uptime_s) + 100}/comm:kworker/0:1", "/proc/90/comm:txop-vusb"]
    return "\n".join([*rows, "/proc/90/cmdline"]) + "\n"


def read(folder: Path, text: str):
    (folder / FILE).write_text(text)
    plan = make_plan(SOAK)
    assert isinstance(plan.test[0], SoakTest)
    return ThreadTimes(plan.test[0]).read(facts_of(plan, folder))


def test_the_busiest_thread_and_when(tmp_path: Path) -> None:
    """25 % of the first 10 s, 99 % of the second; the program's time does not count, and a cut sample neither."""
    text = (
        sample(1010, 0, 0)
        + sample(1020, 2_500_000_000, 9_000_000_000)
        + sample(1030, 12_400_000_000, 18_000_000_000)
        + "/proc/uptime:1040.00 3.1\n/proc/7/sched"
    )
    reading = read(tmp_path, text)
    figure = reading.metrics["busiest_kthread_percent"]
    assert figure.value == pytest.approx(99.0)
    assert figure.source == "/proc/PID/schedstat: ksdioirqd/mmc0"
    assert reading.series["busiest_kthread_percent"] == [(10.0, 25.0), (20.0, 99.0)]
    assert reading.provenance["dut"] == {"kernel_threads_percent": {"ksdioirqd/mmc0": 62.0, "kworker/0:1": 0.0}}


def worker(uptime_s: float, ns: int, ran_last: str) -> str:
    """One thread of a work queue, which calls itself by what it ran last."""
    rows = [
        f"/proc/uptime:{uptime_s:.2f} 3.10",
        f"/proc/31/schedstat:{ns} 5 6",
        f"/proc/31/comm:kworker/u4:6{ran_last}",
    ]
    return "\n".join(rows) + "\n"


def test_a_worker_that_ran_something_else_is_the_same_thread(tmp_path: Path) -> None:
    """Its time since it began would else count as that of the last interval, and seem to grow for hours."""
    works = ("-ath6kl", "-events_unbound", "+ath6kl", "", "-ath6kl")
    text = "".join(worker(1010 + 10 * n, 400_000_000_000 + 200_000_000 * n, work) for n, work in enumerate(works))
    reading = read(tmp_path, text + "/proc/uptime:1060.00 3.1\n")
    assert reading.metrics["busiest_kthread_percent"].value == pytest.approx(2.0)
    assert [share for _, share in reading.series["busiest_kthread_percent"]] == [2.0] * 4
    assert reading.provenance["dut"] == {"kernel_threads_percent": {"kworker/u4:6-ath6kl": 2.0}}


def test_another_process_with_the_number_of_one_that_ended_counts_from_its_beginning(tmp_path: Path) -> None:
    text = worker(1010, 400_000_000_000, "-ath6kl") + worker(1020, 500_000_000, "").replace(
        "kworker/u4:6", "kworker/0:9"
    )
    reading = read(tmp_path, text + "/proc/uptime:1030.00 3.1\n")
    assert reading.metrics["busiest_kthread_percent"].value == pytest.approx(5.0)


def test_one_sample_is_no_figure(tmp_path: Path) -> None:
    reading = read(tmp_path, sample(1010, 0, 0))
    assert reading.metrics["busiest_kthread_percent"].reason == "fewer than two samples"


@given(st.text(alphabet="/proc0123456789:uptimesdaclnk. \n", max_size=400))
def test_any_text_is_read(text: str) -> None:
    for each in samples_in(text):
        assert each.uptime_s >= 0
