#!/usr/bin/dash
# One case of the fault survey: a driver, a chip with a fault script (LAB_OPTIONS), and what comes of it.
set -u
. /txop/trials/lib.sh
# Each is reported again every time, and the log that is kept has room for so many: the first say what waits for what
echo 30 >/proc/sys/kernel/hung_task_warnings

struck() { txop-lab struck || echo unknown; } # how often the faults have happened so far
has_struck() { [ "$(struck)" -gt 0 ] 2>/dev/null; }

index() { ip netns exec dut cat /sys/class/net/wlan0/ifindex 2>/dev/null; }
# An interface that is created in the namespace of the trial is new as well: its number tells
new() {
    case $(interface) in
    root) ;;
    dut) [ "$(index)" != "$(cat "$run/joined" 2>/dev/null)" ] ;;
    *) false ;;
    esac
}
rejoin() { # what a user's software does with an interface that is new; 1: it cannot
    new || return 0
    within 120 txop-lab join || return 1
    fact joined-again
}

back() { # back NAME: whether the interface carries traffic again
    name=$1
    rejoin || { fact "$name" no-association; return 1; }
    if present && answers; then fact "$name" ok; return 0; fi
    fact "$name" "no-traffic interface=$(interface)"
    return 1
}

laboratory
begun=$(uptime_s)
within 120 txop-lab plug
fact plug $?
chip_ended && exit 0
up=no
if present; then
    within 120 txop-lab join
    status=$?
    fact join $status
    bound
    [ $status = 0 ] && up=yes
fi
[ $up = yes ] && { if answers; then fact before ok; else fact before no; fi; }
tell "$driver: association $up"
if [ $up = yes ]; then
    traffic 150
    watch
    until_true "${WAIT_S:-60}" has_struck
fi
fact struck "$(struck)"
until_true "${WATCH_S:-8}" new && rejoin
good=no
for attempt in 1 2 3; do
    back "after-$attempt" && { good=yes; break; }
    sleep 15
done
fact by-itself $good
fact struck-at-last "$(struck)"
quiet
tell "$driver: after the fault $good"

stuck=no
reload() { # 1: it does not let go
    within 90 unload
    status=$?
    fact unload $status
    [ $status = 0 ] || return 1
    within 60 load
    fact load $?
    until_true 30 present
    back reload && good=yes
    return 0
}
if [ $good = no ]; then
    reload || stuck=yes
fi
if [ $good = no ] && [ $stuck = no ]; then
    txop-lab replug
    until_true 10 absent
    sleep 2
    until_true 30 present
    back replug && good=yes
fi
[ $stuck = no ] && { within 90 unload; fact unload-at-last $?; }
tell "$driver: at last $good"
dmesg -r >"$out/log"
[ ! -e /proc/txop_coverage ] || cat /proc/txop_coverage >"$out/coverage"
chip_ended
fact done
exit 0
