"""The disk of a lab machine: a whole Debian with its own kernel, systemd and an SSH server, radios of mac80211_hwsim,
and what an access point is made with. Only packages of the distribution are in it.

It is made by mmdebstrap, as root or in a user namespace, and kept in the user's cache folder under a name that tells
what it was made of. QEMU never writes to it: each machine has its own changes, and they are gone with it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

from txop.guest_image.cache import default_cache, new_folder
from txop.guest_image.error import GuestError
from txop.guest_image.kernel_tree import put_together
from txop.guest_image.packages.archive import current_archive

DISTRIBUTION = "debian-12"
CODENAME = "bookworm"
BUILD_S = 1800.0
UNUSED_S = 14 * 86400.0
"""Images that were not used for that long are removed."""
DISK = "2G"

SSID, CHANNEL, PASSPHRASE = "txop-lab", 6, "a passphrase of the lab"
ROUTER_PORT = 2222
"""An SSH server whose commands run in a userland of BusyBox, in the access point's namespace, as on a router."""
AP_NAMESPACE, AP_ADDRESS, STATION_ADDRESS = "ap", "198.18.77.1", "198.18.77.2"
"""An address range for benchmarks (RFC 2544), which no network here uses."""

PACKAGES = (
    "busybox-static", "dbus", "dropbear-bin", "ethtool", "hostapd", "iperf3", "iproute2", "iputils-ping", "irtt", "iw",
    "kexec-tools", "kmod", "linux-image-amd64", "linux-image-cloud-amd64", "openssh-server", "procps", "sudo",
    "systemd-sysv", "tcpdump", "udev", "wireless-regdb", "wpasupplicant",
)  # fmt: skip
ROUTER_PROGRAMS = ("hostapd", "hostapd_cli", "iperf3", "iw")
"""What an access point has beside BusyBox."""

LEFT_OUT = (
    "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*",
    *(f"*/lib/modules/*/kernel/{folder}/*" for folder in (
        "sound", "drivers/gpu", "drivers/infiniband", "drivers/media", "drivers/scsi", "drivers/net/ethernet",
        "drivers/iio", "drivers/hwmon", "drivers/staging", "drivers/input", "drivers/target",
    )),
)  # fmt: skip
"""Files of packages that are not unpacked: they would double the size of the disk."""

INITRAMFS_MODULES = ("virtio_pci", "virtio_blk", "ext4")

LAB_RADIOS = f"""#!/bin/sh
# Puts the second radio, the access point's, into a network namespace of its own.
set -eu
phy=$(cat /sys/class/net/wlan1/phy80211/name)
iw phy "$phy" set netns name {AP_NAMESPACE}
"""

LAB_UP = f"""#!/bin/sh
# Makes of the second radio the access point, and of the third a monitor.
set -eu
lab-radios
ip netns exec {AP_NAMESPACE} hostapd -B -P /run/lab-hostapd.pid /etc/hostapd/lab.conf
ip -n {AP_NAMESPACE} address replace {AP_ADDRESS}/24 dev wlan1
ip link set wlan2 down
iw dev wlan2 set type monitor
ip link set wlan2 up
iw dev wlan2 set channel {CHANNEL}
"""

LAB_DOWN = """#!/bin/sh
# Ends the access point; removing the module takes the radios away, wherever they are.
[ -e /run/lab-hostapd.pid ] || exit 0
pid=$(cat /run/lab-hostapd.pid)
kill "$pid" || exit 0
while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
"""

LAB_KERNEL = """#!/bin/sh
# Starts another of the installed kernels, without firmware and boot loader.
set -eu
kexec -l "/boot/vmlinuz-$1" --initrd="/boot/initrd.img-$1" --reuse-cmdline
systemctl --no-block kexec
"""

ROUTER = f"""#!/bin/sh
# What each command over the second SSH server runs in: the network of the access point, and a userland of BusyBox.
exec ip netns exec {AP_NAMESPACE} sh -c 'mount --rbind /sys /router/sys && exec chroot /router /bin/sh -c "$1"' - \\
    "${{SSH_ORIGINAL_COMMAND:-sh}}"
"""

ROUTER_MOUNTS = """#!/bin/sh
set -e
for folder in dev proc run; do mount --rbind "/$folder" "/router/$folder"; done
"""

HOSTAPD = (
    f"interface=wlan1\ndriver=nl80211\nssid={SSID}\nhw_mode=g\nchannel={CHANNEL}\nieee80211n=1\nwmm_enabled=1\nwpa=2\n"
    f"wpa_passphrase={PASSPHRASE}\nwpa_key_mgmt=WPA-PSK\nrsn_pairwise=CCMP\nctrl_interface=/run/hostapd\n"
)

FILES: dict[str, tuple[int, str]] = {
    "etc/hostname": (0o644, "lab\n"),
    "etc/hosts": (0o644, "127.0.0.1 localhost lab\n"),
    "etc/fstab": (0o644, "/dev/vda / ext4 defaults 0 1\n"),
    # The network of QEMU's `-netdev user`; the kernel's command line turns other names of interfaces off.
    "etc/systemd/network/lab.network": (
        0o644,
        "[Match]\nName=eth0\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n",
    ),
    "etc/systemd/system/lab-namespace.service": (
        0o644,
        "[Unit]\nBefore=ssh.service\n[Service]\nType=oneshot\nRemainAfterExit=yes\n"
        f"ExecStart=/usr/sbin/ip netns add {AP_NAMESPACE}\n"
        f"ExecStart=/usr/sbin/ip -n {AP_NAMESPACE} link set lo up\n[Install]\nWantedBy=multi-user.target\n",
    ),
    "etc/systemd/system/lab-router.service": (
        0o644,
        "[Unit]\nAfter=lab-namespace.service\n[Service]\nExecStartPre=/usr/local/bin/lab-router-mounts\n"
        f"ExecStart=/usr/sbin/dropbear -F -E -s -p {ROUTER_PORT} -r /etc/lab-dropbear -c /usr/local/bin/lab-router\n"
        "[Install]\nWantedBy=multi-user.target\n",
    ),
    "etc/hostapd/lab.conf": (0o644, HOSTAPD),
    "router/etc/hostapd.conf": (0o644, HOSTAPD),
    "router/etc/hostapd-legacy.conf": (0o644, HOSTAPD.replace("ieee80211n=1", "ieee80211n=0")),
    "router/etc/passwd": (0o644, "root:x:0:0:root:/root:/bin/sh\n"),
    "usr/local/bin/lab-kernel": (0o755, LAB_KERNEL),
    "usr/local/bin/lab-radios": (0o755, LAB_RADIOS),
    "usr/local/bin/lab-router": (0o755, ROUTER),
    "usr/local/bin/lab-router-mounts": (0o755, ROUTER_MOUNTS),
    "usr/local/bin/lab-up": (0o755, LAB_UP),
    "usr/local/bin/lab-down": (0o755, LAB_DOWN),
    "etc/sudoers.d/lab": (0o444, "lab ALL=(ALL:ALL) NOPASSWD: ALL\n"),
}
"""Files of the lab: name, mode and contents."""

CUSTOMIZE = """
set -eu
root=$1
cp -r "$LAB_FILES"/. "$root"
chroot "$root" useradd --create-home --shell /bin/sh --password '*' lab
for home in root home/lab; do
    mkdir -p "$root/$home/.ssh"
    cp "$root/etc/lab-key.pub" "$root/$home/.ssh/authorized_keys"
done
chroot "$root" chown -R lab: /home/lab
chroot "$root" dropbearkey -t ed25519 -f /etc/lab-dropbear >/dev/null
chroot "$root" dropbearkey -y -f /etc/lab-dropbear | grep '^ssh-' >"$root/etc/lab-dropbear.pub"
router=$root/router
for folder in bin dev etc lib64 proc root run sys tmp usr/bin usr/sbin; do mkdir -p "$router/$folder"; done
for program in $LAB_ROUTER_PROGRAMS; do
    path=$(chroot "$root" sh -c "PATH=/usr/sbin:/usr/bin command -v $program")
    cp -L "$root/$path" "$router/usr/bin/"
    chroot "$root" ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "$router/${library%/*}"
        cp -L "$root/$library" "$router/$library"
    done
done
cp "$root/bin/busybox" "$router/bin/busybox"
chroot "$router" /bin/busybox --install -s /bin
chroot "$root" systemctl --quiet enable systemd-networkd lab-namespace lab-router ssh
chroot "$root" systemctl --quiet set-default multi-user.target
chroot "$root" usermod --shell /bin/sh root
printf 'UsePAM no\\nPrintLastLog no\\nUseDNS no\\n' >"$root/etc/ssh/sshd_config.d/lab.conf"
chroot "$root" systemctl --quiet mask hostapd irtt wpa_supplicant getty@tty1 systemd-networkd-wait-online e2scrub_reap \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer kexec-load kexec \
    systemd-logind dev-hugepages.mount dev-mqueue.mount sys-kernel-tracing.mount kmod-static-nodes modprobe@configfs \
    modprobe@dm_mod modprobe@drm modprobe@efi_pstore modprobe@fuse modprobe@loop
release=$(cd "$root/boot" && ls vmlinuz-* | grep -v cloud)
release=${release#vmlinuz-}
cp "$root/boot/vmlinuz-$release" "$root/lab-kernel"
cp "$root/boot/initrd.img-$release" "$root/lab-initrd"
# What modules for it are built with; the test's machine unpacks these packages, this one has no use for them.
mkdir "$root/lab-headers"
cd "$root/lab-headers"
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
apt-get -q -o APT::Sandbox::User=root download "linux-headers-$release" "linux-headers-${release%-amd64}-common" \
    "linux-kbuild-${release%%.0-*}"
tar -c -f "$root/lab-headers.tar" ./*.deb
rm -r "$root/lab-headers"
"""
"""Run by mmdebstrap once all packages are configured."""

MAKE_DISK = """
set -eu
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/root"
tar -x --numeric-owner -C "$work/root" -f -
mke2fs -q -t ext4 -d "$work/root" -E root_owner=0:0 "$work/disk" "$1" >&2
cat "$work/disk"
"""
"""From a tar archive to a file system, owners kept."""


class NoLabError(Exception):
    """No lab machine can be made here; the text says why."""


@dataclass(frozen=True)
class LabImage:
    """What a machine starts from."""

    folder: Path

    @property
    def disk(self) -> Path:
        """Its file system, ext4."""
        return self.folder / "disk"

    @property
    def kernel(self) -> Path:
        """The distribution's kernel."""
        return self.folder / "lab-kernel"

    @property
    def headers(self) -> Path:
        """What modules for that kernel are built with (``make -C``)."""
        return self.folder / "headers"

    @property
    def initrd(self) -> Path:
        """What finds the disk."""
        return self.folder / "lab-initrd"

    @property
    def key(self) -> Path:
        """Private key with which root and the user ``lab`` (who may use sudo) log in."""
        return self.folder / "key"

    @property
    def host_key(self) -> str:
        """The public key by which the machine is known."""
        return (self.folder / "host-key.pub").read_text(encoding="ascii").strip()

    @property
    def router_key(self) -> str:
        """The same of its second SSH server."""
        return (self.folder / "router-key.pub").read_text(encoding="ascii").strip()


def why_no_image() -> str | None:
    """What is missing here; ``None``: nothing."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    needed = ["mmdebstrap", "mke2fs", "tar", "ssh-keygen", "dpkg-deb", *([] if os.geteuid() == 0 else ["newuidmap"])]
    missing = [name for name in needed if shutil.which(name, path=path) is None]
    return f"needs {', '.join(missing)}" if missing else None


def built_lab_image() -> LabImage:
    """The image, made if it is not in the cache. Raises :class:`NoLabError`."""
    parts = (CODENAME, PACKAGES, ROUTER_PROGRAMS, LEFT_OUT, INITRAMFS_MODULES, FILES, CUSTOMIZE, MAKE_DISK, DISK)
    place = default_cache().parent / "lab" / hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be making it
        if not place.is_dir():
            missing = why_no_image()
            if missing is not None:
                raise NoLabError(missing)
            with new_folder(place) as work:
                _make(work)
        os.utime(place)
        for old in place.parent.iterdir():  # of an earlier recipe, that no tests use any more
            if old.is_dir() and time.time() - old.stat().st_mtime > UNUSED_S:
                shutil.rmtree(old, ignore_errors=True)
    return LabImage(place)


def _make(work: Path) -> None:
    files, archive = work / "files", work / "root.tar"
    _run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(work / "key")])
    for name, (mode, text) in FILES.items():
        path = files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
    shutil.copy(work / "key.pub", files / "etc" / "lab-key.pub")
    try:
        debian = current_archive(DISTRIBUTION)
    except GuestError as error:
        raise NoLabError(str(error)) from None
    suites = [f"deb [signed-by={debian.keyring}] {suite.url} {suite.name} main" for suite in debian.suites()]
    modules = "\\n".join(INITRAMFS_MODULES)
    root = os.geteuid() == 0
    argv = [
        "mmdebstrap",
        f"--mode={'root' if root else 'unshare'}",
        "--variant=minbase",
        f"--include={','.join(PACKAGES)}",
    ]
    argv += ['--aptopt=Acquire::Languages "none"', "--dpkgopt=force-unsafe-io"]
    argv += [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    argv += [
        "--essential-hook=mkdir -p \"$1/usr/share/initramfs-tools/modules.d\" \"$1/etc/initramfs-tools/conf.d\"; "
        f"printf '{modules}\\n' >\"$1/usr/share/initramfs-tools/modules.d/lab\"; "
        "echo MODULES=list >\"$1/etc/initramfs-tools/conf.d/lab\""
    ]  # fmt: skip
    script = work / "customize"
    script.write_text(CUSTOMIZE, encoding="utf-8")
    for path in (work, files, *files.rglob("*")):
        path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))  # root of a user namespace reads them
    programs = " ".join(ROUTER_PROGRAMS)
    argv += [f'--customize-hook=LAB_FILES={files} LAB_ROUTER_PROGRAMS="{programs}" sh {script} "$1"']
    _run([*argv, CODENAME, str(archive), *suites])
    with tarfile.open(archive) as made:
        for name, kept in (
            ("./lab-kernel", "lab-kernel"),
            ("./lab-initrd", "lab-initrd"),
            ("./lab-headers.tar", "headers.tar"),
            ("./etc/ssh/ssh_host_ed25519_key.pub", "host-key.pub"),
            ("./etc/lab-dropbear.pub", "router-key.pub"),
        ):
            member = made.extractfile(name)
            assert member is not None
            (work / kept).write_bytes(member.read())
    helper = [] if root else ["mmdebstrap", "--unshare-helper"]
    with archive.open("rb") as source, (work / "disk.whole").open("wb") as disk:
        _run([*helper, "sh", "-c", MAKE_DISK, "make-disk", DISK], stdin=source, stdout=disk)
    _unpack_headers(work)
    _run(["cp", "--sparse=always", str(work / "disk.whole"), str(work / "disk")])
    for path in (archive, work / "disk.whole", script):
        path.unlink()
    shutil.rmtree(files)


def _unpack_headers(work: Path) -> None:
    """The build folder of the machine's kernel, of its three packages."""
    packages = work / "packages"
    packages.mkdir()
    _run(["tar", "-x", "-C", str(packages), "-f", str(work / "headers.tar")])
    unpacked = {}
    for package in sorted(packages.glob("*.deb")):
        kind = "kbuild" if "kbuild" in package.name else "common" if "-common_" in package.name else "flavour"
        unpacked[kind] = packages / kind
        _run(["dpkg-deb", "-x", str(package), str(unpacked[kind])])
    (work / "headers").mkdir()
    put_together(unpacked["common"], unpacked["flavour"], unpacked["kbuild"], work / "headers")
    shutil.rmtree(packages)
    (work / "headers.tar").unlink()


def _run(argv: list[str], **streams: object) -> None:
    """Run a program that ends with this one, or raise :class:`NoLabError` with its last words."""
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", "--", *argv],
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **streams},  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, said = process.communicate(timeout=BUILD_S)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    if process.returncode:
        raise NoLabError(f"{argv[0]} ended with {process.returncode}: {said.strip()[-1500:]}")
