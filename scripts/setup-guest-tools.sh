#!/bin/sh
# What `txop guest` needs from the system: QEMU for x86, and what drivers are built with. Debian's kernels, programs and
# compiler for the guests are not installed: `txop guest build` fetches them into the user's cache folder.
set -eu
cd "$(dirname "$0")"
. ./apt.sh

PATH="$PATH:/usr/sbin:/sbin"
missing=""
command -v qemu-system-x86_64 >/dev/null 2>&1 || missing="$missing qemu-system-x86"
command -v xz >/dev/null 2>&1 || missing="$missing xz-utils"
command -v setpriv >/dev/null 2>&1 || missing="$missing util-linux"
# The keys of Debian's archive, which Ubuntu has in a package, too; and where Ubuntu knows a Debian mirror from.
if command -v apt-get >/dev/null 2>&1; then
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing="$missing debian-archive-keyring"
    ! grep -qs '^ID=ubuntu' /etc/os-release || [ -d /usr/share/python-apt/templates ] || missing="$missing python-apt-common"
fi
if [ -n "$missing" ] && ! apt_install "because txop runs real drivers in virtual machines" $missing; then
    [ "${CI-}" != true ] || exit 3
    echo "Going on without:$missing. Tests that start a guest will be skipped." >&2
fi

# Building drivers. Compiler and binutils are the guest's own, which txop fetches as it fetches the kernel's headers.
missing=""
command -v make >/dev/null 2>&1 || missing="$missing make"
command -v git >/dev/null 2>&1 || missing="$missing git"
if [ -n "$missing" ] && ! apt_install "because txop builds drivers with patches" $missing; then
    [ "${CI-}" != true ] || exit 3
    echo "Going on without:$missing. Tests that build a driver will be skipped." >&2
fi
