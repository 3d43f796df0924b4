#!/bin/sh
# What campaigns drive on this machine: iperf3, ping, ip and nsenter. `txop demo` needs them; a campaign whose targets
# are other machines needs them there instead.
set -eu
cd "$(dirname "$0")"
. ./apt.sh

PATH="$PATH:/usr/sbin:/sbin"
missing=""
command -v iperf3 >/dev/null 2>&1 || missing="$missing iperf3"
command -v ping >/dev/null 2>&1 || missing="$missing iputils-ping"
command -v ip >/dev/null 2>&1 || missing="$missing iproute2"
command -v nsenter >/dev/null 2>&1 || missing="$missing util-linux"
[ -z "$missing" ] || apt_install "because the demo measures real traffic through an emulated link" $missing
