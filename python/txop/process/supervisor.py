"""The few lines of POSIX shell under which every command runs, whatever machine and whatever way there.

They exist because a command must not outlive txop. SSH servers do not forward signals (dropbear), do not end commands
when the connection drops (OpenSSH), and a local ``kill -9`` of txop would leave its children behind. So the shell that
starts the command also watches its own standard input, which txop holds open:

* a line ``INT``, ``TERM`` or ``KILL`` is a signal for the command and everything it started;
* end of file means that txop is gone: ``TERM``, then ``KILL`` two seconds later;
* after a given time it does the same by itself, for the case that the way there broke without a word.

It needs no root and nothing but ``sh`` with its built-in ``read`` and ``kill``, ``sleep``, and ``/proc`` (BusyBox, dash
and bash are tested). A command that detaches itself (``hostapd -B``, ``iperf3 --daemon``) is on its own, as it asked.

The program text travels through standard input too, as one line, so that a login shell which is not POSIX (csh, fish)
only ever sees :data:`LOADER`, and sudo's log stays readable. What a shell prints before the command
(``.bashrc``, a message of the day) is separated from its output by a marker line with a random token, on both streams.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Mapping, Sequence

LOADER = 'IFS= read -r l; eval "$l"'
"""What ``sh -c`` gets on its command line: read one line, run it. Reads the same in every shell."""

MAX_PREAMBLE_BYTES = 64 * 1024
"""Limit on what login scripts print; a machine that prints more before the command is not usable."""

END_GRACE_S = 2
"""Between ``TERM`` and ``KILL`` when the shell has to decide alone."""

_MARKER = re.compile(rb"^([0-9]{1,10})\n")
_VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")

# `kill 0` reaches the process group. Where the shell does not lead one of its own (a dropbear session shares its
# server's), it starts itself again under setsid; where there is no setsid either, it looks up its descendants, and
# signals the youngest first: when the eldest ends, this is over. It stops them before, so that none can start
# another meanwhile.
_BODY = r"""
own=$1 mode=$2 seconds=$3
shift 3
fields() { p=${s%% *} s=${s##*) }; s=${s#* }; parent=${s%% *} s=${s#* }; group=${s%% *}; }
if [ "$own" != 1 ]; then
    read -r s </proc/$$/stat && fields && [ "$group" = $$ ] && own=1
    [ "$own" = 1 ] || ! command -v setsid >/dev/null 2>&1 || exec setsid sh -c "$body" "$0" 1 "$mode" "$seconds" "$@"
fi
[ "$n" ] || { n=$(printf '\n.'); n=${n%.}; }
exec 3<&0 4>&2 </dev/null
printf '\n%s %s\n' "$0" $$
printf '\n%s %s\n' "$0" $$ >&2
exec 2>/dev/null
PATH=${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin
export PATH
while [ "$1" != -- ]; do export "$1"; shift; done
shift
processes() { set +f; table=$(cat /proc/[0-9]*/stat) IFS=$n; set -f; }
family() {
    read -r s </proc/self/stat
    fields
    me=$p kin=" $$ " all= more=1
    processes
    while [ "$more" ]; do
        more=
        for s in $table; do
            fields
            case $kin in
            *" $p "*) ;;
            *" $parent "*) [ "$p" = "$me" ] || { kin="$kin$p " all="$p $all" more=1; } ;;
            esac
        done
    done
    unset IFS
}
tell() {
    if [ "$own" = 1 ]; then kill -"$1" 0; return; fi
    for round in 1 2; do family; kill -STOP $all; done
    family
    kill -"$1" $all
    kill -CONT $all
}
end() { kill -USR2 $$; tell TERM; sleep END_GRACE_S; tell KILL; }
watch() {
    trap '' INT TERM HUP
    while IFS= read -r l; do case $l in INT | TERM | KILL) kill -USR2 $$; tell "$l" ;; esac; done
    end
}
timer() {
    trap '' INT TERM HUP
    trap 'kill -KILL $!; exit 0' USR1
    sleep "$seconds" &
    wait $!
    end
}
trap : INT TERM HUP
trap stopped=1 USR2
stopped= w= t=
if [ "$mode" = watch ]; then
    watch <&3 >/dev/null 2>&1 4>&- &
    w=$!
fi
if [ "$seconds" != 0 ]; then
    timer </dev/null >/dev/null 2>&1 3<&- 4>&- &
    t=$!
fi
if [ "$mode" = watch ]; then
    (exec 2>&4 3<&- 4>&-; exec "$@")
else
    (exec 0<&3 2>&4 3<&- 4>&-; exec "$@")
fi
status=$?
exec >/dev/null 3<&- 4>&-
[ -z "$w" ] || kill -KILL $w
[ -z "$t" ] || { kill -USR1 $t; kill -CONT $t; }
if [ "$stopped" ] && [ "$own" = 1 ]; then
    processes
    for s in $table; do
        fields
        [ "$group" != $$ ] || [ "$p" = $$ ] || kill -KILL "$p"
    done
fi
exit $status
""".replace("END_GRACE_S", str(END_GRACE_S))
_BODY = "\n".join(filter(None, map(str.strip, _BODY.splitlines())))
"""Shells read the line byte by byte, a system call for each: nothing in it is for readers only."""


def remote_command(token: str) -> list[str]:
    """What is started on the machine; :func:`launch_line` is its first line of input."""
    return ["sh", "-c", LOADER, token]


def launch_line(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    max_seconds: float | None,
    input_follows: bool,
) -> bytes:
    """The line that makes a loaded shell run ``argv``.

    Args:
        argv: The command.
        environment: Set beside ``LC_ALL=C``.
        max_seconds: It is ended after that long, rounded up to whole seconds.
        input_follows: The rest of standard input is the command's; then only ``max_seconds`` guards it.

    Raises:
        ValueError: A NUL byte, no command, or a variable that is not named as one.
    """
    if not argv or not argv[0]:
        raise ValueError("there is no command")
    for name in environment:
        if not _VARIABLE.match(name):
            raise ValueError(f"{name!r} is not the name of an environment variable")
    seconds = 0 if max_seconds is None else max(1, math.ceil(max_seconds))
    variables = [f"{name}={value}" for name, value in {"LC_ALL": "C", **environment}.items()]
    mode = "input" if input_follows else "watch"
    words = ["0", mode, str(seconds), *variables, "--", *argv]
    if any("\0" in word for word in words):
        raise ValueError("a command cannot hold a NUL byte")
    # One line: a newline inside a quoted word becomes the value of $n.
    quoted = " ".join(_one_line(word) for word in words)
    line = f"n=$(printf '\\n.'); n=${{n%.}}; body={_one_line(_BODY)}; set -- {quoted}; eval \"$body\"\n"
    return os.fsencode(line)


def _one_line(word: str) -> str:
    return shlex.quote(word).replace("\n", "'\"$n\"'")


class Preamble:
    r"""Finds the marker in a stream and lets through what follows it.

    >>> preamble = Preamble("txop-1")
    >>> preamble.feed(b"Welcome!\ntxop"), preamble.feed(b"-1 4711\nreal out"), preamble.feed(b"put")
    (b'', b'real out', b'put')
    >>> preamble.pid
    4711
    """

    def __init__(self, token: str) -> None:
        self._marker = f"{token} ".encode()
        self._held = bytearray()
        self.pid: int | None = None
        """Process id of the remote shell, once its marker has come."""

    @property
    def found(self) -> bool:
        """Whether the command has started."""
        return self.pid is not None

    @property
    def held(self) -> bytes:
        """What has come so far instead of the marker."""
        return bytes(self._held)

    @property
    def overflowed(self) -> bool:
        """More came than any login script has to say."""
        return not self.found and len(self._held) > MAX_PREAMBLE_BYTES

    def feed(self, data: bytes) -> bytes:
        """The part of ``data`` that is the command's own."""
        if self.found or not data:
            return data
        self._held += data
        start = self._held.find(self._marker)
        while start >= 0:
            after = start + len(self._marker)
            match = _MARKER.match(self._held[after : after + 12])
            if match:
                self.pid = int(match[1])
                rest = bytes(self._held[after + match.end() :])
                self._held.clear()
                return rest
            if len(self._held) - after < 12:
                break
            start = self._held.find(self._marker, after)
        return b""
