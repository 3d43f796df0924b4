//! tshark's view of the same headers, column by column.

use std::path::Path;
use std::process::Command;

use txop_wire::phy::{Bandwidth, GuardInterval, HeFormat, Mode};
use txop_wire::radio::{RadioInfo, StampPosition};

/// A column of tshark and what it must be, given our decoding.
struct Column {
    /// tshark's field name.
    name: &'static str,
    /// How to read several values of one frame.
    pick: Pick,
    /// The expected number; `None` where tshark must show nothing.
    ours: fn(&RadioInfo) -> Expected,
}

#[derive(Clone, Copy)]
enum Pick {
    First,
    Largest,
}

/// What tshark's cell must hold.
enum Expected {
    /// This number, or nothing for `None`.
    Exactly(Option<i128>),
    /// Nothing is claimed: the cell may hold anything.
    Anything,
}

use Expected::{Anything, Exactly};

fn flag(value: Option<bool>) -> Expected {
    Exactly(value.map(i128::from))
}

/// For fields that tshark shows only in part of the cases in which we know the value.
fn if_some(value: Option<impl Into<i128>>) -> Expected {
    value.map_or(Anything, |value| Exactly(Some(value.into())))
}

macro_rules! when {
    ($mode:pat => $value:expr) => {
        |info| match info.mode {
            $mode => Exactly(Some(i128::from($value))),
            _ => Anything,
        }
    };
}

const RADIOTAP: &[Column] = &[
    Column { name: "radiotap.length", pick: Pick::First, ours: |i| Exactly(Some(i.header_len as i128)) },
    Column { name: "radiotap.mactime", pick: Pick::First, ours: |i| Exactly(i.tsft_us.map(i128::from)) },
    Column { name: "radiotap.flags.badfcs", pick: Pick::First, ours: |i| flag(i.bad_fcs) },
    Column { name: "radiotap.flags.fcs", pick: Pick::First, ours: |i| flag(i.fcs_included) },
    Column {
        name: "radiotap.flags.datapad",
        pick: Pick::First,
        ours: |i| flag(i.bad_fcs.is_some().then_some(i.data_pad)),
    },
    Column { name: "radiotap.dbm_antsignal", pick: Pick::Largest, ours: |i| Exactly(i.signal_dbm.map(i128::from)) },
    Column { name: "radiotap.dbm_antnoise", pick: Pick::First, ours: |i| Exactly(i.noise_dbm.map(i128::from)) },
    Column { name: "radiotap.rxflags.badplcp", pick: Pick::Largest, ours: |i| if_some(i.bad_plcp.then_some(1)) },
    Column {
        name: "radiotap.ampdu.reference",
        pick: Pick::First,
        ours: |i| Exactly(i.ampdu.map(|a| i128::from(a.reference))),
    },
    Column {
        name: "radiotap.ampdu.flags.lastknown",
        pick: Pick::First,
        ours: |i| flag(i.ampdu.map(|a| a.is_last.is_some())),
    },
    Column { name: "radiotap.ampdu.flags.last", pick: Pick::First, ours: |i| if_some(i.ampdu.and_then(|a| a.is_last)) },
    Column {
        name: "radiotap.ampdu.flags.delim_crc_error",
        pick: Pick::First,
        ours: |i| flag(i.ampdu.map(|a| a.delimiter_crc_error)),
    },
    Column { name: "radiotap.ampdu.flags.eof", pick: Pick::First, ours: |i| if_some(i.ampdu.and_then(|a| a.eof)) },
    Column {
        name: "radiotap.timestamp.flags.32bit",
        pick: Pick::First,
        ours: |i| if_some(i.stamp.map(|s| s.is_32bit)),
    },
    Column {
        name: "radiotap.timestamp.samplingpos",
        pick: Pick::First,
        ours: |i| match i.stamp.map(|s| s.position) {
            Some(StampPosition::FirstMpduBit) => Exactly(Some(0)),
            Some(StampPosition::PpduStart) => Exactly(Some(1)),
            Some(StampPosition::PpduEnd) => Exactly(Some(2)),
            Some(StampPosition::MpduEnd) => Exactly(Some(3)),
            _ => Anything,
        },
    },
    Column { name: "radiotap.l_sig.length", pick: Pick::First, ours: |i| if_some(i.l_sig.and_then(|l| l.length)) },
    Column { name: "radiotap.l_sig.rate", pick: Pick::First, ours: |i| if_some(i.l_sig.and_then(|l| l.rate)) },
    Column {
        name: "radiotap.l_sig.length_known",
        pick: Pick::First,
        ours: |i| flag(i.l_sig.map(|l| l.length.is_some())),
    },
    Column { name: "radiotap.mcs.index", pick: Pick::First, ours: when!(Mode::Ht(h) => h.mcs) },
    Column {
        name: "radiotap.mcs.gi",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::Ht(h) => flag(h.short_gi),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.mcs.format",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::Ht(h) => flag(h.greenfield),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.mcs.fec",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::Ht(h) => flag(h.ldpc),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.mcs.stbc",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::Ht(h) => Exactly(h.stbc.map(i128::from)),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.vht.gi",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::Vht(v) => flag(v.short_gi),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.vht.stbc",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::Vht(v) if v.stbc == Some(true) => Exactly(Some(1)),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.he.data_1.ppdu_format",
        pick: Pick::First,
        ours: when!(Mode::He(h) => match h.format {
            HeFormat::Su => 0,
            HeFormat::ErSu => 1,
            HeFormat::Mu => 2,
            HeFormat::TriggerBased => 3,
        }),
    },
    Column { name: "radiotap.he.data_3.data_mcs", pick: Pick::First, ours: when!(Mode::He(h) => h.mcs) },
    Column {
        name: "radiotap.he.data_5.gi",
        pick: Pick::First,
        ours: |i| match i.mode {
            // tshark shows it also where the header says that it is not known.
            Mode::He(h) => if_some(h.gi.map(|gi| match gi {
                GuardInterval::Ns800 => 0,
                GuardInterval::Ns1600 => 1,
                _ => 2,
            })),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.he.data_5.ltf_symbol_size",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::He(h) => if_some(h.ltf_ns.map(|ns| match ns {
                3200 => 1,
                6400 => 2,
                _ => 3,
            })),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.he.data_5.data_bw_ru_allocation",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::He(h) => if_some(match (h.bandwidth, h.ru_tones) {
                (_, Some(tones)) => {
                    [26, 52, 106, 242, 484, 996, 1992].iter().position(|&t| t == tones).map(|p| p as i32 + 4)
                }
                (Some(Bandwidth::Mhz20), _) => Some(0),
                (Some(Bandwidth::Mhz40), _) => Some(1),
                (Some(Bandwidth::Mhz80), _) => Some(2),
                (Some(Bandwidth::Mhz160), _) => Some(3),
                _ => None,
            }),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.he_mu.bw_from_sig_a",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::He(h) if h.format == HeFormat::Mu && h.ru_tones.is_some() => if_some(match h.bandwidth {
                Some(Bandwidth::Mhz20) => Some(0),
                Some(Bandwidth::Mhz40) => Some(1),
                Some(Bandwidth::Mhz80) => Some(2),
                Some(Bandwidth::Mhz160) => Some(3),
                _ => None,
            }),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.he.data_6.nsts",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::He(h) if h.stbc != Some(true) => Exactly(Some(i128::from(h.nss))),
            _ => Anything,
        },
    },
    Column {
        name: "radiotap.he.data_3.coding",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::He(h) => if_some(h.ldpc),
            _ => Anything,
        },
    },
];

const PRISM: &[Column] = &[
    Column { name: "prism.msglen", pick: Pick::First, ours: |i| Exactly(Some(i.header_len as i128)) },
    Column { name: "prism.did.mactime", pick: Pick::First, ours: |i| Exactly(i.tsft_us.map(i128::from)) },
];

const AVS: &[Column] = &[
    Column { name: "wlancap.length", pick: Pick::First, ours: |i| Exactly(Some(i.header_len as i128)) },
    Column { name: "wlancap.mactime", pick: Pick::First, ours: |i| Exactly(Some(i128::from(i.tsft_us.unwrap_or(0)))) },
    Column { name: "wlancap.dbm_antsignal", pick: Pick::First, ours: |i| Exactly(i.signal_dbm.map(i128::from)) },
    Column { name: "wlancap.dbm_antnoise", pick: Pick::First, ours: |i| Exactly(i.noise_dbm.map(i128::from)) },
];

const PPI: &[Column] = &[
    Column { name: "ppi.length", pick: Pick::First, ours: |i| Exactly(Some(i.header_len as i128)) },
    Column {
        name: "ppi.80211-common.tsft",
        pick: Pick::First,
        // Zero is "no value"; the unit is the microsecond in every capture at hand.
        ours: |i| Exactly(Some(i128::from(i.tsft_us.unwrap_or(0)))),
    },
    Column { name: "ppi.80211-common.flags.fcs", pick: Pick::First, ours: |i| flag(i.fcs_included) },
    Column { name: "ppi.80211-common.flags.fcs-invalid", pick: Pick::First, ours: |i| flag(i.bad_fcs) },
    Column {
        name: "ppi.80211-common.chan.freq",
        pick: Pick::First,
        ours: |i| Exactly(Some(i128::from(i.frequency_mhz.unwrap_or(0)))),
    },
    Column { name: "ppi.80211-common.dbm.antsignal", pick: Pick::First, ours: |i| if_some(i.signal_dbm) },
    Column { name: "ppi.80211-common.dbm.antnoise", pick: Pick::First, ours: |i| if_some(i.noise_dbm) },
    Column {
        name: "ppi.80211n-mac-phy.mcs",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::Ht(h) => Exactly(Some(i128::from(h.mcs))),
            _ => Exactly(None),
        },
    },
    Column {
        name: "ppi.80211n-mac.flags.ht20_40",
        pick: Pick::First,
        ours: when!(Mode::Ht(h) => h.bandwidth == Bandwidth::Mhz40),
    },
    Column {
        name: "ppi.80211n-mac.flags.rx.short_guard_interval",
        pick: Pick::First,
        ours: |i| match i.mode {
            Mode::Ht(h) => flag(h.short_gi),
            _ => Anything,
        },
    },
    Column {
        name: "ppi.80211n-mac.flags.greenfield",
        pick: Pick::First,
        ours: when!(Mode::Ht(h) => h.greenfield == Some(true)),
    },
];

/// Further columns, compared by hand in [`Table::differences`].
const EXTRA: &[&str] = &[
    "radiotap.channel.freq",
    "radiotap.xchannel.freq",
    "radiotap.datarate",
    "radiotap.txflags",
    "radiotap.data_retries",
    "radiotap.mcs.bw",
    "radiotap.timestamp.ts",
    "radiotap.timestamp.unit",
    "radiotap.vht.bw",
    "radiotap.vht.ldpc_extra",
    "radiotap.vht.mcs.0",
    "radiotap.vht.mcs.1",
    "radiotap.vht.mcs.2",
    "radiotap.vht.mcs.3",
    "radiotap.vht.nss.0",
    "radiotap.vht.nss.1",
    "radiotap.vht.nss.2",
    "radiotap.vht.nss.3",
    "radiotap.vht.coding.0",
    "radiotap.vht.coding.1",
    "radiotap.vht.coding.2",
    "radiotap.vht.coding.3",
    "radiotap.0_len_psdu.type",
    "prism.did.channel",
    "prism.did.rate",
    "wlancap.data_rate",
    "wlancap.channel_frequency",
    "wlan_radio.data_rate",
    "wlan_radio.frequency",
    "radiotap.present.tlv",
];

/// tshark's cells for every frame of a file.
pub struct Table {
    names: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// Whether tshark can be run.
pub fn is_installed() -> bool {
    let found = Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: tshark is not installed");
    }
    found
}

/// Runs tshark over a capture.
pub fn table(path: &Path) -> Table {
    let names: Vec<&'static str> = [RADIOTAP, PRISM, AVS, PPI]
        .into_iter()
        .flatten()
        .map(|column| column.name)
        .chain(EXTRA.iter().copied())
        .collect();
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(path).args(["-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"]);
    for name in &names {
        command.args(["-e", name]);
    }
    let output = command.output().expect("tshark runs");
    let rows = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect();
    Table { names, rows }
}

/// A difference between tshark and us in one field.
pub struct Difference {
    pub field: &'static str,
    pub tshark: String,
    pub ours: String,
}

impl Table {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The cell of one frame; empty when tshark shows nothing.
    pub fn cell(&self, frame: usize, name: &str) -> &str {
        let column = self.names.iter().position(|&n| n == name).expect("a requested column");
        self.rows.get(frame).and_then(|row| row.get(column)).map_or("", String::as_str)
    }

    fn numbers(&self, frame: usize, name: &str) -> Vec<i128> {
        self.cell(frame, name).split(',').filter(|text| !text.is_empty()).map(number).collect()
    }

    fn first(&self, frame: usize, name: &str) -> Option<i128> {
        self.numbers(frame, name).first().copied()
    }

    /// Compares one frame; `compared` counts the cells in which both sides state a value.
    pub fn differences(&self, frame: usize, link: u32, info: &RadioInfo, compared: &mut usize) -> Vec<Difference> {
        let mut differences = Vec::new();
        let mut check = |field: &'static str, theirs: Option<i128>, ours: Expected| {
            let Exactly(ours) = ours else { return };
            *compared += usize::from(theirs.is_some() && ours.is_some());
            if theirs != ours {
                differences.push(Difference { field, tshark: format!("{theirs:?}"), ours: format!("{ours:?}") });
            }
        };
        let columns = match link {
            127 => RADIOTAP,
            119 if self.cell(frame, "wlancap.length").is_empty() => PRISM,
            119 | 163 => AVS,
            192 => PPI,
            _ => &[],
        };
        for column in columns {
            let numbers = self.numbers(frame, column.name);
            let theirs = match column.pick {
                Pick::First => numbers.first().copied(),
                Pick::Largest => numbers.iter().max().copied(),
            };
            check(column.name, theirs, (column.ours)(info));
        }
        if link == 127 {
            // tshark does not say in which order the two fields came, so it takes one value to compare.
            let mut mhz = self.numbers(frame, "radiotap.channel.freq");
            mhz.extend(self.numbers(frame, "radiotap.xchannel.freq"));
            mhz.retain(|&mhz| mhz != 0);
            mhz.dedup();
            if mhz.len() < 2 {
                let ours = info.frequency_mhz.map(i128::from);
                check("radiotap.channel.freq", mhz.first().copied(), Exactly(ours));
            }
            let sent = !self.cell(frame, "radiotap.txflags").is_empty()
                || !self.cell(frame, "radiotap.data_retries").is_empty();
            check("radiotap.txflags", Some(i128::from(sent)), Exactly(Some(i128::from(info.own_transmission))));
            let empty = !self.cell(frame, "radiotap.0_len_psdu.type").is_empty();
            check(
                "radiotap.0_len_psdu.type",
                Some(i128::from(empty)),
                Exactly(Some(i128::from(info.zero_length_psdu))),
            );
            let rate =
                self.cell(frame, "radiotap.datarate").split(',').next().and_then(|mbit_s| mbit_s.parse::<f64>().ok());
            let legacy_ours = match info.mode {
                Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => {
                    Exactly(Some(i128::from(rate_500kbps)))
                }
                _ => Anything,
            };
            check("radiotap.datarate", rate.map(|mbit_s| (mbit_s * 2.0) as i128), legacy_ours);
            let times = self.numbers(frame, "radiotap.timestamp.ts").into_iter();
            let stamp = times.zip(self.numbers(frame, "radiotap.timestamp.unit")).find_map(|(ts, unit)| {
                let scale = [1_000_000, 1000, 1].get(usize::try_from(unit).ok()?)?;
                let ts = if info.stamp.is_some_and(|s| s.is_32bit) { ts & 0xffff_ffff } else { ts };
                Some((ts * scale) & i128::from(u64::MAX))
            });
            check("radiotap.timestamp.ts", stamp, Exactly(info.stamp.map(|s| i128::from(s.ns))));
            // A described modulation must not be lost.
            match info.mode {
                Mode::Ht(ht) => {
                    let is_40 = self.first(frame, "radiotap.mcs.bw").map(|bw| i128::from(bw == 1));
                    check("radiotap.mcs.bw", is_40, Exactly(Some(i128::from(ht.bandwidth == Bandwidth::Mhz40))));
                }
                Mode::Vht(vht) => {
                    // The captured user is the one whose MCS is not 15.
                    let of_user = |names: [&'static str; 4]| names.map(|name| self.first(frame, name));
                    let mcs = of_user([
                        "radiotap.vht.mcs.0",
                        "radiotap.vht.mcs.1",
                        "radiotap.vht.mcs.2",
                        "radiotap.vht.mcs.3",
                    ]);
                    let nss = of_user([
                        "radiotap.vht.nss.0",
                        "radiotap.vht.nss.1",
                        "radiotap.vht.nss.2",
                        "radiotap.vht.nss.3",
                    ]);
                    let coding = of_user([
                        "radiotap.vht.coding.0",
                        "radiotap.vht.coding.1",
                        "radiotap.vht.coding.2",
                        "radiotap.vht.coding.3",
                    ]);
                    let user = mcs.iter().position(|mcs| mcs.is_some_and(|mcs| mcs != 15)).unwrap_or(0);
                    check("radiotap.vht.mcs", mcs[user], Exactly(Some(i128::from(vht.mcs))));
                    check("radiotap.vht.nss", nss[user], Exactly(Some(i128::from(vht.nss))));
                    check("radiotap.vht.coding", coding[user], Exactly(vht.ldpc.map(i128::from)));
                    // One name for two items: whether it is known, and if so the value.
                    let extra = self.numbers(frame, "radiotap.vht.ldpc_extra");
                    check("radiotap.vht.ldpc_extra", extra.get(1).copied(), flag(vht.ldpc_extra_symbol));
                    let width = self.first(frame, "radiotap.vht.bw").map(|code| match code {
                        1 | 5 | 6 | 14..=17 => 40,
                        4 | 12 | 13 => 80,
                        11 => 160,
                        _ => 20,
                    });
                    check("radiotap.vht.bw", width, Exactly(Some(i128::from(vht.bandwidth.mhz()))));
                }
                Mode::Unknown => {
                    // What tshark shows of it must be too little to make a mode.
                    let shown = |name| self.first(frame, name).is_some_and(|value| value != 0);
                    let here = |name| !self.cell(frame, name).is_empty();
                    let ht = ["radiotap.mcs.index", "radiotap.mcs.bw"].into_iter().all(here);
                    let vht = shown("radiotap.vht.nss.0") && here("radiotap.vht.bw");
                    let he = here("radiotap.he.data_3.data_mcs") && shown("radiotap.he.data_6.nsts");
                    let lost = ht || vht || he;
                    check("modulation", lost.then_some(1), Exactly(None));
                    let legacy = rate
                        .filter(|mbit_s| txop_wire::phy::Mode::from_legacy_rate((mbit_s * 2.0) as u8, None).is_some());
                    check("radiotap.datarate", legacy.map(|mbit_s| (mbit_s * 2.0) as i128), Exactly(None));
                }
                _ => {}
            }
        }
        if matches!(link, 119 | 163 | 192) {
            let rate =
                self.cell(frame, "wlan_radio.data_rate").parse::<f64>().ok().map(|mbit_s| (mbit_s * 2.0) as i128);
            if let Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } = info.mode {
                check("wlan_radio.data_rate", rate, Exactly(Some(i128::from(rate_500kbps))));
            }
        }
        if link == 119 && self.cell(frame, "wlancap.length").is_empty() {
            let channel = self.first(frame, "prism.did.channel").filter(|&channel| channel != 0);
            let ours = info.frequency_mhz.map(|mhz| {
                if mhz < 5000 {
                    (i128::from(mhz) - 2407) / 5
                } else {
                    (i128::from(mhz) - 5000) / 5
                }
            });
            check("prism.did.channel", channel, Exactly(ours));
        }
        differences
    }
}

/// Decimal, hexadecimal, or the words of newer versions for flags.
fn number(text: &str) -> i128 {
    match text {
        "True" => 1,
        "False" => 0,
        _ => match text.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).expect("hexadecimal"),
            None => text.parse().unwrap_or_else(|_| panic!("not a number: {text}")),
        },
    }
}
