#!/bin/sh
# Builds linux_rota from a kernel source tree: linux_rota.sh TREE PROGRAM
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    sed -n '/^static inline s32 ieee80211_sta_deficit/,/^bool ieee80211_txq_may_transmit/p' "$tree/net/mac80211/tx.c" | sed '$d'
    sed -n '/^void ieee80211_txq_schedule_start/,/^}/p' "$tree/net/mac80211/tx.c"
} >"$work/tx.c"
{
    sed -n '/^void ieee80211_sta_register_airtime/,/^}/p' "$tree/net/mac80211/sta_info.c"
    sed -n '/^void ieee80211_sta_update_pending_airtime/,/^}/p' "$tree/net/mac80211/sta_info.c"
} >"$work/sta_info.c"
cc -std=gnu11 -O1 -w -I"$here" -DKERNEL_TX="\"$work/tx.c\"" -DKERNEL_STA="\"$work/sta_info.c\"" "$here/linux_rota.c" -o "$program"
