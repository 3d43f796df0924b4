"""Packages of the image's distribution, from signed archives on this disk, with this machine's real APT."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from signed_archive import gpg, key, make_archive, needs_apt
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.packages import archive
from txop.guest_image.packages.archive import current_archive, security_beside
from txop.guest_image.packages.lock import Lock, LockedPackage, in_order
from txop.guest_image.packages.offers import changes, offers
from txop.guest_image.packages.resolve import kernel_of_any
from txop.guest_image.packages.store import PackageStore

__all__ = ["key"]
"""A fixture of another module."""


def pin(name: str, version: str, content: bytes) -> LockedPackage:
    return LockedPackage(name, version, "amd64", hashlib.sha256(content).hexdigest(), len(content), "image")


@pytest.fixture
def ours(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is that of the archive, and this machine's own sources do not count."""
    monkeypatch.setattr(archive, "KEYRINGS", (key / "ring.gpg",))
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", "http://nowhere.invalid/debian")
    monkeypatch.delenv("TXOP_DEBIAN_ARCHIVE", raising=False)


@needs_apt
@pytest.mark.usefixtures("ours")
def test_packages_come_from_a_mirror_without_security_updates_whatever_this_machine_has(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", make_archive(tmp_path / "debian", key, {"iw": ("5.19-1", b"iw")}))
    store = PackageStore(tmp_path / "cache", lambda _: None, "debian-12")
    assert store.package(pin("iw", "5.19-1", b"iw")).read_bytes() == b"iw"


@needs_apt
@pytest.mark.usefixtures("ours")
def test_security_updates_count(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = make_archive(tmp_path / "debian", key, {"iw": ("5.19-1", b"old")})
    make_archive(tmp_path / "debian-security", key, {"iw": ("5.19-2", b"new")}, suite="bookworm-security")
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", main)
    store = PackageStore(tmp_path / "cache", lambda _: None, "debian-12")
    assert store.package(pin("iw", "5.19-2", b"new")).read_bytes() == b"new"


@needs_apt
@pytest.mark.usefixtures("ours")
def test_a_kernel_of_another_release_comes_from_its_archive(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_archive(tmp_path / "debian", key, {"iw": ("5.19-1", b"iw")})
    kernel = "linux-image-5.10.0-46-amd64"
    packages = {"linux-image-amd64": ("5.10.262-1", b"meta"), kernel: ("5.10.262-1", b"kernel")}
    depends = {"linux-image-amd64": f"{kernel} (= 5.10.262-1)"}
    url = make_archive(tmp_path / "debian", key, packages, suite="bullseye", depends=depends)
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", url)
    found = kernel_of_any(tmp_path / "cache", "debian-12", "5.10", lambda _: None)
    assert (found[0], found[1].name, found[2]) == ("debian-11", kernel, "5.10.0-46-amd64")
    with pytest.raises(GuestError, match=r"no kernel 4\.19: .*debian-12, debian-11"):
        kernel_of_any(tmp_path / "cache", "debian-12", "4.19", lambda _: None)
    pins = (pin("iw", "5.19-1", b"iw"), pin(kernel, "5.10.262-1", b"kernel"))
    lock = Lock("5.10", "5.10.0-46-amd64", "debian-12", in_order(pins), kernel_distribution="debian-11")
    store = PackageStore.of(lock, tmp_path / "cache", lambda _: None)
    assert [store.package(package).read_bytes() for package in pins] == [b"iw", b"kernel"]
    assert all(offer.offered for offer in offers(lock, cache=tmp_path / "cache"))


@needs_apt
@pytest.mark.usefixtures("ours")
def test_what_the_archive_has_dropped_comes_from_the_dated_one(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", make_archive(tmp_path / "debian", key, {"iw": ("6.1-1", b"newer")}))
    then = tmp_path / "then" / "debian" / "20260102T235959Z"
    make_archive(then, key, {"iw": ("5.19-1", b"iw")}, days_old=300)  # its signature holds for 7 days
    wanted = pin("iw", "5.19-1", b"iw")
    with pytest.raises(GuestError, match=r"it has 6\.1-1 now") as said:
        PackageStore(tmp_path / "cache", lambda _: None, "debian-12", "2026-01-02").package(wanted)
    assert "TXOP_DEBIAN_ARCHIVE" in (said.value.what_to_do or "")
    monkeypatch.setenv("TXOP_DEBIAN_ARCHIVE", f"file:{tmp_path}/then/")
    with pytest.raises(GuestError, match=r"it has 6\.1-1 now"):  # a lock that does not say when it was made
        PackageStore(tmp_path / "cache", lambda _: None, "debian-12").package(wanted)
    store = PackageStore(tmp_path / "cache", lambda _: None, "debian-12", "2026-01-02")
    assert store.package(wanted).read_bytes() == b"iw"


@needs_apt
@pytest.mark.usefixtures("ours")
def test_an_archive_that_another_key_has_signed_is_refused(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", make_archive(tmp_path / "debian", key, {"iw": ("5.19-1", b"iw")}))
    (tmp_path / "other").mkdir(mode=0o700)
    gpg(tmp_path / "other", "--quick-generate-key", "other", "ed25519", "sign", "never")
    (tmp_path / "ring.gpg").write_bytes(gpg(tmp_path / "other", "--export"))
    subprocess.run(["gpgconf", "--homedir", tmp_path / "other", "--kill", "all"], check=False, capture_output=True)
    monkeypatch.setattr(archive, "KEYRINGS", (tmp_path / "ring.gpg",))
    with pytest.raises(GuestError, match=r"package lists cannot be fetched.*not signed"):
        PackageStore(tmp_path / "cache", lambda _: None, "debian-12").package(pin("iw", "5.19-1", b"iw"))


@needs_apt
@pytest.mark.usefixtures("ours")
def test_a_check_says_what_is_gone_and_what_there_is_in_its_place(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = {"iw": ("5.19-1", b"iw"), "tcpdump": ("4.99.9-1", b"new")}
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", make_archive(tmp_path / "debian", key, has))
    pins = [pin("iw", "5.19-1", b"iw"), pin("tcpdump", "4.99.3-1", b"old"), pin("dash", "0.5.12-2", b"dash")]
    lock = Lock("6.12", "6.12.1-amd64", "debian-12", in_order(pins))
    cache = tmp_path / "cache"
    PackageStore.of(lock, cache, lambda _: None).package(pins[0])
    found = {row.name: (row.offered, row.newest, row.cached) for row in offers(lock, cache=cache)}
    assert found == {"dash": (False, None, False), "iw": (True, "5.19-1", True), "tcpdump": (False, "4.99.9-1", False)}
    after = [pins[0], pin("tcpdump", "4.99.9-1", b"new"), pin("jq", "1.6-1", b"jq")]
    assert changes(lock, Lock("6.12", "6.12.2-amd64", "debian-12", in_order(after))) == [
        "dash: 0.5.12-2, not needed now",
        "jq: added, 1.6-1",
        "tcpdump: 4.99.3-1 -> 4.99.9-1",
    ]


# Where the mirror is -------------------------------------------------------------------------------------------------


def indextargets(folder: Path, rows: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An apt-get whose sources are these, their release information not read yet."""
    folder.mkdir()
    text = "".join(f"echo '{row}'\n" for row in rows)
    (folder / "apt-get").write_text(f'#!/bin/sh\ncase "$*" in *--no-release-info*)\n{text}:;; esac\n')
    (folder / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("TXOP_DEBIAN_MIRROR", raising=False)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("suite", ["trixie", "stable", "bookworm", "testing"])
def test_a_debian_machine_of_any_release_takes_its_own_mirrors(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        f"http://packages.invalid/\t{suite}-pgdg\tmain\t$(ORIGIN)",
        f"cdrom:x/\t{suite}\tmain\t$(ORIGIN)",
        f"http://mirror.invalid/debian/\t{suite}\tcontrib\t$(ORIGIN)",
        f"http://mirror.invalid/debian/\t{suite}\tmain\t$(ORIGIN)",
        f"http://safe.invalid/debian-security/\t{suite}-security\tmain\t$(ORIGIN)",
    ]
    indextargets(tmp_path / "programs", rows, monkeypatch)
    found = current_archive("debian-12")
    assert [(at.url, at.name) for at in found.suites()] == [
        ("http://mirror.invalid/debian/", "bookworm"),
        ("http://mirror.invalid/debian/", "bookworm-updates"),
        ("http://safe.invalid/debian-security/", "bookworm-security"),
    ]


@pytest.mark.usefixtures("ours")
def test_a_machine_that_knows_no_debian_mirror_says_how_to_name_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    indextargets(tmp_path / "programs", ["http://mirror.invalid/ubuntu/\tnoble\tmain\t$(ORIGIN)"], monkeypatch)
    template = tmp_path / "Debian.info"
    monkeypatch.setattr(archive, "TEMPLATE", template)
    with pytest.raises(MissingGuestToolError, match="no Debian mirror in its sources") as said:
        current_archive("debian-12")
    assert "--mirror" in (said.value.what_to_do or "")
    template.write_text("Suite: x\nBaseURI: http://known.invalid/debian/\nMirrorsFile: Debian.mirrors\n\nSuite: y\n")
    assert current_archive("debian-12").main == "http://known.invalid/debian/"
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", "http://mine.invalid/debian http://safe.invalid/security")
    mine = current_archive("debian-12")
    assert (mine.main, mine.security) == ("http://mine.invalid/debian", "http://safe.invalid/security")
    monkeypatch.setattr(archive, "KEYRINGS", ())
    with pytest.raises(MissingGuestToolError, match="keys") as said:
        current_archive("debian-12")
    assert "debian-archive-keyring" in (said.value.what_to_do or "")


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize(
    "value", ["mirror", "http://x/ [trusted=yes]", "http://a/ http://b/ http://c/", "http://x/[a=b]"]
)
def test_what_is_no_url_never_gets_into_the_sources(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", value)
    with pytest.raises(GuestError, match="TXOP_DEBIAN_MIRROR"):
        current_archive("debian-12")


def test_a_lock_of_an_unknown_distribution_is_refused() -> None:
    with pytest.raises(GuestError, match="the lock is of fedora-42"):
        current_archive("fedora-42")


@pytest.mark.parametrize(
    ("main", "security"),
    [
        ("http://m.invalid/debian", "http://m.invalid/debian-security"),
        ("http://m.invalid/pub/debian/", "http://m.invalid/pub/debian-security/"),
        ("http://m.invalid/debian-mirror/debian/2026/", "http://m.invalid/debian-mirror/debian-security/2026/"),
        ("http://m.invalid/deb", "http://m.invalid/deb"),
    ],
)
def test_the_security_archive_is_looked_for_where_it_is_by_custom(main: str, security: str) -> None:
    assert security_beside(main) == security
