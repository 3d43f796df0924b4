//! A radio of mac80211_hwsim chooses its own rates, as those with rate control in firmware do.
//!
//! mac80211's minstrel_ht learns from the statuses of A-MPDUs, which mac80211_hwsim cannot report: with Block Ack it
//! would stay at whatever rate it had. So what it asks for counts for management frames and group addresses only.

use wire::ieee80211::{Capabilities, FrameKind, HtCapabilities, Management, Mpdu, SecondaryChannel};
use wire::phy::{Bandwidth, Ht, Mode};

/// MPDUs of one decision.
const SAMPLE: u32 = 32;
/// Attempts at each of the rates of a chain.
const ATTEMPTS: u8 = 3;

/// Rates towards the chip: an access point's radio sends to its one station, a station's to its access point.
#[derive(Clone, Debug, Default)]
pub(crate) struct DownRates {
    /// What the two sides said of themselves.
    station: Option<HtCapabilities>,
    ap: Option<HtCapabilities>,
    /// The network uses 40 MHz.
    wide: bool,
    /// Steps below the highest.
    below: u8,
    sent: u32,
    acknowledged: u32,
}

impl DownRates {
    /// Looks at a management frame that passed: who can do what.
    pub(crate) fn watch(&mut self, frame: &[u8]) {
        let mpdu = Mpdu::new(frame);
        let Some(fc) = mpdu.frame_control() else { return };
        let read = || Management::parse(fc, mpdu.management_body()).map(|frame| frame.capabilities).unwrap_or_default();
        match fc.kind() {
            FrameKind::AssociationRequest | FrameKind::ReassociationRequest => self.station = read().ht,
            FrameKind::AssociationResponse | FrameKind::ReassociationResponse => {
                let Capabilities { ht, ht_operation, .. } = read();
                self.ap = ht;
                self.wide =
                    ht_operation.is_some_and(|it| it.any_width() && it.secondary_channel() != SecondaryChannel::None);
                (self.below, self.sent, self.acknowledged) = (0, 0, 0);
            }
            _ => {}
        }
    }

    /// The chain of rates of a unicast data frame; `None`: the station has no HT.
    pub(crate) fn chain(&self) -> Option<Vec<(Mode, u8)>> {
        let (station, ap) = (self.station?, self.ap?);
        let both = |ability: fn(HtCapabilities) -> bool| ability(station) && ability(ap);
        let wide = self.wide && both(HtCapabilities::width_40);
        let short_gi = both(if wide { HtCapabilities::short_gi_40 } else { HtCapabilities::short_gi_20 });
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
    pub(crate) fn report(&mut self, acknowledged: bool) {
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
