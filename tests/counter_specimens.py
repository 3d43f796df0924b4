"""Counters as tools and kernels print them, of several drivers; texts of our own in their layouts."""

from __future__ import annotations

RATES_NEW = """\

              best    ____________rate__________    ____statistics___    _____last____    ______sum-of________
mode guard #  rate   [name   idx airtime  max_tp]  [avg(tp) avg(prob)]  [retry|suc|att]  [#success | #attempts]
CCK    LP  1          1.0M   120   10548     0.0       0.0       0.0       0     0 0             0   0
VHT80  LGI  2  A       MCS8/2  228     90    88.3      51.0      57.2       5   310 620       84000   150000
VHT80  LGI  2   B   P  MCS5/2  225    128    61.0      60.1      97.9       5     0 0         31000   32000

Total packet count::    ideal 9400      lookaround 600
Average # of aggregated frames per A-MPDU: 11.7
"""
RATES_WITH_DEVIATION = """\
              best   ____________rate__________    ________statistics________    _____last____    ______sum-of________
mode guard #  rate  [name   idx airtime  max_tp]  [avg(tp) avg(prob) sd(prob)]  [retry|suc|att]  [#success | #attempts]
HT20  LGI  1    C    MCS3      3     375    20.1      20.1      99.0      1.1       4     3 4           700   800
HT40  SGI  2  A   P  MCS15   127     102    77.0      70.2      90.4      4.0       5    40 44         9000   10000

Total packet count::    ideal 100      lookaround 4
Average # of aggregated frames per A-MPDU: 3.0
"""
RATES_LEGACY = """\
best   __________rate_________    ________statistics________    ________last_______    ______sum-of________
rate  [name idx airtime max_tp]  [avg(tp) avg(prob) sd(prob)]  [prob.|retry|suc|att]  [#success | #attempts]
   D   12     2     840   10.9      10.9     100.0      0.0     100.0   2     0 0            40   50
A   P  54     7     216   41.6      41.6      98.0      0.3     100.0   2     3 3          9000   9500

Total packet count::    ideal 800      lookaround 50
"""
RATES_OLD = """\
type           rate     tpt eprob *prob ret  *ok(*cum)        ok(      cum)
HT20/LGI         MCS0     5.6  100.0  100.0   1     0(  0)         10(      12)
HT40/SGI   t PMCS7     62.1   91.5   88.0   5     7(  8)       4000(    4400)

Total packet count::    ideal 900      lookaround 90
Average A-MPDU length: 4.1
"""
RATES_CSV = """\
HT20,LGI,1,D,MCS4 ,4,260,29.0,28.8,99.4,3.0,5,0,0,3000,3100,16582,885,12.4
VHT80,SGI,2,AP,MCS7/2,267,96,80.1,70.4,91.2,4.4,5,66,70,500000,600000,16582,885,12.4
"""
RATES_CSV_NEW = "VHT80,SGI,2,AP,MCS7/2,267,96,80.1,70.4,91.2,5,66,70,500000,600000,16582,885,12.4\n"
RATES_CSV_LEGACY = "AP,54,7,216,41.6,41.6,98.0,0.3,100.0,2,3,3,9000,9500,800,50\n"


WIRELESS = """\
Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
 face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
 wlan0: 0000   48.  -62.  -256        0      0      0     31      7        0
wlp2s0: 0000    0     0     0        0      0      0      0      0        2
"""
XMIT = """\
                            BE         BK        VI        VO

MPDUs Queued:             1200         10         0        90
MPDUs Completed:          1100         10         0        80
MPDUs XRetried:            100          0         0        10
Aggregates:                400          0         0         0
AMPDUs Queued HW:            0          0         0         0
AMPDUs Completed:         8000        100         0         0
AMPDUs Retried:           1900        100         0         0
AMPDUs XRetried:            12          0         0         0
TXERR Filtered:              1          0         0         0
"""
TX_STATS = """\

Phy 0, Phy band 0
Length:        1 |   2 - 10 |  11 - 19 |
Count:      6000 |    3000 |    1000 |
BA miss count: 250

Tx Beamformer applied PPDU counts: iBF: 0, eBF: 4
Tx MSDU statistics:
AMSDU pack count of 1 MSDU in TXD:     7000 ( 70%)
AMSDU pack count of 2 MSDU in TXD:     3000 ( 30%)
"""

STATION = """\
Station {address} (on {interface})
\tinactive time:\t{inactive} ms
\trx bytes:\t{rx_bytes}
\trx packets:\t{rx_packets}
\ttx bytes:\t{tx_bytes}
\ttx packets:\t{tx_packets}
\ttx retries:\t{tx_retries}
\ttx failed:\t{tx_failed}
\tbeacon loss:\t{beacon_loss}
\tbeacon rx:\t{beacon_rx}
\trx drop misc:\t{rx_drop_misc}
\tsignal:  \t{signal} [{chains}] dBm
\tsignal avg:\t{signal} [{chains}] dBm
\ttx bitrate:\t780.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2
\ttx duration:\t{tx_duration} us
\trx bitrate:\t866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2
\tauthorized:\tyes
\tbeacon interval:100
\tconnected time:\t{connected} seconds
"""


FW_STATS = """\

             ath10k PDEV stats
             =================

           Channel noise floor       -104
              Channel TX power         46
                TX frame count   81700000
                RX frame count  220000000
                RX clear count  410000000
                   Cycle count 1904000000
               PHY error count         70

          ath10k PDEV TX stats
             =================

            HTT cookies queued          0
                   MSDU queued       8000
                   MPDU queued       7000
                  MPDUs requed        350
             Excessive retries         12
                       HW rate        139
     Dropped due to SW retries          3
                  PHY underrun -294967296

          ath10k PDEV RX stats
             =================

        MPDUs delivered to HTT      40000
   MPDU errors (FCS, MIC, ENC)       1500

             ath10k VDEV stats (1)
             =================

                       vdev id 0
                 num rx frames 77
            num tx frames [00] 5
          tx rate history [00] 0x00000081

             ath10k PEER stats (1)
             =================

              Peer MAC address 02:00:00:aa:bb:01
                     Peer RSSI 44
"""
AIRTIME = "RX: 2000000 us\nTX: 9000000 us\nWeight: 256\nVirt-T: VO: 0 us VI: 0 us BE: 77 us BK: 0 us\n"
AQM = """\
target 19999us interval 99999us ecn yes
tid ac backlog-bytes backlog-packets new-flows drops marks overlimit collisions tx-bytes tx-packets flags
0 2 4500 3 20 40 6 1 0 123456 960 0x0(RUN)
6 0 1500 1 0 10 0 0 0 4000 40 0x2(RUN AMPDU)
"""
AQL = """\
Q depth: VO: 0 us VI: 0 us BE: 4300 us BK: 0 us
Q limit[low/high]: VO: 5000/12000 VI: 5000/12000 BE: 5000/12000 BK: 5000/12000
"""


def station(**changed: object) -> str:
    """One peer as iw prints it."""
    figures: dict[str, object] = {
        "address": "02:00:00:aa:bb:01",
        "interface": "wlan0",
        "inactive": 4,
        "rx_bytes": 5_000_000,
        "rx_packets": 20_000,
        "tx_bytes": 40_000_000,
        "tx_packets": 30_000,
        "tx_retries": 3_000,
        "tx_failed": 10,
        "beacon_loss": 0,
        "beacon_rx": 900,
        "rx_drop_misc": 3,
        "signal": -57,
        "chains": "-58, -60",
        "tx_duration": 9_000_000,
        "connected": 100,
    }
    return STATION.format(**(figures | changed))


STATION_BEFORE = station()
STATION_AFTER = station(
    rx_bytes=9_000_000,
    rx_packets=32_000,
    tx_bytes=165_000_000,
    tx_packets=130_000,
    tx_retries=103_000,
    tx_failed=2_010,
    beacon_rx=1_095,
    tx_duration=17_000_000,
    connected=120,
)
"""20 s later: 100,000 packets, 100,000 retries (50 % of the attempts), 2,000 lost (2 %), 125 MB (50 Mbit/s), 8 s of
airtime (40 %), 195 beacons."""

SURVEY = """\
Survey data from wlan0
\tfrequency:\t\t\t2412 MHz
\tnoise:\t\t\t\t-95 dBm
\tchannel active time:\t\t50 ms
\tchannel busy time:\t\t9 ms
Survey data from wlan0
\tfrequency:\t\t\t5180 MHz [in use]
\tnoise:\t\t\t\t-92 dBm
\tchannel active time:\t\t{active} ms
\tchannel busy time:\t\t{busy} ms
\tchannel receive time:\t\t{receive} ms
\tchannel transmit time:\t\t{transmit} ms
"""
SURVEY_BEFORE = SURVEY.format(active=100_000, busy=40_000, receive=20_000, transmit=10_000)
SURVEY_AFTER = SURVEY.format(active=120_000, busy=56_600, receive=21_200, transmit=11_200)
"""20 s later: busy 16.6 s (83 %), reception 1.2 s (6 %), transmission 1.2 s (6 %)."""

RATES_AFTER = RATES_NEW.replace("84000   150000", "87200   160000").replace("31000   32000", "35900   37000")
"""Later: MCS 8 10,000 attempts more, 3,200 successes (68 % fail); MCS 5 5,000 attempts more, 4,900 successes (2 %)."""

ETHTOOL = """\
NIC statistics:
     rx_packets: {rx}
     rx_bytes: 1000000
     rx_duplicates: 12
     rx_fragments: 0
     rx_dropped: 5
     tx_packets: {tx}
     tx_bytes: 2000000
     tx_filtered: 0
     tx_retry_failed: {failed}
     tx_retries: {retries}
     sta_state: 4
     txrate: 65000000
     rxrate: 72200000
     signal: 199
     channel: 2437
     noise: 161
     ch_time: {active}
     ch_time_busy: {busy}
     ch_time_ext_busy: 18446744073709551615
     ch_time_rx: 18446744073709551615
     ch_time_tx: 18446744073709551615
     d_tx_ampdu_retries_BE: {ampdu}
     d_rx_crc_err: 0
"""
ETHTOOL_BEFORE = ETHTOOL.format(rx=100, tx=1_000, failed=1, retries=200, active=1_000, busy=250, ampdu=7)
ETHTOOL_AFTER = ETHTOOL.format(rx=150, tx=4_000, failed=7, retries=1_200, active=11_000, busy=2_750, ampdu=90)
"""Later: 3,000 packets, 1,000 retries (25 % of attempts), 6 lost (0.2 %), 10 s on the channel, busy 2.5 s (25 %)."""

RTL8XXXU = """\
Station 02:00:00:aa:bb:02 (on wlan1)
\trx packets:\t100
\ttx packets:\t90000
\ttx retries:\t0
\ttx failed:\t0
\tsignal:  \t-48 dBm
\ttx bitrate:\t72.2 MBit/s MCS 7 short GI
"""
BRCMFMAC = """\
Station 02:00:00:aa:bb:03 (on wlan2)
\tinactive time:\t0 ms
\trx packets:\t4100
\ttx packets:\t900
\ttx failed:\t2
\tsignal:  \t0 dBm
\trx bitrate:\t0.0 MBit/s
\tauthorized:\tyes
\tconnected time:\t500 seconds
"""
IWLWIFI = """\
Station 02:00:00:aa:bb:04 (on wlp3s0)
\trx bytes:\t900000
\trx packets:\t4100
\ttx bytes:\t800000
\ttx packets:\t3900
\ttx retries:\t20
\ttx failed:\t1
\tbeacon loss:\t4
\tbeacon rx:\t900
\trx drop misc:\t1
\tsignal:  \t-61 [-61, -83] dBm
\tsignal avg:\t-60 [-60, -82] dBm
\tbeacon signal avg:\t-60 dBm
\ttx bitrate:\t1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0
\trx bitrate:\t0.0 MBit/s
"""
DRIVER = "driver: {name}\nversion: 6.12.0\nfirmware-version: N/A\nbus-info: 1-1.2:1.0\n"
KERNEL_LOG = """\
[   12.345678] usb 1-1.2: new high-speed USB device number 4 using xhci_hcd
[   13.000001] wlan0: authenticate with 02:00:00:aa:bb:01
[   13.100001] wlan0: associated
"""
