#!/usr/bin/dash
# A driver probes a virtual device on USB, and its interface is up for PROBE_UP_S seconds; 0: it stays down. What was found
# goes to /txop/out/facts, a name and a value on each line.
set -u
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
txop-lab up || exit
interface=
for found in /sys/bus/usb/devices/*/net/*; do
    [ -e "$found" ] && interface=${found##*/} && break
done
[ -n "$interface" ] || { echo "the driver $LAB_DRIVER made no interface on USB" >&2; exit 73; }
port=/sys/class/net/$interface/device
bound=$(readlink "$port/driver/module")
{
    echo "interface $interface"
    echo "driver ${bound##*/}"
    echo "speed $(cat "$port/../speed")"
} >/txop/out/facts
if [ "$PROBE_UP_S" != 0 ]; then
    ip link set "$interface" up
    echo "up $?" >>/txop/out/facts
    sleep "$PROBE_UP_S"
    ip link set "$interface" down
fi
exit 0
