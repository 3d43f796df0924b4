#!/usr/bin/dash
# Takes the driver (CYCLE=reload) or the dongle (CYCLE=replug) away under traffic, CYCLES times, and writes down what
# stays in the kernel's memory each time. PAUSE_S: how long without the driver; RECOVER_S: how long joining may take.
set -u
. /txop/trials/lib.sh
TRAFFIC_RATE=${TRAFFIC_RATE:-4M}

memory() { # memory NUMBER: what is in use once nothing waits to be freed
    sync
    echo 3 >/proc/sys/vm/drop_caches
    for cache in /sys/kernel/slab/*/shrink; do echo 1 >"$cache"; done 2>/dev/null
    awk -v n="$1" 'NR > 2 { print n "\t" $1 "\t" $2 "\t" $4 }' /proc/slabinfo >>"$out/slab"
    awk -v n="$1" '{ sub(":", "", $1); print n "\t" $1 "\t" $2 }' /proc/meminfo >>"$out/memory"
}

# The log of all cycles is longer than the kernel keeps. A reader that is overtaken gets an error, and goes on
# where the log begins by then; what it missed shows in the numbers of the messages.
while :; do cat; sleep 0.1; done </dev/kmsg >"$out/kmsg" 2>/dev/null &
laboratory
within 120 txop-lab plug || { chip_ended; fact no-interface; exit 73; }
within 120 txop-lab join || { fact no-association; exit 73; }
bound
number=0
fact begun "$CYCLE" "$CYCLES"
while [ "$number" -lt "$CYCLES" ]; do
    number=$((number + 1))
    answers || fact cycle-silent "$number"
    traffic 60
    sleep "${TRAFFIC_S:-1}"
    carried_before=$(carried)
    sleep 0.5
    carried_then=$(carried)
    if [ "$CYCLE" = reload ]; then
        within 90 unload || { fact stuck-at "$number" unload; break; }
        sleep "${PAUSE_S:-0}"
        fact given "$number"
        within 60 load || { fact stuck-at "$number" load; break; }
    else
        txop-lab replug
        until_true 20 absent || { fact stuck-at "$number" unplug; break; }
        fact given "$number"
    fi
    quiet
    within "${RECOVER_S:-120}" txop-lab join || { fact stuck-at "$number" join; break; }
    until_true 10 reached && fact back "$number"
    memory "$number"
    fact cycle "$number" "$((carried_then - carried_before))"
    # of a kernel that goes down this is all that is left; not more than a thousand times
    [ $((number % (1 + CYCLES / 1000))) = 0 ] && tell "cycle $number of $CYCLES"
done
answers && fact ends-well
if [ -e /sys/kernel/debug/kmemleak ]; then
    echo scan >/sys/kernel/debug/kmemleak
    sleep 6
    echo scan >/sys/kernel/debug/kmemleak
    cat /sys/kernel/debug/kmemleak >"$out/kmemleak"
fi
chip_ended
quiet
within 90 unload
fact unload-at-last $?
fact done
exit 0
