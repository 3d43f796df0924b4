"""What is taken of QEMU's packages, of its source and of a compiler's packages. Everything is data.

A change here changes what is built, and so the name under which it is kept.
"""

from __future__ import annotations

DISTRIBUTION = "debian-13"
"""What the emulator is made of, on every machine; guests are of another release, and need not be of this one."""

PACKAGE = "qemu-system-x86"
SOURCE = "qemu"
"""The source package that it is built from."""

PROGRAM = "usr/bin/qemu-system-x86_64"
LINKER = "usr/lib64/ld-linux-x86-64.so.2"
RUNTIME = ("libc6", "libgcc-s1")
"""Packages of the dynamic linker, and of a library that is loaded at run time (pthread_cancel)."""

LIBRARY_FOLDER = "usr/lib/x86_64-linux-gnu"

FIRMWARE: dict[str, tuple[str, ...]] = {
    "seabios": ("usr/share/seabios/bios-256k.bin",),
    "qemu-system-data": (
        "usr/share/qemu/kvmvapic.bin",
        "usr/share/qemu/linuxboot.bin",
        "usr/share/qemu/linuxboot_dma.bin",
        "usr/share/qemu/qboot.rom",
    ),
}
"""By package: what a PC without display and network cards boots a kernel with. ``qboot.rom`` in place of SeaBIOS, for
guests that have nothing for a BIOS to drive."""

BUNDLE = f"{LIBRARY_FOLDER}/qemu-bundle"
BUNDLE_TARGET = "../../.."
"""A link beside the file that runs, which is the dynamic linker: QEMU then looks for firmware and modules below it, and
not in this machine's folders, which may have those of another QEMU (util/cutils.c, get_relocated_path)."""

GCC = "14"

COMPILER: dict[str, tuple[str, ...]] = {
    f"cpp-{GCC}-x86-64-linux-gnu": (f"usr/libexec/gcc/x86_64-linux-gnu/{GCC}/cc1",),
    "binutils-x86-64-linux-gnu": ("usr/bin/x86_64-linux-gnu-as", "usr/bin/x86_64-linux-gnu-ld.bfd"),
}
"""By package: the programs that the driver ``gcc`` would call. It would start them by the dynamic linker of this
machine, so they are called without it."""

_GCC_FOLDER = f"usr/lib/gcc/x86_64-linux-gnu/{GCC}"

HEADERS: dict[str, tuple[str, ...]] = {
    f"libgcc-{GCC}-dev": (f"{_GCC_FOLDER}/include/", f"{_GCC_FOLDER}/libgcc.a"),
    "libc6-dev": ("usr/include/",),
    "linux-libc-dev": (
        "usr/include/asm-generic/",
        "usr/include/linux/",
        "usr/include/x86_64-linux-gnu/",
        "usr/lib/linux/uapi/x86/",
    ),
    "libgio-2.0-dev": ("usr/include/glib-2.0/", "usr/lib/x86_64-linux-gnu/glib-2.0/include/"),
}
"""By package: the folders (names that end with a slash) and files that a compiler reads."""

SYSTEM_INCLUDES = (
    f"{_GCC_FOLDER}/include",
    "usr/include/x86_64-linux-gnu",
    "usr/include",
    "usr/include/glib-2.0",
    "usr/lib/x86_64-linux-gnu/glib-2.0/include",
)

LIBGCC = f"{_GCC_FOLDER}/libgcc.a"

C_LIBRARY = "usr/lib/x86_64-linux-gnu/libc.so.6"

SOURCE_HEADERS = ("hw/", "host/include/", "include/", "linux-headers/", "target/i386/")
"""Folders of QEMU's source with headers that are kept, in a folder of the same name."""

SOURCE_GENERATOR = ("qapi/", "scripts/qapi/", "scripts/qapi-gen.py", "VERSION")
"""What the headers of the QAPI are made of, and by; read while they are made."""

HEADER_ENDINGS = (".h", ".inc")

SOURCE_INCLUDES = ("include", "linux-headers", "target/i386", "host/include/x86_64", "host/include/generic", ".")

CONFIG_WORDS = (
    "CONFIG_POSIX", "CONFIG_LINUX", "HOST_X86_64", "CONFIG_INT128", "CONFIG_TCG", "CONFIG_ATOMIC64", "CONFIG_SOFTMMU",
    "CONFIG_IOVEC", "CONFIG_PREADV", "CONFIG_MADVISE", "CONFIG_EVENTFD", "CONFIG_MALLOC_TRIM",
)  # fmt: skip
"""What a configured build of QEMU on this architecture defines and its headers ask for."""

COMPILE_FLAGS = ("-O2", "-g", "-fPIC", "-std=gnu11", "-fno-strict-aliasing", "-fwrapv", "-fno-common", "-D_GNU_SOURCE")
"""As QEMU compiles itself, where it matters (its meson.build): strict aliasing off, wrapping integers."""

LINK_FLAGS = (
    *("-shared", "-m", "elf_x86_64", "--hash-style=gnu", "--build-id=none"),
    *("-z", "relro", "-z", "now", "-z", "noexecstack"),
)
"""With ``now``, a name that neither QEMU nor the library with the models has is an error at the start."""


def is_emulator_file(name: str) -> bool:
    """Whether a file of a package may be needed to run QEMU."""
    if name in (PROGRAM, LINKER):
        return True
    return is_library(name) or any(name in names for names in FIRMWARE.values())


def is_compiler_file(name: str) -> bool:
    """Whether a file of a package may be needed to compile the object."""
    if is_library(name) or any(name in names for names in COMPILER.values()):
        return True
    wanted = [want for wants in HEADERS.values() for want in wants]
    return any(name.startswith(want) if want.endswith("/") else name == want for want in wanted)


def is_library(name: str) -> bool:
    """Whether it is a shared library where the dynamic linker looks for those."""
    above, _, last = name.rpartition("/")
    return above == LIBRARY_FOLDER and ".so" in last
