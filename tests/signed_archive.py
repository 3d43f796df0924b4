"""Signed archives of packages on this disk, for this machine's real APT."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

needs_apt = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("apt-get", "apt-cache", "gpg"))
    or (shutil.which("gpgv") is None and shutil.which("sqv") is None),
    reason="apt, gpg, or what apt verifies with (gpgv, sqv) is not here",
)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a key of an archive of our own: ``ring.gpg`` is its public half."""
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not here")
    home = tmp_path_factory.mktemp("key", numbered=True)
    home.chmod(0o700)
    gpg(home, "--quick-generate-key", "archive", "ed25519", "sign", "never")
    (home / "ring.gpg").write_bytes(gpg(home, "--export"))
    yield home
    subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False, capture_output=True)


def gpg(home: Path, *words: str, data: bytes = b"") -> bytes:
    argv = [
        "gpg",
        "--homedir",
        str(home),
        "--batch",
        "--quiet",
        "--pinentry-mode",
        "loopback",
        "--passphrase",
        "",
        *words,
    ]
    return subprocess.run(argv, input=data, capture_output=True, check=True).stdout


def make_archive(
    place: Path,
    key: Path,
    packages: Mapping[str, tuple[str, bytes]],
    *,
    suite: str = "bookworm",
    days_old: int = 0,
    depends: Mapping[str, str] | None = None,
    source: tuple[str, str, Mapping[str, bytes]] | None = None,
) -> str:
    """A signed archive with packages (name: version, contents); its URL.

    ``depends``: fields of packages by their names; ``source``: name, version and files of a source package.
    """
    dist = place / "dists" / suite / "main" / "binary-amd64"
    dist.mkdir(parents=True)
    rows = []
    for name, (version, content) in packages.items():
        path = place / f"pool/{name}_{version}_amd64.deb"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        rows.append(
            f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nFilename: pool/{path.name}\n"
            f"Size: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\nDescription: x\n"
            + (f"Depends: {depends[name]}\n" if depends and name in depends else "")
        )
    indices = {"main/binary-amd64/Packages": "\n".join(rows).encode()}
    if source is not None:
        (dist.parent / "source").mkdir()
        indices["main/source/Sources"] = _source_index(place, *source)
    for name, index in indices.items():
        (place / "dists" / suite / name).write_bytes(index)
    made = datetime.now(UTC) - timedelta(days=days_old)
    dates = [format_datetime(moment, usegmt=True) for moment in (made, made + timedelta(days=7))]
    release = (
        f"Origin: Debian\nSuite: {suite}\nCodename: {suite}\nArchitectures: amd64\nComponents: main\n"
        f"Date: {dates[0]}\nValid-Until: {dates[1]}\n"
        f"SHA256:\n"
    )
    release += "".join(f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" for name, data in indices.items())
    (place / "dists" / suite / "InRelease").write_bytes(gpg(key, "--clearsign", data=release.encode()))
    return f"file:{place}"


def _source_index(place: Path, name: str, version: str, files: Mapping[str, bytes]) -> bytes:
    folder = place / "pool" / "source"
    folder.mkdir(parents=True, exist_ok=True)
    sums = ""
    for file, content in files.items():
        (folder / file).write_bytes(content)
        sums += f" {hashlib.sha256(content).hexdigest()} {len(content)} {file}\n"
    head = f"Package: {name}\nBinary: x\nVersion: {version}\nArchitecture: any\nFormat: 3.0 (quilt)\n"
    return f"{head}Directory: pool/source\nChecksums-Sha256:\n{sums}\n".encode()
