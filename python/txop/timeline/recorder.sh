#!/usr/bin/dash
# txop-timeline COMMAND...: runs a command while the kernel of this guest is traced, and ends with its status. What is
# traced is in two files: /txop/timeline.probes has a line for each probe (Linux Documentation/trace/kprobetrace.rst), in
# which @DATA, @WRITE, @COPIED and @BUFFER stand for places in the kernel's structures; /txop/timeline.events the kernel's own events.
# Time stamps are those of the processor's counter, which an exact guest's QEMU makes of its virtual clock, as it does the
# chip's time. What was traced is handed out after the command, so that it takes no time of it.
set -u
out=/txop/out trace=/sys/kernel/tracing

fail() {
    echo "txop-timeline: $*" >&2
    exit 73
}

places=$(txop-vusb kernel-layout sk_buff.data tcp_sock.write_seq tcp_sock.copied_seq) ||
    fail "the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)"
read -r data write copied <<END
$places
END
# a kernel without USB does without
buffer=$(txop-vusb kernel-layout urb.transfer_buffer 2>/dev/null) || buffer=0
[ -e "$trace/trace_clock" ] || mount -t tracefs tracefs "$trace" || fail "the kernel has no tracefs (CONFIG_TRACING)"
[ -e "$trace/kprobe_events" ] || fail "the kernel has no probes (CONFIG_KPROBE_EVENTS)"
echo 0 >"$trace/tracing_on"
echo x86-tsc >"$trace/trace_clock" || fail "the kernel does not trace by the processor's counter"
echo "$1" >"$trace/buffer_size_kb" || fail "there is no memory for $1 kB of trace"
shift
echo 0 >"$trace/options/overwrite"
: >"$out/timeline.missing"
sed "s/@DATA/$data/g; s/@WRITE/$write/g; s/@COPIED/$copied/g; s/@BUFFER/$buffer/g" /txop/timeline.probes |
    while read -r probe; do
        echo "$probe" 2>/dev/null >>"$trace/kprobe_events" || echo "${probe%% *}" >>"$out/timeline.missing"
    done
while read -r event; do
    if [ -e "$trace/events/$event/enable" ]; then
        cat "$trace/events/$event/format" >>"$out/timeline.formats"
        echo 1 >"$trace/events/$event/enable"
    else
        echo "$event" >>"$out/timeline.missing"
    fi
done </txop/timeline.events
cat "$trace"/events/txop/*/format >>"$out/timeline.formats" || fail "the kernel takes none of the probes"
echo 1 >"$trace/events/txop/enable"
ip netns exec dut cat /sys/class/net/wlan0/address >"$out/timeline.address" 2>/dev/null
txop-vusb control clock >"$out/timeline.clock" || fail "the virtual device does not say what its clock is"

echo 1 >"$trace/tracing_on"
"$@"
status=$?
echo 0 >"$trace/tracing_on"

txop-vusb control clock >>"$out/timeline.clock"
cat "$trace/per_cpu/cpu0/stats" >"$out/timeline.stats"
txop-vusb trace-pages "$trace/per_cpu/cpu0/trace_pipe_raw" >"$out/timeline.ring"
exit "$status"
