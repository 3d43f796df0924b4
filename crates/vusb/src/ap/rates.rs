//! The access point's radio chooses its own rates, as those with rate control in firmware do.
//!
//! mac80211's minstrel_ht learns from the statuses of A-MPDUs, which mac80211_hwsim cannot report: with Block Ack it
//! would stay at whatever rate it had. So what it asks for counts for management frames and group addresses only.

use wire::ieee80211::Elements;
use wire::phy::{Bandwidth, Ht, Mode};

/// MPDUs of one decision.
const SAMPLE: u32 = 32;
/// Elements: HT capabilities and HT operation.
const HT_CAPABILITIES: u8 = 45;
const HT_OPERATION: u8 = 61;
/// Attempts at each of the rates of a chain.
const ATTEMPTS: u8 = 3;

/// What one side said of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Abilities {
    ht: bool,
    wide: bool,
    short_gi_20: bool,
    short_gi_40: bool,
    greenfield: bool,
}

impl Abilities {
    fn read(elements: Elements<'_>) -> Self {
        let Some(body) = elements.find(HT_CAPABILITIES) else { return Self::default() };
        let bits = body.first_chunk().map_or(0, |b| u16::from_le_bytes(*b));
        Self {
            ht: true,
            wide: bits >> 1 & 1 == 1,
            greenfield: bits >> 4 & 1 == 1,
            short_gi_20: bits >> 5 & 1 == 1,
            short_gi_40: bits >> 6 & 1 == 1,
        }
    }
}

/// Rates towards the one station.
#[derive(Clone, Debug, Default)]
pub(super) struct DownRates {
    station: Abilities,
    ap: Abilities,
    /// The network uses 40 MHz.
    wide: bool,
    /// Steps below the highest.
    below: u8,
    sent: u32,
    acknowledged: u32,
}

impl DownRates {
    /// Looks at a management frame that passed: who can do what.
    pub(super) fn watch(&mut self, frame: &[u8]) {
        let after = |fixed: usize| Elements::new(frame.get(24 + fixed..).unwrap_or_default());
        match frame.first() {
            // Association and reassociation request: capability, interval (and the old network).
            Some(0x00) => self.station = Abilities::read(after(4)),
            Some(0x20) => self.station = Abilities::read(after(10)),
            // Their responses: capability, status, AID.
            Some(0x10 | 0x30) => {
                self.ap = Abilities::read(after(6));
                let operation = after(6).find(HT_OPERATION).and_then(|body| body.get(1).copied()).unwrap_or(0);
                // Secondary channel offset and station channel width.
                self.wide = operation & 0x03 != 0 && operation & 0x04 != 0;
                (self.below, self.sent, self.acknowledged) = (0, 0, 0);
            }
            _ => {}
        }
    }

    /// The chain of rates of a unicast data frame; `None`: the station has no HT.
    pub(super) fn chain(&self) -> Option<Vec<(Mode, u8)>> {
        if !self.station.ht || !self.ap.ht {
            return None;
        }
        let wide = self.wide && self.station.wide && self.ap.wide;
        let both = |ability: fn(&Abilities) -> bool| ability(&self.station) && ability(&self.ap);
        let short_gi = if wide { both(|a| a.short_gi_40) } else { both(|a| a.short_gi_20) };
        let mcs = 7u8.saturating_sub(self.below);
        let mode = |mcs: u8| {
            Mode::Ht(Ht {
                mcs,
                bandwidth: if wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 },
                short_gi,
                greenfield: Some(false),
                ldpc: Some(false),
                stbc: Some(0),
                ness: 0,
            })
        };
        Some([0, 1, 2, 7].map(|down| (mode(mcs.saturating_sub(down)), ATTEMPTS)).to_vec())
    }

    /// Whether an MPDU of a data frame was acknowledged.
    pub(super) fn report(&mut self, acknowledged: bool) {
        self.sent += 1;
        self.acknowledged += u32::from(acknowledged);
        if self.sent < SAMPLE {
            return;
        }
        if self.acknowledged * 2 < self.sent {
            self.below = (self.below + 1).min(7);
        } else if self.acknowledged * 10 > self.sent * 9 {
            self.below = self.below.saturating_sub(1);
        }
        (self.sent, self.acknowledged) = (0, 0);
    }
}
