# What the trials have in common. Facts go to /txop/out/facts, one a line: uptime, name, words.
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
out=/txop/out run=/run/txop-lab driver=$LAB_DRIVER parameters=${LAB_PARAMETERS:-}
PEER_ADDRESS=10.80.210.1
mkdir -p "$out"
# A task that waits for longer is reported; Debian's own limit is 120 s
echo "${HUNG_TASK_S:-40}" >/proc/sys/kernel/hung_task_timeout_secs
echo 0 >/proc/sys/kernel/hung_task_panic
echo -1 >/proc/sys/kernel/hung_task_warnings
# The rest of a message of one process that the log has no room for goes on: nothing is left out by rate limits
echo on >/proc/sys/kernel/printk_devkmsg 2>/dev/null

uptime_s() { read -r now rest </proc/uptime; echo "$now"; }
fact() { echo "$(uptime_s) $*" >>"$out/facts"; }
tell() { { echo "stage $(uptime_s) $*" >&3; } 2>/dev/null || :; }

until_true() { # until_true SECONDS COMMAND...: 1 when it never succeeds
    read -r now rest </proc/uptime
    end_s=$((${now%.*} + $1))
    shift
    until "$@"; do
        read -r now rest </proc/uptime
        [ "${now%.*}" -lt "$end_s" ] || return 1
        sleep 0.5
    done
}

ended() { [ ! -e "/proc/$1" ] || grep -q '^State:	Z' "/proc/$1/status" 2>/dev/null; }

# within SECONDS COMMAND...: its exit status; 124 when it does not end. What cannot be killed is left behind.
within() {
    limit_s=$1
    shift
    "$@" >>"$out/steps.log" 2>&1 &
    child=$!
    if until_true "$limit_s" ended "$child"; then
        wait "$child"
        return $?
    fi
    where=$(sed -n 's/^State:	//p' "/proc/$child/status" 2>/dev/null)
    fact stuck "$1 ${2:-} ($where)"
    kill -9 "$child" 2>/dev/null
    return 124
}

interface() { # where the driver's interface is: dut, root (just made), or nowhere
    if ip -n dut link show dev wlan0 >/dev/null 2>&1; then
        echo dut
    elif ls -d /sys/class/net/*/phy80211 >/dev/null 2>&1; then
        echo root
    else
        echo nowhere
    fi
}
present() { [ "$(interface)" != nowhere ]; }
absent() { [ "$(interface)" = nowhere ]; }

answers() { # three of five echo requests come back
    got=$(ip netns exec dut timeout -k 1 9 ping -n -c 5 -i 0.3 -W 1 "$PEER_ADDRESS" 2>/dev/null |
        sed -n 's/.* \([0-9]*\) received.*/\1/p')
    [ "${got:-0}" -ge 3 ]
}

chip_ended() { # whether the virtual device has ended by itself: then nothing here shows anything of the driver
    why=$(txop-lab alive) && return 1
    fact no-chip "$(echo "$why" | cut -c 1-300)"
}

reached() { ip netns exec dut ping -n -c 1 -W 1 "$PEER_ADDRESS" >/dev/null 2>&1; }

bound() { # which driver the interface under test really has
    where=$(ip netns exec dut readlink /sys/class/net/wlan0/device/driver) && fact driver "${where##*/}"
    where=$(ip netns exec dut readlink /sys/class/net/wlan0/device/driver/module) && fact driver-module "${where##*/}"
}

at_rest() { # stock ath6kl waits for itself forever when it is unloaded while its interface is up: not a finding of a trial
    [ -e "$run/stays" ] || return 0
    [ ! -s "$run/wpa.pid" ] || kill "$(cat "$run/wpa.pid")" 2>/dev/null
    sleep 1
    ip -n dut link set wlan0 down
}
unload() { # the driver alone: what it stands on may be in use by the access point
    at_rest
    rmmod "$driver"
    [ ! -e "/sys/module/$driver" ]
}
load() { # parameters are a list
    # shellcheck disable=SC2086
    modprobe "$driver" $parameters
}

traffic() { # traffic SECONDS: TCP in both directions, a dozen frames at a time, and echo requests, in the background
    pidof iperf3 >/dev/null || ip netns exec ap iperf3 -s -D >/dev/null 2>&1
    ip netns exec dut timeout -k 1 "$1" iperf3 -c "$PEER_ADDRESS" -t "$1" --bidir -l 16K \
        -b "${TRAFFIC_RATE:-400k}" >>"$out/traffic.log" 2>&1 &
    ip netns exec dut timeout -k 1 "$1" ping -n -q -i 0.1 "$PEER_ADDRESS" >/dev/null 2>&1 &
}
quiet() { # ends the traffic of the interface under test
    dut_net=$(ip netns exec dut readlink /proc/self/ns/net) # another one when the driver cannot leave the first
    for pid in $(pidof iperf3 ping); do
        [ "$(readlink "/proc/$pid/ns/net")" = "$dut_net" ] && kill -9 "$pid" 2>/dev/null
    done
}
carried() { # packets of the interface under test, in and out
    ip netns exec dut cat /sys/class/net/wlan0/statistics/rx_packets /sys/class/net/wlan0/statistics/tx_packets \
        2>/dev/null | { read -r rx; read -r tx; echo "$((${rx:-0} + ${tx:-0}))"; }
}

laboratory() { # the access point; then the namespace of the interface is there
    txop-lab prepare >>"$out/steps.log" 2>&1 || { fact no-laboratory; cat "$out/steps.log" >&2; exit 73; }
}

watch() { # writes down twice a second how many packets the interface has carried
    # the interface may go and come: its counters are read where they are just then
    ip netns exec dut dash -c '
        while :; do
            read -r now rest </proc/uptime
            rx=-1 tx=0
            { read -r rx </sys/class/net/wlan0/statistics/rx_packets; } 2>/dev/null
            { read -r tx </sys/class/net/wlan0/statistics/tx_packets; } 2>/dev/null
            echo "$now $rx $tx"
            sleep 0.5
        done' >"$out/carried" 2>/dev/null 3>&- &
}
