#!/usr/bin/dash
# In a guest: Debian's unmodified mbimcli sets session 0 of a virtual MBIM function up. Everything that it said is kept.
set -u
out=/txop/out
fail() { echo "mbim_control: $*" >&2; tail -n 5 "$out/vusb.log" >&2; dmesg | tail -n 15 >&2; exit 73; }
ask() { # ask FILE OPTION...
    file=$out/$1
    shift
    timeout 60 mbimcli -d /dev/cdc-wdm0 --no-close "$@" >"$file" 2>&1 || { cat "$file" >&2; fail "mbimcli $*"; }
}

txop-lab up || exit
ask ready --no-open=20 --query-subscriber-ready-status
ask radio --no-open=21 --query-radio-state
ask registration --no-open=22 --query-registration-state
ask service --no-open=23 --query-packet-service-state
ask signal --no-open=24 --query-signal-state
ask services --no-open=25 --query-device-services
ask pin --no-open=26 --query-pin-state
ask provider --no-open=27 --query-home-provider
ask status --no-open=28 --query-connection-state
# traffic both ways
dut ping -q -c 20 -i 0.02 10.80.210.1 >"$out/ping" || fail "no ping"
peer iperf3 -s -D
dut timeout 100 iperf3 -c 10.80.210.1 -n 2M >"$out/up" || fail "no traffic up"
dut timeout 100 iperf3 -c 10.80.210.1 -n 2M -R >"$out/down" || fail "no traffic down"
ask statistics --no-open=30 --query-packet-statistics
# a session that has ended carries nothing
ask disconnect --no-open=31 --disconnect=0
! dut ping -q -c 2 -i 0.2 -W 1 10.80.210.1 >"$out/after" || fail "it is carried without a session"
ask connect --no-open=33 --connect=apn=internet,ip-type=ipv4
dut ping -q -c 3 -i 0.02 10.80.210.1 || fail "no ping after the session was connected again"
txop-lab counters "$out/counters.json" || fail "no counters"
