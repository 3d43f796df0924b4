#!/bin/sh
# Builds linux_queues from a kernel source tree: linux_queues.sh TREE VERSION PROGRAM
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$1 version=$2 program=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Headers that kernel.h stands for, empty, and the five that are used.
mkdir -p "$work/linux" "$work/net"
for file in "$tree"/net/sched/sch_fq_codel.c "$tree"/include/net/codel.h "$tree"/include/net/codel_impl.h \
    "$tree"/include/net/codel_qdisc.h "$tree"/include/net/fq.h "$tree"/include/net/fq_impl.h; do
    sed -n 's/^#include <\(.*\)>.*/\1/p' "$file"
done | sort -u | while read -r header; do : >"$work/$header"; done
for header in codel.h codel_impl.h codel_qdisc.h fq.h fq_impl.h; do cp "$tree/include/net/$header" "$work/net/"; done
sed '/^static const struct nla_policy/,$d' "$tree/net/sched/sch_fq_codel.c" >"$work/sch_fq_codel.c"
cc -std=gnu11 -O1 -w -I"$work" -I"$here" -DKERNEL_CUT="\"$work/sch_fq_codel.c\"" -c "$here/linux_queues.c" -o "$work/kernel.o"
c++ -std=c++20 -O1 -Wall -Wextra -I"$here" -DKERNEL_VERSION="\"$version\"" "$here/linux_queues.cc" "$work/kernel.o" -o "$program"
