#!/bin/sh
# What lab machines are made with (`make test-bench`): mmdebstrap makes their disk of Debian's packages, and is itself in
# Debian and Ubuntu only. QEMU comes with the tools of guests.
set -eu
cd "$(dirname "$0")"
. ./apt.sh

PATH="$PATH:/usr/sbin:/sbin"
missing=""
command -v mmdebstrap >/dev/null 2>&1 || missing="$missing mmdebstrap"
command -v mke2fs >/dev/null 2>&1 || missing="$missing e2fsprogs"
command -v ssh-keygen >/dev/null 2>&1 || missing="$missing openssh-client"
[ "$(id -u)" -eq 0 ] || command -v newuidmap >/dev/null 2>&1 || missing="$missing uidmap"
if [ -n "$missing" ] && ! apt_install "because the tests drive whole machines over SSH" $missing; then
    [ "${CI-}" != true ] || exit 3
    echo "Going on without:$missing. Tests that need a lab machine will be skipped." >&2
fi
