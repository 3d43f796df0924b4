#!/usr/bin/dash
# In a guest with --plug-only: an ad hoc network of the driver under test and the radio of station 1, four TCP flows from the
# one to the other, and a ping beside them. Leaves idle.txt and loaded.txt of ping, down.json of iperf3, what each side says of
# the other, and the counters of the air.
out=/txop/out cell=02:11:22:33:44:55
dut=$(basename /sys/class/net/wl*)
ad_hoc() { # ad_hoc ADDRESS INTERFACE COMMAND...: joins; COMMAND runs at that end
    address=$1 interface=$2
    shift 2
    "$@" ip link set "$interface" down && "$@" iw dev "$interface" set type ibss && "$@" ip link set "$interface" up &&
        "$@" iw dev "$interface" ibss join adhoc 2437 HT20 fixed-freq "$cell" &&
        "$@" ip addr add "$address/24" dev "$interface" || exit 1
}
ad_hoc 10.9.0.1 "$dut" env
ad_hoc 10.9.0.2 wlan0 station 1
sleep 2
ping -c 20 -i 0.1 10.9.0.2 >"$out/idle.txt" 2>&1
station 1 iperf3 -s -D
sleep 1
iperf3 -c 10.9.0.2 -P 4 -t 7 -J >"$out/down.json" &
sleep 3 # until TCP and rate control have settled
txop-lab counters "$out/chip-before.json"
ping -D -c 40 -i 0.1 10.9.0.2 >"$out/loaded.txt" 2>&1
txop-lab counters "$out/chip-after.json"
iw dev "$dut" station dump >"$out/dut-stations.txt"
station 1 iw dev wlan0 station dump >"$out/sta-stations.txt"
wait
