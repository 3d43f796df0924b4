"""Pure parsers of what measuring tools and kernels print: text or bytes in, frozen dataclasses out.

They raise only `txop.formats.error.FormatError`, take bounded input, and give ``None`` for what is not there: an absent
figure is never 0. Units are in the names. Nothing here runs a command, opens a file or knows a target.

| module | reads |
|---|---|
| `iperf3` | iperf3 ``-J``, ``--json-stream`` and text, both ends, 3.1 to 3.21 |
| `iperf3_result` | what `iperf3` returns; `iperf3_text`: its part for text |
| `iperf2` | text of iperf 2, 2.0 and 2.1; `iperf2_csv`: its ``-y C`` |
| `iperf2_connections` | which connections of iperf 2 are one test |
| `iperf2_bounceback` | iperf 2.1 ``--bounceback`` |
| `crusader` | the JSON of ``crusader export``, of its files of versions 0 to 2 |
| `ping` | ping of iputils (text, ``-D``, ``-O``, ``-j``), BusyBox and the BSDs |
| `fping` | fping ``-c``, ``-C``, ``-l``, ``-D``; `ping_result`: what `ping` and `fping` return |
| `ping_windows` | ping of Windows, in any language |
| `irtt` | ``irtt client -o``, plain or gzip, 0.9.0 to 0.9.2; `irtt_text`: what it prints |
| `nuttcp` | nuttcp, also ``-i``, ``-v``, ``-fparse`` |
| `netperf` | netperf's streams and request-response tests, with their heading |
| `speedtest` | results of Ookla's speedtest, speedtest-cli, librespeed-cli |
| `betterspeedtest` | OpenWrtScripts and OpenWrt's speedtest-netperf |
| `flent` | flent's data files, versions 1 to 4, plain, gzip or bzip2 |
| `ttcp` | tables of ttcp transfers as they are posted to mailing lists, and the ping lines beside them |
| `ttcp_output` | what a ttcp program prints of its own transfer: bytes, time, calls, context switches |
| `dokuwiki` | the tables of a DokuWiki page; `driver_table`: those of throughput by driver |
| `written_number` | a number as people write it into a table: with commas, as a range, with a unit |
| `proc_stat` | ``/proc/stat``, and the difference of two |
| `proc_interrupts` | ``/proc/interrupts``, ``/proc/softirqs``, and the difference of two |
| `proc_net` | ``/proc/net/dev`` |
| `proc_system` | ``/proc/meminfo`` |
| `iw_interface` | ``iw dev``, ``iw dev X info``, ``iw dev X link`` |
| `iw_station` | ``iw dev X station dump`` (``-v``), ``station get``; rates in `iw_rate` |
| `iw_survey` | ``iw dev X survey dump``, and the difference of two |
| `iw_ssid` | an SSID as iw escapes it; `iw_failure`: iw's own errors |
| `ethtool` | ``ethtool -S``, ``ethtool -i`` |
| `minstrel` | ``rc_stats`` and ``rc_stats_csv`` of minstrel, and the difference of two |
| `proc_wireless` | ``/proc/net/wireless`` |
| `ath9k_debugfs` | ath9k's ``xmit`` |
| `ath10k_debugfs` | ath10k's ``fw_stats`` |
| `mt76_debugfs` | mt76's ``tx_stats`` and ``ampdu_stat`` |
| `qmicli` | ``qmicli --wda-set-data-format``, ``--wda-get-data-format`` |
| `mac80211_debugfs` | mac80211's ``airtime``, ``aqm``, ``aql`` |
| `usb` | USB devices from their attributes in sysfs |
| `usb_urbs` | USB transfers in the capture of a virtual device; `usb_descriptors`: descriptors as bytes |
| `mmc_ios` | ``/sys/kernel/debug/mmcN/ios`` |
| `pcapng_records` | the records of a pcapng file, with their time stamps |
| `air_frames` | MPDUs in a capture of a virtual chip's air |
| `sdio_log` | the log of SDIO commands that a virtual host writes |
| `trace_ring` | the pages of a ring buffer of the kernel's ftrace |

`error` has the exception, `reading` what all of them use to take text and numbers safely.
"""
