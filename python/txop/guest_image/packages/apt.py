"""What Debian's archive offers: its index, with a signature APT that has checked, and the packages in it.

As any user: packages are fetched into a folder, nothing is installed, and the machine's own package lists are neither
read nor changed.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from txop.core.visible import visible
from txop.guest_image.cache import sha256_of
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.packages.archive import Archive, Index, Suite
from txop.guest_image.packages.control import IndexEntry, SourceEntry, read_index, read_sources
from txop.guest_image.packages.lock import LockedPackage

SHOW_TIMEOUT_S = 120.0
FETCH_TIMEOUT_S = 1800.0

FRESH_S = 600.0
"""Package lists that are younger are not fetched again in search of a version."""

_HOOKS = ("APT::Update::Pre-Invoke", "APT::Update::Post-Invoke", "APT::Update::Post-Invoke-Success")
"""What a machine has its APT do after its own lists were fetched is not done for these."""

_PROGRAMS = ("apt-cache", "apt-get")

_GONE = re.compile(r"\b404\b|File not found")
"""In what apt-get says of a package that its lists have and the archive has not any more."""


class PackageNotOfferedError(GuestError):
    """The archive has no such package, or not any more in that version."""


class Apt:
    """APT with sources, keys, package lists and cache of its own, in a folder.

    Of the machine's settings only those that say how to get there (proxies, certificates, passwords) count.
    """

    def __init__(self, folder: Path, archive: Archive, index: Index = Index.PACKAGES) -> None:
        """``folder``: where lists of all archives are kept; ``index``: what they are lists of."""
        self.archive = archive
        self._index = index
        self._root = folder / (archive.key if index is Index.PACKAGES else f"{archive.key}-sources")

    @staticmethod
    def check() -> None:
        """Raise :class:`MissingGuestToolError` on a machine without APT."""
        for program in _PROGRAMS:
            if shutil.which(program) is None:
                raise MissingGuestToolError(
                    f"there is no {program}: guests are made of Debian packages",
                    what_to_do="on another distribution, copy txop's cache folder from a Debian machine "
                    "(its path: `txop guest build --where`)",
                )

    @property
    def has_lists(self) -> bool:
        """Whether package lists were fetched, at any time."""
        return self._stamp.is_file()

    @property
    def is_fresh(self) -> bool:
        """Whether they were fetched so lately that fetching them again would bring nothing."""
        try:
            return time.time() - self._stamp.stat().st_mtime < FRESH_S
        except OSError:
            return False

    def refresh(self) -> None:
        """Fetch package lists. A mirror may be without updates or security updates. Raises :class:`GuestError`."""
        self.check()
        for folder in ("state/lists/partial", "cache/archives/partial", "empty"):
            (self._root / folder).mkdir(parents=True, exist_ok=True)
        (self._root / "status").touch()
        with (self._root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.is_fresh:  # else another process has just done it
                self._update()
                self._stamp.touch()

    def _update(self) -> None:
        wanted = self.archive.suites()
        while True:
            lines = [suite.line(self.archive.keyring, self._index) for suite in wanted]
            (self._root / "sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
            try:
                # without this, it reports success with no lists where there is no network
                argv = ["apt-get", "-q", "-o", "APT::Update::Error-Mode=any", "update"]
                self._run(argv, FETCH_TIMEOUT_S, "package lists cannot be fetched")
                break
            except GuestError as error:
                lacking = [suite for suite in wanted if suite.optional and _lacks(error.what, suite)]
                if not lacking:
                    raise
                wanted = tuple(suite for suite in wanted if suite not in lacking)

    @property
    def _stamp(self) -> Path:
        return self._root / "fetched"

    def show(self, names: Iterable[str]) -> dict[str, list[IndexEntry]]:
        """What the archive offers of packages, per name, newest first. A name that it lacks has no entry."""
        found: dict[str, list[IndexEntry]] = {}
        wanted = sorted(set(names))
        for start in range(0, len(wanted), 200):
            ran = self._call(["apt-cache", "show", *wanted[start : start + 200]], SHOW_TIMEOUT_S)
            for entry in read_index(ran.stdout.decode("utf-8", "replace")):
                found.setdefault(entry.name, []).append(entry)
        return found

    def fetch(self, package: LockedPackage, folder: Path) -> Path:
        """Fetch a package into a folder; its hash agrees.

        Raises:
            PackageNotOfferedError: The archive does not have this version any more.
            GuestError: It could not be fetched, or is another one.
        """
        what = f"{package.name}={package.version}"
        offered = self.show([package.name]).get(package.name, [])
        if all(entry.version != package.version for entry in offered):
            now = f"it has {offered[0].version} now" if offered else "it has none"
            raise PackageNotOfferedError(
                f"the package lists do not have {package.name} in version {package.version}: {now}"
            )
        before = set(folder.glob("*.deb"))
        try:
            self._run(["apt-get", "-q", "download", what], FETCH_TIMEOUT_S, f"{what} cannot be fetched", folder)
        except GuestError as error:
            if _GONE.search(error.what):
                raise PackageNotOfferedError(error.what) from None
            raise
        got = next(iter(set(folder.glob("*.deb")) - before), None)
        if got is None:
            raise GuestError(f"apt-get reported that it fetched {what}, but the file is missing")
        if sha256_of(got) != package.sha256:
            got.unlink()
            raise GuestError(
                f"{what} is not the package that the lock pins: its hash differs",
                what_to_do="if the archive was rebuilt, pin it again with `txop guest build --update`",
            )
        return got

    def fetch_offered(self, packages: Sequence[LockedPackage], folder: Path) -> None:
        """Fetch, in one go, those packages that are offered in their version. What comes is not judged here."""
        offered = self.show(package.name for package in packages)
        wanted = [
            f"{package.name}={package.version}"
            for package in packages
            if any(entry.version == package.version for entry in offered.get(package.name, []))
        ]
        if wanted:
            self._call(["apt-get", "-q", "download", *wanted], FETCH_TIMEOUT_S, folder)

    def show_sources(self, name: str) -> list[SourceEntry]:
        """What the archive offers of a source package. Without lists of sources: nothing."""
        ran = self._call(["apt-cache", "showsrc", "--only-source", name], SHOW_TIMEOUT_S)
        return list(read_sources(ran.stdout.decode("utf-8", "replace")))

    def fetch_source(self, name: str, version: str, folder: Path) -> None:
        """Fetch the files of a source package into a folder, as the archive's index lists them.

        Raises:
            PackageNotOfferedError: The archive does not have this version any more.
            GuestError: It could not be fetched.
        """
        if all(entry.version != version for entry in self.show_sources(name)):
            raise PackageNotOfferedError(f"the package lists do not have the source of {name} in version {version}")
        try:
            argv = ["apt-get", "-q", "source", "--download-only", "--only-source", f"{name}={version}"]
            self._run(argv, FETCH_TIMEOUT_S, f"the source of {name} {version} cannot be fetched", folder)
        except GuestError as error:
            if _GONE.search(error.what):
                raise PackageNotOfferedError(error.what) from None
            raise

    def _run(self, argv: Sequence[str], timeout_s: float, what: str, folder: Path | None = None) -> None:
        ran = self._call(argv, timeout_s, folder)
        if ran.returncode != 0:
            said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            errors = (
                [row.removeprefix("E: ") for row in said if row.startswith("E: ")] or said[-1:] or ["no reason given"]
            )
            raise GuestError(
                f"{what}: {visible(errors[0][:300])}",
                what_to_do="look at the network and APT's sources; packages that another machine has can be given with "
                "`txop guest build --packages DIR`",
            )

    def _call(
        self, argv: Sequence[str], timeout_s: float, folder: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        options = self._options()
        try:
            return subprocess.run(
                [argv[0], *options, *argv[1:]],
                cwd=folder,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GuestError(f"`{' '.join(argv[:2])}` did not end within {timeout_s:g} s") from None

    def _options(self) -> list[str]:
        hooks = self._root / "no-hooks.conf"
        if not hooks.is_file():
            self._root.mkdir(parents=True, exist_ok=True)
            hooks.write_text("".join(f"#clear {name};\n" for name in _HOOKS), encoding="utf-8")
        settings = {
            "APT::Architecture": "amd64",  # guests are x86-64 machines, also where this machine is another
            "APT::Architectures": "amd64",
            "APT::Default-Release": "",
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Acquire::Retries": "2",
            "Dir::State": self._root / "state",
            "Dir::State::Lists": self._root / "state" / "lists",
            "Dir::State::status": self._root / "status",
            "Dir::Cache": self._root / "cache",
            "Dir::Etc::SourceList": self._root / "sources.list",
            "Dir::Etc::SourceParts": self._root / "empty",
            "Dir::Etc::Preferences": self._root / "none",
            "Dir::Etc::PreferencesParts": self._root / "empty",
            **({"Acquire::Check-Valid-Until": "false"} if self.archive.dated else {}),
        }
        return ["-c", str(hooks), *(part for key, value in settings.items() for part in ("-o", f"{key}={value}"))]


def _lacks(said: str, suite: Suite) -> bool:
    """Whether an error of ``apt-get update`` says that there is no such suite."""
    return f" {suite.name} Release" in said and "does not have a Release file" in said


Progress = Callable[[str], None]
"""Receives, in a few words, what is being done."""
