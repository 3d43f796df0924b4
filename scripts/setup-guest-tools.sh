#!/bin/sh
# What `txop guest` needs from the system: QEMU for x86, and what drivers are built with. Debian's kernels and programs
# for the guests are not installed: `txop guest build` fetches them into the user's cache folder.
set -eu
cd "$(dirname "$0")"
. ./apt.sh

PATH="$PATH:/usr/sbin:/sbin"
missing=""
command -v qemu-system-x86_64 >/dev/null 2>&1 || missing="$missing qemu-system-x86"
command -v xz >/dev/null 2>&1 || missing="$missing xz-utils"
command -v setpriv >/dev/null 2>&1 || missing="$missing util-linux"
if [ -n "$missing" ] && ! apt_install "because txop runs real drivers in virtual machines" $missing; then
    [ "${CI-}" != true ] || exit 3
    echo "Going on without:$missing. Tests that start a guest will be skipped." >&2
fi

# Building drivers: the compiler that Debian's kernel names, and what its build programs are linked with.
missing=""
command -v make >/dev/null 2>&1 || missing="$missing make"
command -v git >/dev/null 2>&1 || missing="$missing git"
command -v ld >/dev/null 2>&1 || missing="$missing binutils"
if apt_offers gcc-12 && ! command -v x86_64-linux-gnu-gcc-12 >/dev/null 2>&1; then
    missing="$missing gcc-12"
fi
if command -v ldconfig >/dev/null 2>&1 && ! ldconfig -p 2>/dev/null | grep -q 'libelf\.so\.1'; then
    missing="$missing libelf1"
fi
if [ -n "$missing" ] && ! apt_install "because txop builds drivers with patches" $missing; then
    [ "${CI-}" != true ] || exit 3
    echo "Going on without:$missing. Tests that build a driver will be skipped." >&2
fi
