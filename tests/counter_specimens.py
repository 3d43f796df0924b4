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
