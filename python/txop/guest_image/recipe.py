"""What is in the image of a guest: programs and the packages they come from, kernel modules, libraries, files.

Everything is data; :mod:`~txop.guest_image.image` does it. A change here changes the image, and its hash.
"""

from __future__ import annotations

from dataclasses import dataclass

from txop.plan.devices import DRIVERS as DEVICE_DRIVERS

KERNELS = ("5.10", "6.1", "6.12")
"""Kernel series that txop ships a lock for."""

PROGRAMS: dict[str, tuple[str, ...]] = {
    "busybox-static": ("usr/bin/busybox",),
    # BusyBox' own shell prefers its applets to the programs in PATH (its `ip` knows no `netns`): dash does not
    "dash": ("usr/bin/dash",),
    "coreutils": ("usr/bin/env", "usr/bin/nice", "usr/bin/sha256sum", "usr/bin/stdbuf", "usr/bin/timeout"),
    "util-linux": (
        "usr/bin/chrt",
        "usr/bin/dmesg",
        "usr/bin/nsenter",
        "usr/bin/setpriv",
        "usr/bin/setsid",
        "usr/bin/taskset",
        "usr/bin/unshare",
    ),
    "iproute2": ("usr/bin/ip", "usr/bin/ss", "usr/sbin/tc"),
    "iputils-ping": ("usr/bin/ping",),
    "ethtool": ("usr/sbin/ethtool",),
    "iw": ("usr/sbin/iw",),
    "wpasupplicant": ("usr/sbin/wpa_supplicant", "usr/sbin/wpa_cli"),
    "hostapd": ("usr/sbin/hostapd", "usr/sbin/hostapd_cli"),
    "iperf3": ("usr/bin/iperf3",),
    "tcpdump": ("usr/bin/tcpdump",),
}
"""By package. Names are those in a tree with ``/usr`` merged."""

EXTRA_PROGRAMS: dict[str, dict[str, tuple[str, ...]]] = {
    "modem": {"libqmi-utils": ("usr/bin/qmicli",), "libmbim-utils": ("usr/bin/mbimcli",)},
    "inspect": {"trace-cmd": ("usr/bin/trace-cmd",), "linux-perf": ("usr/bin/perf",)},
    "inject": {"aircrack-ng": ("usr/sbin/aireplay-ng",)},
}
"""By role in a lock, each as :data:`PROGRAMS`: not in the image, but unpacked beside it for a guest that takes one.
``modem``: where messages to a modem decide on its data path; ``inspect``: for looking into the kernel; ``inject``:
for frames sent on a monitor interface."""

LIBRARIES = ("libgcc_s.so.1",)
"""Loaded at run time, so that no program says it needs them (pthread_cancel in iperf3)."""

LIBRARY_PACKAGES = ("libgcc-s1",)

FILES: dict[str, tuple[tuple[str, str], ...]] = {
    # RC4 for wpa_supplicant: with TKIP, the first group key comes encrypted with it
    "libssl3": (
        (
            "usr/lib/x86_64-linux-gnu/ossl-modules/legacy.so",
            "usr/lib/x86_64-linux-gnu/ossl-modules/legacy.so",
        ),
    ),
    "wireless-regdb": (
        ("usr/lib/firmware/regulatory.db-debian", "usr/lib/firmware/regulatory.db"),
        ("usr/lib/firmware/regulatory.db.p7s-debian", "usr/lib/firmware/regulatory.db.p7s"),
    ),
}
"""By package: name in the tree, name in the image."""

_FIRST_DRIVERS = (
    "ath6kl_sdio", "libertas_sdio", "rtl8xxxu", "rtl8192cu", "mt76x0u", "mt76x2u", "mt7601u",
    "qmi_wwan", "cdc_ncm", "cdc_mbim", "cdc_ether",
)  # fmt: skip
"""In the order in which images have them; those of later devices follow."""
DRIVERS = (*_FIRST_DRIVERS, *(name for name in dict.fromkeys(DEVICE_DRIVERS.values()) if name not in _FIRST_DRIVERS))
"""The drivers under test. A kernel of your own may lack those that its guests do not use."""

WATCHDOG = ("i6300esb",)
"""Ends a guest with a processor that is locked up. A kernel of your own may lack it."""

MODULES = (
    # the guest's ways out
    "virtio_pci", "virtio_console", "virtio_rng",
    *WATCHDOG,
    # the USB host, and what watches it
    "xhci_pci", "usbmon",
    # an SD host controller on USB, for cards with drivers under test
    "ushc",
    *DRIVERS,
    # the air
    "mac80211_hwsim", "ccm", "gcm", "cmac", "ctr", "aesni_intel",
    # hosts and networks around them
    "af_packet", "virtio_net", "veth", "tun", "bridge", "sch_netem", "sch_fq_codel", "sch_fq", "tcp_bbr",
)  # fmt: skip
"""With everything they need. Those that are built into the kernel are left out by themselves."""

KERNEL_PLACES = (
    "arch/x86/crypto",
    "crypto",
    "drivers/base",
    "drivers/bcma",
    "drivers/block/virtio_blk",
    "drivers/char/hw_random",
    "drivers/char/virtio_console",
    "drivers/leds",
    "drivers/mmc",
    "drivers/net",
    "drivers/ssb",
    "drivers/usb",
    "drivers/virtio",
    "drivers/watchdog/i6300esb",
    "drivers/watchdog/watchdog",
    "lib",
    "net",
)
"""Folders and files of a kernel package's modules that are unpacked: the rest cannot be asked for."""


@dataclass(frozen=True)
class KernelPackages:
    """Names of a kernel's packages."""

    meta: tuple[str, ...]
    """Packages that name the current release of a series, the first that exists counts."""
    source: str

    @staticmethod
    def of(series: str) -> KernelPackages:
        """Those of a series, as in ``6.12``."""
        return KernelPackages((f"linux-image-{series}-amd64", "linux-image-amd64"), f"linux-source-{series}")


RUNTIME_SELECTION = "runtime"
"""Names the choice :func:`is_runtime`."""

TRIPLET = "x86_64-linux-gnu-"
"""What names of programs for x86-64 begin with."""


def is_runtime(name: str) -> bool:
    """Whether a file of a package may be needed in a guest: programs, libraries, firmware data."""
    return name.startswith(("usr/bin/", "usr/sbin/", "usr/lib/", "usr/lib64/", "usr/libexec/"))


@dataclass(frozen=True)
class Compiler:
    """A GCC of the distribution, with what it calls."""

    name: str
    """As in ``gcc-12``."""

    @property
    def programs(self) -> dict[str, tuple[str, ...]]:
        """By package: its programs, named as in a tree with ``/usr`` merged."""
        inside = self._inside
        binutils = ("ar", "as", "ld", "ld.bfd", "nm", "objcopy", "objdump", "ranlib", "readelf", "size", "strip")
        return {
            self.name: (f"usr/bin/{TRIPLET}{self.name}", f"{inside}/collect2", f"{inside}/lto-wrapper"),
            self.name.replace("gcc", "cpp"): (f"{inside}/cc1",),
            "binutils-x86-64-linux-gnu": tuple(f"usr/bin/{TRIPLET}{tool}" for tool in binutils),
        }

    @property
    def headers_package(self) -> str:
        """The package with the compiler's own headers, which kernels before 5.15 include (``<stdarg.h>``)."""
        return f"lib{self.name}-dev"

    @property
    def headers(self) -> str:
        """Folder of these headers."""
        return f"{self._inside}/include"

    def files(self) -> list[str]:
        """All of them, and the linker's plugin."""
        return [*(name for names in self.programs.values() for name in names), f"{self._inside}/liblto_plugin.so"]

    def beside_cc1(self) -> list[tuple[str, str]]:
        """Programs that GCC looks for beside its own before it looks elsewhere: name in the tree, name there."""
        return [(f"usr/bin/{TRIPLET}{tool}", f"{self._inside}/{tool}") for tool in ("as", "ld")]

    @property
    def _inside(self) -> str:
        return f"usr/lib/gcc/x86_64-linux-gnu/{self.name.removeprefix('gcc-')}"
