//! Scenes with a name.

use wire::phy::{Bandwidth, GuardInterval, He, HeFormat, Vht};

use crate::scene::*;

/// Names that [`Scene::preset`] knows, each with what it shows.
pub const PRESETS: &[(&str, &str)] = &[
    ("healthy", "a download with 1 % loss and prompt acknowledgements"),
    ("late-block-ack", "the end of each A-MPDU received, but too late for its Block Ack (ACK #1)"),
    ("lossy", "a fifth of the MPDUs not received"),
    ("late-and-lossy", "both"),
    ("ack-by-rate", "single MPDUs, acknowledged at MCS 2 only (ACK #2)"),
    ("late-responses", "a quarter of the responses more than a slot late"),
    ("full-history", "bitmaps that repeat the last 64 numbers"),
    ("no-memory", "bitmaps of the last PPDU only"),
    ("ghosts", "3 % of the frames damaged, half of them in an address"),
    ("silent-damage", "damaged frames without the receiver's flag"),
    ("dropout", "the sender silent for a second, and later a retry burst"),
    ("legacy", "an 802.11g network"),
    ("upload", "a TCP upload by the dongle, with RTS"),
    ("power-save", "the dongle naps"),
    ("deaf-sniffer", "the sniffer misses frames, responses above all"),
    ("no-tsft", "no time stamps"),
    ("ppdu-start", "time stamps of the start of the PPDU"),
    ("ppdu-end", "time stamps of the end of the PPDU"),
    ("last-differs", "ath9k's time stamps in A-MPDUs"),
    ("own-stamps", "each MPDU of an A-MPDU with its own time stamp"),
    ("zero-stamps", "no time stamp after the first MPDU of an A-MPDU"),
    ("sequence-reference", "A-MPDU references that are sequence numbers, and control rates that are not true (Apple)"),
    ("no-ampdu-status", "no A-MPDU status field"),
    ("hidden-rates", "no rates"),
    ("no-fcs", "no FCS bytes"),
    ("snapped", "records cut to 128 bytes"),
    ("hopping", "the sniffer is away two thirds of the time"),
    ("bare", "link type 105 without FCS, microseconds"),
    ("prism", "link type 119 without FCS"),
    ("ppi", "link type 192"),
    ("pcapng", "pcapng"),
    ("vht", "802.11ac in 5 GHz, 80 MHz, two streams"),
    ("he", "802.11ax in 5 GHz, 80 MHz, bitmaps of 256 bits"),
];

fn single_stream(list: &[(u8, bool, u32)]) -> Rates {
    Rates {
        modes: list.iter().map(|&(mcs, sgi, weight)| (ht20(mcs, sgi), weight)).collect(),
        hold_ppdus: 25,
        fallback: true,
    }
}

impl Scene {
    /// A scene by its name (see [`PRESETS`]); `None` for an unknown one.
    pub fn preset(name: &str) -> Option<Self> {
        let mut scene = Self::default();
        match name {
            "healthy" => {}
            "late-block-ack" => scene.stations[0].receiver.late_block_ack_us = 600.0,
            "lossy" => scene.flows[0].loss = 0.2,
            "late-and-lossy" => {
                scene.stations[0].receiver.late_block_ack_us = 600.0;
                scene.flows[0].loss = 0.1;
            }
            "ack-by-rate" => {
                scene.stations[0].receiver.ack_only_mcs = Some(vec![2]);
                for flow in &mut scene.flows[..2] {
                    flow.aggregation = None;
                    flow.rates = single_stream(&[(7, true, 2), (4, false, 1), (2, false, 1)]);
                }
            }
            "late-responses" => {
                scene.stations[0].receiver.late_response = Some(LateResponse { probability: 0.25, extra_us: 14.0 });
            }
            "full-history" => {
                scene.stations[0].receiver.bitmap = BitmapStyle::FullHistory;
                scene.flows[0].loss = 0.05;
            }
            "no-memory" => {
                scene.stations[0].receiver.bitmap = BitmapStyle::LastPpdu;
                scene.flows[0].loss = 0.05;
            }
            "ghosts" => scene.sniffer.damage = Damage { probability: 0.03, ..scene.sniffer.damage },
            "silent-damage" => {
                scene.sniffer.damage = Damage { probability: 0.03, flagged_share: 0.0, ..scene.sniffer.damage };
            }
            "dropout" => {
                for flow in &mut scene.flows[..2] {
                    flow.silent = vec![(4.0, 5.0)];
                }
                scene.flows[0].bursts = vec![Burst { from_s: 7.0, to_s: 8.0, loss: 0.45 }];
            }
            "legacy" => {
                scene.bss.ht = false;
                scene.stations[0].ht = false;
                scene.stations[0].qos = false;
                for flow in &mut scene.flows[..2] {
                    flow.aggregation = None;
                    flow.rates = Rates {
                        modes: vec![(legacy(108), 4), (legacy(72), 2), (legacy(48), 1), (legacy(22), 1)],
                        hold_ppdus: 30,
                        fallback: true,
                    };
                    flow.loss = 0.04;
                }
            }
            "upload" => {
                scene.flows[0].offered = Offered::TcpAcksOf(1);
                scene.flows[0].payload_bytes = (52, 52);
                scene.flows[1].offered = Offered::Saturated;
                scene.flows[1].payload_bytes = (1500, 1500);
                scene.flows[1].rts_threshold = Some(2000);
                scene.flows[1].loss = 0.03;
            }
            "power-save" => scene.stations[0].power_save = Some(PowerSave { every_ms: 300, nap_ms: 100 }),
            "deaf-sniffer" => {
                scene.sniffer.loss = 0.03;
                scene.sniffer.response_loss = 0.2;
            }
            "no-tsft" => scene.sniffer.tsft = false,
            "ppdu-start" => scene.sniffer.stamp = StampMeaning::PpduStart,
            "ppdu-end" => scene.sniffer.stamp = StampMeaning::PpduEnd,
            "last-differs" => scene.sniffer.ampdu_stamp = AmpduStamp::LastDiffers,
            "own-stamps" => scene.sniffer.ampdu_stamp = AmpduStamp::Own,
            "zero-stamps" => scene.sniffer.ampdu_stamp = AmpduStamp::ZeroAfterFirst,
            "sequence-reference" => {
                scene.sniffer.ampdu_reference = AmpduReference::SequenceNumber;
                scene.sniffer.false_control_rates = true;
            }
            "no-ampdu-status" => scene.sniffer.ampdu_reference = AmpduReference::Absent,
            "hidden-rates" => scene.sniffer.rates = false,
            "no-fcs" => scene.sniffer.fcs = false,
            "snapped" => scene.output.snap_len = Some(128),
            "hopping" => scene.sniffer.hop = Some(Hop { period_ms: 600, here_ms: 200 }),
            "bare" => {
                scene.output.link = Link::Bare;
                scene.sniffer.fcs = false;
                scene.output.container = Container::PcapMicros;
            }
            "prism" => {
                scene.output.link = Link::Prism;
                scene.sniffer.fcs = false;
            }
            "ppi" => scene.output.link = Link::Ppi,
            "pcapng" => scene.output.container = Container::Pcapng,
            "vht" | "he" => scene.five_ghz(name == "he"),
            _ => return None,
        }
        Some(scene)
    }

    /// Moves to channel 36 with 80 MHz and two streams.
    fn five_ghz(&mut self, he: bool) {
        self.frequency_mhz = 5180;
        let vht = |mcs, short_gi| {
            wire::phy::Mode::Vht(Vht {
                mcs,
                nss: 2,
                bandwidth: Bandwidth::Mhz80,
                short_gi: Some(short_gi),
                stbc: Some(false),
                ldpc: Some(false),
                ldpc_extra_symbol: None,
            })
        };
        let he_su = |mcs| {
            wire::phy::Mode::He(He {
                format: HeFormat::Su,
                mcs,
                nss: 2,
                bandwidth: Some(Bandwidth::Mhz80),
                ru_tones: None,
                gi: Some(GuardInterval::Ns800),
                ltf_ns: Some(6400),
                dcm: false,
                stbc: Some(false),
                ldpc: Some(true),
            })
        };
        for flow in &mut self.flows[..2] {
            let modes = if he {
                vec![(he_su(11), 2), (he_su(9), 1), (he_su(7), 1)]
            } else {
                vec![(vht(9, true), 2), (vht(8, true), 1), (vht(7, false), 1)]
            };
            flow.rates = Rates { modes, hold_ppdus: 25, fallback: true };
            let window = if he { 256 } else { 64 };
            flow.aggregation = Some(Aggregation { max_mpdus: window, window, ..Aggregation::default() });
        }
        if he {
            self.bss.receiver.bitmap_bits = BitmapBits::B256;
            self.stations[0].receiver.bitmap_bits = BitmapBits::B256;
        }
        for flow in &mut self.flows[2..] {
            flow.rates = Rates { modes: vec![(legacy(108), 3), (legacy(48), 1)], hold_ppdus: 8, fallback: true };
        }
    }
}
