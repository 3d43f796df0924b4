#!/usr/bin/dash
# In a guest: Debian's qmicli sets the data path of a virtual QMI modem up, and the data path is what was agreed on.
# Variables: those of txop-lab; MUX (qmimux or rmnet). What qmicli says goes to files of /txop/out.
set -u
out=/txop/out
fail() { echo "qmi_control: $*" >&2; tail -n 5 "$out/vusb.log" >&2; dmesg | tail -n 10 >&2; exit 73; }
wait_for() { # wait_for SECONDS COMMAND...
    left=$(($1 * 10)); shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1)); [ "$left" -gt 0 ] || return 1
        sleep 0.1
    done
}
ask() { # ask NAME OPTION...: one run of qmicli
    name=$1; shift
    timeout 60 qmicli -d /dev/cdc-wdm0 "$@" >"$out/$name" 2>&1 || { cat "$out/$name" >&2; fail "qmicli $*"; }
}
endpoint="ep-type=hsusb,ep-iface-number=4"

txop-lab up || exit
wait_for 20 test -c /dev/cdc-wdm0 || fail "no control device"
ask manufacturer --dms-get-manufacturer
ask model --dms-get-model
ask capabilities --dms-get-capabilities
ask ids --dms-get-ids
ask serving --nas-get-serving-system
ask signal --nas-get-signal-info
ask before --wda-get-data-format
format="link-layer-protocol=raw-ip,ul-protocol=qmap,dl-protocol=qmap"
ask format --wda-set-data-format="$format,dl-max-datagrams=20,dl-datagram-max-size=16384,$endpoint"
ask client --wds-noop --client-no-release-cid
cid=$(sed -n "s/.*CID: '\([0-9]*\)'.*/\1/p" "$out/client")
[ -n "$cid" ] || fail "no client of WDS"
client="--client-cid=$cid --client-no-release-cid"
# words on purpose
# shellcheck disable=SC2086
{
    ask bind --wds-bind-mux-data-port="mux-id=1,$endpoint" $client
    ask start --wds-start-network="apn=internet,ip-type=4" $client
    ask status --wds-get-packet-service-status $client
    ask settings --wds-get-current-settings $client
}

# What the interface is told by hand: QMI says nothing to the driver.
interface=wwan0
ip link set "$interface" down
echo Y >"/sys/class/net/$interface/qmi/raw_ip" && ip link set "$interface" mtu 16000 || fail "no raw IP"
if [ "$MUX" = rmnet ]; then
    modprobe rmnet && echo Y >"/sys/class/net/$interface/qmi/pass_through" || fail "no rmnet"
    ip link set "$interface" netns dut && ip -n dut link set "$interface" up || fail "no $interface"
    ip -n dut link add link "$interface" name rmnet0 type rmnet mux_id 1 || fail "no rmnet0"
    top=rmnet0
else
    ip link set "$interface" up && echo 1 >"/sys/class/net/$interface/qmi/add_mux" || fail "no qmimux0"
    top=qmimux0
    ip link set "$top" netns dut && ip link set "$interface" netns dut && ip -n dut link set "$interface" up
fi
address=$(sed -n 's/.*IPv4 address: //p' "$out/settings")
ip link set wired0 netns ap && ip -n ap link set wired0 up && ip -n ap addr add 10.80.210.1/24 dev wired0
ip -n dut link set "$top" mtu 1500
ip -n dut addr add "$address/24" dev "$top" && ip -n dut link set "$top" up || fail "no address $address on $top"
wait_for 20 dut ping -c 1 -W 1 10.80.210.1 || fail "the other end does not answer"
dut ping -q -c 20 -i 0.02 10.80.210.1 >"$out/ping" || fail "packets are lost"
txop-lab counters "$out/counters.json"
[ "$MUX" = rmnet ] || exit 0

# The host keeps to what the modem can do, and then it does not.
peer iperf3 -s -D
dut txop-vusb tx-aggregation rmnet0 --datagrams 16 --bytes 8192 --hold-us 800 || fail "no aggregation"
dut timeout 60 iperf3 -c 10.80.210.1 -n 1M >"$out/within" || fail "no traffic within the limits"
txop-lab counters "$out/within.json"
dut txop-vusb tx-aggregation rmnet0 --datagrams 32 --bytes 16384 --hold-us 800 || fail "no aggregation"
dut timeout 20 iperf3 -c 10.80.210.1 -n 4M >"$out/beyond" 2>&1
wait_for 20 sh -c '! ip -n dut link show dev wwan0' || fail "the modem is still there"
txop-lab counters "$out/crashed.json"
# Power off and on.
txop-lab replug
wait_for 30 test -c /dev/cdc-wdm0 || fail "the modem does not come back"
ask after --wda-get-data-format
