"""Runs that begin where a saved guest is: it is made once, a run that has none says so, and nothing is mixed."""

from __future__ import annotations

import asyncio
import errno
import gzip
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from txop.guest import saved_starts
from txop.guest.checkpoint import DESCRIPTION, CheckpointError, EndedEarlyError, is_whole
from txop.guest.qemu import Computer, Mode
from txop.guest.running import Ended
from txop.guest.saved_starts import KEPT, NoStartError, SavedStarts
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay


class Saving:
    """In place of a guest that boots and is saved."""

    def __init__(self) -> None:
        self.times = 0
        self.seconds = 0.0
        self.meanwhile: Callable[[], object] = lambda: None
        self.places: list[Path] = []
        self.fails: Exception | None = None

    async def __call__(self, *arguments: Any, results: Path, wall_limit_s: float) -> None:
        self.times += 1
        await asyncio.sleep(self.seconds)
        if self.fails is not None:
            (results / "stderr").write_text("txop-lab: no interface came up\n")
            raise self.fails
        self.meanwhile()
        place: Path = arguments[3]
        self.places.append(place)
        (place / "ports").mkdir(parents=True)
        (place / "machine").write_bytes(b"a machine")
        sums = '{"machine": "1ab2b7dd2c9d2ccb5afb8a8a4a1ca34f62b3ab6a50a62b4a2f4a1d9d3d7cc9f7"}'
        (place / DESCRIPTION).write_text(f'{{"sha256": {sums}}}')


@pytest.fixture
def saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Saving:
    made = Saving()
    monkeypatch.setattr(saved_starts, "save", made)
    (tmp_path / "library.so").write_bytes(b"")
    monkeypatch.setenv("TXOP_QEMU_DEVICES", str(tmp_path / "library.so"))
    (tmp_path / "initramfs.gz").write_bytes(gzip.compress(b"files"))
    (tmp_path / "vmlinuz").write_bytes(b"kernel")
    return made


def start_of(starts: SavedStarts, folder: Path, script: str = "true") -> saved_starts.SavedStart:
    image = Image(folder, "6.12.117", folder, (), "key", cached=True)
    return asyncio.run(starts.of(image, Overlay(script=script), Computer(mode=Mode.EXACT), 1.0))


def test_it_is_made_once_for_all_runs_that_wait_for_it(saving: Saving, tmp_path: Path) -> None:
    starts = SavedStarts(tmp_path / "cache")
    image = Image(tmp_path, "6.12.117", tmp_path, (), "key", cached=True)

    async def all_at_once() -> list[Path]:
        of = [starts.of(image, Overlay(script="true"), Computer(mode=Mode.EXACT), 1.0) for _ in range(5)]
        return [start.folder for start in await asyncio.gather(*of)]

    assert len(set(asyncio.run(all_at_once()))) == 1
    assert saving.times == 1
    assert start_of(starts, tmp_path, "false").folder != start_of(starts, tmp_path).folder
    assert saving.times == 2


def test_a_damaged_one_is_made_again_and_a_whole_one_is_not(
    saving: Saving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_of(SavedStarts(tmp_path / "cache"), tmp_path)
    assert start_of(SavedStarts(tmp_path / "cache"), tmp_path).seconds is not None
    assert saving.times == 2, "its bytes are not those that it was saved with"
    monkeypatch.setattr(saved_starts, "is_whole", lambda _: True)
    assert start_of(SavedStarts(tmp_path / "cache"), tmp_path).seconds is None
    assert saving.times == 2


def test_threads_of_a_worker_wait_for_one_that_is_being_made(saving: Saving, tmp_path: Path) -> None:
    saving.seconds = 0.05
    starts = SavedStarts(tmp_path / "cache")
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: start_of(starts, tmp_path), range(4)))
    assert saving.times == 1
    assert sorted(start.seconds is None for start in made) == [False, True, True, True]
    assert {start.folder.is_dir() for start in made} == {True}


def test_two_that_make_the_same_at_once_do_so_in_folders_of_their_own(
    saving: Saving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As two containers do that share a cache, and each of which has a process of this number."""
    monkeypatch.setattr(saved_starts, "is_whole", lambda place: (place / "machine").is_file())

    def other() -> None:
        saving.meanwhile = lambda: None
        with ThreadPoolExecutor(1) as thread:
            thread.submit(start_of, SavedStarts(tmp_path / "cache"), tmp_path).result()

    saving.meanwhile = other
    start = start_of(SavedStarts(tmp_path / "cache"), tmp_path)
    assert len(set(saving.places)) == 2
    assert list((tmp_path / "cache" / "starts").iterdir()) == [start.folder]


def test_a_place_that_cannot_be_taken_is_no_saved_guest(
    saving: Saving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(CheckpointError, match="Permission denied"):
        start_of(SavedStarts(tmp_path / "cache"), tmp_path)


def test_one_that_was_removed_meanwhile_is_made_again(saving: Saving, tmp_path: Path) -> None:
    starts = SavedStarts(tmp_path / "cache")
    first = start_of(starts, tmp_path)
    shutil.rmtree(first.folder)
    again = start_of(starts, tmp_path)
    assert again.folder == first.folder
    assert again.folder.is_dir()
    assert (saving.times, start_of(starts, tmp_path).seconds) == (2, None)


def test_it_is_said_only_when_one_is_made(saving: Saving, tmp_path: Path) -> None:
    starts, said = SavedStarts(tmp_path / "cache"), []
    image = Image(tmp_path, "6.12.117", tmp_path, (), "key", cached=True)
    for _ in range(2):
        of = starts.of(image, Overlay(script="true"), Computer(mode=Mode.EXACT), 1.0, lambda: said.append(saving.times))
        asyncio.run(of)
    assert said == [0], "before it is made"


def test_whole_is_every_byte(tmp_path: Path) -> None:
    (tmp_path / "machine").write_bytes(b"x")
    assert not is_whole(tmp_path)
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    (tmp_path / DESCRIPTION).write_text(f'{{"sha256": {{"machine": "{digest}"}}}}')
    assert is_whole(tmp_path)
    (tmp_path / "more").write_bytes(b"")
    assert not is_whole(tmp_path)
    (tmp_path / "more").unlink()
    (tmp_path / "machine").write_bytes(b"y")
    assert not is_whole(tmp_path)
    for text in ("[]", "{", '{"sha256": 1}'):
        (tmp_path / DESCRIPTION).write_text(text)
        assert not is_whole(tmp_path)


def test_a_guest_that_never_was_associated_is_known_the_next_time(saving: Saving, tmp_path: Path) -> None:
    saving.fails = EndedEarlyError(Ended(73, (), (), 1.0))
    starts = SavedStarts(tmp_path / "cache")
    for _ in range(2):
        with pytest.raises(NoStartError) as raised:
            start_of(starts, tmp_path)
        assert raised.value.ended.status == 73
        assert (raised.value.results / "stderr").read_text().startswith("txop-lab:")
    assert saving.times == 1
    starts.close()
    assert not raised.value.results.exists()


def test_where_guests_cannot_be_saved_that_is_said(saving: Saving, tmp_path: Path) -> None:
    saving.fails = CheckpointError("QEMU did not save the guest")
    with pytest.raises(CheckpointError, match="did not save"):
        start_of(SavedStarts(tmp_path / "cache"), tmp_path)


def test_those_that_were_not_used_for_longest_go(
    saving: Saving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_starts, "MINE_S", -1.0)
    starts = SavedStarts(tmp_path / "cache")
    for number in range(KEPT + 3):
        start_of(starts, tmp_path, f"exit {number}")
    assert len(list((tmp_path / "cache" / "starts").iterdir())) == KEPT
