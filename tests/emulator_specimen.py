"""A small emulator for tests: packages, a source and a lock of it, whose programs are shell scripts.

The stand-in for the dynamic linker runs the program that it is given by ``/bin/sh``, so that what starts what, and with
which words, is as it is for real.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.lock import COMPILER, ROLES, EmulatorLock, SourceFile
from txop.guest_image.packages.lock import EMULATOR, LockedPackage, in_order

LINKER = b"""#!/bin/sh
while case $1 in --inhibit-cache) true ;; --library-path | --preload) shift ;; *) false ;; esac do shift; done
exec /bin/sh "$@"
"""
CC1 = b"""for word in "$@"; do case $word in *.c) name=$word ;; esac; done
/bin/grep -q 'syntax error' "$name" && { echo "$name:1:1: error: expected something" >&2; exit 1; }
/bin/cat "$name" >shim.s
"""
ASSEMBLER = b"/bin/cat shim.s >shim.o\n"
LINKS = b"""while [ "$1" != -o ]; do shift; done
/bin/cat shim.o >"$2"
"""
GENERATOR = b"""import pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
out.mkdir()
(out / "qapi-types.h").write_text(pathlib.Path("qapi/qapi-schema.json").read_text())
(out / "qapi-types.c").write_text("not kept")
"""
PATCH = """A change of what is read, and of what is not.

--- a/include/x.h
+++ b/include/x.h
@@ -1,3 +1,3 @@
 one
-two
+2
 three
--- a/roms/other.c
+++ b/roms/other.c
@@ -1 +1 @@
-old
+new
--- /dev/null
+++ b/include/new.h
@@ -0,0 +1 @@
+new
"""

QEMU = b"#!/bin/sh\necho emulator\n"

FILES: Mapping[str, Mapping[str, bytes]] = {
    recipe.PACKAGE: {recipe.PROGRAM: QEMU},
    **{package: dict.fromkeys(names, b"firmware") for package, names in recipe.FIRMWARE.items()},
    "libc6": {recipe.LINKER: LINKER, recipe.C_LIBRARY: b"libc"},
    "libgcc-s1": {f"{recipe.LIBRARY_FOLDER}/libgcc_s.so.1": b"libgcc"},
}
CC1_NAME, AS_NAME, LD_NAME = (name for names in recipe.COMPILER.values() for name in names)
TOOLS: Mapping[str, Mapping[str, bytes]] = {
    next(iter(recipe.COMPILER)): {CC1_NAME: CC1},
    "binutils-x86-64-linux-gnu": {AS_NAME: ASSEMBLER, LD_NAME: LINKS},
    next(iter(recipe.HEADERS)): {recipe.LIBGCC: b"libgcc.a", "usr/share/doc/README": b"not wanted"},
}
SOURCE: Mapping[str, bytes] = {
    "include/x.h": b"one\ntwo\nthree\n",
    "include/x.c": b"no header",
    "roms/other.c": b"old\n",
    "scripts/qapi-gen.py": GENERATOR,
    "qapi/qapi-schema.json": b"schema",
}
VERSION = "1:10.0.13+ds-0"


def make_deb(files: Mapping[str, bytes]) -> bytes:
    """A package with files, not compressed."""
    data = make_tar({f"./{name}": content for name, content in files.items()})
    members = [("debian-binary", b"2.0\n"), ("data.tar", data)]
    out = b"!<arch>\n"
    for name, content in members:
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        out += b"\n" * (len(content) % 2)
    return out


def make_tar(files: Mapping[str, bytes], compression: str = "") -> bytes:
    """A tar with files; ``compression``: as in ``xz``."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{compression}") as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def make_emulator(folder: Path, *, source: Mapping[str, bytes] = SOURCE, patch: str = PATCH) -> EmulatorLock:
    """Write packages and source files into a folder; the lock that pins them."""
    folder.mkdir(exist_ok=True)
    pins = []
    for role, packages in ((EMULATOR, FILES), (COMPILER, TOOLS)):
        for name, files in packages.items():
            data = make_deb(files)
            (folder / f"{name}.deb").write_bytes(data)
            pins.append(LockedPackage(name, "1:1.0-1", "amd64", hashlib.sha256(data).hexdigest(), len(data), role))
    tars = {
        "qemu_10.0.13+ds.orig.tar.xz": make_tar({f"qemu-10/{name}": data for name, data in source.items()}, "xz"),
        "qemu_10.0.13+ds-0.debian.tar.xz": make_tar(
            {"debian/patches/series": b"# patches\nfirst.patch\n", "debian/patches/first.patch": patch.encode()}, "xz"
        ),
    }
    for name, data in tars.items():
        (folder / name).write_bytes(data)
    sources = [SourceFile(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in tars.items()]
    program = hashlib.sha256(QEMU).hexdigest()
    pinned = in_order(pins, ROLES)
    return EmulatorLock("debian-13", program, pinned, "qemu", VERSION, tuple(sorted(sources)), "2026-11-29")
