"""Pure parsers of what measuring tools and kernels print: text or bytes in, frozen dataclasses out.

They raise only `txop.formats.error.FormatError`, take bounded input, and give ``None`` for what is not there: an absent
figure is never 0. Units are in the names. Nothing here runs a command, opens a file or knows a target.

| module | reads |
|---|---|
| `iperf3` | iperf3 ``-J``, ``--json-stream`` and text, both ends, 3.1 to 3.21 |
| `iperf3_result` | what `iperf3` returns; `iperf3_text`: its part for text |
| `ping` | ping of iputils (text, ``-D``, ``-O``, ``-j``) and BusyBox; fping ``-D`` |
| `irtt` | ``irtt client -o``, plain or gzip, 0.9.0 to 0.9.2 |
| `proc_stat` | ``/proc/stat``, and the difference of two |
| `proc_interrupts` | ``/proc/interrupts``, ``/proc/softirqs``, and the difference of two |
| `proc_net` | ``/proc/net/dev``, ``/proc/net/snmp``, ``/proc/net/netstat`` |
| `proc_system` | ``/proc/uptime``, ``/proc/loadavg``, ``/proc/meminfo``, ``/proc/modules`` |
| `host_identity` | ``uname -a``, os-release(5) |
| `iw_interface` | ``iw dev``, ``iw dev X info``, ``iw dev X link`` |
| `iw_station` | ``iw dev X station dump`` (``-v``), ``station get``; rates in `iw_rate` |
| `iw_survey` | ``iw dev X survey dump``, and the difference of two |
| `iw_regulatory` | ``iw reg get`` |
| `iw_phy` | ``iw phy``, ``iw list`` |
| `iw_event` | ``iw event``, ``-t``, ``-T`` |
| `iw_ssid` | an SSID as iw escapes it; `iw_failure`: iw's own errors |
| `ethtool` | ``ethtool -i``, ``-S``, ``-c``, and the link |
| `modinfo` | ``modinfo`` |
| `elf_notes` | ELF notes: the build identifier of a module or of the kernel |
| `mac80211_debugfs` | mac80211's ``airtime``, ``aqm``, ``aql``, minstrel's ``rc_stats_csv`` |
| `tc` | ``tc -s qdisc``, text and ``-j`` |
| `ss` | ``ss -tinm`` and its variants |
| `sysfs` | a dump of small files by ``grep -H .``; `usb`: the USB devices in it |
| `mmc_ios` | ``/sys/kernel/debug/mmcN/ios`` |

`error` has the exception, `reading` what all of them use to take text and numbers safely.
"""
