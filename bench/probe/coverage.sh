#!/usr/bin/dash
# Tries of bench/probe_coverage.py: a device that answers from /txop/replies.N.json is plugged in, its interface comes up if
# there is one, and it is unplugged. Whatever the driver makes of it, the counts of its blocks so far are left.
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
    until_true "$limit" ended "$child" || { fact "$number" stuck "$*"; return 124; }
    wait "$child"
}

modprobe xhci_pci && modprobe "$LAB_DRIVER" || exit 73
for number in $NUMBERS; do
    case "$MODEL $LAB_KIND" in
    "yes function") from="--wired wired0" ;;
    yes*) from= ;;
    *) from="--replies /txop/replies.$number.json" ;;
    esac
    # words on purpose
    # shellcheck disable=SC2086
    txop-vusb control attach --device "$LAB_DEVICE" --ap none --seed 0 $from || exit 73
    if until_true "$WAIT_S" interface; then
        name=$(interface)
        fact "$number" interface "$name"
        within 20 ip link set "$name" up
        fact "$number" up $?
        sleep "$UP_S"
        within 10 ip link set "$name" down
    else
        fact "$number" nothing
    fi
    txop-vusb control detach
    sleep 1
    cat /proc/txop_coverage >"$out/coverage.$number"
done
within 20 rmmod "$LAB_DRIVER"
fact - removed $?
dmesg -r >"$out/log"
exit 0
