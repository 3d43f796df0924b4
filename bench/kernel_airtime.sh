#!/usr/bin/dash
# In a guest: TCP from the host behind the access point to two stations, and what the kernel counts over two seconds of it.
out=/txop/out
for n in 1 2; do station "$n" iperf3 -s -D; done
sleep 1
peer iperf3 -c 10.80.210.11 -P 4 -t 6 >"$out/fast.txt" 2>&1 &
peer iperf3 -c 10.80.210.12 -P 4 -t 6 >"$out/slow.txt" 2>&1 &
sleep 2
for moment in before after; do
    cat /proc/uptime >"$out/$moment.at"
    dut iw dev wlan0 station dump >"$out/$moment.txt"
    txop-lab counters "$out/chip-$moment.json"
    [ "$moment" = after ] || sleep 2
done
wait
