#!/usr/bin/dash
# In a guest: a virtual network function on the USB bus, its driver, traffic both ways, and of each phase the capture of the
# bus and the kernel's own counters around it. Variables: DEVICE (ncm, mbim, ecm, qmi-modem), DRIVER, OPTIONS (of txop-vusb),
# MUX (qmimux or rmnet: the interface on top), BYTES (each way), PHASES (words: plain aggregated).
set -u
out=/txop/out
fail() { echo "kernel_counters: $*" >&2; tail -n 5 "$out/vusb.log" >&2; dmesg | tail -n 15 >&2; exit 70; }
wait_for() { # wait_for SECONDS COMMAND...
    left=$(($1 * 10)); shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1)); [ "$left" -gt 0 ] || return 1
        sleep 0.1
    done
}
below_usb() { for found in /sys/bus/usb/devices/*/net/*; do [ -e "$found" ] && echo "${found##*/}" && return; done; return 1; }
dut() { ip netns exec dut "$@"; }
peer() { ip netns exec peer "$@"; }

modprobe -a vhci_hcd usbmon tun "$DRIVER" || fail "no module"
for namespace in dut peer; do
    ip netns add $namespace && ip -n $namespace link set lo up || fail "no namespace $namespace"
    # Nothing but the traffic of the test: no router solicitations, no reports of multicast groups.
    ip netns exec $namespace sh -c 'for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 >$f; done'
done
# options are words on purpose
# shellcheck disable=SC2086
txop-vusb attach --device "$DEVICE" --stats /run/device.json $OPTIONS >"$out/vusb.log" 2>&1 &
vusb=$!
wait_for 60 below_usb || fail "the driver made no interface"
interface=$(below_usb)
for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 >"$f"; done
interfaces=$interface top=$interface
ip link set "$interface" down
if [ "$DEVICE" = qmi-modem ]; then
    echo Y >"/sys/class/net/$interface/qmi/raw_ip" || fail "no raw IP"
    if [ -n "$MUX" ]; then
        # room for aggregates: the driver's buffers follow the MTU
        ip link set "$interface" mtu 16000 || fail "no MTU of 16000"
        [ "$MUX" = qmimux ] || echo Y >"/sys/class/net/$interface/qmi/pass_through" || fail "no pass through"
    fi
fi
if [ "$MUX" = qmimux ]; then
    ip link set "$interface" up
    echo 1 >"/sys/class/net/$interface/qmi/add_mux" || fail "no multiplexed interface"
    top=qmimux0
    ip link set "$top" netns dut
fi
ip link set wired0 netns peer && ip link set "$interface" netns dut || fail "an interface cannot be moved"
dut ip link set "$interface" up
if [ "$MUX" = rmnet ]; then
    modprobe rmnet || fail "no rmnet"
    dut ip link add link "$interface" name rmnet0 type rmnet mux_id 1 || fail "no rmnet0"
    top=rmnet0
fi
[ "$top" = "$interface" ] || { interfaces="$interface $top"; dut ip link set "$top" mtu 1500; dut ip link set "$top" up; }
dut ip addr add 10.9.0.2/24 dev "$top"
peer ip link set wired0 up
peer ip addr add 10.9.0.1/24 dev wired0
if [ "$DEVICE" = ncm ] || [ "$DEVICE" = ecm ]; then
    # No ARP while figures are read.
    dut ip neigh replace 10.9.0.1 lladdr "$(peer cat /sys/class/net/wired0/address)" dev "$top" nud permanent
    peer ip neigh replace 10.9.0.2 lladdr "$(dut cat "/sys/class/net/$top/address")" dev wired0 nud permanent
fi
wait_for 10 dut ping -c 1 -W 1 10.9.0.1 || fail "the other end does not answer"
peer iperf3 -s -D

counters() { # every counter of every interface, a line each: those of /sys, of the driver (ethtool), of the queue (tc)
    for name in $interfaces; do
        dut sh -c 'for file in /sys/class/net/$1/statistics/*; do echo "$1/${file##*/} $(cat "$file")"; done' - "$name"
        dut ethtool -S "$name" 2>/dev/null | sed -n "s|^ *\\([a-z_]*\\): \\([0-9]*\\)$|$name/driver_\\1 \\2|p"
        dut tc -s qdisc show dev "$name" | sed -n "s|.*(dropped \\([0-9]*\\),.*|$name/queue_dropped \\1|p"
    done
}
phase() { # phase NAME: captures, lets both directions talk, reads counters
    chrt -f 10 tcpdump -Z root -i usbmon1 -s 262144 -w "$out/$1.pcap" 2>"$out/$1.tcpdump" &
    capture=$!
    wait_for 10 grep -q "listening on" "$out/$1.tcpdump" || fail "no capture"
    counters >"$out/$1.before"
    dut timeout 100 iperf3 -c 10.9.0.1 -n "$BYTES" -J >"$out/$1.up.json" || fail "no traffic up"
    dut timeout 100 iperf3 -c 10.9.0.1 -n "$BYTES" -R -J >"$out/$1.down.json" || fail "no traffic down"
    sleep 2
    counters >"$out/$1.after"
    kill -INT $capture; wait $capture
    counters >"$out/$1.end"
    rm -f /run/device.json; kill -USR1 $vusb
    wait_for 5 test -s /run/device.json && mv /run/device.json "$out/$1.device.json"
}
sleep 1
for name in $PHASES; do
    if [ "$name" = aggregated ]; then
        dut txop-vusb tx-aggregation "$top" --bytes 16384 --datagrams 16 --hold-us 800 || fail "no aggregation"
    fi
    phase "$name"
done
kill -TERM $vusb; wait $vusb
