"""Files of other tools, made by rule: short, and of every version."""

from __future__ import annotations

import json
from typing import Any

TTCP = """\
> ===== Performance data: Old SDIO =====
>
> ---- host => --------    => neo ---------
>     *1000B/s ctx_sw     *1000B/s ctx_sw
>  1:   700.00     300      690.00   12000
>  2:   710.00     310      700.00   12100
> AVG:   705.00     305      695.00   12050
>
> ---- neo => ---------    => host --------
>     *1000B/s ctx_sw     *1000B/s ctx_sw
>  1:   800.00     290      796.00   11500
>
> host => neo: min    /avg    /max      stddev   (100 samples)
>               10.60/  75.91/ 287.00    49.09 ms
"""

WIKI = """\
==== Driver Testing ====
== TCP TX Throughput ==
| **DUT** | **AP** | **Driver** | **Throughput [Mbits/sec]; retries [%]** | **AP <-> DUT** | **Notes** | **PCAP** |
| b | ap | Linux 5, drv (vanilla) | 12.5 Mbits/s; 17% | 1m | [[x|many]] | a-iperf-tx-tcp-17%25-retries-at-12.5MBps |
| b | ap | Linux 5, drv (patch 10; tag x/y) | 20,6 Mbits/s; 12,5% | 1m | | |
| b | ap | Linux 5, vendor | 23~27 Mbits/s; 1,234% | 1m | | |
| b | ap | | | | | |
| b | ap | Linux 5, other | 3 MB/s; 1% | 1m | | |
== TCP RX Throughput ==
| **DUT** | **AP** | **Driver** | **Throughput [Mbits/sec]; retries [%]** | **AP <-> DUT** | **Notes** | **PCAP** |
| b | ap | Linux 5, drv (patch 10) | 33.1 Mbits/s; 27% | 1m | | |
"""

PASTED = """\
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  5.00 MBytes  41.9 Mbits/sec
[  5]   1.00-2.00   sec  5.00 MBytes  41.9 Mbits/sec
"""

PING = """\
PING gw (10.0.0.1) 56(84) bytes of data.
64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=1.5 ms
64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=2.5 ms
64 bytes from 10.0.0.1: icmp_seq=4 ttl=64 time=9.5 ms

--- gw ping statistics ---
4 packets transmitted, 3 received, 25% packet loss, time 3004ms
rtt min/avg/max/mdev = 1.5/4.5/9.5/3.5 ms
"""

T0 = 1_400_000_000.0


def flent(of: int, **changes: Any) -> dict[str, Any]:
    """A `tcp_1up` with ping of a format's version: 10 Mbit/s for 4 s, then 20 for 4 s; 5 ms, one lost."""
    rates = [10.0] * 4 + [20.0] * 4
    upload = [{"t": T0 + 5 + at + 1, "dur": 1.0, "val": rate} for at, rate in enumerate(rates)]
    pings: list[dict[str, Any]] = [{"t": T0 + at, "seq": at, "val": 5.0} for at in range(18)]
    if of >= 4:
        pings[9] = {"t": T0 + 9, "seq": 9, "lost": True}
    udp = [{"t": T0 + 6 + at, "dur": 0.5, "val": 8.0 if of >= 4 else 125.0} for at in range(6)]
    raw = {"TCP upload": upload, "Ping (ms) ICMP": pings, "Ping (ms) UDP BE": udp, "TCP upload sum": []}
    x_values = [float(at) for at in range(18)]
    results: dict[str, Any] = {
        "TCP upload": [None] * 6 + rates + [None] * 4,
        "Ping (ms) ICMP": [5.0] * 18,
        "Ping (ms) UDP BE": [8.0] * 18,
        "TCP upload sum": [None] * 18,
    }
    about: dict[str, Any] = {
        "NAME": "tcp_1up",
        "TITLE": "a title",
        "TIME": "2014-05-13T16:53:20Z",
        "T0": "2014-05-13T16:53:20Z",
        "LENGTH": 8,
        "STEP_SIZE": 1.0,
        "SERIES_META": {"TCP upload": {"UNITS": "Mbits/s"}, "Ping (ms) ICMP": {"UNITS": "ms"}},
    }
    made: dict[str, Any] = {"version": of, "x_values": x_values, "results": results, "metadata": about}
    if of == 1:
        del made["version"]
        about["SERIES_META"]["TCP upload"]["RAW_VALUES"] = upload
        about["SERIES_META"]["Ping (ms) ICMP"]["RAW_VALUES"] = pings
        about["SERIES_META"]["Ping (ms) UDP BE"] = {"RAW_VALUES": udp}
    else:
        made["raw_values"] = raw
    return {**made, **changes}


def flent_bytes(of: int, **changes: Any) -> bytes:
    return json.dumps(flent(of, **changes), indent=1).encode()


WINDOWS = """\

Ping wird ausgeführt für gw.lan [10.1.0.1] mit 32 Bytes Daten:
Antwort von 10.1.0.1: Bytes=32 Zeit=3ms TTL=64
Antwort von 10.1.0.1: Bytes=32 Zeit<1ms TTL=64
Zeitüberschreitung der Anforderung.

Ping-Statistik für 10.1.0.1:
    Pakete: Gesendet = 3, Empfangen = 2, Verloren = 1
    (33% Verlust),
Ca. Zeitangaben in Millisek.:
    Minimum = 0ms, Maximum = 3ms, Mittelwert = 1ms
"""

BSD = """\
PING6(56=40+8+8 bytes) fe80::1 --> fe80::2
16 bytes from fe80::2, icmp_seq=0 hlim=64 time=2.250 ms
Request timeout for icmp_seq 1

--- fe80::2 ping6 statistics ---
2 packets transmitted, 1 packets received, 50.0% packet loss
round-trip min/avg/max/std-dev = 2.250/2.250/2.250/0.000 ms
"""

FPING = "10.1.0.1 : 1.25 2.50 - 0.75\nnas : [0], 64 bytes, 1.5 ms (1.5 avg, 0% loss)\n"

IRTT = """\
[Connecting] connecting to 10.1.0.1:2112
seq=0 rtt=1.2ms rd=400µs sd=800µs ipdv=n/a

                        Min    Mean  Median     Max  Stddev
                RTT   900µs   1.5ms   1.2ms   2.4ms   794µs
                duration: 3.01s (wait 9ms)
   packets sent/received: 4/3 (25.00% loss)
"""

NUTTCP = """\
   11.1250 MB /   1.00 sec =   93.3179 Mbps     4 retrans
nuttcp-t: 2.4375 MB in 1.00 real seconds = 2496.00 KB/sec = 20.4472 Mbps
nuttcp-t: retrans = 0
   23.8750 MB /   2.00 sec =  100.1373 Mbps 12 %TX 9 %RX 8 retrans 1.27 msRTT
    5.9375 MB /   5.00 sec =    9.9614 Mbps 99 %TX 1 %RX 24 / 760 drop/pkt 3.16 %loss
"""

NETPERF = """\
MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.1.0.1 () port 0 AF_INET
Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec

212992    1472   10.00        8000      0       9.42
212992           10.00        7600              8.95
"""

SPEEDTEST = (
    '{"type":"result","ping":{"latency":9.5,"low":9.1},"download":{"bandwidth":12500000,"elapsed":8000},'
    '"upload":{"bandwidth":2500000},"packetLoss":1.5}\n'
)

BETTER = """\
2026-03-04 05:06:07 Testing against a.example (ipv4) with 5 simultaneous sessions while pinging b.example (30 seconds)
 Download:  61.25 Mbps
  Latency: (in msec, 31 pings, 0.00% packet loss)
      Min: 20.100
   Median: 24.500
"""

IPERF2_CSV = """\
20260301101500,10.1.0.4,50210,10.1.0.9,5001,3,0.0-1.0,2621440,20971520
20260301101501,10.1.0.4,50210,10.1.0.9,5001,3,0.0-2.1,5111808,19473554
"""

BOUNCE = """\
Client connecting to 10.1.0.9, TCP port 5001 with pid 77 (1 flows)
[ ID] Interval            Transfer    Bandwidth         BB cnt=avg/min/max/stdev         Rtry  Cwnd/RTT    RPS
[  1] 0.0000-2.0126 sec  3.91 KBytes  15.9 Kbits/sec    20=3.018/1.012/9.055/1.903 ms    0   14K/2953 us    331 rps
"""
