"""What a file is that holds no result of a test, and which command of txop reads it."""

from __future__ import annotations

import re

_MAGIC: tuple[tuple[tuple[bytes, ...], str], ...] = (
    (
        (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x0a\x0d\x0d\x0a"),
        "a packet capture; `txop air FILE` reads one of 802.11, `txop bus FILE` one of USB",
    ),
    ((b"PK\x03\x04",), "a ZIP archive or an office document; unpack it, or export the text"),
    ((b"%PDF-",), "a PDF document; copy the tool's own text out of it"),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "a picture; the tool's own text is needed"),
    ((b"PAR1",), "a Parquet table; an archive of txop has such ones, and `txop compare ARCHIVE` reads it"),
    ((b"\x7fELF",), "a program"),
)
_TAR_AT, _TAR = 257, b"ustar"

_TEXTS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (
        re.compile(rb"^\s*<(?:!DOCTYPE|html|\?xml)", re.IGNORECASE),
        "a web page or XML; copy the tool's own text out of it",
    ),
    (
        re.compile(rb"^={3,} \S{0,60}getstats\.sh at |^\[ cat /etc/openwrt_release \]", re.MULTILINE),
        "the diagnostics of OpenWrt's getstats.sh: outputs of commands, no result of a test; "
        "`txop log FILE` reads the kernel log in it",
    ),
    (
        re.compile(rb"^[0-9a-f]{8,16} [0-9]{1,20} [SCE] [ZICB][io]:[0-9]{1,3}:", re.MULTILINE),
        "usbmon text; `txop bus FILE` reads it",
    ),
    (
        re.compile(rb"^Station (?:[0-9a-f]{2}:){5}[0-9a-f]{2} \(on ", re.MULTILINE | re.IGNORECASE),
        "`iw station dump`: counters of a driver; `txop counters FILE` reads it",
    ),
    (
        re.compile(rb"^Survey data from \S{1,40}", re.MULTILINE),
        "`iw survey dump`: counters of channels; `txop counters FILE` reads it",
    ),
    (
        re.compile(rb"^NIC statistics:", re.MULTILINE),
        "`ethtool -S`: counters of a driver; `txop counters FILE` reads it",
    ),
    (
        re.compile(
            rb"^best +_{4,}rate_|^rate +\[name idx airtime|^ *mode guard +# +rate"
            rb"|^type +rate +t(?:hrough)?p(?:ut)? +ewma|^rate +throughput +ewma prob",
            re.MULTILINE,
        ),
        "minstrel's rc_stats: which rates a driver used; `txop counters FILE` reads it",
    ),
    (
        re.compile(rb"^Inter-\| sta-\|", re.MULTILINE),
        "/proc/net/wireless: counters of an interface; `txop counters FILE` reads it",
    ),
    (
        re.compile(rb"^Inter-\| +Receive +\|", re.MULTILINE),
        "/proc/net/dev: counters of interfaces, no result of a test",
    ),
    (
        re.compile(rb"^\S{1,15} +(?:IEEE 802\.11|unassociated)[^\n]{0,40}ESSID:", re.MULTILINE),
        "`iwconfig`: the state of an interface, no result of a test",
    ),
    (
        re.compile(
            rb"^BSS (?:[0-9a-f]{2}:){5}[0-9a-f]{2}\(on |^Cell [0-9]{2} - Address:", re.MULTILINE | re.IGNORECASE
        ),
        "a scan of networks, no result of a test",
    ),
    (
        re.compile(rb"^(?:phy#[0-9]{1,3}$|Wiphy phy|Connected to (?:[0-9a-f]{2}:){5}[0-9a-f]{2} \(on )", re.MULTILINE),
        "output of `iw`: the state of a device, no result of a test",
    ),
    (
        re.compile(
            rb"^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} (?:IP6?|ARP|[0-9.]{1,8} Mb/s|[0-9]{1,16}us tsft)", re.MULTILINE
        ),
        "the text of tcpdump; `txop air FILE` reads the capture itself (tcpdump -w FILE)",
    ),
    (
        re.compile(rb"^traceroute6? to |^Start: [^\n]{0,60}\n *HOST: |^ *1\.\|-- ", re.MULTILINE),
        "a trace of a route (traceroute, mtr): round trips of routers, not of a test",
    ),
)
_KERNEL = re.compile(
    rb"^(?:<[0-9]{1,3}>)?\[ *[0-9]{1,8}\.[0-9]{6}\] (?![0-9]{1,6} bytes from |no answer yet|From |\{)"
    rb"|^[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} \S{1,64} kernel: "
    rb"|^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+-]{8,24} \S{1,64} kernel: "
    rb"|kern\.(?:warn|err|info|notice|debug|crit)",
    re.MULTILINE,
)
_KERNEL_LINES = 3
_RESULTS = re.compile(rb"bits/sec|packets transmitted|bytes from |\] +[0-9.]{1,10}- *[0-9.]{1,10} +sec ")


def what_it_is(head: bytes) -> str | None:
    """What ``head`` begins, and what reads it; ``None`` where it may be a result."""
    for magics, what in _MAGIC:
        if head.startswith(magics):
            return what
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "a tar archive; unpack it, and import the folder"
    if _RESULTS.search(head) is not None:
        return None
    for pattern, what in _TEXTS:
        if pattern.search(head) is not None:
            return what
    for count, _ in enumerate(_KERNEL.finditer(head), start=1):
        if count >= _KERNEL_LINES:
            return "a log of the kernel; `txop log FILE` reads it"
    return None
