"""`txop guest module --output`: the module is there whole or not at all."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace

import pytest

from txop.cli import guest
from txop.cli.app import main
from txop.guest import driver


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """In place of building: what was built."""
    built: list[str] = []
    module = tmp_path / "cache.ko"
    module.write_bytes(b"module")

    async def build(what: driver.DriverBuild, *_: object, **__: object) -> SimpleNamespace:
        built.append(what.driver)
        return SimpleNamespace(module=module)

    monkeypatch.setattr(driver, "build_driver", build)
    return built


def ends_with(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["guest", "module", "--driver", "rtl8xxxu", *arguments])
    return int(ended.value.code or 0)


def test_it_goes_where_it_is_reported(builds: list[str], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert ends_with("-o", str(tmp_path / "out" / "mine.ko")) == 0
    assert [(path.name, path.read_bytes()) for path in (tmp_path / "out").iterdir()] == [("mine.ko", b"module")]


def test_a_folder_that_is_not_there_is_told_before_anything_is_built(
    builds: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends_with("-o", str(tmp_path / "missing" / "mine.ko")) == 2
    assert "mine.ko: No such file" in capsys.readouterr().err
    assert builds == []


def test_a_full_disk_leaves_no_half_and_names_the_output(
    builds: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:3])
        raise OSError(errno.ENOSPC, "No space left on device", str(source))

    monkeypatch.setattr(guest.shutil, "copyfile", full)
    (tmp_path / "out").mkdir()
    assert ends_with("-o", str(tmp_path / "out" / "mine.ko")) != 0
    assert "mine.ko" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []
