"""An archive of imported runs, written beside its place and renamed into it: it is there completely or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from txop.archive.layout import Layout, sync_folder
from txop.archive.run_file import RunFile, SeriesFile
from txop.core.origin import Origin
from txop.core.visible import visible
from txop.exchange.beside import folder_beside
from txop.exchange.how_read import HOW_READ_FILE, how_read_document
from txop.exchange.imported import DataImportError, Direction, FileReading, ImportedRun, TestKey
from txop.plan.draft import quoted
from txop.plan.model import Plan
from txop.stats.limits import MAX_BLOCKS

MOST_ARMS = MOST_TESTS = 64
"""How many a plan may have."""

FILES_FOLDER = "imported"
"""Folder of the archive with the files as they were given."""

UNNAMED_ARM = "imported"
"""Arm of files that neither name one themselves nor were given one."""

_NAMED_FILES = 20
_MOST_WARNINGS = 50
_NAME = re.compile(r"[^a-z0-9_]+")
_USUAL_CONGESTION = "cubic"
"""Linux' own default, which the name of a test leaves out."""

_CONGESTION = re.compile(r"[a-z0-9_]{1,16}")
_SHORT = {"tcp-tx": "tx", "tcp-rx": "rx", "tcp-both": "both", "udp-tx": "udp-tx", "udp-rx": "udp-rx"}


@dataclass
class Source:
    """A file that was read."""

    name: str
    data: bytes
    arm: str | None
    """The arm it was given; ``None``: what it says itself."""
    reading: FileReading
    given: Direction = field(default_factory=Direction)
    """What was given beside it, to read it again."""


@dataclass
class Written:
    """What happened to an import."""

    arms: list[str]
    tests: list[str]
    runs: int
    left_out: list[str] = field(default_factory=list)
    placed: list[tuple[str, str, ImportedRun]] = field(default_factory=list)
    """Arm, test and figures of each run of the archive."""


@dataclass(frozen=True)
class _Placed:
    """A run with its names."""

    source: Source
    run: ImportedRun
    arm: str
    test: str
    block: int


def slug(text: str, *, longest: int = 40) -> str:
    """A name that a plan takes.

    >>> slug("Linux v5.10.52, rtl8xxxu (patches 10, 7)")
    'linux-v5-10-52-rtl8xxxu-patches-10-7'
    """
    return _NAME.sub("-", text.lower())[: longest + 8].strip("-_")[:longest].strip("-_") or "unnamed"


def write_archive(root: Path, title: str, sources: Sequence[Source], problems: Sequence[str]) -> Written:
    """Write the archive ``root``, which must not exist or be an empty folder.

    Raises:
        DataImportError: ``root`` holds something, there is no run at all, or more than an archive can hold.
        OSError: it could not be written; nothing is left of it.
    """
    if root.is_symlink() or (root.exists() and (not root.is_dir() or any(root.iterdir()))):
        raise DataImportError(
            "exists already and is left as it is",
            where=str(root),
            what_to_do="give a new folder, or add to an archive that txop import made with --add",
        )
    parent = root.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    with folder_beside(root) as beside:
        written = fill(beside, title, sources, problems)
        beside.rename(root)  # onto an empty folder, too
        sync_folder(parent)
    return written


def fill(beside: Path, title: str, sources: Sequence[Source], problems: Sequence[str]) -> Written:
    """Make the empty folder ``beside`` an archive.

    Raises:
        DataImportError: there is no run at all, or more than an archive can hold.
        OSError: it could not be written.
    """
    arms: dict[str, str] = {}
    tests: dict[str, TestKey] = {}
    placed, left_out = _place(sources, arms, tests)
    if not placed:
        raise DataImportError("the files contain no run", what_to_do="see above for what could not be read")
    text = _plan(title, arms, tests, placed, sources, [*problems, *left_out])
    try:
        Plan.model_validate(tomllib.loads(text), strict=True)
    except (ValidationError, ValueError) as error:
        raise DataImportError(f"the runs do not make a plan: {error}") from error
    _fill(beside, text, placed, sources, [*problems, *left_out])
    beside.chmod(0o777 & ~_umask())
    return _written(arms, tests, placed, left_out)


def looked_at(sources: Sequence[Source]) -> Written:
    """What an archive of ``sources`` would hold. Raises DataImportError when there is no run at all."""
    arms: dict[str, str] = {}
    tests: dict[str, TestKey] = {}
    placed, left_out = _place(sources, arms, tests)
    if not placed:
        raise DataImportError("the files contain no run", what_to_do="see above for what could not be read")
    return _written(arms, tests, placed, left_out)


def _written(arms: dict[str, str], tests: dict[str, TestKey], placed: list[_Placed], left_out: list[str]) -> Written:
    runs = [(each.arm, each.test, each.run) for each in placed]
    return Written(list(arms), list(tests), len(placed), left_out, runs)


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current


def _place(
    sources: Sequence[Source], arms: dict[str, str], tests: dict[str, TestKey]
) -> tuple[list[_Placed], list[str]]:
    """Every run with the names of its arm and test and the number of its block, and what had no room."""
    placed: list[_Placed] = []
    left_out: list[str] = []
    cookies: dict[str, list[tuple[ImportedRun, str]]] = {}
    counts: dict[tuple[str, str], int] = {}
    for source in sources:
        for run in source.reading.runs:
            where = source.name + (f", line {run.line}" if run.line else "")
            known = cookies.setdefault(run.cookie, []) if run.cookie else []
            same = next((place for other, place in known if _same_run(run, other)), None)
            if same is not None:
                left_out.append(f"{where}: the other end of the run in {same}")
                continue
            known.append((run, where))
            arm = _named(arms, source.arm or run.arm or UNNAMED_ARM, MOST_ARMS)
            test = _test_name(tests, run.test)
            if arm is None or test is None:
                left_out.append(f"{where}: an archive has at most {MOST_ARMS} arms and {MOST_TESTS} tests")
                continue
            block = counts.get((arm, test), 0) + 1
            if block > MAX_BLOCKS:
                left_out.append(f"{where}: more than {MAX_BLOCKS} runs of {arm} in {test}")
                continue
            counts[arm, test] = block
            placed.append(_Placed(source, run, arm, test, block))
    return placed, left_out


def _same_run(run: ImportedRun, other: ImportedRun) -> bool:
    """Whether runs with one cookie are one: addresses and ports, which text has for it, come again in time."""
    if run.end is None or other.end is None:
        return True
    return run.end != other.end and _near(run.test.duration_s, other.test.duration_s, 0.1)


def _named(known: dict[str, str], shown: str, most: int) -> str | None:
    """The name of what is shown as ``shown``; ``None`` when there are too many."""
    for name, title in known.items():
        if title == shown:
            return name
    if len(known) >= most:
        return None
    base, name, number = slug(shown), slug(shown), 2
    while name in known:
        name = f"{slug(base, longest=36)}-{number}"
        number += 1
    known[name] = shown
    return name


def _test_name(known: dict[str, TestKey], key: TestKey) -> str | None:
    for name, other in known.items():
        if _alike(key, other):
            return name
    if len(known) >= MOST_TESTS:
        return None
    stem = name = slug("-".join(_parts(key)))
    for part in _differing(key, known[name]) if name in known else []:
        if name not in known:
            break
        stem = name = slug(f"{name}-{part}")
    stem, number = slug(stem, longest=36), 2
    while name in known:
        name = f"{stem}-{number}"
        number += 1
    known[name] = key
    return name


def _parts(key: TestKey) -> list[str]:
    """The words of a test's name that it always has."""
    short = key.setup if key.short is None else key.short
    parts = [key.name or _SHORT.get(key.kind, key.kind), *([short] if short else [])]
    if any(key.dscp):
        parts.append("dscp-" + "-".join(map(str, key.dscp)))
    if key.congestion not in ((), (_USUAL_CONGESTION,)):
        parts.append("-".join(key.congestion))
    if key.rate_mbit_s is not None and key.kind.startswith("tcp"):
        parts.append(f"{key.rate_mbit_s:g}-mbit-s")
    return parts


def _differing(key: TestKey, other: TestKey) -> list[str]:
    """What tells it from the test that has its name already."""
    parts = [key.tool] if key.tool != other.tool and key.tool else []
    parts += [f"{key.streams}-streams"] if key.streams != other.streams else []
    parts += [key.setup] if key.setup != other.setup and key.short == "" else []
    if key.congestion != other.congestion:
        parts += key.congestion
    if not _near(key.rate_mbit_s, other.rate_mbit_s, 0.05) and key.rate_mbit_s is not None:
        parts.append(f"{key.rate_mbit_s:g}-mbit-s")
    if not _near(key.duration_s, other.duration_s, 0.1):
        parts.append(f"{key.duration_s:.3g}-s")
    if not _near(key.interval_s, other.interval_s, 0.25) and key.interval_s is not None:
        parts.append(f"every-{key.interval_s * 1e3:.3g}-ms")
    return parts


def _alike(one: TestKey, other: TestKey) -> bool:
    """Whether runs are of the same test: lengths may differ by a tenth, rates by a twentieth, intervals of probes
    by a quarter."""
    return (
        _exactly(one) == _exactly(other)
        and _near(one.duration_s, other.duration_s, 0.1)
        and _near(one.rate_mbit_s, other.rate_mbit_s, 0.05)
        and _near(one.interval_s, other.interval_s, 0.25)
    )


def _exactly(key: TestKey) -> TestKey:
    return replace(key, duration_s=0.0, rate_mbit_s=None, interval_s=None)


def _near(one: float | None, other: float | None, share: float) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= share * max(one, other)


def _plan(
    title: str,
    arms: dict[str, str],
    tests: dict[str, TestKey],
    placed: Sequence[_Placed],
    sources: Sequence[Source],
    problems: Sequence[str],
) -> str:
    """The text of a plan that says what was imported; nothing in it can be run."""
    lines = [
        "# Made by txop import: figures that others measured. It describes them and is not for running.",
        "version = 1",
        f"title = {_quoted(title, 500)}",
        f"description = {_quoted('Imported: measured elsewhere, by others, in an order that is not known.', 500)}",
        "",
        "[environment]",
    ]
    for number, source in enumerate(sources[:_NAMED_FILES], start=1):
        facts = [source.name, source.reading.format, f"SHA-256 {hashlib.sha256(source.data).hexdigest()[:16]}..."]
        lines.append(f"imported_{number} = {_quoted(', '.join([*facts, *source.reading.notes[:2]]), 1000)}")
    if len(sources) > _NAMED_FILES:
        lines.append(f"imported_more = {_quoted(f'{len(sources) - _NAMED_FILES} more files', 100)}")
    for number, problem in enumerate(problems[:_NAMED_FILES], start=1):
        lines.append(f"not_read_{number} = {_quoted(problem, 500)}")
    if len(problems) > _NAMED_FILES:
        lines.append(f"not_read_more = {_quoted(f'{len(problems) - _NAMED_FILES} more', 100)}")
    lines += ["", "[target.dut]", 'kind = "local"', ""]
    for name, shown in arms.items():
        lines += ["[[arm]]", f'name = "{name}"', f"title = {_quoted(shown, 500)}", ""]
    for name, key in tests.items():
        lines += ["[[test]]", f'name = "{name}"', f'kind = "{key.kind}"', f"duration_s = {_seconds(key.duration_s)}"]
        if key.kind.startswith("tcp"):
            lines += [f"streams = {min(key.streams, 128)}"] if key.streams > 1 else []
            controls = [each for each in key.congestion if _CONGESTION.fullmatch(each)]
            lines += [f'congestion = "{controls[0]}"'] if len(controls) == len(key.congestion) == 1 else []
        if key.kind == "rrul" and key.dscp:
            lines.append(f"dscp = {list(key.dscp)}")
        elif key.kind != "latency" and len(key.dscp) == 1:
            lines.append(f"dscp = {key.dscp[0]}")
        if key.kind.startswith("udp"):
            lines.append(f"rate_mbit_s = {min(max(key.rate_mbit_s or 0.001, 0.001), 100_000.0)}")
        lines.append("")
    lines += [
        "[design]",
        f"blocks = {max(each.block for each in placed)}",
        "warm_up_s = 0.0",
        "idle_s = 0.0",
        "gap_s = 0.0",
    ]
    return "\n".join(lines) + "\n"


def _seconds(value: float) -> float:
    return round(min(max(value, 0.001), 7 * 86400.0), 3)


def _quoted(text: str, longest: int) -> str:
    shown = visible(text)
    return quoted(shown if len(shown) <= longest else shown[: longest - 3] + "...")


def _fill(
    beside: Path, text: str, placed: Sequence[_Placed], sources: Sequence[Source], problems: Sequence[str]
) -> None:
    layout = Layout(beside)
    layout.create(text, beside.parent)
    layout.journal.touch()
    layout.commands.touch()
    files = beside / FILES_FOLDER
    files.mkdir()
    kept: dict[int, str] = {}
    for number, source in enumerate(sources, start=1):
        kept[id(source)] = f"{number:03d}-{_file_name(source.name)}"
        (files / kept[id(source)]).write_bytes(source.data)
    listed = [(kept[id(source)], source.name, source.arm, source.given) for source in sources]
    (files / HOW_READ_FILE).write_text(how_read_document(listed, problems), encoding="utf-8")
    positions: dict[tuple[int, str], int] = {}
    for each in placed:
        run = each.run
        position = positions[each.block, each.test] = positions.get((each.block, each.test), 0) + 1
        name = layout.run_name(each.block, each.arm, each.test)
        where = f"{FILES_FOLDER}/{kept[id(each.source)]}" + (f", line {run.line}" if run.line else "")
        folder = layout.run(name)
        folder.mkdir()
        if run.series:
            (folder / "series.json").write_text(
                SeriesFile(series=run.series).model_dump_json() + "\n", encoding="utf-8"
            )
        made = RunFile.of_words(
            run=name,
            block=each.block,
            position=position,
            arm=each.arm,
            test=each.test,
            origin=Origin.IMPORTED,
            state="valid",
            started_at=run.started_at or "",
            seconds=run.window_s or 0.0,
            window_s=run.window_s,
            metrics=run.metrics,
            warnings=run.warnings[:_MOST_WARNINGS],
            verified={"imported_from": where, "format": each.source.reading.format},
        )
        (folder / "run.json").write_text(made.model_dump_json() + "\n", encoding="utf-8")
    for folder in (layout.runs, files, beside):
        sync_folder(folder)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", Path(name).name)[-80:].lstrip(".") or "file"
