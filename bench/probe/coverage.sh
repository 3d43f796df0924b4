#!/usr/bin/dash
# One try of bench/probe_coverage.py: a device that answers from /txop/replies.json is plugged in, its interface comes up if
# there is one, and it is unplugged. Whatever the driver makes of it, the counts of its blocks are left.
set -u
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
out=/txop/out
mkdir -p "$out"

fact() { read -r now rest </proc/uptime; echo "$now $*" >>"$out/facts"; }
interface() {
    for found in /sys/bus/usb/devices/*/net/*; do [ -e "$found" ] && { echo "${found##*/}"; return 0; }; done
    return 1
}
until_true() { # until_true SECONDS COMMAND...
    read -r now rest </proc/uptime
    end=$((${now%.*} + $1))
    shift
    until "$@" >/dev/null; do
        read -r now rest </proc/uptime
        [ "${now%.*}" -lt "$end" ] || return 1
        sleep 0.2
    done
}
ended() { [ ! -e "/proc/$1" ] || grep -q '^State:	Z' "/proc/$1/status"; }
within() { # within SECONDS COMMAND...: what does not end is left behind
    limit=$1
    shift
    "$@" 2>>"$out/steps" &
    child=$!
    until_true "$limit" ended "$child" || { fact stuck "$*"; return 124; }
    wait "$child"
}

modprobe xhci_pci && modprobe "$LAB_DRIVER" || exit 73
txop-vusb control attach --device "$LAB_DEVICE" --ap none --seed 0 --replies /txop/replies.json || exit 73
if until_true "$WAIT_S" interface; then
    name=$(interface)
    fact interface "$name"
    within 20 ip link set "$name" up
    fact up $?
    sleep "$UP_S"
    within 10 ip link set "$name" down
else
    fact nothing
fi
txop-vusb control detach
sleep 1
within 20 rmmod "$LAB_DRIVER"
fact removed $?
dmesg -r >"$out/log"
cat /proc/txop_coverage >"$out/coverage"
exit 0
