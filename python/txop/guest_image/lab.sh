#!/usr/bin/dash
# The laboratory in a guest: a virtual chip on the USB bus, the driver under test, an access point on a simulated radio,
# each end in a network namespace of its own. The chip is a device of the QEMU that runs this guest, and is asked for on a
# port of virtio-serial. `txop-lab up` makes it, `txop-lab down` ends it, `txop-lab counters FILE`
# asks the chip for its counters, `txop-lab struck` how often faults have struck, `txop-lab replug` unplugs it for a second,
# `txop-lab alive` says whether it is there still; `dut` and `peer` run a command at an end. Step by step: `prepare` (the access point),
# `plug` (the chip and its driver), `serve` (the access point, where LAB_ONLY=plug left it out), `join` (association; again after the driver has let go of the chip), `roam` (association
# with the next access point of several, or with the one of this number). A network
# function (ncm, mbim, ecm, qmi-modem) has a wire in place of air and access point. What it is made of comes in variables:
#   LAB_DEVICE  the virtual chip (rtl8188cus)      LAB_OPTIONS   more options of txop-vusb
#   LAB_KIND  chip, or function: a network function   LAB_BUS   usb, sdio or pci: the bus that it is on
#   LAB_DRIVER  module of the driver under test    LAB_PARAMETERS  its parameters
#   LAB_HOST  ushc, or virtual: the SD host controller of an SDIO card      LAB_HOST_PARAMETERS  of virtual_mmc_host
#   LAB_AP  hostapd, or builtin: that of txop-vusb, open
#   LAB_ACCESS_POINTS  several access points of one network on one channel, each a hostapd, behind one bridge: the signal in dBm
#   on the link to each, with commas
#   LAB_STATIONS  the chip is the access point instead, of this many stations on simulated radios: the signal in dBm on the
#   link to each, with commas. `station N COMMAND` is at one of them, `dut` at the access point, `peer` at a host behind it
#   LAB_DEBUGFS  settings of mac80211 on that access point, below its radio's folder in debugfs: FILE=WORD,WORD ...
#   LAB_BURST_MS  TXOP limit of best effort at that access point; LAB_BITRATES  rates that it may send at (iw dev set bitrates)
#   LAB_TXQ      settings of its queues (iw phy set txq): NAME=VALUE ...; LAB_WEIGHTS airtime weight of each station, with
#   commas, empty for that of the kernel; LAB_LIMITS likewise its limits of airtime in the driver, LOW/HIGH
#   LAB_SECURITY  open, wep, wpa, wpa2-tkip, mixed (WPA with TKIP, WPA2 with CCMP), wpa2, wpa3 or owe
#   LAB_CHANNEL   1 to 13, or in 5 GHz 36 to 48 and 149 to 161     LAB_WIDTH     20 or 40 MHz, in 5 GHz also 80
#   LAB_HE  yes: the access point has 802.11ax, as the chip has
#   LAB_POWER_SAVE  on or off: power save of the station under test; default: as the kernel has it
#   LAB_ONLY=plug  stop when the interface is there: no association
#   LAB_TX_AGGREGATION  of rmnet on a modem: DATAGRAMS BYTES MICROSECONDS; default: none
#   LAB_ACK_EVERY=yes   a network function's host acknowledges every TCP segment by itself
#   LAB_NEGOTIATE  DATAGRAMS BYTES of a transfer to the host: qmicli negotiates a modem's data path, and asks for these
#   LAB_CLIENT=lan  a host on a LAN behind a network function's host, which forwards: lan runs a command there
#   LAB_SYSFS     settings of a network function's interface, below /sys/class/net/NAME: FILE=VALUE ...
#   LAB_QUEUE     queue discipline of that interface; LAB_QUEUE_PACKETS its length (txqueuelen)
set -u
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
kind=${LAB_KIND:-chip} bus=${LAB_BUS:-usb}
device=${LAB_DEVICE:-rtl8188cus} driver=${LAB_DRIVER:-rtl8192cu} security=${LAB_SECURITY:-wpa2}
ap=${LAB_AP:-hostapd}
channel=${LAB_CHANNEL:-6} width=${LAB_WIDTH:-20} options=${LAB_OPTIONS:-} parameters=${LAB_PARAMETERS:-}
host=${LAB_HOST:-ushc}
access_points=1
[ -z "${LAB_ACCESS_POINTS:-}" ] || access_points=$(echo "$LAB_ACCESS_POINTS" | tr ',' '\n' | wc -l)
run=/run/txop-lab out=/txop/out
PEER_ADDRESS=10.80.210.1 DUT_ADDRESS=10.80.210.2
# behind an access point under test: the host there, and the access point's end; stations are .11, .12, ... of the network above
HOST_ADDRESS=10.80.211.1 GATE_ADDRESS=10.80.211.2
# the LAN behind the host of a network function
LAN_NET=10.80.212
PASSPHRASE="a passphrase of txop" NAME=txop-lab WEP_KEY=13letters_key

stage() { { echo "stage $(cut -d ' ' -f 1 /proc/uptime) $*" >&3; } 2>/dev/null || echo "txop-lab: $*"; }

fail() { # say why, with the last words of the logs
    echo "txop-lab: $*" >&2
    for log in "$out/vusb.log" "$out"/hostapd*.log "$out/wpa_supplicant.log"; do
        [ -s "$log" ] && { echo "--- the end of ${log##*/}:"; tail -n 5 "$log"; } >&2
    done
    { echo "--- the end of the kernel log:"; dmesg | tail -n 12; } >&2
    exit 73
}

wait_for() { # wait_for SECONDS COMMAND...: until it succeeds; 1 when it never does
    read -r now rest </proc/uptime
    until_s=$((${now%.*} + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        read -r now rest </proc/uptime
        [ "${now%.*}" -lt "$until_s" ] || return 1
        sleep 0.1
    done
}

# Drivers without mac80211 mostly do not say that their radio may leave the first network namespace (WIPHY_FLAG_NETNS_OK).
# Where the kernel refuses to move it, `dut` becomes another name of that one.
stays() { [ -e "$run/stays" ]; }

NOT_SUPPORTED=161 # as what iw exits with: -EOPNOTSUPP

stay() { # the interface under test stays where it is; nothing is in the namespace that was made for it
    ip netns delete dut && ip netns attach dut $$ && : >"$run/stays" && stage "the radio stays: its driver lets it go nowhere"
}

wireless() { # the first wireless interface of this namespace, in the order they were made: wlan10 after wlan2
    first=
    for interface in /sys/class/net/*/phy80211; do
        interface=${interface%/phy80211}
        read -r index <"$interface/ifindex" || continue
        [ -n "$first" ] && [ "$index" -ge "$lowest" ] || { lowest=$index first=${interface##*/}; }
    done 2>/dev/null
    [ -n "$first" ] && echo "$first"
}

move() { # move NAMESPACE NEW_NAME: the wireless interface that is here, with its radio
    from=$(wireless) || return 1
    if ! { [ "$1" = dut ] && stays; }; then
        iw phy "$(cat "/sys/class/net/$from/phy80211/name")" set netns name "$1" 2>"$run/refused"
        case "$? $1" in
        "0 "*) ;;
        "$NOT_SUPPORTED dut") stay || return 1 ;;
        *) cat "$run/refused" >&2; return 1 ;;
        esac
    fi
    ip -n "$1" link set "$from" down
    [ "$from" = "$2" ] || ip -n "$1" link set "$from" name "$2"
}

access_point() {
    if [ "$ap" = builtin ]; then
        [ "$security" = open ] || fail "the built-in access point is open, not $security"
        far_end ap0
        [ "$width" = 20 ] || options="--wide --short-gi $options"
        return
    fi
    modprobe mac80211_hwsim "radios=$access_points" || fail "the simulated radio of the access point cannot be made"
    country
    wait_for 10 wireless || fail "the access point's radio has no interface"
    if [ "$access_points" = 1 ]; then
        move ap ap0 || fail "the access point's radio cannot be moved"
        hostapd_conf ap0 >"$run/hostapd.conf"
        return
    fi
    modprobe bridge && ip -n ap link add name bridge0 type bridge && ip -n ap link set bridge0 up ||
        fail "the access points have no bridge"
    of_each "$access_points" access_point_radio
}

in_5ghz() { [ "$channel" -gt 14 ]; }

# Without a country nothing may begin to send in 5 GHz (Linux net/wireless/reg.c, world_regdom). In this one an access point may
# use 80 MHz on channels 36 to 48 and 149 to 161 without looking for radar (wireless-regdb, db.txt).
country() {
    in_5ghz || return 0
    iw reg set US && wait_for 10 country_is_set || fail "the kernel takes no country"
}

country_is_set() { iw reg get | grep -q '^country US:'; }

frequency() { # MHz, of the primary channel
    if in_5ghz; then echo $((5000 + 5 * channel)); else echo $((2407 + 5 * channel)); fi
}

of_each() { # of_each COUNT COMMAND...: with the numbers from 1 on
    count=$1 number=0
    shift
    while [ "$number" -lt "$count" ]; do
        number=$((number + 1))
        "$@" "$number" || return 1
    done
}

access_point_radio() { # access_point_radio N: the next radio is that of access point N
    move ap "ap$1" || fail "the radio of access point $1 cannot be moved"
    { hostapd_conf "ap$1"; echo bridge=bridge0; } >"$run/hostapd$1.conf"
}

hostapd_conf() { # hostapd_conf INTERFACE: the configuration of the access point on it
    mode=g
    ! in_5ghz || mode=a
    printf 'interface=%s\ndriver=nl80211\nssid=%s\nhw_mode=%s\nchannel=%s\n' "$1" "$NAME" "$mode" "$channel"
    printf 'ieee80211n=1\nwmm_enabled=1\nctrl_interface=%s/hostapd\n' "$run"
    # the secondary channel above, as long as there are channels above
    side=+
    [ "$channel" -le 7 ] || side=-
    radio=$(radio_of "$1")
    ! in_5ghz || channels_of_5ghz
    case "${LAB_HE:-} $radio" in "yes "*"HE Iftypes"*) printf 'ieee80211ax=1\n'; he_width ;; esac
    case "$width $radio" in
    "20 "*) ;;
    *"RX HT20 SGI"*) printf 'ht_capab=[HT40%s][SHORT-GI-20][SHORT-GI-40]\n' "$side" ;;
    *) printf 'ht_capab=[HT40%s][SHORT-GI-40]\n' "$side" ;;
    esac
    case $security in
    open) ;;
    wep) printf 'wep_default_key=1\nwep_key1="%s"\n' "$WEP_KEY" ;;
    wpa) printf 'wpa=1\nwpa_key_mgmt=WPA-PSK\nwpa_pairwise=TKIP\nwpa_passphrase=%s\n' "$PASSPHRASE" ;;
    wpa2-tkip) printf 'wpa=2\nwpa_key_mgmt=WPA-PSK\nrsn_pairwise=TKIP\nwpa_passphrase=%s\n' "$PASSPHRASE" ;;
    mixed)
        printf 'wpa=3\nwpa_key_mgmt=WPA-PSK\nwpa_pairwise=TKIP\nrsn_pairwise=CCMP\nwpa_passphrase=%s\n' "$PASSPHRASE"
        ;;
    wpa2) printf 'wpa=2\nwpa_key_mgmt=WPA-PSK\nrsn_pairwise=CCMP\nwpa_passphrase=%s\n' "$PASSPHRASE" ;;
    wpa3) printf 'wpa=2\nwpa_key_mgmt=SAE\nrsn_pairwise=CCMP\nieee80211w=2\nsae_password=%s\n' "$PASSPHRASE" ;;
    owe) printf 'wpa=2\nwpa_key_mgmt=OWE\nrsn_pairwise=CCMP\nieee80211w=2\n' ;;
    *) fail "$security is not a known LAB_SECURITY" ;;
    esac
}

radio_of() { # radio_of INTERFACE: what its radio can do
    namespace=ap
    [ "$1" != wlan0 ] || namespace=dut
    ip netns exec "$namespace" iw phy "$(ip netns exec "$namespace" cat "/sys/class/net/$1/phy80211/name")" info
}

he_width() { # the centre of 80 MHz, as 802.11ac has it (channels_of_5ghz)
    { in_5ghz && [ "$width" = 80 ]; } || return 0
    first=36
    [ "$channel" -lt 149 ] || first=149
    printf 'he_oper_chwidth=1\nhe_oper_centr_freq_seg0_idx=%s\n' $((first + (channel - first) / 16 * 16 + 6))
}

channels_of_5ghz() { # channels of 40 and 80 MHz are where IEEE 802.11-2020, table E-4, has them; 802.11ac, where the radio has it
    first=36
    [ "$channel" -lt 149 ] || first=149
    [ $(((channel - first) / 4 % 2)) = 1 ] || side=+
    case $radio in
    *"VHT Capabilities"*) ;;
    *) [ "$width" != 80 ] || fail "80 MHz takes a radio with 802.11ac"; return ;;
    esac
    # A-MPDUs of 65,535 bytes, as much as the chip announces for itself (mt76's mac80211.c, mt76_init_sband)
    [ "$width" = 80 ] || { printf 'ieee80211ac=1\nvht_capab=[MAX-A-MPDU-LEN-EXP3]\n'; return; }
    printf 'ieee80211ac=1\nvht_capab=[SHORT-GI-80][MAX-A-MPDU-LEN-EXP3]\nvht_oper_chwidth=1\n'
    printf 'vht_oper_centr_freq_seg0_idx=%s\n' $((first + (channel - first) / 16 * 16 + 6))
}

load() {
    # words on purpose: parameters and options are lists
    if [ "$host" = virtual ]; then
        # shellcheck disable=SC2086
        modprobe virtual_mmc_host ${LAB_HOST_PARAMETERS:-} || fail "the virtual SD host controller cannot be loaded"
    elif [ "$bus" != pci ]; then
        modprobe xhci_pci || fail "this kernel has no driver for the USB host controller"
        [ "$bus" != sdio ] || modprobe ushc || fail "this kernel has no driver for the SD host controller"
    fi
    # shellcheck disable=SC2086
    modprobe "$driver" $parameters || fail "the driver $driver cannot be loaded"
}

plug() {
    load
    # the residual loss that the seed of this guest brings, unless set otherwise
    case " $options " in *" --loss"[" ="]*) ;; *) options="$options --loss ${TXOP_LOSS:-0}" ;; esac
    if [ "$access_points" = 1 ]; then
        network=
        [ "$ap" != builtin ] || network="--ssid $NAME --tap ap0 --channel $channel"
        # shellcheck disable=SC2086
        chip --ap "$ap" $network --seed "${TXOP_SEED:-0}" $options
    else
        # shellcheck disable=SC2086
        chip "--access-points=$LAB_ACCESS_POINTS" --seed "${TXOP_SEED:-0}" $options
    fi
    wait_for 40 wireless || fail "the driver $driver made no wireless interface"
    stage "the driver has the chip: $(wireless)"
}

chip() { # chip OPTIONS...: plugged in
    : >"$run/attached"
    txop-vusb control attach --device "$device" --stats "$out/chip.json" "$@" 2>"$out/vusb.log" ||
        fail "the virtual device cannot be plugged in"
    [ "$bus" != pci ] || slots
}

# Slots on PCI without hot plug: who is in them is looked for now, and again when something happens to it.
slots() {
    ls /sys/bus/pci/devices >"$run/before"
    echo 1 >/sys/bus/pci/rescan || fail "this kernel does not look for new devices on PCI"
    for slot in $(ls /sys/bus/pci/devices); do
        grep -qx "$slot" "$run/before" || echo "$slot"
    done >"$run/slots"
    case " $options " in *" --faults "*) watch_slots & ;; esac
}

# A chip that a fault pulls out: its configuration space reads as ones, and the kernel is told, as hot plug would tell it.
watch_slots() {
    while [ -s "$run/slots" ]; do
        sleep 0.5
        while read -r slot; do
            place=/sys/bus/pci/devices/$slot
            if [ ! -e "$place" ]; then
                echo 1 >/sys/bus/pci/rescan
            elif [ "$(od -An -tx1 -N2 "$place/config" | tr -d ' ')" = ffff ]; then
                echo 1 >"$place/remove"
            fi
        done <"$run/slots"
    done >/dev/null 2>&1
}

far_end() { # far_end NAME: the interface at the other end of the device, a virtio one, is called that
    modprobe virtio_net || fail "this kernel has no virtio interfaces"
    for found in /sys/class/net/*/device/driver; do
        case $(readlink "$found") in
        */virtio_net)
            found=${found#/sys/class/net/}
            ip link set "${found%%/*}" down && ip link set "${found%%/*}" name "$1" && return
            ;;
        esac
    done
    fail "the interface at the other end is not there"
}

alive() { # 1, and why, when the virtual device has ended by itself
    [ -e "$run/attached" ] || return 0
    why=$(txop-vusb control alive 2>&1) && return
    echo "the virtual device ended before the command did: ${why#txop-vusb: }"
    return 1
}

serve() {
    wired=ap0
    if [ "$ap" = builtin ]; then
        ip link set ap0 netns ap && ip -n ap link set ap0 up || fail "the access point's TAP device cannot be moved"
    elif [ "$access_points" = 1 ]; then
        hostapd_in ap
        # a firmware that scans is done with one channel before hostapd has looked for other networks in 40 MHz
        [ -z "${LAB_HE:-}" ] || wait_for 10 grep -q AP-ENABLED "$out/hostapd.log"
    else
        wired=bridge0
        of_each "$access_points" hostapd_in ap
    fi
    ip -n ap addr add "$PEER_ADDRESS/24" dev "$wired"
}

hostapd_in() { # hostapd_in NAMESPACE [NUMBER]
    name=hostapd${2:-}
    ip netns exec "$1" hostapd -B -t -f "$out/$name.log" -P "$run/$name.pid" "$run/$name.conf" >/dev/null ||
        fail "$name does not start"
}

wpa_conf() { # wpa_conf NAME: the settings of a supplicant; NAME is that of the folder by which it is asked
    printf 'ctrl_interface=%s/%s\nnetwork={\n ssid="%s"\n' "$run" "$1" "$NAME"
    # a script may hide the network of the built-in access point, or take it to another channel
    if [ "$ap" = builtin ]; then
        printf ' scan_ssid=1\n scan_freq=%s 2412 2437 2462\n' $((2407 + 5 * channel))
    else
        printf ' scan_freq=%s\n' "$(frequency)"
    fi
    case $security in
    open) printf ' key_mgmt=NONE\n' ;;
    wep) printf ' key_mgmt=NONE\n wep_key1="%s"\n wep_tx_keyidx=1\n' "$WEP_KEY" ;;
    wpa | wpa2-tkip) printf ' key_mgmt=WPA-PSK\n pairwise=TKIP\n group=TKIP\n psk="%s"\n' "$PASSPHRASE" ;;
    mixed) printf ' key_mgmt=WPA-PSK\n pairwise=CCMP\n group=TKIP\n psk="%s"\n' "$PASSPHRASE" ;;
    wpa2) printf ' key_mgmt=WPA-PSK\n psk="%s"\n' "$PASSPHRASE" ;;
    wpa3) printf ' key_mgmt=SAE\n ieee80211w=2\n sae_password="%s"\n' "$PASSPHRASE" ;;
    owe) printf ' key_mgmt=OWE\n ieee80211w=2\n' ;;
    esac
    echo '}'
}

join() {
    if [ -s "$run/wpa.pid" ]; then # of the interface as it was
        supplicant=$(cat "$run/wpa.pid")
        kill "$supplicant" 2>/dev/null
        wait_for 10 gone "$supplicant"
    fi
    if [ ! -e "/run/netns/dut" ] || ! ip -n dut link show dev wlan0 >/dev/null 2>&1; then
        wait_for 20 wireless || fail "the driver $driver made no wireless interface"
        move dut wlan0 || fail "the interface under test cannot be moved"
    fi
    ip netns exec dut cat /sys/class/net/wlan0/ifindex >"$run/joined" 2>/dev/null # which one it is: it may be made again
    ip -n dut link set wlan0 up || fail "the interface under test cannot be brought up"
    case ${LAB_POWER_SAVE:-} in
    ?*) ip netns exec dut iw dev wlan0 set power_save "$LAB_POWER_SAVE" || fail "the driver cannot set power save $LAB_POWER_SAVE" ;;
    esac
    queues_of_radio
    wpa_conf wpa >"$run/wpa.conf"
    ip netns exec dut wpa_supplicant -B -t -f "$out/wpa_supplicant.log" -P "$run/wpa.pid" -Dnl80211 -iwlan0 \
        -c "$run/wpa.conf" >/dev/null || fail "wpa_supplicant does not start"
    wait_for 60 associated || fail "no association in 60 s"
    ip -n dut addr replace "$DUT_ADDRESS/24" dev wlan0
    stage "associated ($security, channel $channel, $width MHz)"
}

ask_wpa() { ip netns exec dut wpa_cli -p "$run/wpa" -i wlan0 "$@"; }

associated() { ask_wpa status | grep -q '^wpa_state=COMPLETED'; }

bssid() { ask_wpa status | sed -n 's/^bssid=//p'; } # of the access point that the interface is associated with

associated_with() { [ "$(bssid)" = "$1" ] && associated; }

bssid_of() { ip netns exec ap cat "/sys/class/net/ap$1/address"; }

roam() { # roam [NUMBER]
    [ "$access_points" -gt 1 ] || fail "there is one access point: LAB_ACCESS_POINTS makes several (--access-points)"
    current=$(bssid) before=0
    [ -n "$current" ] || fail "the interface is not associated: there is nothing to leave"
    until [ "$(bssid_of $((before + 1)))" = "$current" ]; do
        before=$((before + 1))
        [ "$before" -lt "$access_points" ] || fail "it is associated with $current, which is not one of these access points"
    done
    number=${1:-$(((before + 1) % access_points + 1))}
    case $number in *[!0-9]* | "" | 0*) fail "$number is not the number of an access point: 1 to $access_points" ;; esac
    [ "$number" -le "$access_points" ] || fail "there are $access_points access points, no number $number"
    [ "$number" != $((before + 1)) ] || { stage "it is associated with access point $number already"; return 0; }
    wanted=$(bssid_of "$number")
    wait_for 20 heard "$wanted" || fail "access point $number is not heard: its beacons do not arrive"
    [ "$(bssid)" = "$current" ] || fail "it has left $current by itself meanwhile"
    read -r began rest </proc/uptime
    ask_wpa roam "$wanted" | grep -q OK || fail "wpa_supplicant does not roam to $wanted"
    wait_for 30 associated_with "$wanted" || fail "no association with access point $number in 30 s"
    read -r ended rest </proc/uptime
    stage "roamed from access point $((before + 1)) to $number in at most $(awk "BEGIN { printf \"%.1f\", $ended - $began }") s"
}

heard() { # heard BSSID: it is in the results of a scan
    ask_wpa scan_results | grep -q "^$1" && return
    ask_wpa scan TYPE=ONLY # wpa_supplicant itself makes nothing of what it hears
    sleep 2
    ask_wpa scan_results | grep -q "^$1"
}

tuned_rates() { # OFDM and HT only, as networks without 802.11b have it: minstrel_ht stays at a rate without aggregation else
    printf 'supported_rates=60 90 120 180 240 360 480 540\nbasic_rates=60 120 240\n'
}

burst() { [ -z "${LAB_BURST_MS:-}" ] || printf 'tx_queue_data2_burst=%s\n' "$LAB_BURST_MS"; }

of_stations() { of_each "$stations" "$@"; } # of_stations COMMAND...: with the number of each station

station_radio() { # station_radio N: the next radio goes into the namespace of station N
    ip netns add "sta$1" && ip -n "sta$1" link set lo up || fail "no namespace sta$1"
    move "sta$1" wlan0 || fail "the radio of station $1 cannot be moved"
}

station_joins() { # station_joins N
    inside="ip netns exec sta$1"
    $inside ip link set wlan0 up || fail "the interface of station $1 cannot be brought up"
    wpa_conf "wpa$1" >"$run/wpa$1.conf"
    $inside wpa_supplicant -B -t -f "$out/wpa_supplicant.$1.log" -P "$run/wpa$1.pid" -Dnl80211 -iwlan0 \
        -c "$run/wpa$1.conf" >/dev/null || fail "wpa_supplicant of station $1 does not start"
    wait_for 60 station_is_in "$1" || fail "station $1 does not associate in 60 s"
    $inside ip addr replace "${PEER_ADDRESS%.*}.$((10 + $1))/24" dev wlan0
    $inside ip route replace default via "$DUT_ADDRESS"
    $inside iw dev wlan0 set power_save off
}

# The driver asks the chip what happened to frames only after it has sent one: a report of the last frame, hostapd's answer to
# the station, may wait forever, and hostapd for it. So hostapd asks the station whether it is there, as it asks others.
station_is_in() {
    station_associated "$1" && return
    address=$(ip netns exec "sta$1" cat /sys/class/net/wlan0/address)
    ip netns exec dut hostapd_cli -p "$run/hostapd" -i wlan0 poll_sta "$address"
    return 1
}

station_associated() { ip netns exec "sta$1" wpa_cli -p "$run/wpa$1" -i wlan0 status | grep -q '^wpa_state=COMPLETED'; }

host_behind() { # what the stations talk to is not the access point itself: that would be limited by its own small queues
    modprobe veth && ip link add gate0 type veth peer name host0 || fail "no veth devices"
    ip link set gate0 netns dut && ip link set host0 netns ap || fail "an interface cannot be moved"
    ip -n dut addr add "$GATE_ADDRESS/24" dev gate0 && ip -n dut link set gate0 up || fail "gate0 cannot be set up"
    ip -n ap addr add "$HOST_ADDRESS/24" dev host0 && ip -n ap link set host0 up || fail "host0 cannot be set up"
    ip -n ap route add default via "$GATE_ADDRESS"
    ip netns exec dut sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' || fail "the access point cannot forward"
}

queues_of_radio() { # settings of mac80211 that the plan has
    phy=$(ip netns exec dut cat /sys/class/net/wlan0/phy80211/name)
    for setting in ${LAB_TXQ:-}; do
        ip netns exec dut iw phy "$phy" set txq "${setting%%=*}" "${setting#*=}" || fail "iw phy set txq ${setting%%=*} fails"
    done
    # words on purpose
    # shellcheck disable=SC2086
    [ -z "${LAB_BITRATES:-}" ] || ip netns exec dut iw dev wlan0 set bitrates $LAB_BITRATES ||
        fail "the driver takes no such rates: $LAB_BITRATES"
    for setting in ${LAB_DEBUGFS:-}; do
        file=/sys/kernel/debug/ieee80211/$phy/${setting%%=*}
        [ -e "$file" ] || fail "this mac80211 has no ${setting%%=*} in debugfs"
        echo "${setting#*=}" | tr ',' ' ' >"$file" || fail "${setting%%=*} in debugfs does not take ${setting#*=}"
    done
}

weight() { # weight N: of the airtime of station N
    weight=$(echo "$LAB_WEIGHTS" | cut -d , -f "$1")
    [ -n "$weight" ] || return 0
    address=$(ip netns exec "sta$1" cat /sys/class/net/wlan0/address)
    ip netns exec dut iw dev wlan0 station set "$address" airtime_weight "$weight" || fail "station $1 takes no weight $weight"
}

limit() { # limit N: of the airtime that waits in the driver for station N
    limit=$(echo "$LAB_LIMITS" | cut -d , -f "$1")
    [ -n "$limit" ] || return 0
    phy=$(ip netns exec dut cat /sys/class/net/wlan0/phy80211/name)
    address=$(ip netns exec "sta$1" cat /sys/class/net/wlan0/address)
    file=$(echo "/sys/kernel/debug/ieee80211/$phy"/netdev:*/"stations/$address/aql")
    for category in 0 1 2 3; do
        echo "limit $category ${limit%/*} ${limit#*/}" >"$file" || fail "station $1 takes no limit $limit"
    done
}

plug_of_stations() { # the radios of the stations are made, and the chip, which is their access point
    stations=$(echo "$LAB_STATIONS" | tr ',' '\n' | wc -l)
    if ! station_chips; then
        modprobe mac80211_hwsim "radios=$stations" || fail "the simulated radios of the stations cannot be made"
        country
        wait_for 10 wireless || fail "the stations' radios have no interface"
        of_stations station_radio
    fi
    load
    case " $options " in *" --loss"[" ="]*) ;; *) options="$options --loss ${TXOP_LOSS:-0}" ;; esac
    # shellcheck disable=SC2086
    chip "--stations=$LAB_STATIONS" --seed "${TXOP_SEED:-0}" $options
    wait_for 40 wireless || fail "the driver $driver made no wireless interface"
    stage "the driver has the chip: $(wireless)"
    ! station_chips || wait_for 40 radios $((stations + 1)) || fail "the driver $driver has not all of the chips"
}

# The stations are chips like the access point, with its driver.
station_chips() { case " $options " in *" --station-chips "*) ;; *) return 1 ;; esac; }

radios() { [ "$(echo /sys/class/ieee80211/* | wc -w)" = "$1" ]; } # radios COUNT: as many are there

serve_stations() {
    move dut wlan0 || fail "the interface under test cannot be moved"
    if station_chips; then # they were made in the order of their numbers
        country
        of_stations station_radio
    fi
    { hostapd_conf wlan0; tuned_rates; burst; } >"$run/hostapd.conf"
    hostapd_in dut
    ip -n dut addr add "$DUT_ADDRESS/24" dev wlan0
    host_behind
    stage "the access point is up (channel $channel, $width MHz)"
    queues_of_radio
    of_stations station_joins
    [ -z "${LAB_WEIGHTS:-}" ] || of_stations weight
    [ -z "${LAB_LIMITS:-}" ] || of_stations limit
    stage "associated ($stations stations, $security)"
}

function_interface() { # of the network function
    for found in /sys/bus/usb/devices/*/net/*; do [ -e "$found" ] && { echo "${found##*/}"; return 0; }; done
    return 1
}

wired() { # a network function in place of the chip: its other end is a TAP or TUN device
    load
    far_end wired0
    case $device in mbim | qmi-modem) ip link set wired0 arp off ;; esac # IP packets without addresses of hardware
    case "$device $options" in qmi-modem*--framing*) ;; qmi-modem*) options="--framing raw-ip $options" ;; esac
    # shellcheck disable=SC2086
    chip --wired wired0 --seed "${TXOP_SEED:-0}" $options
    wait_for 40 function_interface || fail "the driver $driver made no network interface"
    interface=$(function_interface)
    stage "the driver has the function: $interface"
    [ "${LAB_ONLY:-}" != plug ] || return 0
    ip link set "$interface" down
    for setting in ${LAB_SYSFS:-}; do sysfs "${setting%%=*}" "${setting#*=}"; done
    top=$interface
    [ "$device" != qmi-modem ] || modem
    case "$device $options" in "mbim "*--connect[" ="]negotiated*) mbim_connect ;; esac
    [ -z "${LAB_QUEUE_PACKETS:-}" ] || ip link set "$interface" txqueuelen "$LAB_QUEUE_PACKETS" ||
        fail "$interface takes no queue of $LAB_QUEUE_PACKETS packets"
    ip link set wired0 netns ap && ip link set "$interface" netns dut || fail "an interface cannot be moved"
    ip -n dut link set "$interface" up || fail "$interface cannot be brought up"
    [ -z "${LAB_QUEUE:-}" ] || queue "$LAB_QUEUE"
    [ "$top" != rmnet0 ] || ip -n dut link add link "$interface" name rmnet0 type rmnet mux_id 1 || fail "no rmnet0"
    [ "$top" = "$interface" ] || ip -n dut link set "$top" mtu 1500
    ip -n ap addr add "$PEER_ADDRESS/24" dev wired0 && ip -n ap link set wired0 up || fail "wired0 cannot be set up"
    ip -n dut addr add "$DUT_ADDRESS/24" dev "$top" && ip -n dut link set "$top" up || fail "$top cannot be set up"
    [ -z "${LAB_ACK_EVERY:-}" ] || ack_every
    [ "${LAB_CLIENT:-host}" = host ] || lan_client
    # shellcheck disable=SC2086
    [ -z "${LAB_TX_AGGREGATION:-}" ] || tx_aggregation ${LAB_TX_AGGREGATION:-}
    wait_for 20 ip netns exec dut ping -c 1 -W 1 "$PEER_ADDRESS" || fail "the other end of $top does not answer"
    [ "${LAB_CLIENT:-host}" = host ] || wait_for 20 lan ping -c 1 -W 1 "$PEER_ADDRESS" ||
        fail "the client on the LAN does not reach the other end of $top"
    stage "connected ($device, $top)"
}

sysfs() { # sysfs FILE VALUE: a setting of the interface, which is down
    [ -e "/sys/class/net/$interface/$1" ] ||
        fail "$interface has no setting $1: this $driver does not know it (a patch that is missing?)"
    echo "$2" >"/sys/class/net/$interface/$1" || fail "$interface does not take $2 as $1"
}

lan_client() { # a host on a LAN of 1 Gbit/s; frames come and go one by one, as they do on Ethernet
    modprobe -a veth sch_netem || fail "this kernel has no veth and netem"
    ip netns add lan && ip -n lan link set lo up && ip link add lan0 netns lan type veth peer name lan1 netns dut ||
        fail "no LAN"
    ip -n lan addr add "$LAN_NET.2/24" dev lan0 && ip -n lan link set lan0 up || fail "the client has no LAN"
    ip -n dut addr add "$LAN_NET.1/24" dev lan1 && ip -n dut link set lan1 up || fail "$interface's host has no LAN"
    ip -n lan route add default via "$LAN_NET.1" && ip -n ap route add "$LAN_NET.0/24" dev wired0 || fail "no routes"
    ip netns exec dut dash -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' || fail "$interface's host does not forward"
    ip netns exec dut ethtool -K "$top" gro off || fail "$top: GRO cannot be turned off"
    for end in "lan lan0" "dut lan1"; do
        # words on purpose
        # shellcheck disable=SC2086
        set -- $end
        ip netns exec "$1" ethtool -K "$2" tso off gso off gro off &&
            ip netns exec "$1" tc qdisc add dev "$2" root netem rate 1gbit limit 1000 || fail "$2 is not Ethernet"
    done
    mkdir -p /usr/local/bin && printf '#!/usr/bin/dash\nexec ip netns exec lan "$@"\n' >/usr/local/bin/lan &&
        chmod 755 /usr/local/bin/lan || fail "the client takes no commands"
}

queue() { # queue DISCIPLINE: of the interface of the function, below whatever stands on top of it
    modprobe -q "sch_$1" # those that are built in have no module
    ip netns exec dut tc qdisc replace dev "$interface" root "$1" || fail "$interface takes no queue discipline $1"
}

ack_every() { # segments that are merged on their way up would be acknowledged once
    ip netns exec dut ethtool -K "$top" gro off || fail "$top: GRO cannot be turned off"
    ip -n dut route replace "${PEER_ADDRESS%.*}.0/24" dev "$top" src "$DUT_ADDRESS" quickack 1 ||
        fail "the route of $top takes no quickack"
}

tx_aggregation() { # DATAGRAMS BYTES MICROSECONDS; ethtool 6.1 has no words for it
    ip netns exec dut txop-vusb tx-aggregation "$top" --datagrams "$1" --bytes "$2" --hold-us "$3" ||
        fail "$top does not aggregate what it sends"
}

ask() { # ask PROGRAM FILE OPTION...: one run of qmicli or mbimcli; what it says is kept
    program=$1 said=$out/$2
    shift 2
    timeout 60 "$program" -d /dev/cdc-wdm0 "$@" >"$said" 2>&1 ||
        { cat "$said" >&2; fail "the modem does not do this: $program $*"; }
}

mbim_connect() { # session 0, by messages; the function stays open, as closing it would end the session
    wait_for 20 test -c /dev/cdc-wdm0 || fail "the function has no control device"
    ask mbimcli mbim-caps.txt --no-close --query-device-caps
    ask mbimcli mbim-connect.txt --no-open=3 --no-close --connect=apn=internet,ip-type=ipv4
    ask mbimcli mbim-address.txt --no-open=7 --no-close --query-ip-configuration
    stage "session 0 is connected"
}

negotiate() { # negotiate DATAGRAMS BYTES: QMAP both ways, with these of a transfer to the host at most, and a connection
    wait_for 20 test -c /dev/cdc-wdm0 || fail "the modem has no control device"
    endpoint=ep-type=hsusb,ep-iface-number=4
    format=link-layer-protocol=raw-ip,ul-protocol=qmap,dl-protocol=qmap
    ask qmicli qmi-format.txt --wda-set-data-format="$format,dl-max-datagrams=$1,dl-datagram-max-size=$2,$endpoint"
    ask qmicli qmi-client.txt --wds-noop --client-no-release-cid
    cid=$(sed -n "s/.*CID: '\([0-9]*\)'.*/\1/p" "$out/qmi-client.txt")
    [ -n "$cid" ] || fail "the modem gives no client of WDS"
    ask qmicli qmi-bind.txt --wds-bind-mux-data-port="mux-id=1,$endpoint" --client-cid="$cid" --client-no-release-cid
    ask qmicli qmi-start.txt --wds-start-network="apn=internet,ip-type=4" --client-cid="$cid" --client-no-release-cid
    stage "the data path is negotiated"
}

modem() { # the driver is set by hand to what transfers carry; QMAP takes an interface on top: rmnet where it is there
    settings=/sys/class/net/$interface/qmi
    # shellcheck disable=SC2086
    [ -z "${LAB_NEGOTIATE:-}" ] || negotiate $LAB_NEGOTIATE
    echo Y >"$settings/raw_ip" || fail "$interface cannot be set to raw IP"
    case " $options " in *" --framing"[" ="]"qmap "* | *" --framing"[" ="]"negotiated "*) ;; *) return ;; esac
    # room for aggregates: the driver's buffers follow the MTU
    ip link set "$interface" mtu 16000 || fail "$interface takes no MTU of 16000"
    if modprobe rmnet 2>/dev/null; then
        echo Y >"$settings/pass_through" || fail "$interface does not pass QMAP through"
        top=rmnet0
    else
        ip link set "$interface" up && echo 1 >"$settings/add_mux" || fail "no multiplexed interface"
        top=qmimux0
        ip link set "$top" netns dut || fail "$top cannot be moved"
    fi
}

counters() { # counters FILE: what the chip has counted by now
    txop-vusb control counters "$1"
}

replug() {
    txop-vusb control replug || return
    [ "$bus" = pci ] || return 0
    while read -r slot; do
        [ ! -e "/sys/bus/pci/devices/$slot" ] || echo 1 >"/sys/bus/pci/devices/$slot/remove" || return
    done <"$run/slots"
    { sleep 1.1; echo 1 >/sys/bus/pci/rescan; } >/dev/null 2>&1 &
}

control_port() { # the device on which the chip is asked for something
    for node in /sys/class/virtio-ports/*; do
        [ "$(cat "$node/name" 2>/dev/null)" = txop.control ] && { echo "/dev/${node##*/}"; return; }
    done
}

# The first program that takes random numbers keeps the processor of an exact guest busy until the kernel has entropy, for
# half a second at 1,000 million instructions a second (Linux drivers/char/random.c, try_to_generate_entropy). Without this
# it is iperf3, within the measured load.
entropy() { head -c 1 /dev/random >/dev/null; }

namespaces() {
    command -v txop-vusb >/dev/null || fail "there is no txop-vusb in this guest"
    mkdir -p "$run" "$out"
    entropy
    for namespace in ap dut; do
        ip netns add "$namespace" && ip -n "$namespace" link set lo up || fail "no namespace $namespace"
    done
}

up() {
    namespaces
    case $kind in function) wired; return ;; esac
    if [ -n "${LAB_STATIONS:-}" ]; then
        plug_of_stations
        [ "${LAB_ONLY:-}" = plug ] || serve_stations
        return
    fi
    access_point
    plug
    [ "${LAB_ONLY:-}" = plug ] || { serve && join; }
}

# Stock ath6kl waits for itself forever, with rtnl held, when its card goes while the interface is up.
let_go() {
    if [ -s "$run/wpa.pid" ]; then
        supplicant=$(cat "$run/wpa.pid")
        kill "$supplicant" 2>/dev/null
        wait_for 10 gone "$supplicant"
    fi
    # where a driver holds rtnl for ever nothing ends this, and the chip still has to write its files
    ip -n dut link set wlan0 down 2>/dev/null &
    wait_for 20 gone $!
}

down() {
    ! stays || let_go
    for pid in "$run"/wpa*.pid "$run"/hostapd*.pid; do
        [ -s "$pid" ] && kill "$(cat "$pid")" 2>/dev/null
    done
    if [ -e "$run/attached" ]; then
        said=$(txop-vusb control detach 2>&1) || { echo "txop-lab: the device did not write its files: $said" >&2; wrong=1; }
        echo "$said" | while read -r full; do
            case $full in "the capture of the "*) stage "the capture of the ${full#the capture of the }" ;; esac
        done
    fi
    rm -rf "$run"
    return "${wrong:-0}"
}

gone() { [ -z "$1" ] || [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

case ${1:-} in
up)
    up || exit
    # where the command begins between the beacons is one of the things that a seed draws
    [ "${TXOP_START_US:-0}" = 0 ] || usleep "$TXOP_START_US"
    ;;
prepare)
    [ "$ap" = hostapd ] || fail "the built-in access point comes with the chip: there is nothing to prepare"
    namespaces && access_point && serve
    ;;
plug) plug ;;
serve)
    case $kind in function) fail "the $device is a network function: it has no access point" ;; esac
    [ -z "${LAB_STATIONS:-}" ] || fail "the chip is the access point of stations: without --plug-only it serves them"
    [ ! -s "$run/hostapd.pid" ] && [ ! -s "$run/hostapd1.pid" ] || fail "the access point is up already"
    serve
    ;;
join) join ;;
roam) roam "${2:-}" ;;
down) [ ! -d "$run" ] || down ;;
alive) alive ;;
port) control_port ;;
struck) txop-vusb control struck ;;
replug) replug ;;
counters) counters "${2:?a file}" ;;
*) echo "usage: txop-lab up|down|prepare|plug|serve|join|roam [NUMBER]|alive|struck|replug|port|counters FILE" >&2; exit 2 ;;
esac
