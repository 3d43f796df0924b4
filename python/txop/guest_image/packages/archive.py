"""Where Debian's archive is, for the release that a guest is made of, whatever this machine runs.

No host name is written here: a mirror is the one this machine's APT uses, or one that the user names. Packages are
verified with the archive's own keys (package debian-archive-keyring, which Ubuntu has as well), and against the hashes
of a lock.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from txop.core.visible import visible
from txop.guest_image.error import GuestError, MissingGuestToolError

IMAGE_DISTRIBUTION = "debian-12"
"""What new locks are made of, on every machine: figures of guests are compared across machines, so all machines have
the same guest."""

CODENAMES = {"debian-11": "bullseye", "debian-12": "bookworm", "debian-13": "trixie"}
"""By distribution, as locks name it."""

KERNEL_DISTRIBUTIONS = (IMAGE_DISTRIBUTION, "debian-11", "debian-13")
"""Where a kernel series is looked for, in this order: programs are always those of :data:`IMAGE_DISTRIBUTION`."""

MIRROR = "TXOP_DEBIAN_MIRROR"
"""Environment variable: URL of a Debian mirror, and after a space that of its security archive."""

DATED = "TXOP_DEBIAN_ARCHIVE"
"""Environment variable: URL under which ``debian/DATE`` and ``debian-security/DATE`` are the archive as it was."""

KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
)

TEMPLATE = Path("/usr/share/python-apt/templates/Debian.info")
"""What python-apt-common, which Ubuntu installs by default, knows of Debian: its ``BaseURI`` is a mirror."""

_NAMES = "|".join((*CODENAMES.values(), "oldoldstable", "oldstable", "stable", "testing", "sid", "unstable", "forky"))
_SUITE = re.compile(rf"(?:{_NAMES})(?P<part>-updates|-security|/updates)?")
_URL = re.compile(r"[a-z][a-z0-9+]*:/[!-~]{1,500}")
_LISTING_S = 60.0


class Index(Enum):
    """Which of an archive's lists are asked for. The value: how a line of APT's sources begins."""

    PACKAGES = "deb [arch=amd64 targets=Packages"
    SOURCES = "deb-src [targets=Sources"


@dataclass(frozen=True)
class Suite:
    """One line of APT's sources."""

    url: str
    name: str
    """As in ``bookworm-security``."""
    optional: bool
    """A mirror may be without it."""

    def line(self, keyring: Path, index: Index) -> str:
        """The line, sources.list(5)."""
        return f"{index.value} signed-by={keyring}] {self.url} {self.name} main"


@dataclass(frozen=True)
class Archive:
    """The archive of one release."""

    codename: str
    main: str
    """URL of the mirror."""
    security: str
    """URL of the archive with security updates."""
    keyring: Path
    dated: bool = False
    """As it was at one moment: its signatures may be older than they say they hold."""

    def suites(self) -> tuple[Suite, ...]:
        """What packages may come from."""
        return (
            Suite(self.main, self.codename, False),
            Suite(self.main, f"{self.codename}-updates", True),
            Suite(self.security, f"{self.codename}-security", True),
        )

    @property
    def key(self) -> str:
        """Names the folder of its package lists."""
        return f"{self.codename}-{hashlib.sha256(f'{self.main} {self.security}'.encode()).hexdigest()[:12]}"


def current_archive(distribution: str) -> Archive:
    """The archive as it is now.

    Raises:
        MissingGuestToolError: This machine knows no Debian mirror, or has not Debian's keys.
        GuestError: The release, or what the user named as mirror, is not known.
    """
    codename = _codename(distribution)
    named = os.environ.get(MIRROR, "").split()
    if named:
        main, security = _named(named)
    else:
        main, security = _of_this_machine(_sources_of_this_machine(), TEMPLATE)
    return Archive(codename, main, security, _keyring())


def dated_archive(distribution: str, pinned: str | None) -> Archive | None:
    """The archive as it was at the end of the day on which a lock was made; ``None``: the user named none.

    Args:
        distribution: As in ``debian-12``.
        pinned: The day, as in ``2026-11-22``; ``None``: the lock does not say.
    """
    base = os.environ.get(DATED, "").strip().rstrip("/")
    if not base or pinned is None:
        return None
    stamp = f"{pinned.replace('-', '')}T235959Z"
    main, security = _named([f"{base}/debian/{stamp}", f"{base}/debian-security/{stamp}"], DATED)
    return Archive(_codename(distribution), main, security, _keyring(), dated=True)


def _codename(distribution: str) -> str:
    if distribution not in CODENAMES:
        raise GuestError(
            f"the lock is of {distribution}, and guests are made of {' or '.join(CODENAMES)}",
            what_to_do="make a lock with `txop guest build --update`",
        )
    return CODENAMES[distribution]


def _named(urls: Sequence[str], where: str = MIRROR) -> tuple[str, str]:
    """Mirror and security archive that a user named."""
    for url in urls:
        if not _URL.fullmatch(url) or "[" in url or "]" in url:
            raise GuestError(
                f"{where}: {visible(url)[:200]!r} is not the URL of an archive",
                what_to_do="give what stands in APT's sources after `deb`, as in http://MIRROR/debian",
            )
    if len(urls) > 2:
        raise GuestError(f"{where} has {len(urls)} URLs: a mirror, and at most one security archive")
    return urls[0], urls[1] if len(urls) == 2 else security_beside(urls[0])


def security_beside(main: str) -> str:
    """Where the security archive of a mirror is by custom.

    >>> security_beside("http://mirror.example/debian/")
    'http://mirror.example/debian-security/'
    >>> security_beside("http://old.example/archive/debian/20260101T000000Z")
    'http://old.example/archive/debian-security/20260101T000000Z'
    """
    before, slash, after = main.rpartition("/debian")
    return f"{before}{slash}-security{after}" if slash and after[:1] in ("", "/") else main


def _of_this_machine(sources: Iterable[tuple[str, str]], template: Path) -> tuple[str, str]:
    """Mirror and security archive, out of (URL, suite) of this machine's sources, else of what it knows of Debian."""
    main = security = None
    for url, suite in sources:
        match = _SUITE.fullmatch(suite)
        if match is None:
            continue
        if match["part"] in ("-security", "/updates"):
            security = security or url
        elif match["part"] is None:
            main = main or url
    if main is None:
        main = _of_template(template)
    if main is None:
        raise MissingGuestToolError(
            "guests are made of Debian packages, and this machine's APT has no Debian mirror in its sources",
            what_to_do="name one: `txop guest build --mirror http://MIRROR/debian` or "
            f"{MIRROR}=http://MIRROR/debian; Ubuntu's package python-apt-common knows one, too",
        )
    return main, security or security_beside(main)


def _sources_of_this_machine() -> list[tuple[str, str]]:
    """(URL, suite) of this machine's sources of main, whatever their form, as APT reads them: Debian's first."""
    if shutil.which("apt-get") is None:
        raise MissingGuestToolError(
            "there is no apt-get: guests are made of Debian packages",
            what_to_do="on another distribution, copy txop's cache folder from a Debian machine "
            "(its path: `txop guest build --where`)",
        )
    # with the release's own information, its origin shows another maker's repository with a suite of the same name;
    # before package lists were ever read there is none
    for options in ([], ["--no-release-info"]):
        rows = [row.split("\t") for row in _index_targets(options)]
        found = [
            (row[0], row[1]) for row in rows if len(row) == 4 and row[2] == "main" and (options or row[3] == "Debian")
        ]
        if any(_SUITE.fullmatch(suite) for _, suite in found):
            return [pair for pair in found if _URL.fullmatch(pair[0]) and not pair[0].startswith("cdrom:")]
    return []


def _index_targets(options: list[str]) -> list[str]:
    form = "$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)\t$(ORIGIN)"
    try:
        ran = subprocess.run(
            ["apt-get", "indextargets", *options, "--format", form, "Created-By: Packages"],
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LISTING_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return list(dict.fromkeys(ran.stdout.decode("utf-8", "replace").splitlines()))


def _of_template(template: Path) -> str | None:
    try:
        text = template.read_text(encoding="utf-8", errors="replace")[: 1 << 20]
    except OSError:
        return None
    for paragraph in re.split(r"\n\s*\n", text):
        match = re.search(r"^BaseURI:\s*(\S+)$", paragraph, re.MULTILINE)
        if match and "MirrorsFile:" in paragraph and _URL.fullmatch(match[1]):
            return match[1]
    return None


def _keyring() -> Path:
    for keyring in KEYRINGS:
        if keyring.is_file():
            return keyring
    raise MissingGuestToolError(
        "the keys of Debian's archive are not here, so its packages cannot be verified",
        what_to_do="install the package debian-archive-keyring",
    )
